//! The form of a request as a report for operators.

use super::{FormatParameter, ParameterSupport, RequestForm};

/// The form of the last request that a server has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedForm {
    /// The `type` of `response_format`: `json_schema`, `json_object`, or `none` if the parameter was left out.
    pub response_format: &'static str,
    /// The parameters that were left out or replaced, because the server has rejected them.
    pub dropped: Vec<&'static str>,
}

impl ParameterSupport {
    /// Returns the form of the last request that the server has accepted, if any. `has_reasoning_effort` says whether that
    /// parameter is configured.
    pub(in crate::openai) fn accepted_form(&self, has_reasoning_effort: bool) -> Option<AcceptedForm> {
        let form = *self.accepted.lock();
        form.map(|form| form.report(has_reasoning_effort))
    }
}

impl RequestForm {
    fn report(self, is_effort_configured: bool) -> AcceptedForm {
        let Self { format, has_temperature, uses_max_completion_tokens, has_reasoning_effort } = self;
        let dropped = [
            (!has_temperature, "temperature"),
            (uses_max_completion_tokens, "max_tokens (max_completion_tokens in its place)"),
            (is_effort_configured && !has_reasoning_effort, "reasoning_effort"),
        ];
        AcceptedForm {
            response_format: match format {
                FormatParameter::Strict
                | FormatParameter::StrictWithoutLengths
                | FormatParameter::JsonSchema => "json_schema",
                FormatParameter::JsonObject => "json_object",
                FormatParameter::Omitted => "none",
            },
            dropped: dropped
                .into_iter()
                .filter(|(is_dropped, _)| *is_dropped)
                .map(|(_, name)| name)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::ResponseFormat;

    #[test]
    fn report_names_the_format_and_the_dropped_parameters() {
        let (support, schema) = (ParameterSupport::default(), json!({}));
        assert_eq!(support.accepted_form(true), None);
        let first = RequestForm::initial(ResponseFormat::Schema(&schema), true, &support);
        support.record(&[], first);
        let expected = AcceptedForm { response_format: "json_schema", dropped: Vec::new() };
        assert_eq!(support.accepted_form(true), Some(expected));
        let last = ["temperature", "max_tokens", "reasoning", "response_format", "response_format"]
            .into_iter()
            .fold(first, |form, message| form.next(message).unwrap());
        support.record(&[], last);
        let mut dropped =
            vec!["temperature", "max_tokens (max_completion_tokens in its place)", "reasoning_effort"];
        let report = |dropped| Some(AcceptedForm { response_format: "none", dropped });
        assert_eq!(support.accepted_form(true), report(dropped.clone()));
        dropped.pop();
        assert_eq!(support.accepted_form(false), report(dropped));
    }
}

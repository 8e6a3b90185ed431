//! The forms of a request, for servers that do not support all parameters.

mod report;

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::model::{CompletionRequest, ResponseFormat};

pub use report::AcceptedForm;

/// The `response_format` of a request, in addition to the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatParameter {
    /// `json_schema`.
    JsonSchema,
    /// `json_object`.
    JsonObject,
    /// No parameter.
    Omitted,
}

/// The form of a request. Servers reject parameters that they do not support, and these differ between servers. So the
/// parameters are removed one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestForm {
    format: FormatParameter,
    has_temperature: bool,
    /// Newer models require `max_completion_tokens` in place of `max_tokens`.
    uses_max_completion_tokens: bool,
    has_reasoning_effort: bool,
}

impl RequestForm {
    /// Returns the form of the first attempt, without the parameters that the server has rejected before.
    pub(super) fn initial(
        format: ResponseFormat<'_>,
        has_reasoning_effort: bool,
        support: &ParameterSupport,
    ) -> Self {
        let is_rejected = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let format = match format {
            ResponseFormat::Text => FormatParameter::Omitted,
            ResponseFormat::Schema(_) | ResponseFormat::SchemaOrText(_)
                if !support.json_schema.is_rejected() =>
            {
                FormatParameter::JsonSchema
            }
            ResponseFormat::Schema(_) | ResponseFormat::SchemaOrText(_) | ResponseFormat::Json => {
                match support.json_object.is_rejected() {
                    true => FormatParameter::Omitted,
                    false => FormatParameter::JsonObject,
                }
            }
        };
        Self {
            format,
            has_temperature: !is_rejected(&support.rejects_temperature),
            uses_max_completion_tokens: is_rejected(&support.rejects_max_tokens),
            has_reasoning_effort: has_reasoning_effort && !is_rejected(&support.rejects_reasoning_effort),
        }
    }

    /// Returns the form after an error with this message, in lower case; `None` if there is no other form, or if the message
    /// is about something else.
    pub(super) fn next(self, message: &str) -> Option<Self> {
        if self.has_temperature && message.contains("temperature") {
            return Some(Self { has_temperature: false, ..self });
        }
        if !self.uses_max_completion_tokens && message.contains("max_tokens") {
            return Some(Self { uses_max_completion_tokens: true, ..self });
        }
        if self.has_reasoning_effort && message.contains("reasoning") {
            return Some(Self { has_reasoning_effort: false, ..self });
        }
        if !is_about_format(message) {
            return None;
        }
        let format = match self.format {
            FormatParameter::JsonSchema => FormatParameter::JsonObject,
            FormatParameter::JsonObject => FormatParameter::Omitted,
            FormatParameter::Omitted => return None,
        };
        Some(Self { format, ..self })
    }

    /// Adds the parameters of the form to the body of a request.
    pub(super) fn apply(
        self,
        body: &mut Value,
        request: &CompletionRequest<'_>,
        reasoning_effort: Option<&str>,
    ) {
        let limit = if self.uses_max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(request.max_tokens);
        if self.has_temperature {
            body["temperature"] = json!(0);
        }
        if let Some(effort) = reasoning_effort.filter(|_| self.has_reasoning_effort) {
            body["reasoning_effort"] = json!(effort);
        }
        match (self.format, request.format) {
            (
                FormatParameter::JsonSchema,
                ResponseFormat::Schema(schema) | ResponseFormat::SchemaOrText(schema),
            ) => {
                // Not strict: strict mode rejects schemas with optional fields, and the response is validated anyway.
                let schema = json!({ "name": "answer", "schema": schema, "strict": false });
                body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
            }
            (FormatParameter::JsonSchema | FormatParameter::JsonObject, _) => {
                body["response_format"] = json!({ "type": "json_object" });
            }
            (FormatParameter::Omitted, _) => {}
        }
    }
}

/// The parameters that a server does not support, as its responses have shown, so that they are not sent again.
#[derive(Debug, Default)]
pub(super) struct ParameterSupport {
    rejects_temperature: AtomicBool,
    rejects_max_tokens: AtomicBool,
    rejects_reasoning_effort: AtomicBool,
    json_schema: FormatSupport,
    json_object: FormatSupport,
    /// The form of the last request that the server has accepted, for reports.
    accepted: Mutex<Option<RequestForm>>,
}

/// The support for one type of `response_format`.
#[derive(Debug, Default)]
struct FormatSupport {
    was_accepted: AtomicBool,
    was_rejected: AtomicBool,
}

impl FormatSupport {
    /// Returns whether the server does not know the type. One that it has accepted once is known, whatever it says later.
    fn is_rejected(&self) -> bool {
        self.was_rejected.load(Ordering::Relaxed) && !self.was_accepted.load(Ordering::Relaxed)
    }
}

impl ParameterSupport {
    /// Records the form that the server has accepted, and the forms that it rejected before with their messages.
    pub(super) fn record(&self, rejected: &[(RequestForm, String)], accepted: RequestForm) {
        *self.accepted.lock() = Some(accepted);
        if let Some(format) = self.of_format(accepted.format) {
            format.was_accepted.store(true, Ordering::Relaxed);
        }
        for (form, message) in rejected {
            let format = self.of_format(form.format).filter(|_| form.format != accepted.format);
            if let Some(format) = format.filter(|_| rejects_format_type(message)) {
                format.was_rejected.store(true, Ordering::Relaxed);
            }
        }
        // Only the last change is known to matter: the message of an earlier rejection may repeat texts of the request that
        // name a parameter. The others are recorded after the next requests.
        let Some((last, _)) = rejected.last() else { return };
        for (flag, is_rejected) in [
            (&self.rejects_temperature, last.has_temperature && !accepted.has_temperature),
            (
                &self.rejects_max_tokens,
                !last.uses_max_completion_tokens && accepted.uses_max_completion_tokens,
            ),
            (&self.rejects_reasoning_effort, last.has_reasoning_effort && !accepted.has_reasoning_effort),
        ] {
            if is_rejected {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }

    const fn of_format(&self, format: FormatParameter) -> Option<&FormatSupport> {
        match format {
            FormatParameter::JsonSchema => Some(&self.json_schema),
            FormatParameter::JsonObject => Some(&self.json_object),
            FormatParameter::Omitted => None,
        }
    }
}

/// Returns whether a message, in lower case, says that the server does not know a type of `response_format`. Other messages,
/// such as of a schema without a grammar, are only about this request.
fn rejects_format_type(message: &str) -> bool {
    const REJECTIONS: &[&str] =
        &["support", "unavailable", "unknown", "unrecognized", "not permitted", "must be"];
    const OF_ONE_SCHEMA: &[&str] = &["schema", "grammar", "keyword", "propert", "pattern"];
    let message = message.replace("json_schema", "");
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    message.contains("response_format") && has(REJECTIONS) && !has(OF_ONE_SCHEMA)
}

/// Returns whether a message, in lower case, may be about the `response_format` of a request or about a parameter that the
/// server does not name. A message without a text may be about anything.
fn is_about_format(message: &str) -> bool {
    const FORMAT: &[&str] = &[
        "response_format",
        "response format",
        "json_schema",
        "json_object",
        "schema",
        "grammar",
        "guided",
        "structured output",
        "structured_output",
        "json mode",
        "json_validate",
        "failed to generate json",
        "unknown name",
        "unsupported",
        "not supported",
        "not support",
        "not permitted",
        "not allowed",
        "extra inputs",
        "extra_forbidden",
        "additional properties",
    ];
    const WRONG: &[&str] = &["unknown", "unrecognized", "unexpected", "invalid"];
    const NAMES: &[&str] = &["parameter", "field", "argument", "property", "option", "format"];
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    message.trim().is_empty() || has(FORMAT) || has(WRONG) && has(NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_that_is_rejected_is_not_a_type_that_is_rejected() {
        for (message, expected) in [
            ("response_format is not supported", true),
            ("this response_format type is unavailable now", true),
            (
                "invalid parameter: 'response_format' of type 'json_schema' is not supported with this model",
                true,
            ),
            ("'response_format.type' must be 'json_schema' or 'text'", true),
            ("failed to parse grammar", false),
            ("invalid schema for response_format 'answer': 'minitems' is not permitted", false),
            ("response_format: unsupported keyword 'minitems'", false),
            ("'messages' must contain the word 'json' in some form, to use 'response_format'", false),
        ] {
            assert_eq!(rejects_format_type(message), expected, "{message}");
        }
    }

    #[test]
    fn type_that_was_accepted_is_sent_whatever_a_later_message_says() {
        let schema = json!({});
        let support = ParameterSupport::default();
        let initial = || RequestForm::initial(ResponseFormat::Schema(&schema), false, &support);
        let with_schema = initial();
        let without = with_schema.next("response_format is not supported").unwrap();
        support.record(&[], with_schema);
        support.record(&[(with_schema, "response_format is not supported".to_owned())], without);
        assert_eq!(initial(), with_schema);
    }

    #[test]
    fn rejected_parameters_are_removed_one_by_one() {
        let schema = json!({});
        let mut form =
            RequestForm::initial(ResponseFormat::Schema(&schema), true, &ParameterSupport::default());
        let mut forms = Vec::new();
        for message in [
            "unsupported: temperature",
            "use max_completion_tokens, not max_tokens",
            "reasoning_effort",
            "unknown field: response_format",
            "extra inputs are not permitted: temperature",
        ] {
            form = form.next(message).unwrap();
            let RequestForm { format, has_temperature, uses_max_completion_tokens, has_reasoning_effort } =
                form;
            forms.push((format, has_temperature, uses_max_completion_tokens, has_reasoning_effort));
        }
        assert_eq!(
            forms,
            [
                (FormatParameter::JsonSchema, false, false, true),
                (FormatParameter::JsonSchema, false, true, true),
                (FormatParameter::JsonSchema, false, true, false),
                (FormatParameter::JsonObject, false, true, false),
                (FormatParameter::Omitted, false, true, false),
            ]
        );
        assert_eq!(form.next("max_tokens"), None);
    }

    #[test]
    fn only_messages_about_the_form_change_it() {
        for (message, expected) in [
            ("response_format is not supported", true),
            ("failed to parse grammar", true),
            ("invalid schema for response_format 'answer'", true),
            (r#"{"detail":[{"type":"extra_forbidden","msg":"extra inputs are not permitted"}]}"#, true),
            ("unknown field `type`", true),
            ("this model does not support structured output", true),
            (r#"{"message":"failed to generate json","code":"json_validate_failed"}"#, true),
            ("invalid format: expected \"json\" or an object", true),
            ("", true),
            ("the model has no such context", false),
            ("unknown model: tiny", false),
            ("invalid api key", false),
            ("content policy violation", false),
        ] {
            assert_eq!(is_about_format(message), expected, "{message}");
        }
    }
}

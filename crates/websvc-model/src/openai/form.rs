//! The forms of a request, for servers that do not support all parameters.

use serde_json::{Value, json};

use crate::model::{CompletionRequest, ResponseFormat};

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
    /// Returns the form of the first attempt.
    pub(super) fn initial(format: ResponseFormat<'_>) -> Self {
        let format = match format {
            ResponseFormat::Text => FormatParameter::Omitted,
            ResponseFormat::Json => FormatParameter::JsonObject,
            ResponseFormat::Schema(_) => FormatParameter::JsonSchema,
        };
        Self { format, has_temperature: true, uses_max_completion_tokens: false, has_reasoning_effort: true }
    }

    /// Returns the form after an error with this message, in lower case; `None` if there is no other form.
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
            (FormatParameter::JsonSchema, ResponseFormat::Schema(schema)) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_parameters_are_removed_one_by_one() {
        let schema = json!({});
        let mut form = RequestForm::initial(ResponseFormat::Schema(&schema));
        let mut forms = Vec::new();
        for message in [
            "unsupported: temperature",
            "use max_completion_tokens, not max_tokens",
            "reasoning_effort",
            "no",
            "temperature",
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
}

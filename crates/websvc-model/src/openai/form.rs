//! The forms of a request, for servers that do not support all parameters.

mod report;

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::strict::{LENGTHS, UNSUPPORTED_LENGTH, is_strict, without_lengths};
use crate::model::{CompletionRequest, ResponseFormat};

pub use report::AcceptedForm;

/// The `response_format` of a request, in addition to the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatParameter {
    /// `json_schema` in strict mode.
    Strict,
    /// `json_schema` in strict mode, without the lengths of texts.
    StrictWithoutLengths,
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
            ResponseFormat::Schema(schema) | ResponseFormat::SchemaOrText(schema)
                if !support.json_schema.is_rejected() =>
            {
                match is_strict(schema) && !is_rejected(&support.rejects_strict) {
                    true if is_rejected(&support.rejects_lengths) => FormatParameter::StrictWithoutLengths,
                    true => FormatParameter::Strict,
                    false => FormatParameter::JsonSchema,
                }
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
            FormatParameter::Strict if names_lengths(message) => FormatParameter::StrictWithoutLengths,
            FormatParameter::Strict | FormatParameter::StrictWithoutLengths
                if !names_strict(message) && rejects_format_type(message) =>
            {
                FormatParameter::JsonObject
            }
            FormatParameter::Strict | FormatParameter::StrictWithoutLengths => FormatParameter::JsonSchema,
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
        let (ResponseFormat::Schema(schema) | ResponseFormat::SchemaOrText(schema)) = request.format else {
            if self.format != FormatParameter::Omitted {
                body["response_format"] = json!({ "type": "json_object" });
            }
            return;
        };
        // The response is validated, so a server may know fewer bounds.
        let (is_strict, min_omitted_length) = match self.format {
            FormatParameter::Strict => (true, UNSUPPORTED_LENGTH),
            FormatParameter::StrictWithoutLengths => (true, 0),
            FormatParameter::JsonSchema => (false, UNSUPPORTED_LENGTH),
            FormatParameter::JsonObject => {
                body["response_format"] = json!({ "type": "json_object" });
                return;
            }
            FormatParameter::Omitted => return,
        };
        let schema = without_lengths(schema, min_omitted_length);
        let json_schema = json!({ "name": "answer", "strict": is_strict, "schema": schema });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": json_schema });
    }
}

/// The parameters that a server does not support, as its responses have shown, so that they are not sent again.
#[derive(Debug, Default)]
pub(super) struct ParameterSupport {
    rejects_temperature: AtomicBool,
    rejects_max_tokens: AtomicBool,
    rejects_reasoning_effort: AtomicBool,
    /// The strict mode of `json_schema`.
    rejects_strict: AtomicBool,
    /// The lengths of texts in strict mode.
    rejects_lengths: AtomicBool,
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
        let Some((last, message)) = rejected.last() else { return };
        let leaves = |format: FormatParameter| last.format == format && accepted.format != format;
        let leaves_strict = leaves(FormatParameter::Strict) || leaves(FormatParameter::StrictWithoutLengths);
        for (flag, is_rejected) in [
            (
                &self.rejects_lengths,
                leaves(FormatParameter::Strict) && accepted.format == FormatParameter::StrictWithoutLengths,
            ),
            // Another message may be about this schema alone.
            (
                &self.rejects_strict,
                leaves_strict && accepted.format == FormatParameter::JsonSchema && names_strict(message),
            ),
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
            FormatParameter::Strict | FormatParameter::StrictWithoutLengths | FormatParameter::JsonSchema => {
                Some(&self.json_schema)
            }
            FormatParameter::JsonObject => Some(&self.json_object),
            FormatParameter::Omitted => None,
        }
    }
}

/// Returns whether a message, in lower case, is about the lengths of texts in a schema.
fn names_lengths(message: &str) -> bool {
    LENGTHS.iter().any(|keyword| message.contains(&keyword.to_lowercase()))
}

/// Returns whether a message, in lower case, is about the strict mode.
fn names_strict(message: &str) -> bool {
    message.contains("strict")
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
        "strict",
        "minlength",
        "maxlength",
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

    fn strict_schema() -> Value {
        json!({
            "type": "object", "properties": { "why": { "type": "string", "maxLength": 9 } }, "required": ["why"],
            "additionalProperties": false,
        })
    }

    /// Returns the strict flag and the type of the format of the next request, and whether it has lengths.
    fn sent(form: RequestForm, schema: &Value) -> (Option<bool>, String, bool) {
        let request = CompletionRequest {
            feature: crate::feature::Feature::Json,
            instructions: "",
            user_prompt: "",
            content: None,
            format: ResponseFormat::Schema(schema),
            max_tokens: 1,
            deadline: std::time::Instant::now(),
        };
        let mut body = json!({});
        form.apply(&mut body, &request, None);
        let format = &body["response_format"];
        let kind = format["type"].as_str().unwrap_or("none").to_owned();
        (format["json_schema"]["strict"].as_bool(), kind, format.to_string().contains("maxLength"))
    }

    #[test]
    fn strict_mode_is_left_step_by_step() {
        let (schema, support) = (strict_schema(), ParameterSupport::default());
        let initial = || RequestForm::initial(ResponseFormat::Schema(&schema), false, &support);
        let strict = initial();
        assert_eq!(sent(strict, &schema), (Some(true), "json_schema".into(), true));
        let message = "invalid schema for response_format 'answer': 'maxlength' is not permitted";
        let short = strict.next(message).unwrap();
        assert_eq!(sent(short, &schema), (Some(true), "json_schema".into(), false));
        let loose = short.next("invalid schema for response_format 'answer'").unwrap();
        assert_eq!(sent(loose, &schema), (Some(false), "json_schema".into(), true));
        assert_eq!(
            sent(loose.next("unsupported schema").unwrap(), &schema),
            (None, "json_object".into(), false)
        );
        // A server that does not know the type is not asked for it three times.
        let object = strict.next("response_format is not supported").unwrap();
        assert_eq!(sent(object, &schema).1, "json_object");
        // The lengths are left out from then on; a refusal of one schema is about that schema.
        support.record(&[(strict, message.to_owned())], short);
        assert_eq!(initial(), short);
        support.record(&[(short, "invalid schema for response_format 'answer'".to_owned())], loose);
        assert_eq!(initial(), short);
        support.record(&[(short, "json_schema.strict: extra inputs are not permitted".to_owned())], loose);
        assert_eq!(initial(), loose);
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

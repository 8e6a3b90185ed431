//! The log lines about failed attempts: the words of the server's error that can contain nothing of a request.

use serde_json::Value;

use crate::feature::Feature;

/// The maximum length of a word that is logged.
const MAX_WORD_LEN: usize = 64;

/// The maximum size of an error response that is parsed, in bytes. Such responses are short.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// The attempt that a log line is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    /// The index of the endpoint in the configuration. 0 is the first one.
    pub(super) endpoint: usize,
    /// The feature; `None` for the list of models.
    pub(super) feature: Option<Feature>,
    /// The number of the attempt, from 1.
    pub(super) number: u32,
}

/// The fields of an error in the form of OpenAI that are names, without its message, which may repeat the request.
#[derive(Debug, Default, PartialEq, Eq)]
struct ErrorWords {
    code: Option<String>,
    kind: Option<String>,
    param: Option<String>,
}

impl Attempt {
    /// Logs the status of a response that is an error, with the words of its body.
    pub(super) fn log_status(self, status: u16, body: &[u8]) {
        let Self { endpoint, feature, number } = self;
        let ErrorWords { code, kind, param } = ErrorWords::read(body);
        tracing::warn!(
            endpoint,
            feature = feature.map(Feature::name),
            attempt = number,
            status,
            error_code = code,
            error_type = kind,
            error_param = param,
            "the endpoint of the language model returned an error"
        );
    }

    /// Logs a connection that failed.
    pub(super) fn log_unreachable(self, reason: &'static str) {
        let Self { endpoint, feature, number } = self;
        tracing::warn!(
            endpoint,
            feature = feature.map(Feature::name),
            attempt = number,
            reason,
            "the endpoint of the language model cannot be reached"
        );
    }
}

impl ErrorWords {
    fn read(body: &[u8]) -> Self {
        if body.len() > MAX_BODY_BYTES {
            return Self::default();
        }
        let Ok(response) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        // The error is an object in `error`, or the whole response.
        let error = response.get("error").filter(|error| error.is_object()).unwrap_or(&response);
        let word = |name: &str| error.get(name).and_then(word_of);
        Self { code: word("code"), kind: word("type"), param: word("param") }
    }
}

/// Returns a value that is a number or a name without spaces. Text of a page or a prompt is neither.
fn word_of(value: &Value) -> Option<String> {
    let word = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
    (!word.is_empty() && word.len() <= MAX_WORD_LEN && word.chars().all(is_name)).then_some(word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: &Value, code: Option<&str>, kind: Option<&str>, param: Option<&str>) {
        let owned = |word: Option<&str>| word.map(str::to_owned);
        let expected = ErrorWords { code: owned(code), kind: owned(kind), param: owned(param) };
        assert_eq!(ErrorWords::read(body.to_string().as_bytes()), expected, "{body}");
    }

    #[test]
    fn names_are_read_and_texts_are_not() {
        check(
            &json!({ "error": {
                "message": "secret page text", "type": "invalid_request_error", "param": "messages[1].content",
                "code": "unsupported_value",
            } }),
            Some("unsupported_value"),
            Some("invalid_request_error"),
            Some("messages[1].content"),
        );
        check(
            &json!({ "object": "error", "type": "BadRequestError", "param": null, "code": 400 }),
            Some("400"),
            Some("BadRequestError"),
            None,
        );
        check(
            &json!({ "error": { "code": "the page says tea", "param": "x".repeat(65), "type": ["a"] } }),
            None,
            None,
            None,
        );
        check(&json!({ "error": "no such model" }), None, None, None);
        check(&json!([1]), None, None, None);
    }

    #[test]
    fn large_and_invalid_bodies_have_no_words() {
        let large = json!({ "error": { "code": "x", "message": "y".repeat(MAX_BODY_BYTES) } }).to_string();
        for body in ["not JSON", "", large.as_str()] {
            assert_eq!(ErrorWords::read(body.as_bytes()), ErrorWords::default());
        }
    }
}

//! The error in a response of the endpoint: its message, and the names of its code and parameter.

use serde_json::Value;
use websvc_transport::FetchResponse;

use crate::error::{ModelError, RejectionCause};

/// The maximum number of bytes that are read of an error.
const MAX_BYTES: usize = 2_048;

/// The maximum length of a name in an error.
const MAX_NAME_CHARS: usize = 64;

/// The codes of an account without credit, which comes with the status of a busy server and does not pass.
const NO_CREDIT: &[&str] = &["insufficient_quota", "billing_hard_limit_reached"];

/// Returns the beginning of an error response, in lower case.
pub(super) fn message_of(response: &FetchResponse) -> String {
    let message = &response.body[..response.body.len().min(MAX_BYTES)];
    String::from_utf8_lossy(message).to_lowercase()
}

/// Returns the error for a response with an error status.
pub(super) fn rejection(response: &FetchResponse) -> ModelError {
    let status = response.status.as_u16();
    let cause = cause_of(&response.body);
    if cause == RejectionCause::default() {
        return ModelError::Status { status };
    }
    ModelError::Rejected { status, cause }
}

/// Returns whether an error response says that the account has no credit.
pub(super) fn is_without_credit(response: &FetchResponse) -> bool {
    cause_of(&response.body).code.is_some_and(|code| NO_CREDIT.contains(&code.as_str()))
}

/// Returns the code and the parameter in the body of an error.
pub(super) fn cause_of(body: &[u8]) -> RejectionCause {
    let Ok(response) = serde_json::from_slice::<Value>(body) else { return RejectionCause::default() };
    let error = response.get("error").filter(|error| error.is_object()).unwrap_or(&response);
    // FastAPI describes the violations of a request in a list.
    let violation = &response["detail"][0];
    let location = violation["loc"].as_array().and_then(|location| location.last());
    let first = |values: [&Value; 3]| values.into_iter().find_map(name);
    RejectionCause {
        code: first([&error["code"], &error["type"], &violation["type"]]),
        parameter: first([&error["param"], &error["parameter"], location.unwrap_or(&Value::Null)]),
    }
}

/// Returns a name. Texts, which may repeat the request, are none.
fn name(value: &Value) -> Option<String> {
    let name = value.as_str()?;
    let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.' | '[' | ']');
    let is_valid = !name.is_empty() && name.len() <= MAX_NAME_CHARS && name.chars().all(is_name);
    is_valid.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: &Value, code: Option<&str>, parameter: Option<&str>) {
        let expected =
            RejectionCause { code: code.map(str::to_owned), parameter: parameter.map(str::to_owned) };
        assert_eq!(cause_of(body.to_string().as_bytes()), expected, "{body}");
    }

    #[test]
    fn code_and_parameter_are_read_from_each_form_of_an_error() {
        let openai =
            json!({ "message": "m", "type": "invalid_request_error", "param": "top_p", "code": "bad_value" });
        check(&json!({ "error": openai }), Some("bad_value"), Some("top_p"));
        let openai = json!({ "message": "m", "type": "invalid_request_error", "param": null, "code": null });
        check(&json!({ "error": openai }), Some("invalid_request_error"), None);
        let vllm = json!({ "object": "error", "message": "m", "type": "BadRequestError", "param": null, "code": 400 });
        check(&vllm, Some("BadRequestError"), None);
        let fast_api =
            json!({ "detail": [{ "type": "extra_forbidden", "loc": ["body", "seed"], "msg": "m" }] });
        check(&fast_api, Some("extra_forbidden"), Some("seed"));
        check(&json!({ "error": "a text" }), None, None);
    }

    #[test]
    fn texts_are_no_names() {
        let long = "x".repeat(MAX_NAME_CHARS + 1);
        for text in ["a page about tea", "<script>", "", "line\n", &long] {
            check(&json!({ "error": { "code": text, "param": text } }), None, None);
        }
        assert_eq!(cause_of(b"<html>"), RejectionCause::default());
    }
}

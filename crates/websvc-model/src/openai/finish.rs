//! The end of an answer: whether the model wrote all of it, or why not.

use serde_json::Value;

use super::reasoning::{LENGTH, is_cut_in_reasoning};
use crate::error::ModelError;
use crate::text::{cut, one_line};
use crate::usage::Usage;

/// The maximum length of the words of a model that refuses, in characters.
const MAX_REFUSAL_CHARS: usize = 200;

/// The values of `finish_reason` of a complete answer: of OpenAI and most servers, of Text Generation Inference, and of
/// gateways to other services.
const COMPLETE: &[&str] = &[
    "stop",
    "",
    "tool_calls",
    "function_call",
    "eos",
    "eos_token",
    "stop_sequence",
    "end_turn",
    "complete",
    "completed",
    "done",
];

/// The values of an answer that a filter of the endpoint has stopped.
const FILTER: &[&str] =
    &["content_filter", "safety", "recitation", "blocklist", "prohibited_content", "sensitive"];

/// The values of a server that failed or was stopped while the model wrote.
const FAILURE: &[&str] =
    &["error", "abort", "aborted", "cancelled", "canceled", "insufficient_system_resource", "network_error"];

/// Checks that the first answer of a response is complete. Part of an answer is useless: text would end in the middle, and
/// data would be incomplete.
///
/// # Errors
/// [`ModelError::InvalidResponse`]
pub(super) fn check_complete(response: &Value) -> Result<(), ModelError> {
    let Some(reason) = response["choices"][0]["finish_reason"].as_str() else { return Ok(()) };
    let reason = reason.to_ascii_lowercase();
    let is_one_of = |reasons: &[&str]| reasons.contains(&reason.as_str());
    if is_one_of(COMPLETE) {
        return Ok(());
    }
    Err(invalid(if is_one_of(LENGTH) {
        match is_cut_in_reasoning(response) {
            true => "its reasoning was cut off at the maximum length",
            false => "it was cut off at the maximum length",
        }
    } else if is_one_of(FILTER) {
        "a content filter of the endpoint stopped it"
    } else if is_one_of(FAILURE) {
        "the endpoint failed while the model wrote it"
    } else if reason == "refusal" {
        "the model refused to answer"
    } else {
        "it ended for a reason that is not known (finish_reason)"
    }))
}

/// Returns the error of a message in which the model refuses to answer.
pub(super) fn refusal(message: &Value) -> Option<ModelError> {
    let text = message["refusal"].as_str()?;
    let text: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let text = one_line(&text);
    let is_refusal = !text.is_empty();
    is_refusal.then(|| ModelError::Refused { text: cut(&text, MAX_REFUSAL_CHARS), usage: Usage::default() })
}

pub(super) fn invalid(reason: &'static str) -> ModelError {
    ModelError::InvalidResponse { reason, usage: Usage::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answer_that_did_not_stop_by_itself_fails_with_its_reason() {
        let check = |reason: Value, expected: Option<&str>| {
            let response =
                json!({ "choices": [{ "message": { "content": "{\"a\": 1}" }, "finish_reason": reason }] });
            let found = check_complete(&response).err().map(|error| error.to_string());
            match (&found, expected) {
                (None, None) => {}
                (Some(found), Some(expected)) => assert!(found.contains(expected), "{reason}: {found}"),
                _ => panic!("{reason}: {found:?}"),
            }
        };
        for reason in
            [json!(null), json!("stop"), json!("STOP"), json!("eos_token"), json!("tool_calls"), json!("")]
        {
            check(reason, None);
        }
        check(json!("length"), Some("cut off at the maximum length"));
        check(json!("MAX_TOKENS"), Some("cut off at the maximum length"));
        check(json!("content_filter"), Some("content filter"));
        check(json!("error"), Some("the endpoint failed"));
        check(json!("abort"), Some("the endpoint failed"));
        check(json!("refusal"), Some("refused"));
        check(json!("something_new"), Some("not known"));
    }

    #[test]
    fn refusal_is_one_short_line() {
        let text = format!("I will\u{7} not:\n{}", "no ".repeat(100));
        let Some(ModelError::Refused { text, usage: _ }) = refusal(&json!({ "refusal": text })) else {
            panic!("it is not a refusal")
        };
        assert!(
            text.starts_with("I will not: no no") && text.chars().count() == MAX_REFUSAL_CHARS + 1,
            "{text}"
        );
        for message in [json!({}), json!({ "refusal": null }), json!({ "refusal": " " })] {
            assert_eq!(refusal(&message), None);
        }
    }
}

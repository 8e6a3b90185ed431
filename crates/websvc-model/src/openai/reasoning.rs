//! The reasoning of a model in the text of its answer.

use serde_json::Value;

// The tags around the reasoning of a model.
pub(super) const REASONING_START: &str = "<think>";
pub(super) const REASONING_END: &str = "</think>";

/// The values of `finish_reason` at the maximum length.
pub(super) const LENGTH: &[&str] = &["length", "max_tokens", "model_length", "max_output_tokens"];

/// Returns whether the response ended at its maximum length before the answer began.
pub(super) fn is_cut_in_reasoning(response: &Value) -> bool {
    let choice = &response["choices"][0];
    let text = text_of(&choice["message"]["content"]).unwrap_or_default();
    let text = text.rsplit_once(REASONING_END).map_or(text.as_str(), |(_, rest)| rest).trim();
    let has_answer = !text.is_empty() && !text.starts_with(REASONING_START);
    is_cut_at_length(response) && !has_answer
}

/// Returns the fields of a message in which servers return the reasoning.
pub(super) fn reasoning_of(message: &Value) -> impl Iterator<Item = &str> {
    ["reasoning_content", "reasoning"].into_iter().filter_map(|name| message[name].as_str())
}

/// Returns the text of a message, which some servers return in parts.
pub(super) fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part["text"].as_str()).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns whether an answer ended at its maximum length.
fn is_cut_at_length(response: &Value) -> bool {
    let reason = response["choices"][0]["finish_reason"].as_str().unwrap_or_default();
    LENGTH.contains(&reason.to_ascii_lowercase().as_str())
}

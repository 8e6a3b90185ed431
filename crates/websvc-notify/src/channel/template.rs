//! Templates of messages for receivers of JSON.

use serde_json::{Map, Value};

use super::Parts;
use crate::wording::check_status;

/// Maximum size of `message`, in bytes.
const MESSAGE_BYTES: usize = 30_000;

/// Replaces the names in double braces in all texts of a template. A value that contains such a name stays as it is.
pub(super) fn fill(template: &Map<String, Value>, parts: &Parts<'_>) -> Value {
    let message = parts.text(MESSAGE_BYTES);
    let value_of = |name: &str| value_of(name, &message, parts);
    Value::Object(template.iter().map(|(key, value)| (key.clone(), filled(value, &value_of))).collect())
}

/// Returns the value of a name; `None` for one that is not known (websvc-validate checks them when the channel is stored).
fn value_of(name: &str, message: &str, parts: &Parts<'_>) -> Option<String> {
    let report = parts.report;
    Some(match name {
        "title" => parts.title.clone(),
        "message" => message.to_owned(),
        "monitor" => report.monitor_name.clone(),
        "monitorId" => report.monitor_id.to_string(),
        "checkId" => report.check_id.to_string(),
        "status" => check_status(report.status).to_owned(),
        "url" => parts.link.clone().unwrap_or_default(),
        "new" => report.counts.new.to_string(),
        "changed" => report.counts.changed.to_string(),
        "removed" => report.counts.removed.to_string(),
        "error" => report.counts.error.to_string(),
        _ => return None,
    })
}

fn filled(value: &Value, value_of: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => Value::String(filled_text(text, value_of)),
        Value::Array(items) => Value::Array(items.iter().map(|item| filled(item, value_of)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, field)| (key.clone(), filled(field, value_of))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn filled_text(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            rest = &rest[before.len()..];
            break;
        };
        match value_of(name.trim()) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(&format!("{{{{{name}}}}}")),
        }
        rest = after;
    }
    filled + rest
}

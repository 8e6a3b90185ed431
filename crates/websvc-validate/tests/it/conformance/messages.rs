//! Required content of every message of the table's cases.

use serde_json::Value;
use websvc_types::{Violation, ViolationCode};
use websvc_validate::Rejection;

use super::case::Case;
use super::sections;

/// Returns what a violation's message calls its place: `limit`, `sources[2]`, `the body`.
fn name(pointer: &str) -> String {
    let mut name = "the body".to_owned();
    for segment in pointer.split('/').skip(1) {
        match segment.parse::<usize>() {
            Ok(index) => name = format!("{name}[{index}]"),
            Err(_) => name = segment.replace("~1", "/").replace("~0", "~"),
        }
    }
    name
}

/// Returns the value at a place as a message shows it; none where it may not or need not be shown.
fn shown(violation: &Violation, body: &Value) -> Option<String> {
    let is_header = violation.path.starts_with("/scrapeOptions/headers/");
    match (violation.code, body.pointer(&violation.path)?) {
        // What is missing has no value, what is too long is told by its length, and headers are secrets.
        (ViolationCode::Missing | ViolationCode::TooLong | ViolationCode::TooShort, _) => None,
        (ViolationCode::Conflict | ViolationCode::UnknownField, _) => None,
        (ViolationCode::NotSupported | ViolationCode::InvalidFormat, _) if is_header => None,
        (_, Value::String(text)) if text.len() > 40 => None,
        (_, Value::Array(_)) => None,
        (_, Value::Object(_)) => None,
        (_, value) => Some(value.to_string()),
    }
}

fn wrong(case: &Case, violation: &Violation, body: &Value) -> Option<String> {
    let Violation { path, message, .. } = violation;
    let name = name(path);
    // A name that was never one is in quotes.
    let quoted = format!("{name:?}");
    let rest =
        message.strip_prefix(&name).filter(|_| !name.is_empty()).or_else(|| message.strip_prefix(&quoted));
    let begins = rest.is_some_and(|rest| rest.starts_with([' ', ':']));
    let value = shown(violation, body);
    let names = value.as_ref().is_none_or(|value| message.contains(value.trim_matches('"')));
    let sentence = !message.ends_with('.') && message.chars().count() <= 400;
    let label: String = case.body.chars().take(300).collect();
    (!(begins && names && sentence)).then(|| format!("{label}: {path}: {message:?}, not of {name} {value:?}"))
}

#[test]
fn every_message_begins_with_the_field_and_names_the_value() {
    let mut failures = Vec::new();
    for row in sections::all().iter().flat_map(|section| &section.rows) {
        for case in &row.cases {
            let Err(Rejection::Invalid(violations)) = case.outcome() else { continue };
            let body = serde_json::from_str(&case.body).expect("what breaks rules is JSON");
            failures.extend(violations.iter().filter_map(|violation| wrong(case, violation, &body)));
        }
    }
    assert!(failures.is_empty(), "{} messages:\n{}", failures.len(), failures.join("\n"));
}

//! Tests of the messages of all violations in the conformance table.

use serde_json::Value;
use websvc_types::{Violation, ViolationCode};
use websvc_validate::Rejection;

use super::case::Case;
use super::sections;

/// Returns the name of a value in messages: `limit`, `sources[2]`, `the body`.
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

/// Returns the value that the message must contain; none if the message must not or need not contain it.
fn expected_value(violation: &Violation, body: &Value) -> Option<String> {
    let is_header = violation.path.starts_with("/scrapeOptions/headers/");
    match (violation.code, body.pointer(&violation.path)?) {
        // A missing field has no value, a wrong length is reported without the value, and headers are secret.
        (ViolationCode::Missing | ViolationCode::TooLong | ViolationCode::TooShort, _) => None,
        (ViolationCode::Conflict | ViolationCode::UnknownField, _) => None,
        (ViolationCode::NotSupported | ViolationCode::InvalidFormat, _) if is_header => None,
        (_, Value::String(text)) if text.len() > 40 => None,
        (_, Value::Array(_)) => None,
        (_, Value::Object(_)) => None,
        (_, value) => Some(value.to_string()),
    }
}

fn check(case: &Case, violation: &Violation, body: &Value) -> Option<String> {
    let Violation { path, message, .. } = violation;
    let name = name(path);
    // An invalid name is in quotes.
    let quoted = format!("{name:?}");
    let rest =
        message.strip_prefix(&name).filter(|_| !name.is_empty()).or_else(|| message.strip_prefix(&quoted));
    let begins = rest.is_some_and(|rest| rest.starts_with([' ', ':']));
    let value = expected_value(violation, body);
    let names = value.as_ref().is_none_or(|value| message.contains(value.trim_matches('"')));
    let sentence = !message.ends_with('.') && message.chars().count() <= 400;
    let label: String = case.body.chars().take(300).collect();
    (!(begins && names && sentence))
        .then(|| format!("{label}: {path}: {message:?} does not name {name} {value:?}"))
}

#[test]
fn messages_begin_with_the_field_and_name_the_value() {
    let mut failures = Vec::new();
    for row in sections::all().iter().flat_map(|section| &section.rows) {
        for case in &row.cases {
            let Err(Rejection::Invalid(violations)) = case.outcome() else { continue };
            let body = serde_json::from_str(&case.body).expect("a body with violations is JSON");
            failures.extend(violations.iter().filter_map(|violation| check(case, violation, &body)));
        }
    }
    assert!(failures.is_empty(), "{} messages:\n{}", failures.len(), failures.join("\n"));
}

//! Values of results: whether they are filled, and whether they agree.

use serde_json::Value;

/// Returns whether a value has all values of another one.
pub(crate) fn covers(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (_, other) if is_empty(other) => true,
        (Value::Object(value), Value::Object(other)) => other
            .iter()
            .all(|(key, other)| is_empty(other) || value.get(key).is_some_and(|value| covers(value, other))),
        (Value::Array(values), Value::Array(others)) => {
            others.iter().all(|other| is_empty(other) || values.iter().any(|value| covers(value, other)))
        }
        (value, other) => is_same(value, other),
    }
}

/// Returns whether two values can describe the same: no field that both have contradicts.
pub(crate) fn is_compatible(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (a, b) if is_empty(a) || is_empty(b) => true,
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(key, value)| b.get(key).is_none_or(|other| is_compatible(value, other)))
        }
        (Value::Array(_), Value::Array(_)) => true,
        (a, b) => is_same(a, b),
    }
}

/// Returns a text that is equal for values that are the same.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        Value::String(text) => match text.trim().parse::<f64>() {
            // Long digits are names, such as of an article, that a floating-point number would change.
            Ok(number) if number.is_finite() && text.len() < 15 && number.to_string() == text.trim() => {
                number.to_string()
            }
            Ok(_) | Err(_) => text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join("\u{1}"))
        }
        Value::Object(fields) => {
            let filled = fields.iter().filter(|(_, value)| !is_empty(value));
            let mut fields: Vec<String> =
                filled.map(|(key, value)| format!("{key}\u{2}{}", canonical(value))).collect();
            fields.sort_unstable();
            format!("{{{}}}", fields.join("\u{1}"))
        }
    }
}

/// Returns whether a value has anything but nulls, blank texts, and lists and objects without values.
#[must_use]
pub fn has_values(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_values),
        Value::Object(fields) => fields.values().any(has_values),
        scalar => !is_empty(scalar),
    }
}

/// Returns whether a value says nothing.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

pub(crate) const fn is_scalar(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Returns whether two values are equal up to case, blanks and the spelling of numbers.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    a == b || (is_scalar(a) == is_scalar(b) && canonical(a) == canonical(b))
}

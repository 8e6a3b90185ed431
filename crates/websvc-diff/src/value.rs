//! Comparison of JSON values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::text::comparable;

/// Depth and length of a path beyond which a value is compared as a whole. They bound the recursion, and the size of the
/// result: long names at the top would otherwise be repeated for every value below.
const MAX_DEPTH: usize = 64;
const MAX_PATH_BYTES: usize = 1_000;

/// The path of a changed value that is neither in an object nor in an array.
const ROOT: &str = "$";

/// A value before and after a change. A value that does not exist is null.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueChange {
    /// The value before.
    pub previous: Value,
    /// The value after.
    pub current: Value,
}

/// Compares two values and returns the changes by their paths, such as `plans[0].price`. Names that contain dots or
/// brackets are quoted: `prices["a.b"]`. The path of the whole value is `$`.
///
/// Objects and arrays are walked, without regard to the order of the names; a change of the kind of a value is one entry.
/// Texts are compared in Unicode NFC, without zero-width characters, with each run of whitespace as one blank. Numbers
/// are compared by their value, so 1 and 1.0 are equal.
#[must_use]
pub fn changed_paths(previous: &Value, current: &Value) -> BTreeMap<String, ValueChange> {
    let mut changes = BTreeMap::new();
    walk(&mut changes, &mut String::new(), 0, previous, current);
    changes
}

/// Compares two objects and returns the changes of their fields by name. Values are compared as in [`changed_paths`],
/// and each field is one entry, in the order of the current object; those that it no longer has follow. A value that is not an
/// object counts as an object with the field `value`.
#[must_use]
pub fn changed_fields(previous: &Value, current: &Value) -> Vec<(String, ValueChange)> {
    let (mut previous_object, mut current_object) = (Map::new(), Map::new());
    let previous = object(previous, &mut previous_object);
    let current = object(current, &mut current_object);
    let mut changes = Vec::new();
    for name in current.keys().chain(previous.keys().filter(|name| !current.contains_key(*name))) {
        let (before, after) = (previous.get(name), current.get(name));
        let (before, after) = (before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null));
        if !is_same(before, after) {
            changes.push((name.clone(), change(before, after)));
        }
    }
    changes
}

/// Returns the object, or `wrapper` with the value in the field `value`.
fn object<'a>(value: &'a Value, wrapper: &'a mut Map<String, Value>) -> &'a Map<String, Value> {
    match value {
        Value::Object(object) => object,
        // No data is an object without fields.
        Value::Null => wrapper,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            wrapper.insert("value".to_owned(), value.clone());
            wrapper
        }
    }
}

fn change(previous: &Value, current: &Value) -> ValueChange {
    ValueChange { previous: previous.clone(), current: current.clone() }
}

fn walk(
    changes: &mut BTreeMap<String, ValueChange>,
    path: &mut String,
    depth: usize,
    previous: &Value,
    current: &Value,
) {
    let is_walked = depth < MAX_DEPTH && path.len() < MAX_PATH_BYTES;
    match (previous, current) {
        (Value::Object(before), Value::Object(after)) if is_walked => {
            for name in before.keys().chain(after.keys().filter(|name| !before.contains_key(*name))) {
                let length = path.len();
                push_name(path, name);
                let (before, after) = (before.get(name), after.get(name));
                walk_pair(changes, path, depth, before, after);
                path.truncate(length);
            }
        }
        (Value::Array(before), Value::Array(after)) if is_walked => {
            for index in 0..before.len().max(after.len()) {
                let length = path.len();
                path.push_str(&format!("[{index}]"));
                walk_pair(changes, path, depth, before.get(index), after.get(index));
                path.truncate(length);
            }
        }
        _ if is_same(previous, current) => {}
        _ => {
            let path = if path.is_empty() { ROOT } else { path.as_str() };
            changes.insert(path.to_owned(), change(previous, current));
        }
    }
}

/// Compares two values, of which one may not exist.
fn walk_pair(
    changes: &mut BTreeMap<String, ValueChange>,
    path: &mut String,
    depth: usize,
    previous: Option<&Value>,
    current: Option<&Value>,
) {
    walk(changes, path, depth + 1, previous.unwrap_or(&Value::Null), current.unwrap_or(&Value::Null));
}

/// Adds the name of a field to a path.
fn push_name(path: &mut String, name: &str) {
    let is_plain = !name.is_empty() && !name.contains(['.', '[', ']', '"']);
    if !is_plain {
        path.push_str(&format!("[{}]", Value::from(name)));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// Returns whether two values are equal as [`changed_paths`] compares them.
fn is_same(previous: &Value, current: &Value) -> bool {
    match (previous, current) {
        (Value::String(before), Value::String(after)) => {
            before == after || comparable(before) == comparable(after)
        }
        (Value::Number(before), Value::Number(after)) => before == after || before.as_f64() == after.as_f64(),
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(before, after)| is_same(before, after))
        }
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .all(|(name, before)| after.get(name).is_some_and(|after| is_same(before, after)))
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => previous == current,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn as_json(changes: impl IntoIterator<Item = (String, ValueChange)>) -> Value {
        let entry = |(path, ValueChange { previous, current })| {
            (path, json!({ "previous": previous, "current": current }))
        };
        Value::Object(changes.into_iter().map(entry).collect())
    }

    #[test]
    fn changes_are_listed_by_path() {
        let check = |previous: Value, current: Value, expected: Value| {
            assert_eq!(as_json(changed_paths(&previous, &current)), expected, "{previous} and {current}");
        };
        let one = |path: &str, previous: Value, current: Value| json!({ path: { "previous": previous, "current": current } });
        let plans = |price: u32| json!({ "plans": [{ "name": "a", "price": price }, { "price": 1 }] });
        check(plans(5), plans(5), json!({}));
        check(plans(5), plans(6), one("plans[0].price", json!(5), json!(6)));
        check(json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1.0 }), json!({}));
        check(json!({ "a": "x  y" }), json!({ "a": " x\ny\u{200b}" }), json!({}));
        check(json!({ "a": "cafe\u{301}" }), json!({ "a": "caf\u{e9}" }), json!({}));
        check(json!({ "a": [1, 2] }), json!({ "a": { "x": 1 } }), one("a", json!([1, 2]), json!({ "x": 1 })));
        check(json!({ "a": [1] }), json!({ "a": [1, 2] }), one("a[1]", json!(null), json!(2)));
        check(json!({ "a": 1 }), json!({}), one("a", json!(1), json!(null)));
        check(
            json!({ "p": { "a.b": 1 } }),
            json!({ "p": { "a.b": 2 } }),
            one("p[\"a.b\"]", json!(1), json!(2)),
        );
        check(json!([{ "x": 1 }]), json!([{ "x": 2 }]), one("[0].x", json!(1), json!(2)));
        check(json!(1), json!(2), one("$", json!(1), json!(2)));
        check(json!(true), json!("true"), one("$", json!(true), json!("true")));
    }

    #[test]
    fn fields_are_compared_as_a_whole() {
        let previous = json!({ "price": 5, "name": "Tea  ", "plans": [1], "gone": true });
        let current = json!({ "price": 6, "name": "Tea", "plans": [2], "new": null });
        let expected = json!({
            "price": { "previous": 5, "current": 6 },
            "plans": { "previous": [1], "current": [2] },
            "gone": { "previous": true, "current": null },
        });
        let changes = as_json(changed_fields(&previous, &current));
        assert_eq!(changes, expected);
        let names: Vec<&String> = changes.as_object().unwrap().keys().collect();
        assert_eq!(names, ["price", "plans", "gone"], "in the order of the current object");
        let expected = json!({ "value": { "previous": null, "current": [1] } });
        assert_eq!(as_json(changed_fields(&Value::Null, &json!([1]))), expected);
    }

    #[test]
    fn deep_values_and_long_paths_are_one_entry() {
        let nested = |value: u32| (0..100).fold(json!(value), |inner, _| json!([inner]));
        let changes = changed_paths(&nested(1), &nested(2));
        assert_eq!(changes.keys().map(String::as_str).collect::<Vec<_>>(), ["[0]".repeat(MAX_DEPTH)]);
        let name = "n".repeat(2 * MAX_PATH_BYTES);
        let changes = changed_paths(&json!({ &name: [1, 2] }), &json!({ &name: [3, 4] }));
        assert_eq!(changes.into_keys().collect::<Vec<_>>(), [name]);
    }
}

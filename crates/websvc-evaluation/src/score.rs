//! Exact scores: the data of a run compared with the expected data.
//!
//! Values are equal after this normalization, and only then:
//! - texts: upper and lower case, leading and trailing blanks, full stops and quotation marks do not count, and runs of
//!   white space are one blank;
//! - numbers: by value; a text that is a number counts as this number;
//! - lists: the order does not count;
//! - null, an absent field, an empty text and an empty list are the same: no value.

use serde_json::Value;

/// The score of a task: numbers of values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    /// Expected values that the data has.
    pub correct: usize,
    /// Values that the data has and that are not expected.
    pub wrong: usize,
    /// Expected values that the data does not have.
    pub missing: usize,
}

impl Score {
    /// Returns true if all expected values are there, and no others.
    #[must_use]
    pub fn is_perfect(&self) -> bool {
        self.wrong == 0 && self.missing == 0
    }

    fn add(&mut self, other: Self) {
        self.correct += other.correct;
        self.wrong += other.wrong;
        self.missing += other.missing;
    }
}

/// Compares data with the expected data.
///
/// `has_schema` is false if the data is a free object: then an expected value may be in any field, and fields that are not
/// expected do not count.
#[must_use]
pub fn score(expected: &Value, data: Option<&Value>, has_schema: bool) -> Score {
    let data = data.unwrap_or(&Value::Null);
    if has_schema {
        return compare(expected, data);
    }
    let values: Vec<Normal> = leaves(data).into_iter().map(normalize).collect();
    let mut score = Score::default();
    for leaf in leaves(expected) {
        if values.contains(&normalize(leaf)) {
            score.correct += 1;
        } else if values.is_empty() {
            score.missing += 1;
        } else {
            score.wrong += 1;
        }
    }
    score
}

/// Returns the texts, numbers and booleans of a value, without those that stand for no value.
pub(crate) fn leaves(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        other if is_empty(other) => Vec::new(),
        other => vec![other],
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn compare(expected: &Value, data: &Value) -> Score {
    match (is_empty(expected), is_empty(data)) {
        (true, true) => return Score::default(),
        (true, false) => return Score { wrong: leaves(data).len(), ..Score::default() },
        (false, true) => return Score { missing: leaves(expected).len(), ..Score::default() },
        (false, false) => {}
    }
    match (expected, data) {
        (Value::Object(expected), Value::Object(data)) => {
            let mut score = Score::default();
            for (name, field) in expected {
                score.add(compare(field, data.get(name).unwrap_or(&Value::Null)));
            }
            for (_, field) in data.iter().filter(|(name, _)| !expected.contains_key(*name)) {
                score.add(compare(&Value::Null, field));
            }
            score
        }
        (Value::Array(expected), Value::Array(data)) => compare_lists(expected, data),
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => {
            Score { wrong: leaves(data).len(), missing: leaves(expected).len(), correct: 0 }
        }
        _ if normalize(expected) == normalize(data) => Score { correct: 1, ..Score::default() },
        // A wrong value replaces the expected one: it counts once.
        _ => Score { wrong: 1, ..Score::default() },
    }
}

/// Compares lists without order: each expected item with the item of the data that has the most of its values.
fn compare_lists(expected: &[Value], data: &[Value]) -> Score {
    let mut rest: Vec<&Value> = data.iter().filter(|item| !is_empty(item)).collect();
    let mut score = Score::default();
    let mut unmatched = Vec::new();
    // Perfect pairs first, so that a similar item takes no pair away.
    for item in expected {
        match rest.iter().position(|other| compare(item, other).is_perfect()) {
            Some(at) => score.add(compare(item, rest.swap_remove(at))),
            None => unmatched.push(item),
        }
    }
    for item in unmatched {
        let best = (0..rest.len()).max_by_key(|&at| compare(item, rest[at]).correct);
        match best.filter(|&at| compare(item, rest[at]).correct > 0) {
            Some(at) => score.add(compare(item, rest.swap_remove(at))),
            None => score.add(compare(item, &Value::Null)),
        }
    }
    for item in rest {
        score.add(compare(&Value::Null, item));
    }
    score
}

/// A value after the normalization.
#[derive(Debug, PartialEq)]
enum Normal {
    Number(f64),
    Text(String),
    Bool(bool),
    Other,
}

fn normalize(value: &Value) -> Normal {
    match value {
        Value::Number(number) => number.as_f64().map_or(Normal::Other, Normal::Number),
        Value::Bool(value) => Normal::Bool(*value),
        Value::String(text) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            let text = words.join(" ").to_lowercase();
            let text = text.trim_matches(|c: char| c.is_whitespace() || ".\"'“”„«»‘’".contains(c));
            text.parse().map_or_else(|_| Normal::Text(text.to_owned()), Normal::Number)
        }
        Value::Null | Value::Array(_) | Value::Object(_) => Normal::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(expected: &Value, data: &Value, (correct, wrong, missing): (usize, usize, usize)) {
        assert_eq!(score(expected, Some(data), true), Score { correct, wrong, missing }, "{expected} {data}");
    }

    #[test]
    fn values_are_compared_after_normalization() {
        check(&json!({"a": "Rosa Imber"}), &json!({"a": " rosa\n imber. "}), (1, 0, 0));
        check(&json!({"a": 13.5}), &json!({"a": "13.50"}), (1, 0, 0));
        check(&json!({"a": 13.5}), &json!({"a": 13.6}), (0, 1, 0));
        check(&json!({"a": "05:12"}), &json!({"a": "5:12"}), (0, 1, 0));
        check(&json!({"a": "x"}), &json!({"a": ["x"]}), (0, 1, 1));
    }

    #[test]
    fn no_value_is_null_absent_or_empty() {
        for data in [json!({"a": null}), json!({}), json!({"a": ""}), json!({"a": []}), Value::Null] {
            check(&json!({"a": null}), &data, (0, 0, 0));
            check(&json!({"a": 1}), &data, (0, 0, 1));
        }
        check(&json!({"a": null}), &json!({"a": 7}), (0, 1, 0));
        assert_eq!(score(&json!({"a": 1}), None, true), Score { missing: 1, ..Score::default() });
    }

    #[test]
    fn lists_are_compared_without_order() {
        let expected = json!([{"n": "a", "p": 1}, {"n": "b", "p": 2}]);
        check(&expected, &json!([{"n": "b", "p": 2}, {"n": "a", "p": 1}]), (4, 0, 0));
        check(&expected, &json!([{"n": "b", "p": 1}, {"n": "a", "p": 1}]), (3, 1, 0));
        check(&expected, &json!([{"n": "a", "p": 1}]), (2, 0, 2));
        check(&expected, &json!([{"n": "a", "p": 1}, {"n": "b", "p": 2}, {"n": "c", "p": 3}]), (4, 2, 0));
        // An item that is given twice is wrong once.
        check(&json!(["x"]), &json!(["x", "x"]), (1, 1, 0));
    }

    #[test]
    fn free_objects_may_have_the_value_anywhere() {
        let free = |data: &Value| score(&json!({"days": 45}), Some(data), false);
        assert!(free(&json!({"answer": {"period": 45, "unit": "days"}})).is_perfect());
        assert_eq!(free(&json!({"answer": 30})).wrong, 1);
        assert_eq!(free(&json!({})).missing, 1);
    }
}

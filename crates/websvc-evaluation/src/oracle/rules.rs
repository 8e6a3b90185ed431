//! Rules of tasks, applied to text.

use std::collections::BTreeMap;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use crate::task::Rule;

/// Applies the rules to the text of a page with this URL. Returns the fields that have a value; `schema` decides their
/// types.
pub(crate) fn apply(rules: &[Rule], schema: Option<&Value>, url: &str, text: &str) -> Map<String, Value> {
    let mut data = Map::new();
    for rule in rules {
        let name = name_of(rule);
        let is_of_page = rule.page.as_ref().is_none_or(|part| url.contains(part.as_str()));
        if !is_of_page || rule.pattern.is_none() || data.contains_key(name) {
            continue;
        }
        let value = apply_rule(rule, field_schema(schema, name), text);
        if !value.is_null() {
            data.insert(name.to_owned(), value);
        }
    }
    data
}

/// Adds the values of comparisons to complete data.
pub(crate) fn compare(rules: &[Rule], data: &mut Map<String, Value>) {
    for rule in rules {
        let number = |field: &String| data.get(field).and_then(Value::as_f64);
        let extreme = |names: &BTreeMap<String, String>, sign: f64| -> Option<String> {
            let values: Option<Vec<(f64, &String)>> =
                names.iter().map(|(name, field)| Some((sign * number(field)?, name))).collect();
            values?.into_iter().max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, name)| name.clone())
        };
        let winner = match (&rule.smallest, &rule.largest) {
            (Some(names), _) => extreme(names, -1.0),
            (None, Some(names)) => extreme(names, 1.0),
            (None, None) => None,
        };
        if let Some(winner) = winner {
            data.insert(name_of(rule).to_owned(), Value::String(winner));
        }
    }
}

/// Returns all texts of a rule, to check that they contain no answer.
#[cfg(test)]
pub(crate) fn rule_text(rule: &Rule) -> String {
    let own = [&rule.pattern, &rule.skip, &rule.after, &rule.until];
    let own = own.into_iter().flatten().cloned();
    own.chain(rule.inside.iter().map(rule_text)).collect::<Vec<String>>().join("\n")
}

pub(crate) fn name_of(rule: &Rule) -> &str {
    rule.field.as_deref().or(rule.list.as_deref()).expect("a rule has a field or a list")
}

/// Returns the schema of a field of an object.
fn field_schema<'a>(schema: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    schema.and_then(|schema| schema["properties"].get(name))
}

/// Returns the value of a rule, or null.
fn apply_rule(rule: &Rule, schema: Option<&Value>, text: &str) -> Value {
    let text = limit(rule, text);
    let pattern = regex(rule.pattern.as_deref().unwrap_or_default());
    if rule.list.is_none() {
        let captures = pattern.captures(text);
        return captures.map_or(Value::Null, |captures| convert(schema, captures[1].trim()));
    }
    let item_schema = schema.map(|schema| &schema["items"]);
    let skip = rule.skip.as_deref().map(regex);
    let matches: Vec<Captures<'_>> = pattern
        .captures_iter(text)
        .filter(|captures| skip.as_ref().is_none_or(|skip| !skip.is_match(&captures[0])))
        .collect();
    let mut items = Vec::new();
    for (index, captures) in matches.iter().enumerate() {
        let start = captures.get_match().end();
        let end = matches.get(index + 1).map_or(text.len(), |next| next.get_match().start());
        let item = item(rule, &pattern, captures, item_schema, &text[start..end]);
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if items.is_empty() { Value::Null } else { Value::Array(items) }
}

/// Returns an item of a list: an object if the pattern has names, or the first group.
fn item(rule: &Rule, pattern: &Regex, captures: &Captures<'_>, schema: Option<&Value>, body: &str) -> Value {
    let names: Vec<&str> = pattern.capture_names().flatten().collect();
    if names.is_empty() {
        return convert(schema, captures[1].trim());
    }
    let mut fields = Map::new();
    for name in names {
        fields.insert(name.to_owned(), convert(field_schema(schema, name), captures[name].trim()));
    }
    for rule in &rule.inside {
        let value = apply_rule(rule, field_schema(schema, name_of(rule)), body);
        let value = if value.is_null() { Value::Array(Vec::new()) } else { value };
        fields.insert(name_of(rule).to_owned(), value);
    }
    Value::Object(fields)
}

/// Returns the part of the text that a rule allows.
fn limit<'a>(rule: &Rule, text: &'a str) -> &'a str {
    let mut text = text;
    if let Some(after) = &rule.after {
        let found = regex(after).find(text);
        text = found.map_or("", |found| &text[found.end()..]);
    }
    if let Some(until) = &rule.until {
        let found = regex(until).find(text);
        text = found.map_or(text, |found| &text[..found.start()]);
    }
    text
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("a pattern of a task is invalid: {error}"))
}

/// Returns a text as a value of the type of the schema. Without a schema, a text that is a number is one.
fn convert(schema: Option<&Value>, text: &str) -> Value {
    let kind = schema.map_or("any", |schema| match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or("any"),
        other => other.as_str().unwrap_or("any"),
    });
    match kind {
        "number" | "integer" | "any" => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
        _ => Value::String(text.to_owned()),
    }
}

/// Reads a number with separators of any language: the last of `.` and `,` is the decimal one, unless exactly three digits
/// follow it.
fn number(text: &str) -> Option<Value> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = match text.rfind(['.', ',']) {
        Some(at) if text.len() - at - 1 != 3 => {
            let whole = text[..at].replace(['.', ','], "");
            format!("{whole}.{}", &text[at + 1..])
        }
        _ => text.replace(['.', ','], ""),
    };
    let whole = plain.parse::<u64>().ok().map(Value::from);
    whole.or_else(|| plain.parse::<f64>().ok().map(Value::from))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_of_several_languages_are_read() {
        for (text, expected) in
            [("14.50", json!(14.5)), ("1,250", json!(1250)), ("42,50", json!(42.5)), ("1 240", json!(1240))]
        {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        assert_eq!(number("M33"), None);
    }

    #[test]
    fn lists_in_lists_are_read() {
        let rule: Rule = serde_json::from_value(json!({
            "list": "parts", "pattern": "# (?P<name>[a-z]+)", "inside": [{ "list": "items", "pattern": "- ([a-z]+)" }]
        }))
        .unwrap();
        let data = apply(&[rule], None, "", "# one\n- a\n- b\n# two\n- c\n");
        let expected = json!([{"name": "one", "items": ["a", "b"]}, {"name": "two", "items": ["c"]}]);
        assert_eq!(data["parts"], expected);
    }

    #[test]
    fn comparisons_need_all_values() {
        let rule: Rule =
            serde_json::from_value(json!({ "field": "cheaper", "smallest": { "A": "a", "B": "b" } }))
                .unwrap();
        let mut data = Map::from_iter([("a".to_owned(), json!(2))]);
        compare(std::slice::from_ref(&rule), &mut data);
        assert!(!data.contains_key("cheaper"));
        data.insert("b".to_owned(), json!(1.5));
        compare(&[rule], &mut data);
        assert_eq!(data["cheaper"], json!("B"));
    }
}

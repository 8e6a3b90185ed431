//! Mutation of requests.

use serde_json::{Map, Value, json};

use super::choices::Choices;

/// Changes one to three values of a request.
pub(super) fn mutate(request: &mut Value, choices: &mut Choices<'_>) {
    for _ in 0..=choices.below(3) {
        let count = value_count(request);
        let mut index = choices.below(count);
        visit(request, &mut index, &mut |value| change(value, choices));
    }
}

fn value_count(value: &Value) -> usize {
    1 + match value {
        Value::Object(object) => object.values().map(value_count).sum(),
        Value::Array(items) => items.iter().map(value_count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Calls `change` with the value at an index, counted in document order.
fn visit(value: &mut Value, index: &mut usize, change: &mut dyn FnMut(&mut Value)) -> bool {
    if *index == 0 {
        change(value);
        return true;
    }
    *index -= 1;
    match value {
        Value::Object(object) => object.values_mut().any(|inner| visit(inner, index, change)),
        Value::Array(items) => items.iter_mut().any(|inner| visit(inner, index, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn change(value: &mut Value, choices: &mut Choices<'_>) {
    match value {
        Value::Object(object) if !choices.once_in(4) => change_object(object, choices),
        Value::Array(items) if !choices.once_in(4) => match choices.below(3) {
            0 => items.extend(items.clone()),
            1 => items.push(any(choices)),
            _ => items.clear(),
        },
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            *value = choices
                .pick(&[
                    json!(number + 1.0),
                    json!(number - 1.0),
                    json!(number),
                    json!(number + 0.5),
                    json!(-number),
                    json!(number * 2.0),
                ])
                .clone();
        }
        Value::String(text) => match choices.below(5) {
            0 => text.push('x'),
            1 => text.clear(),
            2 => *text = text.to_uppercase(),
            3 => text.insert(0, ' '),
            _ => *value = any(choices),
        },
        other => *other = any(choices),
    }
}

fn change_object(object: &mut Map<String, Value>, choices: &mut Choices<'_>) {
    let names: Vec<String> = object.keys().cloned().collect();
    match choices.below(3) {
        0 if !names.is_empty() => {
            object.shift_remove(choices.pick(&names));
        }
        1 if !names.is_empty() => {
            let name = choices.pick(&names);
            if let Some(value) = object.shift_remove(name) {
                object.insert(format!("{name}s"), value);
            }
        }
        _ => {
            object.insert((*choices.pick(NAMES)).to_owned(), any(choices));
        }
    }
}

/// Field names of the interface, so that mutated requests resemble real ones.
const NAMES: &[&str] = &[
    "type",
    "limit",
    "query",
    "timeout",
    "mode",
    "selector",
    "milliseconds",
    "tbs",
    "country",
    "formats",
    "schema",
    "prompt",
    "name",
    "username",
    "jsonOptions",
    "ignoreInvalidUrls",
    "ignoreInvalidURLs",
    "lockdown",
    "onlyCleanContent",
    "enterprise",
    "profile",
    "includeDomains",
    "excludeDomains",
    "headers",
    "maxPages",
    "viewport",
    "width",
    "height",
    "quality",
    "fullPage",
    "unknown",
    "__private",
    "fastMode",
    "",
];

/// Returns a value of any type, mostly an edge case.
fn any(choices: &mut Choices<'_>) -> Value {
    choices
        .pick(&[
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1),
            json!(1.5),
            json!(2.0),
            json!(100),
            json!(101),
            json!(999),
            json!(300_001),
            json!(1e30),
            json!(-1e30),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(-0.0),
            json!(""),
            json!(" "),
            json!("\u{85}\u{feff}"),
            json!("\u{3000}"),
            json!("x"),
            json!("web"),
            json!("alexandria"),
            json!("developer"),
            json!("json"),
            json!("question"),
            json!("wait"),
            json!("pdf"),
            json!("stealth"),
            json!("uS"),
            json!("us"),
            json!("QQ"),
            json!("de-"),
            json!("10"),
            json!("qdr:d0010"),
            json!("qdr:d10000"),
            json!(" sbd:1 ,\u{3000}qdr:h "),
            json!("qdr:D"),
            json!("cdr:1,cd_min:,cd_max:2/29/2023"),
            json!("cdr:1,cd_max:13/01/2024"),
            json!("cdr:1,cd_max:12/31/0000"),
            json!("cdr:1,cd_max:012/31/2024"),
            json!("sbd:1,"),
            json!("𝄞".repeat(500)),
            json!("𝄞".repeat(501)),
            json!("a".repeat(128)),
            json!("a".repeat(2001)),
            json!("a".repeat(10_001)),
            json!([]),
            json!([null]),
            json!({}),
            json!({ "type": null }),
            json!({ "type": "web" }),
            json!({ "type": "markdown" }),
            json!({ "type": "gov" }),
            json!({ "type": "wait", "milliseconds": 1, "selector": null }),
            json!({ "type": "highlights", "query": "" }),
            json!({ "width": 1, "height": 0 }),
            json!({ "type": "pdf", "depth": 3 }),
            json!({ "x": null, "y": "a\u{7f}", "ü": "1" }),
        ])
        .clone()
}

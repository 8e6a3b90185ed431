//! Tests that an explicit null counts as absent for every optional field of the schema.

use serde_json::{Map, Value, json};
use websvc_types::{SearchRequest, schema};
use websvc_validate::{Checked, Rejection, SearchPlan, read_request};

use super::row::everything;

fn read(body: &Value) -> Result<Checked<SearchPlan>, Rejection> {
    read_request::<SearchRequest>(body.to_string().as_bytes(), &everything())
}

/// Returns the optional fields of the schema of an object, with its parts and references.
fn optional(root: &Value, schema: &Value) -> Vec<String> {
    let mut fields = Vec::new();
    let mut parts = vec![schema];
    while let Some(part) = parts.pop() {
        parts.extend(part["allOf"].as_array().into_iter().flatten());
        parts.extend(part["$ref"].as_str().and_then(|target| root.pointer(target.trim_start_matches('#'))));
        let required =
            |name: &String| part["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        let properties = part["properties"].as_object().into_iter().flatten();
        fields.extend(properties.map(|(name, _)| name.clone()).filter(|name| !required(name)));
    }
    fields
}

/// Returns the alternatives of a definition, formats or actions, with their types.
fn tagged<'a>(root: &'a Value, definition: &str) -> Vec<(&'a str, &'a Value)> {
    let schema = &root["$defs"][definition];
    let alternatives = schema["oneOf"].as_array().or_else(|| schema["anyOf"][1]["oneOf"].as_array());
    let alternatives = alternatives.expect("a list of alternatives").iter();
    alternatives.filter_map(|one| Some((one["properties"]["type"]["const"].as_str()?, one))).collect()
}

/// Returns the minimal valid object of a type.
fn minimal(kind: &str, list: &str) -> Value {
    match (list, kind) {
        ("formats", "question") => json!({ "type": kind, "question": "why?" }),
        ("formats", "highlights") => json!({ "type": kind, "query": "why" }),
        ("formats", "attributes") => {
            json!({ "type": kind, "selectors": [{ "selector": "a", "attribute": "href" }] })
        }
        ("actions", "wait") => json!({ "type": kind, "selector": "a" }),
        ("actions", "click") => json!({ "type": kind, "selector": "a" }),
        ("actions", "write") => json!({ "type": kind, "text": "t" }),
        ("actions", "press") => json!({ "type": kind, "key": "k" }),
        ("actions", "executeJavascript") => json!({ "type": kind, "script": "1" }),
        _ => json!({ "type": kind }),
    }
}

/// Adds a failure for each optional field whose null changes the result. `put` creates the body.
fn compare(fields: &[String], object: &Value, put: &dyn Fn(Value) -> Value, failures: &mut Vec<String>) {
    let without = read(&put(object.clone()));
    assert!(without.is_ok(), "{object}: {without:?}");
    let present = object.as_object().cloned().unwrap_or_default();
    for field in fields.iter().filter(|field| !present.contains_key(*field)) {
        let mut fields: Map<String, Value> = present.clone();
        fields.insert(field.clone(), Value::Null);
        let body = put(fields.into());
        let with = read(&body);
        if with != without {
            failures.push(format!("{body}: {:?}", with.map(|checked| checked.warnings)));
        }
    }
}

#[test]
fn null_counts_as_absent_for_every_optional_field() {
    let (_, root) =
        schema::roots().into_iter().find(|(name, _)| *name == "search-request").expect("the root exists");
    let root = root.to_value();
    let of = |definition: &str| optional(&root, &root["$defs"][definition]);
    let mut failures = Vec::new();
    let options = |options: Value| json!({ "query": "q", "scrapeOptions": options });
    let option = |field: &'static str| {
        let options = |value: Value| json!({ "formats": ["links"], field: value });
        move |value: Value| json!({ "query": "q", "scrapeOptions": options(value) })
    };
    compare(&optional(&root, &root), &json!({ "query": "q" }), &|body| body, &mut failures);
    compare(&of("ScrapeOptions"), &json!({ "mobile": true }), &options, &mut failures);
    compare(&of("Location"), &json!({}), &option("location"), &mut failures);
    compare(&of("RedactOptions"), &json!({}), &option("redactPII"), &mut failures);
    compare(&of("Profile"), &json!({ "name": "p" }), &option("profile"), &mut failures);
    compare(&of("ThreatProtection"), &json!({}), &option("threatProtection"), &mut failures);
    let source = |value: Value| json!({ "query": "q", "sources": [value] });
    let source_fields = optional(&root, &root["$defs"]["Source"]["anyOf"][1]);
    compare(&source_fields, &json!({ "type": "web" }), &source, &mut failures);
    let parser = |value: Value| options(json!({ "formats": ["links"], "parsers": [value] }));
    let parser_fields = optional(&root, &root["$defs"]["Parser"]["anyOf"][1]);
    compare(&parser_fields, &json!({ "type": "pdf" }), &parser, &mut failures);
    assert!(source_fields.len() == 2 && parser_fields.len() == 6, "{source_fields:?} {parser_fields:?}");
    for (kind, schema) in tagged(&root, "Format") {
        // Changes are those of the markdown.
        let format = |value: Value| options(json!({ "formats": [value, "markdown"] }));
        compare(&optional(&root, schema), &minimal(kind, "formats"), &format, &mut failures);
    }
    for (kind, schema) in tagged(&root, "Action") {
        let action = |value: Value| options(json!({ "formats": ["links"], "actions": [value] }));
        compare(&optional(&root, schema), &minimal(kind, "actions"), &action, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

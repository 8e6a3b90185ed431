//! The published schemas.

use serde_json::Value;
use websvc_types::{Format, SearchRequest, schema};

fn search_request() -> Value {
    schema::request::<SearchRequest>().to_value()
}

/// Returns every value of `key` in the document.
fn all<'v>(value: &'v Value, key: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get(key));
            object.values().for_each(|inner| all(inner, key, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| all(inner, key, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let mut documents: Vec<Value> =
        schema::roots().into_iter().map(|(_, schema)| schema.to_value()).collect();
    documents.push(schema::openapi());
    for document in &documents {
        let mut references = Vec::new();
        all(document, "$ref", &mut references);
        for reference in references {
            let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }
}

#[test]
fn every_property_of_the_request_is_described() {
    let document = search_request();
    let mut lists = Vec::new();
    all(&document, "properties", &mut lists);
    for (name, property) in lists.iter().filter_map(|list| list.as_object()).flatten() {
        let is_tag = property.get("const").is_some() || name == "type";
        assert!(is_tag || property.get("description").is_some(), "{name}: {property}");
    }
}

#[test]
fn every_format_is_in_the_schema() {
    let document = search_request();
    let mut names = Vec::new();
    all(&document["$defs"]["Format"], "const", &mut names);
    let names: Vec<&str> = names.into_iter().filter_map(Value::as_str).collect();
    assert_eq!(names, Format::NAMES);
}

#[test]
fn no_field_of_the_request_may_be_null_but_the_tag() {
    let document = search_request();
    let mut types = Vec::new();
    all(&document, "type", &mut types);
    let nullable = types.iter().filter(|types| types.is_array()).count();
    assert_eq!(nullable, 1);
}

#[test]
fn the_bounds_of_the_specification_are_in_the_schema() {
    let document = search_request();
    let table = [
        ("/properties/query/maxLength", 500),
        ("/properties/limit/minimum", 1),
        ("/properties/limit/maximum", 100),
        ("/properties/limit/default", 10),
        ("/properties/timeout/default", 60_000),
        ("/$defs/ScrapeOptions/properties/timeout/minimum", 1000),
        ("/$defs/ScrapeOptions/properties/timeout/maximum", 300_000),
        ("/$defs/ScrapeOptions/properties/maxAge/default", 172_800_000),
        ("/$defs/Parser/anyOf/1/properties/maxPages/maximum", 10_000),
        ("/$defs/Profile/properties/name/maxLength", 128),
        ("/$defs/AuditMetadata/properties/username/maxLength", 1024),
        ("/$defs/Question/properties/question/maxLength", 10_000),
        ("/$defs/Highlights/properties/query/maxLength", 10_000),
        ("/$defs/ThreatProtection/properties/blacklist/maxItems", 1000),
        ("/$defs/ThreatProtection/properties/riskScoreThreshold/maximum", 100),
        ("/$defs/Screenshot/properties/quality/maximum", 100),
    ];
    for (pointer, expected) in table {
        assert_eq!(document.pointer(pointer), Some(&Value::from(expected)), "{pointer}");
    }
}

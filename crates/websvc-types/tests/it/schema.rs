//! Tests that the published schemas agree with the specification: fields, defaults, limits, closed objects.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use websvc_types::{Format, schema};

fn root(name: &str) -> Value {
    let (_, schema) = schema::roots().into_iter().find(|(root, _)| *root == name).expect("the root exists");
    schema.to_value()
}

/// Follows the reference of a schema, if it has one.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let Some(reference) = schema["$ref"].as_str() else { return schema };
    root.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference} has no target"))
}

fn keys(object: &Value) -> BTreeSet<&str> {
    object.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Returns the property names of a definition, or of the root for "", without deprecated ones.
fn fields<'a>(root: &'a Value, definition: &str) -> BTreeSet<&'a str> {
    let schema = if definition.is_empty() { root } else { &root["$defs"][definition] };
    let mut fields = keys(&schema["properties"]);
    fields.retain(|field| schema["properties"][*field]["deprecated"] != true);
    fields
}

/// Returns the alternative of a definition whose `type` is `name`.
fn alternative<'a>(root: &'a Value, definition: &str, name: &str) -> &'a Value {
    let schema = &root["$defs"][definition];
    let alternatives = schema["oneOf"].as_array().or_else(|| schema["anyOf"][1]["oneOf"].as_array());
    alternatives
        .expect("a list of alternatives")
        .iter()
        .find(|one| one["properties"]["type"]["const"] == name)
        .unwrap_or_else(|| panic!("{definition} has no alternative {name}"))
}

#[test]
fn request_fields_match_the_specification() {
    let request = root("search-request");
    let log_only = ["origin", "integration"];
    for (definition, expected) in [
        (
            "",
            "query limit sources categories includeDomains excludeDomains tbs location country safe timeout \
             ignoreInvalidURLs highlights enterprise scrapeOptions threatProtection",
        ),
        (
            "ScrapeOptions",
            "formats onlyMainContent onlyCleanContent includeTags excludeTags maxAge minAge headers waitFor mobile \
             skipTlsVerification timeout parsers actions location removeBase64Images blockAds proxy storeInCache \
             lockdown redactPII profile threatProtection auditMetadata",
        ),
        ("ThreatProtection", "mode riskScoreThreshold blacklist whitelist blockedTlds failurePolicy"),
        ("RedactOptions", "mode entities replaceStyle"),
        ("Profile", "name saveChanges"),
        ("AuditMetadata", "username"),
        ("Location", "city country languages"),
        ("Viewport", "width height"),
    ] {
        let mut found = fields(&request, definition);
        found.retain(|name| !log_only.contains(name));
        assert_eq!(found, expected.split_whitespace().collect(), "{definition}");
    }
}

#[test]
fn format_and_action_fields_match_the_specification() {
    let request = root("search-request");
    let options = |definition, name| {
        let one = alternative(&request, definition, name);
        let mut found = keys(&one["properties"]);
        found.extend(keys(&resolve(&request, one)["properties"]));
        found.remove("type");
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    for name in Format::NAMES {
        let expected = match *name {
            "screenshot" => "fullPage quality viewport",
            // The first field is one of official clients.
            "json" => "checkPromptInjection prompt schema",
            "changeTracking" => "modes prompt schema tag",
            "question" => "question",
            "highlights" => "query",
            _ => "",
        };
        assert_eq!(options("Format", name), expected, "{name}");
    }
    for (name, expected) in [
        ("wait", "milliseconds selector"),
        ("screenshot", "fullPage quality viewport"),
        ("click", "all selector"),
        ("write", "text"),
        ("press", "key"),
        ("scroll", "direction selector"),
        ("scrape", ""),
        ("executeJavascript", "script"),
        ("pdf", "format landscape scale"),
    ] {
        assert_eq!(options("Action", name), expected, "{name}");
    }
}

#[test]
fn bare_names_are_the_formats_without_required_fields() {
    let request = root("search-request");
    let bare = request["$defs"]["Format"]["anyOf"][0]["enum"].as_array().unwrap();
    for name in Format::NAMES {
        let one = alternative(&request, "Format", name);
        let needs_more = resolve(&request, one)["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|required| required != "type"));
        assert_eq!(bare.contains(&json!(name)), !needs_more, "{name}");
    }
}

#[test]
fn response_fields_match_the_specification() {
    let response = root("search-response");
    for (definition, expected) in [
        ("", "success data warning id creditsUsed"),
        ("SearchData", "web images news"),
        (
            "WebResult",
            "title description url category markdown html rawHtml links screenshot audio video metadata",
        ),
        ("ImageResult", "title imageUrl imageWidth imageHeight url position"),
        (
            "NewsResult",
            "title snippet url date imageUrl position markdown html rawHtml links screenshot audio video metadata",
        ),
        ("Metadata", "title description sourceURL url statusCode numPages totalPages error"),
    ] {
        let found = fields(&response, definition);
        let missing: Vec<&str> = expected.split_whitespace().filter(|name| !found.contains(name)).collect();
        assert!(missing.is_empty(), "{definition} lacks {missing:?}");
    }
}

#[test]
fn defaults_match_the_specification() {
    let request = root("search-request");
    for (pointer, expected) in [
        ("/properties/limit", json!(10)),
        ("/properties/sources", json!([{ "type": "web" }])),
        ("/properties/categories", json!([])),
        ("/properties/country", json!("US")),
        ("/properties/timeout", json!(60_000)),
        ("/properties/ignoreInvalidURLs", json!(false)),
        ("/properties/highlights", json!(true)),
        ("/$defs/ScrapeOptions/properties/onlyMainContent", json!(true)),
        ("/$defs/ScrapeOptions/properties/onlyCleanContent", json!(false)),
        ("/$defs/ScrapeOptions/properties/maxAge", json!(172_800_000)),
        ("/$defs/ScrapeOptions/properties/waitFor", json!(0)),
        ("/$defs/ScrapeOptions/properties/mobile", json!(false)),
        ("/$defs/ScrapeOptions/properties/skipTlsVerification", json!(true)),
        ("/$defs/ScrapeOptions/properties/timeout", json!(60_000)),
        ("/$defs/ScrapeOptions/properties/removeBase64Images", json!(true)),
        ("/$defs/ScrapeOptions/properties/blockAds", json!(true)),
        ("/$defs/ScrapeOptions/properties/proxy", json!("auto")),
        ("/$defs/ScrapeOptions/properties/storeInCache", json!(true)),
        ("/$defs/ScrapeOptions/properties/lockdown", json!(false)),
        ("/$defs/ScrapeOptions/properties/redactPII", json!(false)),
        ("/$defs/Profile/properties/saveChanges", json!(true)),
        ("/$defs/Location/properties/country", json!("US")),
        ("/$defs/Screenshot/properties/fullPage", json!(false)),
        ("/$defs/Click/properties/all", json!(false)),
        ("/$defs/Scroll/properties/direction", json!("down")),
        ("/$defs/Pdf/properties/format", json!("Letter")),
        ("/$defs/Pdf/properties/landscape", json!(false)),
        ("/$defs/Pdf/properties/scale", json!(1)),
        ("/$defs/RedactOptions/properties/mode", json!("accurate")),
        ("/$defs/RedactOptions/properties/replaceStyle", json!("tag")),
        ("/$defs/Parser/anyOf/1/properties/mode", json!("auto")),
    ] {
        let field = request.pointer(pointer).unwrap_or_else(|| panic!("{pointer} has no target"));
        assert_eq!(field["default"], expected, "{pointer}");
    }
}

#[test]
fn limits_match_the_specification() {
    let request = root("search-request");
    for (pointer, expected) in [
        ("/properties/query", json!({ "minLength": 1, "maxLength": 500 })),
        ("/properties/limit", json!({ "minimum": 1, "maximum": 100 })),
        ("/$defs/ScrapeOptions/properties/timeout", json!({ "minimum": 1000, "maximum": 300_000 })),
        ("/$defs/ScrapeOptions/properties/actions", json!({ "maxItems": 50 })),
        ("/$defs/Parser/anyOf/1/properties/maxPages", json!({ "minimum": 1, "maximum": 10_000 })),
        ("/$defs/Profile/properties/name", json!({ "minLength": 1, "maxLength": 128 })),
        ("/$defs/AuditMetadata/properties/username", json!({ "maxLength": 1024 })),
        ("/$defs/Question/properties/question", json!({ "maxLength": 10_000 })),
        ("/$defs/Highlights/properties/query", json!({ "maxLength": 10_000 })),
        ("/$defs/Screenshot/properties/quality", json!({ "minimum": 1, "maximum": 100 })),
        (
            "/$defs/ScrapeOptions/properties/maxAge",
            json!({ "minimum": 0, "maximum": 9_007_199_254_740_991_u64 }),
        ),
        ("/$defs/ScrapeOptions/properties/includeTags/items", json!({ "maxLength": 2000 })),
        ("/$defs/ThreatProtection/properties/riskScoreThreshold", json!({ "minimum": 0, "maximum": 100 })),
        ("/$defs/ThreatProtection/properties/blacklist", json!({ "maxItems": 1000 })),
        ("/$defs/ThreatProtection/properties/whitelist", json!({ "maxItems": 1000 })),
        ("/$defs/ThreatProtection/properties/blockedTlds", json!({ "maxItems": 1000 })),
    ] {
        let field = request.pointer(pointer).unwrap_or_else(|| panic!("{pointer} has no target"));
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&field[key], value, "{pointer} {key}");
        }
    }
}

#[test]
fn enum_values_match_the_specification() {
    let request = root("search-request");
    for (definition, expected) in [
        ("SourceKind", "web images news"),
        ("RetentionOption", "anon zdr default"),
        ("Proxy", "basic enhanced auto stealth"),
        ("ParserMode", "fast auto ocr"),
        ("ChangeMode", "git-diff json"),
        ("Direction", "up down"),
        ("RedactMode", "accurate aggressive fast"),
        ("RedactEntity", "PERSON EMAIL PHONE LOCATION FINANCIAL SECRET"),
        ("ReplaceStyle", "tag mask remove"),
        ("ThreatMode", "off normal"),
        ("ThreatFailurePolicy", "open closed"),
        ("PaperFormat", "A0 A1 A2 A3 A4 A5 A6 Letter Legal Tabloid Ledger"),
    ] {
        let schema = &request["$defs"][definition];
        let consts = schema["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
        let names = schema["enum"].as_array().into_iter().flatten();
        let found: Vec<&str> = consts.chain(names).filter_map(Value::as_str).collect();
        assert_eq!(found, expected.split_whitespace().collect::<Vec<_>>(), "{definition}");
    }
}

#[test]
fn closed_objects_match_the_specification() {
    let request = root("search-request");
    let mut closed = BTreeSet::new();
    find_closed(&request, "", &mut closed);
    let wait = request["$defs"]["Action"]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .position(|one| one["properties"]["type"]["const"] == "wait")
        .unwrap();
    let expected = [
        format!("/$defs/Action/oneOf/{wait}"),
        "/$defs/AuditMetadata".to_owned(),
        "/$defs/Parser/anyOf/1".to_owned(),
        "/$defs/RedactOptions".to_owned(),
    ];
    assert_eq!(closed, expected.into());
}

fn find_closed(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            if object.get("additionalProperties") == Some(&json!(false)) {
                found.insert(path.to_owned());
            }
            for (key, value) in object {
                find_closed(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                find_closed(value, &format!("{path}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_field_has_a_description() {
    for (name, schema) in schema::roots() {
        let schema = schema.to_value();
        check_described(&schema, name);
    }
}

fn check_described(value: &Value, path: &str) {
    match value {
        Value::Object(object) => {
            // Objects without `type` are parts of rules, not of a body.
            if let (Some(Value::Object(properties)), Some(_)) = (object.get("properties"), object.get("type"))
            {
                for (field, schema) in properties {
                    let tag =
                        field == "type" && (schema.get("const").is_some() || schema.get("enum").is_some());
                    assert!(tag || schema["description"].is_string(), "{path}/{field} is not described");
                }
            }
            for (key, value) in object {
                check_described(value, &format!("{path}/{key}"));
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                check_described(value, &format!("{path}/{index}"));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn descriptions_have_no_rust_examples_and_no_line_breaks() {
    for (name, schema) in schema::roots() {
        let mut descriptions = Vec::new();
        collect_descriptions(&schema.to_value(), &mut descriptions);
        for description in descriptions {
            let paragraphs = description.replace("\n\n", "");
            assert!(!paragraphs.contains('\n') && !paragraphs.contains("```"), "{name}: {description}");
        }
    }
}

fn collect_descriptions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(description)) = object.get("description") {
                found.push(description.clone());
            }
            object.values().for_each(|value| collect_descriptions(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_descriptions(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

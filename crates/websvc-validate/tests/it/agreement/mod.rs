//! Tests that the published schema and the validator agree.
//!
//! Clients, editors and code generators use the schema, the service uses the validator. Requests are generated from the
//! schema, then mutated, and both must judge them alike.

mod choices;
mod generate;
mod mutate;
mod schemas;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use choices::Choices;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use websvc_types::{SearchRequest, Violation, ViolationCode, schema};
use websvc_validate::{FeaturePolicy, Policy, Rejection, ThreatPolicy, read_request};

/// Rules that the schema does not express, each with the paths and codes of its violations. Only these violations may
/// occur in a request that is valid by the schema.
const BEYOND_THE_SCHEMA: &[(&str, &[&str], ViolationCode)] = &[
    ("the items of a time filter can be combined, and its days exist", TBS, ViolationCode::InvalidFormat),
    ("hostnames are valid by IDNA", HOSTS, ViolationCode::InvalidFormat),
    ("selectors follow the grammar of CSS", SELECTORS, ViolationCode::InvalidFormat),
    ("a schema is a valid JSON Schema", SCHEMAS, ViolationCode::InvalidFormat),
    ("a schema is a valid JSON Schema", SCHEMAS, ViolationCode::InvalidType),
    ("a schema is a valid JSON Schema", SCHEMAS, ViolationCode::UnknownValue),
    ("a schema is a valid JSON Schema", SCHEMAS, ViolationCode::TooSmall),
    ("a schema is a valid JSON Schema", SCHEMAS, ViolationCode::TooShort),
    ("a schema is a valid JSON Schema", SCHEMAS, ViolationCode::Conflict),
    ("the nesting of a schema is limited", SCHEMAS, ViolationCode::TooLong),
    ("a schema refers only to itself", SCHEMAS, ViolationCode::NotSupported),
    ("some headers are reserved", &["/scrapeOptions/headers/*"], ViolationCode::NotSupported),
    ("a header occurs once in any case", &["/scrapeOptions/headers/*"], ViolationCode::Conflict),
    ("the size of all headers is limited", &["/scrapeOptions/headers"], ViolationCode::TooLong),
    ("a wait takes at most half of the timeout", &["/scrapeOptions/waitFor"], ViolationCode::TooBig),
    ("the sum of all waits is limited", &["/scrapeOptions/actions"], ViolationCode::TooBig),
    ("changes are those of the markdown", &["/scrapeOptions/formats/*"], ViolationCode::Conflict),
    ("a format occurs once", &["/scrapeOptions/formats/*"], ViolationCode::Conflict),
    ("a parser occurs once", &["/scrapeOptions/parsers/*"], ViolationCode::Conflict),
    ("a source occurs once", &["/sources/*"], ViolationCode::Conflict),
    ("a profile conflicts with zero data retention", &["/scrapeOptions/profile"], ViolationCode::Conflict),
];

/// Parts of a request that are removed or rewritten before it becomes a typed request.
const REWRITTEN: &[&str] = &[
    "alexandria",
    "attributes",
    "checkPrompt",
    "developer",
    "gov\"",
    "ignoreInvalidUrls",
    "jsonOptions",
    "image\"",
    "pageMarkdown",
    "type\":\"query",
    "x-one",
];

const TBS: &[&str] = &["/tbs", "/sources/*/tbs"];
const HOSTS: &[&str] = &[
    "/includeDomains/*",
    "/excludeDomains/*",
    "/threatProtection/blacklist/*",
    "/threatProtection/whitelist/*",
    "/threatProtection/blockedTlds/*",
    "/scrapeOptions/threatProtection/blacklist/*",
    "/scrapeOptions/threatProtection/whitelist/*",
    "/scrapeOptions/threatProtection/blockedTlds/*",
];
const SELECTORS: &[&str] = &[
    "/scrapeOptions/includeTags/*",
    "/scrapeOptions/excludeTags/*",
    "/scrapeOptions/actions/*/selector",
    "/scrapeOptions/formats/*/selectors/*/selector",
];
const SCHEMAS: &[&str] = &[
    "/scrapeOptions/formats/*/schema",
    "/scrapeOptions/formats/*/schema/**",
    "/scrapeOptions/jsonOptions/schema",
    "/scrapeOptions/jsonOptions/schema/**",
];

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema::request::<SearchRequest>().to_value());
static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).expect("the published schema is valid"));

/// Returns a policy that allows everything, so that only the field rules reject.
fn policy() -> Policy {
    Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        ..Policy::default()
    }
}

/// Returns the violations of a body; none if it is accepted.
fn violations(body: &Value) -> Vec<Violation> {
    match read_request::<SearchRequest>(body.to_string().as_bytes(), &policy()) {
        Ok(_) => Vec::new(),
        Err(Rejection::Invalid(violations)) => violations,
        Err(other) => panic!("{body}: {other:?}"),
    }
}

fn is_beyond_the_schema(violation: &Violation) -> bool {
    BEYOND_THE_SCHEMA.iter().any(|(_, patterns, code)| {
        *code == violation.code && patterns.iter().any(|pattern| matches(pattern, &violation.path))
    })
}

/// Returns whether a path matches a pattern, where `*` is any segment and a last `**` any number of segments.
fn matches(pattern: &str, path: &str) -> bool {
    let mut path = path.split('/');
    for segment in pattern.split('/') {
        match (segment, path.next()) {
            ("**", Some(_)) => return true,
            ("*", Some(_)) => {}
            (segment, found) if found == Some(segment) => {}
            _ => return false,
        }
    }
    path.next().is_none()
}

/// Names of the fields that are lists.
static LISTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let mut names = BTreeSet::new();
    collect_lists(&SCHEMA, &mut names);
    names
});

fn collect_lists<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    let is_list = |schema: &Value| match &schema["type"] {
        Value::Array(types) => types.contains(&json!("array")),
        kind => kind == "array",
    };
    match schema {
        Value::Object(keywords) => {
            let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
            names.extend(properties.filter(|(_, schema)| is_list(schema)).map(|(name, _)| name.as_str()));
            keywords.values().for_each(|inner| collect_lists(inner, names));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect_lists(inner, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes empty objects in place of lists. They count as absent for the validator; the schema does not list them, because
/// they would make the types of generated clients useless.
fn without_empty_lists(mut body: Value) -> Value {
    match &mut body {
        Value::Object(fields) => {
            fields.retain(|name, value| *value != json!({}) || !LISTS.contains(name.as_str()));
            fields.values_mut().for_each(|value| *value = without_empty_lists(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_empty_lists(item.take())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    body
}

/// Checks that schema and validator agree about a body.
fn compare(body: &Value) -> Result<(), TestCaseError> {
    let violations = violations(body);
    let given = without_empty_lists(body.clone());
    let first =
        VALIDATOR.iter_errors(&given).next().map(|error| format!("{error} at {}", error.instance_path()));
    match (&first, violations.as_slice()) {
        (None, violations) => {
            let unknown: Vec<&Violation> =
                violations.iter().filter(|violation| !is_beyond_the_schema(violation)).collect();
            prop_assert!(unknown.is_empty(), "the schema accepts {body}, the validator reports {unknown:?}");
        }
        (Some(error), []) => prop_assert!(false, "the validator accepts {body}, the schema reports {error}"),
        (Some(_), _) => {}
    }
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn choice_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..800)
}

proptest! {
    #![proptest_config(config(6_000))]

    #[test]
    fn requests_generated_from_the_schema_are_accepted_and_round_trip(bytes in choice_bytes()) {
        let body = generate::request(&SCHEMA, &mut Choices::new(&bytes));
        prop_assert!(VALIDATOR.is_valid(&body), "{body}");
        let read = match read_request::<SearchRequest>(body.to_string().as_bytes(), &policy()) {
            Ok(read) => read,
            Err(error) => return Err(TestCaseError::fail(format!("{body} is rejected: {error}"))),
        };
        // These parts are removed or rewritten, so that the typed request differs from the body.
        let text = body.to_string();
        if REWRITTEN.iter().any(|part| text.contains(part)) {
            return Ok(());
        }
        let typed: SearchRequest = serde_json::from_value(body).unwrap();
        let written = serde_json::to_string(&typed).unwrap();
        prop_assert_eq!(&serde_json::from_str::<SearchRequest>(&written).unwrap(), &typed);
        prop_assert_eq!(read_request::<SearchRequest>(written.as_bytes(), &policy()).unwrap().plan, read.plan);
    }
}

proptest! {
    #![proptest_config(config(10_000))]

    #[test]
    fn mutated_requests_are_judged_alike_by_schema_and_validator(bytes in choice_bytes()) {
        let mut choices = Choices::new(&bytes);
        let mut body = generate::request(&SCHEMA, &mut choices);
        mutate::mutate(&mut body, &mut choices);
        compare(&body)?;
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..100_usize) {
        let _ = read_request::<SearchRequest>(&bytes, &policy());
        // Also a request that is cut off, and one with a changed byte.
        let mut body = generate::request(&SCHEMA, &mut Choices::new(&bytes)).to_string().into_bytes();
        let position = cut * body.len() / 100;
        let _ = read_request::<SearchRequest>(&body[..position], &policy());
        body[position] = bytes.first().copied().unwrap_or_default();
        let _ = read_request::<SearchRequest>(&body, &policy());
    }
}

#[test]
fn schema_and_validator_accept_the_same_country_codes() {
    for first in b'A'..=b'Z' {
        for second in b'A'..=b'Z' {
            let upper = String::from_utf8(vec![first, second]).unwrap();
            for code in [upper.clone(), upper.to_lowercase()] {
                for body in [
                    json!({ "query": "q", "country": code }),
                    json!({ "query": "q", "scrapeOptions": { "location": { "country": code } } }),
                ] {
                    assert_eq!(VALIDATOR.is_valid(&body), violations(&body).is_empty(), "{body}");
                }
            }
        }
    }
}

#[test]
fn schema_and_validator_agree_on_blank_characters() {
    for character in ('\0'..=char::MAX)
        .filter(|c| c.is_whitespace() || c.is_control() || !c.is_alphanumeric())
        .take(20_000)
    {
        let body = json!({ "query": character });
        assert_eq!(VALIDATOR.is_valid(&body), violations(&body).is_empty(), "{character:?}");
    }
}

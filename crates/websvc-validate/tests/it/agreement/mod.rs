//! The published schema and the validator say the same.
//!
//! A schema generator, an editor or a client's own check reads the one, the service does the other: where they differ
//! somebody is told wrong. Requests are made out of the schema itself, then mistakes are made in them.

mod choices;
mod generate;
mod mutate;
mod schemas;

use std::sync::LazyLock;

use choices::Choices;
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use websvc_types::{SearchRequest, Violation, ViolationCode, schema};
use websvc_validate::{FeaturePolicy, Policy, Rejection, ThreatPolicy, read_search};

/// The rules that the schema does not say, each with the places and the codes of its violations. Only these may be
/// broken by what the schema allows.
const BEYOND_THE_SCHEMA: &[(&str, &[&str], ViolationCode)] = &[
    ("the items of a time filter go together, and its days exist", TBS, ViolationCode::InvalidFormat),
    ("hostnames are those of IDNA", HOSTS, ViolationCode::InvalidFormat),
    ("selectors keep to the grammar of CSS", SELECTORS, ViolationCode::InvalidFormat),
    ("a schema is a JSON Schema", SCHEMAS, ViolationCode::InvalidFormat),
    ("a schema is a JSON Schema", SCHEMAS, ViolationCode::InvalidType),
    ("a schema is a JSON Schema", SCHEMAS, ViolationCode::UnknownValue),
    ("a schema is a JSON Schema", SCHEMAS, ViolationCode::TooSmall),
    ("a schema is a JSON Schema", SCHEMAS, ViolationCode::TooShort),
    ("a schema is a JSON Schema", SCHEMAS, ViolationCode::Conflict),
    ("a schema is not too deep", SCHEMAS, ViolationCode::TooLong),
    ("a schema refers only to itself", SCHEMAS, ViolationCode::NotSupported),
    ("some headers belong to the connection", &["/scrapeOptions/headers/*"], ViolationCode::NotSupported),
    ("a header is given once, whatever its case", &["/scrapeOptions/headers/*"], ViolationCode::Conflict),
    ("headers have a length in all", &["/scrapeOptions/headers"], ViolationCode::TooLong),
    ("a wait leaves half of the time", &["/scrapeOptions/waitFor"], ViolationCode::TooBig),
    ("all waits have a sum", &["/scrapeOptions/actions"], ViolationCode::TooBig),
    ("a format is given once", &["/scrapeOptions/formats/*"], ViolationCode::Conflict),
    ("a parser is given once", &["/scrapeOptions/parsers/*"], ViolationCode::Conflict),
    ("a source is given once", &["/sources/*"], ViolationCode::Conflict),
    ("no profile is used where nothing is kept", &["/scrapeOptions/profile"], ViolationCode::Conflict),
    ("no model cleans what nobody may keep", &["/scrapeOptions/onlyCleanContent"], ViolationCode::Conflict),
];

/// Parts of a request that are dropped before it becomes a typed one.
const LEFT_OUT: &[&str] = &[
    "alexandria",
    "attributes",
    "blocks\"",
    "developer",
    "gov\"",
    "ignoreInvalidUrls",
    "jsonOptions",
    "pageMark",
    "pages\"",
    "rawBase64",
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
const SELECTORS: &[&str] =
    &["/scrapeOptions/includeTags/*", "/scrapeOptions/excludeTags/*", "/scrapeOptions/actions/*/selector"];
const SCHEMAS: &[&str] = &[
    "/scrapeOptions/formats/*/schema",
    "/scrapeOptions/formats/*/schema/**",
    "/scrapeOptions/jsonOptions/schema",
    "/scrapeOptions/jsonOptions/schema/**",
];

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema::request::<SearchRequest>().to_value());
static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&SCHEMA).expect("the published schema is one"));

/// Returns a policy that allows everything, so that only the rules of the contract reject.
fn policy() -> Policy {
    Policy {
        zdr: FeaturePolicy::Allowed,
        anon: FeaturePolicy::Allowed,
        threat: ThreatPolicy::On,
        ..Policy::default()
    }
}

/// Returns the violations of a body; none when it is accepted.
fn violations(body: &Value) -> Vec<Violation> {
    match read_search(body.to_string().as_bytes(), &policy()) {
        Ok(_) => Vec::new(),
        Err(Rejection::Invalid(violations)) => violations,
        Err(other) => panic!("{body}: {other:?}"),
    }
}

fn is_beyond_the_schema(violation: &Violation) -> bool {
    BEYOND_THE_SCHEMA.iter().any(|(_, places, code)| {
        *code == violation.code && places.iter().any(|place| is_at(place, &violation.path))
    })
}

/// Tells whether a path is that of a place, where `*` is any segment and a last `**` any number of them.
fn is_at(place: &str, path: &str) -> bool {
    let mut path = path.split('/');
    for segment in place.split('/') {
        match (segment, path.next()) {
            ("**", Some(_)) => return true,
            ("*", Some(_)) => {}
            (segment, found) if found == Some(segment) => {}
            _ => return false,
        }
    }
    path.next().is_none()
}

/// Compares the two judgements of a body.
fn compare(body: &Value) -> Result<(), TestCaseError> {
    let violations = violations(body);
    let first =
        VALIDATOR.iter_errors(body).next().map(|error| format!("{error} at {}", error.instance_path()));
    match (&first, violations.as_slice()) {
        (None, violations) => {
            let unknown: Vec<&Violation> =
                violations.iter().filter(|violation| !is_beyond_the_schema(violation)).collect();
            prop_assert!(unknown.is_empty(), "the schema allows {body}, the validator says {unknown:?}");
        }
        (Some(error), []) => prop_assert!(false, "accepted, but the schema says {error}: {body}"),
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

fn decisions() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..800)
}

proptest! {
    #![proptest_config(config(6_000))]

    #[test]
    fn what_the_schema_allows_is_accepted_and_read_back_as_it_was_written(bytes in decisions()) {
        let body = generate::request(&SCHEMA, &mut Choices::new(&bytes));
        prop_assert!(VALIDATOR.is_valid(&body), "{body}");
        let read = match read_search(body.to_string().as_bytes(), &policy()) {
            Ok(read) => read,
            Err(error) => return Err(TestCaseError::fail(format!("{body} is refused: {error}"))),
        };
        // Left out or respelled on the way in, so a typed request never has it.
        let text = body.to_string();
        if LEFT_OUT.iter().any(|one| text.contains(one)) {
            return Ok(());
        }
        let typed: SearchRequest = serde_json::from_value(body).unwrap();
        let written = serde_json::to_string(&typed).unwrap();
        prop_assert_eq!(&serde_json::from_str::<SearchRequest>(&written).unwrap(), &typed);
        prop_assert_eq!(read_search(written.as_bytes(), &policy()).unwrap().plan, read.plan);
    }
}

proptest! {
    #![proptest_config(config(10_000))]

    #[test]
    fn mistakes_are_seen_by_both(bytes in decisions()) {
        let mut choices = Choices::new(&bytes);
        let mut body = generate::request(&SCHEMA, &mut choices);
        mutate::mutate(&mut body, &mut choices);
        compare(&body)?;
    }

    #[test]
    fn nothing_makes_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..100_usize) {
        let _ = read_search(&bytes, &policy());
        // Near to a request too: one that is cut off, and one with a byte changed.
        let mut body = generate::request(&SCHEMA, &mut Choices::new(&bytes)).to_string().into_bytes();
        let position = cut * body.len() / 100;
        let _ = read_search(&body[..position], &policy());
        body[position] = bytes.first().copied().unwrap_or_default();
        let _ = read_search(&body, &policy());
    }
}

#[test]
fn every_pair_of_letters_is_a_country_to_both_or_to_neither() {
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
fn every_character_is_blank_to_both_or_to_neither() {
    for character in ('\0'..=char::MAX)
        .filter(|c| c.is_whitespace() || c.is_control() || !c.is_alphanumeric())
        .take(20_000)
    {
        let body = json!({ "query": character });
        assert_eq!(VALIDATOR.is_valid(&body), violations(&body).is_empty(), "{character:?}");
    }
}

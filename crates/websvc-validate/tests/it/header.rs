//! Tests of request headers.

use std::collections::BTreeMap;

use serde_json::json;
use websvc_types::ViolationCode::*;

use crate::support::{check_option, scrape_plan, violations};

#[test]
fn invalid_and_reserved_headers_are_rejected() {
    let table = [
        ("Cookie", "a=b; c=d", None),
        ("X-Tab", "a\tb", None),
        ("x-empty", "", None),
        ("", "x", Some(InvalidFormat)),
        ("two words", "x", Some(InvalidFormat)),
        ("colon:", "x", Some(InvalidFormat)),
        ("naïve", "x", Some(InvalidFormat)),
        ("x", "line\r\nInjected: 1", Some(InvalidFormat)),
        ("x", "\0", Some(InvalidFormat)),
        ("Host", "example.com", Some(NotSupported)),
        ("Content-Length", "1", Some(NotSupported)),
        ("Proxy-Authorization", "x", Some(NotSupported)),
        ("Metadata-Flavor", "Google", Some(NotSupported)),
    ];
    for (name, value, expected) in table {
        let path = format!("headers/{name}");
        let expected: Vec<_> = expected.map(|code| (path.as_str(), code)).into_iter().collect();
        check_option("headers", &json!({ name: value }), &expected);
    }
}

#[test]
fn header_names_become_lower_case() {
    let plan = scrape_plan(json!({ "headers": { "User-Agent": "x", "COOKIE": "a=b" } }));
    let expected = BTreeMap::from([("cookie", "a=b"), ("user-agent", "x")]);
    assert_eq!(
        plan.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<BTreeMap<_, _>>(),
        expected
    );
}

#[test]
fn header_in_two_cases_is_a_conflict() {
    check_option("headers", &json!({ "Cookie": "a", "cookie": "b" }), &[("headers/cookie", Conflict)]);
}

#[test]
fn headers_above_64_kib_are_rejected() {
    check_option("headers", &json!({ "x": "v".repeat(65_535) }), &[]);
    check_option("headers", &json!({ "x": "v".repeat(65_536) }), &[("headers", TooLong)]);
}

#[test]
fn header_message_does_not_contain_the_value() {
    let body = json!({ "query": "q", "scrapeOptions": { "headers": { "cookie": "secret\n" } } });
    let found = violations(&body);
    assert_eq!(found[0].message, "cookie: the value contains characters that are not allowed in a header");
}

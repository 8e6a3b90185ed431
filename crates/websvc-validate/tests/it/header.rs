//! Headers of the caller's own.

use std::collections::BTreeMap;

use serde_json::json;
use websvc_types::ViolationCode::*;

use crate::support::{check_option, scrape_plan, violations};

#[test]
fn names_and_values_must_be_legal() {
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
fn names_become_lower_case() {
    let plan = scrape_plan(json!({ "headers": { "User-Agent": "x", "COOKIE": "a=b" } }));
    let expected = BTreeMap::from([("cookie", "a=b"), ("user-agent", "x")]);
    assert_eq!(
        plan.headers().iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<BTreeMap<_, _>>(),
        expected
    );
}

#[test]
fn a_header_may_be_given_once() {
    check_option("headers", &json!({ "Cookie": "a", "cookie": "b" }), &[("headers/cookie", Conflict)]);
}

#[test]
fn headers_have_a_largest_size() {
    check_option("headers", &json!({ "x": "v".repeat(65_535) }), &[]);
    check_option("headers", &json!({ "x": "v".repeat(65_536) }), &[("headers", TooLong)]);
}

#[test]
fn a_bad_value_is_not_repeated() {
    let body = json!({ "query": "q", "scrapeOptions": { "headers": { "cookie": "secret\n" } } });
    let found = violations(&body);
    assert_eq!(found[0].message, "cookie: the value has characters that a header cannot have");
}

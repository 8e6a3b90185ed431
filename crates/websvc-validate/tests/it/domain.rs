//! Tests of domain filters.

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;
use websvc_validate::DomainFilter;

use crate::support::{check, plan, violations};

#[test]
fn hostnames_are_converted_to_canonical_form() {
    let table: &[(&str, Option<&str>)] = &[
        ("example.com", Some("example.com")),
        (" Docs.Example.COM. ", Some("docs.example.com")),
        ("localhost", Some("localhost")),
        ("bücher.example", Some("xn--bcher-kva.example")),
        ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
        ("under_score.example", Some("under_score.example")),
        ("127.0.0.1", Some("127.0.0.1")),
        ("", None),
        (".", None),
        ("a..b", None),
        (".example.com", None),
        ("https://example.com", None),
        ("example.com/path", None),
        ("example.com:80", None),
        ("*.example.com", None),
        ("exa mple.com", None),
        ("user@example.com", None),
        ("-a.example", None),
        ("a-.example", None),
        ("xn--\u{fc}", None),
    ];
    for (text, expected) in table {
        match expected {
            Some(host) => {
                let plan = plan(&json!({ "query": "q", "includeDomains": [text] }));
                assert_eq!(plan.domains, DomainFilter::Include(vec![(*host).to_owned()]), "{text:?}");
            }
            None => check(
                &json!({ "query": "q", "excludeDomains": ["ok.example", text] }),
                &[("/excludeDomains/1", InvalidFormat)],
            ),
        }
    }
}

#[test]
fn too_long_labels_and_hostnames_are_rejected() {
    let label = |length: usize| "a".repeat(length);
    let host = |last: usize| [label(63), label(63), label(63), label(last)].join(".");
    for (text, is_host) in [(label(63), true), (label(64), false), (host(61), true), (host(62), false)] {
        let expected: &[_] = if is_host { &[] } else { &[("/includeDomains/0", InvalidFormat)] };
        check(&json!({ "query": "q", "includeDomains": [text] }), expected);
    }
}

#[test]
fn include_and_exclude_domains_conflict() {
    let both = json!({ "query": "q", "includeDomains": ["a.example"], "excludeDomains": ["b.example"] });
    let found = violations(&both);
    assert_eq!((found[0].path.as_str(), found[0].code), ("/excludeDomains", Conflict));
    assert_eq!(found[0].message, "excludeDomains cannot be combined with includeDomains");
    assert_eq!(found.len(), 1);
}

#[test]
fn empty_domain_list_counts_as_absent() {
    let filter = |include: Value, exclude: Value| {
        plan(&json!({ "query": "q", "includeDomains": include, "excludeDomains": exclude })).domains.clone()
    };
    assert_eq!(filter(json!([]), json!([])), DomainFilter::Any);
    assert_eq!(filter(json!(["a.example"]), json!([])), DomainFilter::Include(vec!["a.example".to_owned()]));
    assert_eq!(filter(json!([]), json!(["a.example"])), DomainFilter::Exclude(vec!["a.example".to_owned()]));
}

#[test]
fn duplicate_hosts_are_removed() {
    let plan = plan(&json!({ "query": "q", "includeDomains": ["b.example", "a.example", "B.example"] }));
    assert_eq!(plan.domains, DomainFilter::Include(vec!["b.example".to_owned(), "a.example".to_owned()]));
}

#[test]
fn more_than_1000_domains_are_rejected() {
    let hosts = |count: usize| (0..count).map(|i| format!("h{i}.example")).collect::<Vec<_>>();
    check(&json!({ "query": "q", "includeDomains": hosts(1000) }), &[]);
    check(&json!({ "query": "q", "includeDomains": hosts(1001) }), &[("/includeDomains", TooLong)]);
}

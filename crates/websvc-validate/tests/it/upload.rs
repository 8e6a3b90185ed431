//! Tests of uploads to the index and of progress reports.

use serde_json::{Value, json};
use websvc_types::ViolationCode::{self, *};
use websvc_types::index::{CrawlProgressRequest, IndexUploadRequest};
use websvc_validate::{Rejection, read_request};

/// Checks that an upload has exactly these violations.
#[track_caller]
fn check(body: &Value, expected: &[(&str, ViolationCode)]) {
    let found = match read_request::<IndexUploadRequest>(body.to_string().as_bytes(), ()) {
        Ok(_) => Vec::new(),
        Err(Rejection::Invalid(violations)) => violations,
        Err(other) => panic!("{other:?}"),
    };
    let found: Vec<(&str, ViolationCode)> = found.iter().map(|v| (v.path.as_str(), v.code)).collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn upload_violations_have_paths_and_codes() {
    check(&json!({}), &[("/documents", Missing)]);
    check(&json!({ "documents": [] }), &[]);
    let image = json!({ "url": "http://a.test/i.png", "width": 401.0, "height": null });
    check(&json!({ "documents": [{ "url": "http://a.test/", "images": [image], "country": null }] }), &[]);
    let documents = json!([
        { "url": "http://a.test/", "headings": [1], "images": [{ "width": -1 }] },
        { "title": "no url" },
        { "url": "/relative", "explicit": "yes" },
        { "url": "ftp://a.test/" },
        { "url": "http://1.2.3.999/" },
        "text",
    ]);
    check(
        &json!({ "documents": documents }),
        &[
            ("/documents/0/headings/0", InvalidType),
            ("/documents/0/images/0/url", Missing),
            ("/documents/0/images/0/width", TooSmall),
            ("/documents/1/url", Missing),
            ("/documents/2/explicit", InvalidType),
            ("/documents/2/url", InvalidFormat),
            ("/documents/3/url", InvalidFormat),
            ("/documents/4/url", InvalidFormat),
            ("/documents/5", InvalidType),
        ],
    );
}

#[test]
fn file_url_without_host_is_accepted_and_unknown_field_has_a_warning() {
    let body = br#"{"documents": [{"url": "file:///srv/notes/a.txt", "titel": "A"}]}"#;
    let checked = read_request::<IndexUploadRequest>(body, ()).unwrap();
    assert_eq!(checked.plan.documents[0].url, "file:///srv/notes/a.txt");
    assert!(
        checked.warnings[0].contains("titel") && checked.warnings[0].contains("title"),
        "{:?}",
        checked.warnings
    );
}

#[test]
fn crawl_progress_fields_are_checked() {
    let read = |body: Value| match read_request::<CrawlProgressRequest>(body.to_string().as_bytes(), ()) {
        Ok(checked) => Ok(checked.plan),
        Err(Rejection::Invalid(violations)) => Err(violations
            .iter()
            .map(|violation| (violation.path.clone(), violation.code))
            .collect::<Vec<_>>()),
        Err(other) => panic!("{other:?}"),
    };
    let plan = read(json!({ "id": "docs", "hosts": ["a.test"], "pages": 3, "ended": true })).unwrap();
    assert_eq!((plan.pages, plan.waiting, plan.ended), (3, 0, true));
    let check = |body: Value, expected: &[(&str, ViolationCode)]| {
        let expected: Vec<_> = expected.iter().map(|(path, code)| ((*path).to_owned(), *code)).collect();
        assert_eq!(read(body).unwrap_err(), expected);
    };
    check(json!({}), &[("/id", Missing)]);
    check(json!({ "id": "" }), &[("/id", TooShort)]);
    check(json!({ "id": "x".repeat(65) }), &[("/id", TooLong)]);
    check(json!({ "id": "x", "hosts": vec!["a.test"; 17] }), &[("/hosts", TooLong)]);
    check(json!({ "id": "x", "hosts": ["a", "h".repeat(256)] }), &[("/hosts/1", TooLong)]);
    check(json!({ "id": "x", "pages": -1 }), &[("/pages", TooSmall)]);
}

//! Tests of the table of routes.

use websvc_types::limits::{BODY_MAX_BYTES, BODY_TOKEN_MAX_BYTES};

use super::*;

fn check(method: &Method, path: &str, expected: Option<Operation>) {
    assert_eq!(find(method, path).ok().map(|route| route.operation), expected, "{method} {path}");
}

#[test]
fn double_and_trailing_slashes_are_ignored() {
    check(&Method::POST, "/v2/search", Some(Operation::Search));
    check(&Method::POST, "//v2//search/", Some(Operation::Search));
    check(&Method::GET, "//", Some(Operation::Root));
}

#[test]
fn literal_path_has_precedence_over_an_id() {
    check(&Method::GET, "/v2/crawl/active", Some(Operation::Job(JobKind::Crawl, JobOperation::Active)));
    check(&Method::DELETE, "/v2/crawl/active", None);
    check(&Method::DELETE, "/v2/crawl/1", Some(Operation::Job(JobKind::Crawl, JobOperation::Cancel)));
}

#[test]
fn unknown_paths_and_methods_are_rejected() {
    check(&Method::GET, "/v2/search", None);
    check(&Method::POST, "/v3/search", None);
}

#[test]
fn operations_of_the_openapi_document_have_routes_with_the_same_access() {
    let document = websvc_types::openapi::document();
    let paths = document["paths"].as_object().filter(|paths| !paths.is_empty()).unwrap();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
            let route = find(&method, path).expect("a documented operation exists");
            // An operation is public if it has no security scheme, or an empty one.
            let is_public = operation["security"].as_array().is_some_and(|schemes| {
                schemes.is_empty() || schemes.iter().any(|scheme| *scheme == serde_json::json!({}))
            });
            assert_eq!(route.access == AccessLevel::Public, is_public, "{method} {path}");
        }
    }
    for route in
        ROUTES.iter().filter(|route| route.access == AccessLevel::Key && route.operation != Operation::Mcp)
    {
        let method = route.method.as_str().to_ascii_lowercase();
        assert!(paths[route.path][method].is_object(), "{} {} is not documented", route.method, route.path);
    }
}

#[test]
fn paths_of_extractions_include_those_below_and_unknown_ones() {
    for route in ROUTES.iter().filter(|route| route.path.contains("extract")) {
        assert!(is_of_extractions(route.path), "{}", route.path);
    }
    for (path, expected) in [
        ("/v2/extract", true),
        ("//v1//extract/", true),
        ("/v2/extract/1/errors", true),
        ("/v2/extraction", false),
        ("/v3/extract", false),
        ("/v2/scrape/extract", false),
        ("/", false),
    ] {
        assert_eq!(is_of_extractions(path), expected, "{path}");
    }
}

#[test]
fn head_request_has_the_route_of_get() {
    check(&Method::HEAD, "/health", Some(Operation::Health));
}

#[test]
fn segment_in_braces_matches_exactly_one_segment() {
    check(&Method::GET, "/artifacts/a.png", Some(Operation::Artifact));
    check(&Method::HEAD, "/artifacts//a.png", Some(Operation::Artifact));
    check(&Method::GET, "/artifacts/..%2fwebsvc.db", Some(Operation::Artifact));
    check(&Method::GET, "/artifacts", None);
    check(&Method::GET, "/artifacts/", None);
    check(&Method::GET, "/artifacts/a/b.png", None);
    check(&Method::GET, "/artifacts/../websvc.db", None);
    check(&Method::POST, "/artifacts/a.png", None);
}

#[test]
fn only_these_paths_are_public() {
    let public: Vec<&str> =
        ROUTES.iter().filter(|route| route.access == AccessLevel::Public).map(|route| route.path).collect();
    let (docs, others): (Vec<&str>, Vec<&str>) =
        public.into_iter().partition(|path| *path == "/docs" || path.starts_with("/docs/"));
    let (dashboard, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/dashboard/files/"));
    let (feeds, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.ends_with("/feed"));
    let (sessions, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/browser/"));
    assert_eq!(sessions, ["/v2/browser/{id}/cdp", "/v2/browser/{id}/live"]);
    assert_eq!(feeds, ["/v2/monitor/{id}/feed"]);
    let (emails, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/monitor/email/"));
    assert_eq!(emails, [CONFIRM, CONFIRM, UNSUBSCRIBE, UNSUBSCRIBE]);
    let (uploads, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/parse/"));
    assert_eq!(uploads, ["/v2/parse/upload/{id}"]);
    assert_eq!(others[..6], ["/health", "/ready", "/metrics", "/openapi.json", "/artifacts/{file}", "/"]);
    assert_eq!(others[6..], ["/dashboard/session", "/dashboard/session"]);
    assert_eq!(dashboard.len(), 30);
    assert_eq!(docs.len(), 7);
}

#[test]
fn operations_without_a_key_read_short_bodies_and_those_of_gets_read_none() {
    for route in ROUTES {
        let body = route.operation.body();
        match route.access {
            AccessLevel::Public => {
                let is_short = match body {
                    RequestBody::None | RequestBody::Whole { max_bytes: ..=BODY_TOKEN_MAX_BYTES } => true,
                    // Its handler checks the signature of the URL first.
                    RequestBody::File => route.operation == Operation::Upload,
                    RequestBody::Whole { .. } | RequestBody::Form => false,
                };
                assert!(is_short, "{route:?}: {body:?}");
            }
            AccessLevel::Key | AccessLevel::Admin => {
                let is_limited =
                    !matches!(body, RequestBody::Whole { max_bytes } if max_bytes > BODY_MAX_BYTES);
                assert!(is_limited, "{route:?}: {body:?}");
            }
        }
        if matches!(route.method, Method::GET | Method::DELETE) {
            assert_eq!(body, RequestBody::None, "{route:?}");
        }
    }
}

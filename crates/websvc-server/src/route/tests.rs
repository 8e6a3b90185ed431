//! Tests of the table of endpoints.

use std::collections::BTreeSet;

use websvc_types::limits::{BODY_MAX_BYTES, BODY_TOKEN_MAX_BYTES};

use super::*;

/// Checks the path of the endpoint of a request.
fn check(method: &Method, path: &str, expected: Option<&str>) {
    assert_eq!(find(method, path).ok().map(|endpoint| endpoint.path), expected, "{method} {path}");
}

#[test]
fn double_and_trailing_slashes_are_ignored() {
    check(&Method::POST, "/v2/search", Some("/v2/search"));
    check(&Method::POST, "//v2//search/", Some("/v2/search"));
    check(&Method::GET, "//", Some("/"));
}

#[test]
fn literal_path_has_precedence_over_an_id() {
    check(&Method::GET, "/v2/crawl/active", Some("/v2/crawl/active"));
    check(&Method::DELETE, "/v2/crawl/active", None);
    check(&Method::DELETE, "/v2/crawl/1", Some("/v2/crawl/{id}"));
}

#[test]
fn method_and_path_are_unique() {
    let mut seen = BTreeSet::new();
    for endpoint in endpoints() {
        assert!(seen.insert((endpoint.method.as_str(), endpoint.path)), "{endpoint:?}");
    }
}

#[test]
fn names_in_braces_are_captured() {
    let endpoint = find(&Method::GET, "/v2/monitor/7/checks/8").unwrap();
    let capture = |name| endpoint.capture("//v2/monitor/7//checks/8/", name);
    assert_eq!((capture("id"), capture("checkId"), capture("other")), ("7", "8", ""));
}

#[test]
fn unknown_paths_and_methods_are_rejected() {
    check(&Method::GET, "/v2/search", None);
    check(&Method::POST, "/v3/search", None);
}

#[test]
fn operations_of_the_openapi_document_have_routes_with_the_same_access() {
    let document = websvc_testkit::openapi_document();
    let paths = document["paths"].as_object().filter(|paths| !paths.is_empty()).unwrap();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes()).unwrap();
            let endpoint = find(&method, path).expect("a documented operation exists");
            // An operation is public if it has no security scheme, or an empty one.
            let is_public = operation["security"].as_array().is_some_and(|schemes| {
                schemes.is_empty() || schemes.iter().any(|scheme| *scheme == serde_json::json!({}))
            });
            assert_eq!(endpoint.access == AccessLevel::Public, is_public, "{method} {path}");
        }
    }
    // OpenAPI has no parameters with slashes.
    let is_documented = |endpoint: &&Endpoint| {
        endpoint.access == AccessLevel::Key && endpoint.path != "/mcp" && !endpoint.has_rest()
    };
    for endpoint in endpoints().filter(is_documented) {
        let method = endpoint.method.as_str().to_ascii_lowercase();
        assert!(
            paths[endpoint.path][method].is_object(),
            "{} {} is not documented",
            endpoint.method,
            endpoint.path
        );
    }
}

#[test]
fn head_request_has_the_route_of_get() {
    check(&Method::HEAD, "/health", Some("/health"));
}

#[test]
fn segment_in_braces_matches_exactly_one_segment() {
    check(&Method::GET, "/artifacts/a.png", Some("/artifacts/{file}"));
    check(&Method::HEAD, "/artifacts//a.png", Some("/artifacts/{file}"));
    check(&Method::GET, "/artifacts/..%2fwebsvc.db", Some("/artifacts/{file}"));
    check(&Method::GET, "/artifacts", None);
    check(&Method::GET, "/artifacts/", None);
    check(&Method::GET, "/artifacts/a/b.png", None);
    check(&Method::GET, "/artifacts/../websvc.db", None);
    check(&Method::POST, "/artifacts/a.png", None);
}

#[test]
fn url_in_the_path_may_have_any_number_of_segments() {
    for path in [
        "/https://tea.test",
        "/https://tea.test/a//b/",
        "/https:/tea.test/a/b/c",
        "//https://tea.test/v2/search",
    ] {
        check(&Method::GET, path, Some("/https:/{url*}"));
    }
    check(&Method::HEAD, "/http://tea.test/", Some("/http:/{url*}"));
    check(&Method::POST, "/https://tea.test", None);
    for path in ["/https:", "/https:/", "/https://", "/ftp://tea.test", "/tea.test/a", "/v2/https://tea.test"]
    {
        check(&Method::GET, path, None);
    }
}

#[test]
fn only_these_paths_are_public() {
    let public: Vec<&str> = endpoints()
        .filter(|endpoint| endpoint.access == AccessLevel::Public)
        .map(|endpoint| endpoint.path)
        .collect();
    let (docs, others): (Vec<&str>, Vec<&str>) =
        public.into_iter().partition(|path| *path == "/docs" || path.starts_with("/docs/"));
    let (dashboard, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/dashboard/files/"));
    let (oidc, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/dashboard/oidc/"));
    assert_eq!(oidc, ["/dashboard/oidc/start", "/dashboard/oidc/callback"]);
    let (feeds, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.ends_with("/feed"));
    let (sessions, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/browser/"));
    assert_eq!(sessions, ["/v2/browser/{id}/cdp", "/v2/browser/{id}/live"]);
    assert_eq!(feeds, ["/v2/monitor/{id}/feed"]);
    let (emails, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/monitor/email/"));
    let (confirm, unsubscribe) = ("/v2/monitor/email/confirm", "/v2/monitor/email/unsubscribe");
    assert_eq!(emails, [confirm, confirm, unsubscribe, unsubscribe]);
    let (uploads, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/parse/"));
    assert_eq!(uploads, ["/v2/parse/upload/{id}"]);
    let (keys, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/v2/keys/"));
    assert_eq!(keys, ["/v2/keys/redeem"]);
    let (oauth, others): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|path| path.starts_with("/oauth/") || path.starts_with("/.well-known/"));
    assert_eq!(oauth.len(), 7, "{oauth:?}");
    assert_eq!(others[..6], ["/health", "/ready", "/openapi.json", "/", "/metrics", "/artifacts/{file}"]);
    assert_eq!(others[6..], ["/dashboard/session", "/dashboard/session"]);
    assert_eq!(dashboard, ["/dashboard/files/{file}"]);
    assert_eq!(docs.len(), 7);
}

#[test]
fn operations_without_a_key_read_short_bodies_and_those_of_gets_read_none() {
    for endpoint in endpoints() {
        let body = endpoint.body;
        match endpoint.access {
            AccessLevel::Public => {
                let is_short = match body {
                    RequestBody::None | RequestBody::Whole { max_bytes: ..=BODY_TOKEN_MAX_BYTES } => true,
                    // Its handler checks the signature of the URL first.
                    RequestBody::File => endpoint.path == "/v2/parse/upload/{id}",
                    RequestBody::Whole { .. } | RequestBody::Form => false,
                };
                assert!(is_short, "{endpoint:?}: {body:?}");
            }
            AccessLevel::Key | AccessLevel::Admin => {
                let is_limited =
                    !matches!(body, RequestBody::Whole { max_bytes } if max_bytes > BODY_MAX_BYTES);
                assert!(is_limited, "{endpoint:?}: {body:?}");
            }
        }
        if matches!(endpoint.method, Method::GET | Method::DELETE) {
            assert_eq!(body, RequestBody::None, "{endpoint:?}");
        }
    }
}

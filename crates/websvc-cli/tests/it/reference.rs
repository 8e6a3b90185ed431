//! The API reference under `/docs`: everything it loads is there, and comes from the service itself.

use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Method};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

use crate::harness::{Service, tea_world};

/// Asks without a key.
async fn ask(service: &Service, method: Method, path: &str, accept_encoding: &'static str) -> FetchResponse {
    let mut request = FetchRequest::get(format!("{}{path}", service.address).parse().unwrap());
    request.method = method;
    request.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept_encoding));
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap().fetch(request).await.unwrap()
}

fn header(answer: &FetchResponse, name: HeaderName) -> &str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// Returns the values of an attribute, in the order of the page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn the_reference_loads_only_what_the_service_has() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let page = ask(&service, Method::GET, "/docs", "gzip").await;
    assert_eq!((page.status.as_u16(), header(&page, CONTENT_TYPE)), (200, "text/html; charset=utf-8"));
    let html = std::str::from_utf8(&page.body).unwrap();
    let scripts = values(html, "src");
    let links: Vec<&str> = values(html, "href").into_iter().filter(|link| *link != "data:,").collect();
    assert_eq!((scripts.len(), links.len()), (2, 6), "{html}");
    assert!(!html.contains("<style") && !html.contains("<script>"), "the policy forbids what is inline");
    for path in scripts.iter().chain(&links) {
        assert!(path.starts_with('/') && !path.starts_with("//"), "{path} is of another host");
        let answer = ask(&service, Method::GET, path, "gzip").await;
        let expected = match path.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "json")) => "application/json",
            _ => "text/plain; charset=utf-8",
        };
        assert_eq!((answer.status.as_u16(), header(&answer, CONTENT_TYPE)), (200, expected), "{path}");
        assert!(!answer.body.is_empty(), "{path}");
    }
    let slash = ask(&service, Method::GET, "/docs/", "gzip").await;
    assert_eq!((slash.status.as_u16(), slash.body), (200, page.body.clone()));
}

#[tokio::test]
async fn the_reference_is_guarded_by_headers() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let page = ask(&service, Method::GET, "/docs", "gzip").await;
    let script = values(std::str::from_utf8(&page.body).unwrap(), "src")[0].to_owned();
    let script = ask(&service, Method::GET, &script, "gzip").await;
    for answer in [&page, &script] {
        let policy = header(answer, CONTENT_SECURITY_POLICY);
        let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(directives.contains(&directive), "{directive} in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(header(answer, X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(header(answer, REFERRER_POLICY), "no-referrer");
    }
    assert_eq!(header(&page, CACHE_CONTROL), "no-cache");
}

#[tokio::test]
async fn the_renderer_is_sent_compressed_to_those_who_read_that() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let page = ask(&service, Method::GET, "/docs", "gzip").await;
    let script = values(std::str::from_utf8(&page.body).unwrap(), "src")[0].to_owned();
    let packed = ask(&service, Method::GET, &script, "br, gzip").await;
    let plain = ask(&service, Method::GET, &script, "identity").await;
    assert_eq!((header(&packed, CONTENT_ENCODING), header(&plain, CONTENT_ENCODING)), ("gzip", ""));
    let length = |answer: &FetchResponse| header(answer, CONTENT_LENGTH).parse::<usize>().unwrap();
    assert!(length(&packed) * 3 < length(&plain), "{} of {} bytes", length(&packed), length(&plain));
    assert_eq!(packed.body, plain.body);
    assert_eq!(length(&plain), plain.body.len());
    for answer in [&packed, &plain] {
        assert_eq!(header(answer, VARY), "accept-encoding");
        assert!(header(answer, CACHE_CONTROL).contains("immutable"));
    }
    let head = ask(&service, Method::HEAD, &script, "gzip").await;
    assert_eq!((head.status.as_u16(), length(&head), head.body.len()), (200, length(&packed), 0));
    let head = ask(&service, Method::HEAD, "/docs", "gzip").await;
    assert_eq!((head.status.as_u16(), length(&head)), (200, page.body.len()));
}

#[tokio::test]
async fn other_paths_below_the_reference_are_not_found() {
    let world = tea_world().await;
    let service = Service::of(&world);
    for path in ["/docs/nothing.js", "/docs/index.html", "/docs/..%2fopenapi.json", "/docs/page.js/x"] {
        let answer = service.get(path).await;
        assert_eq!(
            (answer.status.as_u16(), answer.body["code"].as_str()),
            (404, Some("NOT_FOUND")),
            "{path}"
        );
    }
    let answer = service.post("/docs", "{}").await;
    assert_eq!((answer.status.as_u16(), answer.headers["allow"].to_str().unwrap()), (405, "GET"));
}

#[tokio::test]
async fn the_root_says_where_the_reference_is() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let answer = service.send(Method::GET, "/", &[("authorization", "")], String::new()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        (answer.body["docs"].as_str(), answer.body["openapi"].as_str()),
        (Some("/docs"), Some("/openapi.json"))
    );
}

//! Tests of the API reference under `/docs`.

use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Method};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

use crate::harness::{Service, tea_world};

/// Sends a request without a key.
async fn request(
    service: &Service,
    method: Method,
    path: &str,
    accept_encoding: &'static str,
) -> FetchResponse {
    let mut request = FetchRequest::get(format!("{}{path}", service.address).parse().unwrap());
    request.method = method;
    request.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(accept_encoding));
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap().fetch(request).await.unwrap()
}

fn header(response: &FetchResponse, name: HeaderName) -> &str {
    response.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// Returns the values of an attribute in the order of the page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn reference_page_loads_only_local_files() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let page = request(&service, Method::GET, "/docs", "gzip").await;
    assert_eq!((page.status.as_u16(), header(&page, CONTENT_TYPE)), (200, "text/html; charset=utf-8"));
    let html = std::str::from_utf8(&page.body).unwrap();
    let scripts = values(html, "src");
    let links: Vec<&str> = values(html, "href").into_iter().filter(|link| *link != "data:,").collect();
    assert_eq!((scripts.len(), links.len()), (2, 6), "{html}");
    assert!(
        !html.contains("<style") && !html.contains("<script>"),
        "the content security policy forbids inline code"
    );
    for path in scripts.iter().chain(&links) {
        assert!(path.starts_with('/') && !path.starts_with("//"), "{path} is on another host");
        let response = request(&service, Method::GET, path, "gzip").await;
        let expected = match path.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "json")) => "application/json",
            _ => "text/plain; charset=utf-8",
        };
        assert_eq!((response.status.as_u16(), header(&response, CONTENT_TYPE)), (200, expected), "{path}");
        assert!(!response.body.is_empty(), "{path}");
    }
    let slash = request(&service, Method::GET, "/docs/", "gzip").await;
    assert_eq!((slash.status.as_u16(), slash.body), (200, page.body.clone()));
}

#[tokio::test]
async fn reference_page_has_security_headers() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let page = request(&service, Method::GET, "/docs", "gzip").await;
    let script = values(std::str::from_utf8(&page.body).unwrap(), "src")[0].to_owned();
    let script = request(&service, Method::GET, &script, "gzip").await;
    for response in [&page, &script] {
        let policy = header(response, CONTENT_SECURITY_POLICY);
        let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(directives.contains(&directive), "{directive} is not in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert_eq!(header(response, X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(header(response, REFERRER_POLICY), "no-referrer");
    }
    assert_eq!(header(&page, CACHE_CONTROL), "no-cache");
}

#[tokio::test]
async fn reference_renderer_is_compressed_on_request() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let page = request(&service, Method::GET, "/docs", "gzip").await;
    let script = values(std::str::from_utf8(&page.body).unwrap(), "src")[0].to_owned();
    let compressed = request(&service, Method::GET, &script, "br, gzip").await;
    let plain = request(&service, Method::GET, &script, "identity").await;
    assert_eq!((header(&compressed, CONTENT_ENCODING), header(&plain, CONTENT_ENCODING)), ("gzip", ""));
    let length = |response: &FetchResponse| header(response, CONTENT_LENGTH).parse::<usize>().unwrap();
    assert!(length(&compressed) * 3 < length(&plain), "{} of {} bytes", length(&compressed), length(&plain));
    assert_eq!(compressed.body, plain.body);
    assert_eq!(length(&plain), plain.body.len());
    for response in [&compressed, &plain] {
        assert_eq!(header(response, VARY), "accept-encoding");
        assert!(header(response, CACHE_CONTROL).contains("immutable"));
    }
    let head = request(&service, Method::HEAD, &script, "gzip").await;
    assert_eq!((head.status.as_u16(), length(&head), head.body.len()), (200, length(&compressed), 0));
    let head = request(&service, Method::HEAD, "/docs", "gzip").await;
    assert_eq!((head.status.as_u16(), length(&head)), (200, page.body.len()));
}

#[tokio::test]
async fn unknown_reference_paths_are_not_found() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    for path in ["/docs/missing.js", "/docs/index.html", "/docs/..%2fopenapi.json", "/docs/page.js/x"] {
        let response = service.get(path).await;
        assert_eq!(
            (response.status.as_u16(), response.body["code"].as_str()),
            (404, Some("NOT_FOUND")),
            "{path}"
        );
    }
    let response = service.post("/docs", "{}").await;
    assert_eq!((response.status.as_u16(), response.headers["allow"].to_str().unwrap()), (405, "GET"));
}

#[tokio::test]
async fn root_names_the_reference() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let response = service.send(Method::GET, "/", &[("authorization", "")], String::new()).await;
    assert_eq!(response.status, 200);
    assert_eq!(
        (response.body["docs"].as_str(), response.body["openapi"].as_str()),
        (Some("/docs"), Some("/openapi.json"))
    );
}

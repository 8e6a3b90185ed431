//! Redirect chains: methods, credentials, cookies, limits.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::{FetchError, FetchRequest, RedirectPolicy, UrlPolicy};

use crate::support::{client_of, get};

fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

#[tokio::test]
async fn redirect_chain_is_followed_and_reported() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(301, "https://b.test/x?y=1"))
        .page("https://b.test/x?y=1", Page::redirect(302, "z"))
        .page("https://b.test/z", Page::text("end"))
        .start()
        .await;
    let fetched = client_of(&world).fetch(get("http://a.test/#part")).await.unwrap();
    assert_eq!(fetched.body, "end");
    assert_eq!(fetched.url.as_str(), "https://b.test/z#part");
    let chain: Vec<_> = fetched.redirects.iter().map(url::Url::as_str).collect();
    assert_eq!(chain, ["http://a.test/#part", "https://b.test/x?y=1#part"]);
    assert_eq!(fetched.remote_addr, world.https_addr());
}

#[tokio::test]
async fn redirect_changes_methods_as_browsers_do() {
    let table = [
        (Method::POST, 301, Method::GET),
        (Method::POST, 302, Method::GET),
        (Method::POST, 303, Method::GET),
        (Method::POST, 307, Method::POST),
        (Method::POST, 308, Method::POST),
        (Method::PUT, 301, Method::PUT),
        (Method::PUT, 303, Method::GET),
        (Method::HEAD, 303, Method::HEAD),
        (Method::GET, 302, Method::GET),
    ];
    for (method, status, expected) in table {
        let world = TestWeb::builder()
            .page("http://a.test/", Page::redirect(status, "/next"))
            .page("http://a.test/next", Page::text("end"))
            .start()
            .await;
        let body = (method == Method::POST || method == Method::PUT).then(|| Bytes::from_static(b"data"));
        let headers = headers(&[(CONTENT_TYPE, "text/plain")]);
        let request =
            FetchRequest { method: method.clone(), body: body.clone(), headers, ..get("http://a.test/") };
        client_of(&world).fetch(request).await.unwrap();
        let last = &world.requests()[1];
        assert_eq!(last.method, expected, "{method} {status}");
        let has_body = expected == method;
        assert_eq!(last.body, if has_body { body.unwrap_or_default() } else { Bytes::new() });
        assert_eq!(last.header("content-type").is_some(), has_body, "{method} {status}");
    }
}

#[tokio::test]
async fn credentials_are_not_sent_to_another_origin() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "/same"))
        .page("http://a.test/same", Page::redirect(302, "http://b.test/"))
        .page("http://b.test/", Page::redirect(302, "http://a.test/back"))
        .page("http://a.test/back", Page::text("end"))
        .start()
        .await;
    let headers =
        headers(&[(AUTHORIZATION, "Bearer x"), (COOKIE, "own=1"), (HeaderName::from_static("x-kept"), "1")]);
    client_of(&world).fetch(FetchRequest { headers, ..get("http://a.test/") }).await.unwrap();
    let seen = world.requests();
    let credentials: Vec<_> =
        seen.iter().map(|seen| (seen.header("authorization"), seen.header("cookie"))).collect();
    let (with, without) = ((Some("Bearer x"), Some("own=1")), (None, None));
    assert_eq!(credentials, [with, with, without, without]);
    assert!(seen.iter().all(|seen| seen.header("x-kept") == Some("1")));
}

#[tokio::test]
async fn another_scheme_is_another_origin() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "https://a.test/secure"))
        .page("http://a.test/secure", Page::text("end"))
        .start()
        .await;
    let headers = headers(&[(AUTHORIZATION, "Bearer x")]);
    client_of(&world).fetch(FetchRequest { headers, ..get("http://a.test/") }).await.unwrap();
    assert_eq!(world.requests()[1].url, "https://a.test/secure");
    assert_eq!(world.requests()[1].header("authorization"), None);
}

#[tokio::test]
async fn cookies_are_sent_along_the_chain() {
    let set = Page::redirect(302, "/check")
        .header("set-cookie", "session=abc; Path=/; HttpOnly")
        .header("set-cookie", "wide=1; Domain=example.test")
        .header("set-cookie", "elsewhere=1; Path=/other")
        .header("set-cookie", "secret=1; Secure")
        .header("set-cookie", "foreign=1; Domain=b.test")
        .header("set-cookie", "top=1; Domain=test")
        .header("set-cookie", "gone=1")
        .header("set-cookie", "gone=1; Max-Age=0");
    let world = TestWeb::builder()
        .page("http://www.example.test/", set)
        .page("http://www.example.test/check", Page::redirect(302, "http://sub.www.example.test/"))
        .page("http://sub.www.example.test/", Page::redirect(302, "http://example.test/"))
        .page("http://example.test/", Page::redirect(302, "http://b.test/"))
        .page("http://b.test/", Page::text("end"))
        .start()
        .await;
    client_of(&world).fetch(get("http://www.example.test/")).await.unwrap();
    let seen = world.requests();
    let cookies: Vec<_> = seen.iter().map(|seen| seen.header("cookie")).collect();
    assert_eq!(cookies, [None, Some("session=abc; wide=1"), Some("wide=1"), Some("wide=1"), None]);
}

#[tokio::test]
async fn cookies_are_not_kept_between_fetches() {
    let world =
        TestWeb::builder().page("http://a.test/", Page::text("x").header("set-cookie", "a=1")).start().await;
    let client = client_of(&world);
    client.fetch(get("http://a.test/")).await.unwrap();
    client.fetch(get("http://a.test/")).await.unwrap();
    assert_eq!(world.requests()[1].header("cookie"), None);
}

#[tokio::test]
async fn redirect_loop_fails_at_the_limit() {
    let world = TestWeb::builder().page("http://a.test/", Page::redirect(302, "/")).start().await;
    let request = FetchRequest { redirects: RedirectPolicy::Follow(3), ..get("http://a.test/") };
    let error = client_of(&world).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::TooManyRedirects { limit: 3 }), "{error:?}");
    assert_eq!(world.requests().len(), 4);
}

#[tokio::test]
async fn redirect_refused_by_the_url_policy_is_not_followed() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://b.test/"))
        .page("http://b.test/", Page::redirect(302, "http://c.test/x"))
        .page("http://c.test/x", Page::text("never sent"))
        .start()
        .await;
    let policy = UrlPolicy::new(|url| async move {
        if url.host_str() == Some("c.test") { Err(format!("not {url}")) } else { Ok(()) }
    });
    let request = FetchRequest { url_policy: Some(policy), ..get("http://a.test/") };
    let error = client_of(&world).fetch(request).await.unwrap_err();
    assert!(matches!(&error, FetchError::RefusedByRule { .. }), "{error:?}");
    assert_eq!(error.to_string(), "not http://c.test/x");
    assert_eq!(world.requests().len(), 2, "no request was sent to c.test");
}

#[tokio::test]
async fn redirect_is_returned_without_a_policy_or_a_location() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "/next"))
        .page("http://a.test/nowhere", Page::text("?").status(302))
        .page("http://a.test/choices", Page::redirect(300, "/next"))
        .start()
        .await;
    let client = client_of(&world);
    let request = FetchRequest { redirects: RedirectPolicy::None, ..get("http://a.test/") };
    assert_eq!(client.fetch(request).await.unwrap().status, 302);
    assert_eq!(client.fetch(get("http://a.test/nowhere")).await.unwrap().status, 302);
    assert_eq!(client.fetch(get("http://a.test/choices")).await.unwrap().status, 300);
}

#[tokio::test]
async fn redirect_to_an_invalid_url_is_an_error() {
    let world = TestWeb::builder().page("http://a.test/", Page::redirect(302, "http://[")).start().await;
    let error = client_of(&world).fetch(get("http://a.test/")).await.unwrap_err();
    assert!(matches!(error, FetchError::BadUrl { .. }), "{error:?}");
}

#[tokio::test]
async fn url_credentials_move_to_the_authorization_header() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://b.test/"))
        .page("http://b.test/", Page::text("end"))
        .start()
        .await;
    let fetched = client_of(&world).fetch(get("http://us%40er:pass%20word@a.test/")).await.unwrap();
    let seen = world.requests();
    // printf 'us@er:pass word' | base64
    assert_eq!(seen[0].header("authorization"), Some("Basic dXNAZXI6cGFzcyB3b3Jk"));
    assert_eq!(seen[1].header("authorization"), None);
    assert_eq!(fetched.redirects[0].as_str(), "http://a.test/");
}

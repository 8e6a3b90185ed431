//! Rendering: the page after its scripts have run, and the errors of pages that cannot be loaded.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use websvc_browser::{BlockRule, BrowserError, Cookie, RenderRequest, WaitUntil};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::TlsPolicy;

use crate::support::{request, request_within, setup, setup_page};

/// A page that shows the result of a request, after a delay.
const LATE: &str = "<!DOCTYPE html><title>late</title><div id=app></div><script>
    setTimeout(async () => {
        const answer = await fetch('/api');
        document.getElementById('app').textContent = 'got ' + await answer.text();
    }, 300)</script>";

#[tokio::test]
async fn static_page_is_returned_unchanged_with_status_and_headers() {
    let page = Page::html("<!DOCTYPE html><title>t</title><p>hello").header("x-name", "value");
    let Some(setup) = setup(TestWeb::builder().page("http://a.test/", page)).await else { return };
    let rendered = setup.render("http://a.test/#part").await;
    assert_eq!(rendered.url, "http://a.test/#part");
    assert_eq!(rendered.status, Some(200));
    assert_eq!(rendered.headers["x-name"], "value");
    let html = "<!DOCTYPE html><html><head><title>t</title></head><body><p>hello</p></body></html>";
    assert_eq!(rendered.html, html);
    assert_eq!((rendered.warnings, rendered.refused, rendered.unverified), (vec![], vec![], false));
    setup.browser.stop().await;
}

#[tokio::test]
async fn content_fetched_by_scripts_is_rendered() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(LATE))
        .page("http://a.test/api", Page::text("the answer").delay(Duration::from_millis(400)));
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert!(rendered.html.contains("got the answer"), "{}", rendered.html);
    let parsed_only = RenderRequest { wait_until: WaitUntil::Parsed, ..request("http://a.test/") };
    assert!(!setup.open(&parsed_only).await.unwrap().html.contains("got the answer"));
    let waiting = RenderRequest { wait_for: Duration::from_millis(1500), ..parsed_only };
    assert!(setup.open(&waiting).await.unwrap().html.contains("got the answer"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn page_that_is_never_idle_is_returned_before_the_deadline() {
    let html = "<p>text that is long enough to be a page already</p><i></i><script>
        setInterval(() => document.querySelector('i').textContent = Math.random(), 20);
        new EventSource('/events')</script>";
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/events", Page::unresponsive());
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.open(&request_within("http://a.test/", Duration::from_secs(5))).await.unwrap();
    assert!(rendered.html.contains("text that is long enough"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn lone_surrogates_are_replaced() {
    let html =
        "<p>half \\ud83c</p><i></i><script>document.querySelector('i').textContent = 'b\\ud800'</script>";
    let Some(setup) = setup_page(html).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert!(rendered.html.contains("<i>b\u{fffd}</i>"), "{}", rendered.html);
    setup.browser.stop().await;
}

#[tokio::test]
async fn open_shadow_roots_are_inlined() {
    let html = "<x-card><b>light</b></x-card><script>
        customElements.define('x-card', class extends HTMLElement {
            connectedCallback() {
                this.attachShadow({mode: 'open'}).innerHTML = '<p>before</p><slot></slot><p>after</p>';
            }
        })</script>";
    let Some(setup) = setup_page(html).await else { return };
    let rendered = setup.render("http://a.test/").await;
    let expected = "<x-card><p>before</p><slot><b>light</b></slot><p>after</p></x-card>";
    assert!(rendered.html.contains(expected), "{}", rendered.html);
    setup.browser.stop().await;
}

#[tokio::test]
async fn redirects_and_error_statuses_are_returned() {
    let web = TestWeb::builder()
        .page("http://a.test/from", Page::redirect(302, "http://b.test/to"))
        .page("http://b.test/to", Page::html("arrived"))
        .page("http://a.test/gone", Page::html("<p>it is gone").status(410))
        .page("http://a.test/empty", Page::html("").status(500));
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.render("http://a.test/from").await;
    assert_eq!((rendered.url.as_str(), rendered.status), ("http://b.test/to", Some(200)));
    let rendered = setup.render("http://a.test/gone").await;
    assert!(rendered.html.contains("it is gone"));
    assert_eq!(rendered.status, Some(410));
    let rendered = setup.render("http://a.test/empty").await;
    assert_eq!(rendered.status, Some(500));
    assert!(!rendered.html.contains("neterror"), "{}", rendered.html);
    setup.browser.stop().await;
}

#[tokio::test]
async fn urls_with_other_schemes_are_refused() {
    let Some(setup) = setup_page("x").await else { return };
    for url in [
        "file:///etc/passwd",
        "chrome://version/",
        "view-source:http://a.test/",
        "data:text/html,x",
        "about:blank",
        "ftp://a.test/",
        "javascript:1",
    ] {
        let refused = setup.open(&request(url)).await;
        assert!(matches!(refused, Err(BrowserError::ForbiddenScheme { .. })), "{url}: {refused:?}");
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn page_cannot_navigate_to_files_or_browser_pages() {
    for target in ["file:///etc/hostname", "chrome://version/", "view-source:http://a.test/"] {
        let html = format!(
            "<p>start of the page, long enough to count</p><iframe src='{target}'></iframe><script>
             location = '{target}'; window.open('{target}')</script>"
        );
        let Some(setup) = setup_page(&html).await else { return };
        let rendered = setup.render("http://a.test/").await;
        assert_eq!(rendered.url, "http://a.test/", "{target}");
        assert!(rendered.html.contains("start of the page"), "{target}");
        setup.browser.stop().await;
    }
}

#[tokio::test]
async fn unreachable_host_is_reported_with_a_reason() {
    let web = TestWeb::builder().page("http://a.test/", Page::html("x"));
    let Some(setup) = setup(web).await else { return };
    let failed = setup.open(&request("http://a.test:81/")).await;
    let Err(BrowserError::Navigation { reason, .. }) = &failed else { panic!("{failed:?}") };
    assert!(reason.contains("a.test"), "{reason}");
    let refused = setup.open(&request("http://127.0.0.1/")).await;
    assert!(matches!(refused, Err(BrowserError::Forbidden)), "{refused:?}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn url_of_a_download_is_an_error() {
    let file = Page::new("application/octet-stream", "bytes").header("content-disposition", "attachment");
    let Some(setup) = setup(TestWeb::builder().page("http://a.test/f", file)).await else { return };
    let download = setup.open(&request("http://a.test/f")).await;
    assert!(matches!(download, Err(BrowserError::Download)), "{download:?}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn page_that_hangs_or_never_responds_fails_at_the_deadline() {
    let web = TestWeb::builder()
        .page("http://a.test/hang", Page::html("<p>x</p><script>for (;;);</script>"))
        .page("http://a.test/silent", Page::unresponsive())
        .page("http://a.test/", Page::html("fine"));
    let Some(setup) = setup(web).await else { return };
    setup.render("http://a.test/").await;
    for path in ["hang", "silent"] {
        let began = std::time::Instant::now();
        let outcome =
            setup.open(&request_within(&format!("http://a.test/{path}"), Duration::from_secs(2))).await;
        assert!(matches!(outcome, Err(BrowserError::Deadline)), "{path}: {outcome:?}");
        assert!(began.elapsed() < Duration::from_secs(8), "{path}: {:?}", began.elapsed());
    }
    assert!(setup.render("http://a.test/").await.html.contains("fine"), "the next page works");
    setup.browser.stop().await;
}

#[tokio::test]
async fn dialogs_are_answered_automatically() {
    let html = "<p id=p></p><script>alert('a'); const c = confirm('b'); const q = prompt('c');
        p.textContent = 'confirmed ' + c + ', answered ' + q; onbeforeunload = () => 'no'</script>";
    let Some(setup) = setup_page(html).await else { return };
    let rendered = setup.render("http://a.test/").await;
    assert!(rendered.html.contains("confirmed false, answered null"), "{}", rendered.html);
    setup.browser.stop().await;
}

#[tokio::test]
async fn windows_that_a_page_opens_are_closed() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html("<p>the page itself</p><script>window.open('/pop')</script>"))
        .page("http://a.test/pop", Page::html("<script>setInterval(() => fetch('/alive'), 50)</script>"));
    let Some(setup) = setup(web).await else { return };
    let waiting = RenderRequest { wait_for: Duration::from_millis(1000), ..request("http://a.test/") };
    assert!(setup.open(&waiting).await.unwrap().html.contains("the page itself"));
    assert!(setup.web.count("http://a.test/alive") <= 4, "{}", setup.web.count("http://a.test/alive"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn headers_and_cookies_are_sent_to_the_same_origin_only() {
    let html =
        "<img src='http://b.test/i.png'><img src='/own.png'><script>document.cookie = 'made=here'</script>";
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(html).header("set-cookie", "served=there"))
        .page("http://a.test/own.png", Page::text("not an image"))
        .page("http://b.test/i.png", Page::text("not an image"));
    let Some(setup) = setup(web).await else { return };
    let mut request = request("http://a.test/");
    request.headers.insert("x-key", HeaderValue::from_static("secret"));
    request.headers.insert("authorization", HeaderValue::from_static("Bearer secret"));
    request.cookies.push(Cookie { name: "given".to_owned(), value: "by us".to_owned() });
    let rendered = setup.open(&request).await.unwrap();
    let seen = setup.web.requests();
    let received = |url: &str| seen.iter().find(|seen| seen.url == url).unwrap_or_else(|| panic!("{url}"));
    for same_origin in ["http://a.test/", "http://a.test/own.png"] {
        assert_eq!(received(same_origin).header("x-key"), Some("secret"), "{same_origin}");
        assert_eq!(received(same_origin).header("authorization"), Some("Bearer secret"), "{same_origin}");
        assert!(received(same_origin).header("cookie").unwrap().contains("given=by us"), "{same_origin}");
    }
    let other = received("http://b.test/i.png");
    assert_eq!(
        (other.header("x-key"), other.header("authorization"), other.header("cookie")),
        (None, None, None)
    );
    let mut names: Vec<&str> = rendered.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["given", "made", "served"]);
    let next = setup.render("http://a.test/").await;
    assert!(
        !next.cookies.iter().any(|cookie| cookie.name == "given"),
        "the cookie is not in the next context"
    );
    setup.browser.stop().await;
}

#[tokio::test]
async fn blocked_requests_are_not_sent() {
    let html = "<script src='http://ads.test/ad.js'></script><script src='/own.js'></script>";
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/own.js", Page::new("text/javascript", "document.write('own script')"))
        .page("http://ads.test/ad.js", Page::new("text/javascript", "document.write('advertisement')"));
    let Some(setup) = setup(web).await else { return };
    let rule = BlockRule(Arc::new(|url, page, resource_type| {
        assert_eq!(page.as_str(), "http://a.test/");
        url.contains("ads.test") && resource_type == "Script"
    }));
    let rendered =
        setup.open(&RenderRequest { block: Some(rule), ..request("http://a.test/") }).await.unwrap();
    assert!(rendered.html.contains("own script") && !rendered.html.contains("advertisement"));
    assert_eq!(setup.web.count("http://ads.test/ad.js"), 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn certificates_are_verified_unless_disabled() {
    let web = TestWeb::builder().page("https://a.test/", Page::html("<p>secret"));
    let Some(setup) = setup(web).await else { return };
    let failed = setup.open(&request("https://a.test/")).await;
    let Err(BrowserError::Navigation { reason, .. }) = &failed else { panic!("{failed:?}") };
    assert!(reason.contains("certificate"), "{reason}");
    let skipping = RenderRequest { tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    let rendered = setup.open(&skipping).await.unwrap();
    assert!(rendered.html.contains("secret") && rendered.unverified);
    setup.browser.stop().await;
}

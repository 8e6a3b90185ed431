//! What a page is once its scripts have run, and what is said when it does not come.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use websvc_browser::{BlockRule, BrowserError, Cookie, RenderRequest, WaitUntil};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::TlsPolicy;

use crate::support::{request, stage, stage_of, within};

/// A page that says what it has got from elsewhere, after a while.
const LATE: &str = "<!DOCTYPE html><title>late</title><div id=app></div><script>
    setTimeout(async () => {
        const answer = await fetch('/api');
        document.getElementById('app').textContent = 'got ' + await answer.text();
    }, 300)</script>";

#[tokio::test]
async fn a_static_page_comes_back_as_it_is_with_status_and_headers() {
    let page = Page::html("<!DOCTYPE html><title>t</title><p>hello").header("x-name", "value");
    let Some(stage) = stage(TestWeb::builder().page("http://a.test/", page)).await else { return };
    let rendered = stage.render("http://a.test/#part").await;
    assert_eq!(rendered.url, "http://a.test/#part");
    assert_eq!(rendered.status, Some(200));
    assert_eq!(rendered.headers["x-name"], "value");
    let html = "<!DOCTYPE html><html><head><title>t</title></head><body><p>hello</p></body></html>";
    assert_eq!(rendered.html, html);
    assert_eq!((rendered.warnings, rendered.refused, rendered.unverified), (vec![], vec![], false));
    stage.browser.stop().await;
}

#[tokio::test]
async fn what_scripts_fetch_and_write_is_waited_for() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(LATE))
        .page("http://a.test/api", Page::text("the answer").delay(Duration::from_millis(400)));
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.render("http://a.test/").await;
    assert!(rendered.html.contains("got the answer"), "{}", rendered.html);
    let early = RenderRequest { wait_until: WaitUntil::Parsed, ..request("http://a.test/") };
    assert!(!stage.open(&early).await.unwrap().html.contains("got the answer"));
    let patient = RenderRequest { wait_for: Duration::from_millis(1500), ..early };
    assert!(stage.open(&patient).await.unwrap().html.contains("got the answer"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_page_that_never_rests_is_taken_as_it_is() {
    let html = "<p>text that is long enough to be a page already</p><i></i><script>
        setInterval(() => document.querySelector('i').textContent = Math.random(), 20);
        new EventSource('/events')</script>";
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/events", Page::unresponsive());
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.open(&within("http://a.test/", Duration::from_secs(5))).await.unwrap();
    assert!(rendered.html.contains("text that is long enough"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn halves_of_characters_do_not_keep_a_page_back() {
    let html =
        "<p>half \\ud83c</p><i></i><script>document.querySelector('i').textContent = 'b\\ud800'</script>";
    let Some(stage) = stage_of(html).await else { return };
    let rendered = stage.render("http://a.test/").await;
    assert!(rendered.html.contains("<i>b\u{fffd}</i>"), "{}", rendered.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn open_shadow_roots_are_part_of_the_document() {
    let html = "<x-card><b>light</b></x-card><script>
        customElements.define('x-card', class extends HTMLElement {
            connectedCallback() {
                this.attachShadow({mode: 'open'}).innerHTML = '<p>before</p><slot></slot><p>after</p>';
            }
        })</script>";
    let Some(stage) = stage_of(html).await else { return };
    let rendered = stage.render("http://a.test/").await;
    let expected = "<x-card><p>before</p><slot><b>light</b></slot><p>after</p></x-card>";
    assert!(rendered.html.contains(expected), "{}", rendered.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn redirects_and_errors_are_told_as_they_are() {
    let world = TestWeb::builder()
        .page("http://a.test/from", Page::redirect(302, "http://b.test/to"))
        .page("http://b.test/to", Page::html("arrived"))
        .page("http://a.test/gone", Page::html("<p>it is gone").status(410))
        .page("http://a.test/empty", Page::html("").status(500));
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.render("http://a.test/from").await;
    assert_eq!((rendered.url.as_str(), rendered.status), ("http://b.test/to", Some(200)));
    let rendered = stage.render("http://a.test/gone").await;
    assert!(rendered.html.contains("it is gone"));
    assert_eq!(rendered.status, Some(410));
    let rendered = stage.render("http://a.test/empty").await;
    assert_eq!(rendered.status, Some(500));
    assert!(!rendered.html.contains("neterror"), "{}", rendered.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn only_the_web_is_opened() {
    let Some(stage) = stage_of("x").await else { return };
    for url in [
        "file:///etc/passwd",
        "chrome://version/",
        "view-source:http://a.test/",
        "data:text/html,x",
        "about:blank",
        "ftp://a.test/",
        "javascript:1",
    ] {
        let refused = stage.open(&request(url)).await;
        assert!(matches!(refused, Err(BrowserError::ForbiddenScheme { .. })), "{url}: {refused:?}");
    }
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_page_cannot_lead_to_files_or_to_the_browser_itself() {
    for target in ["file:///etc/hostname", "chrome://version/", "view-source:http://a.test/"] {
        let html = format!(
            "<p>start of the page, long enough to count</p><iframe src='{target}'></iframe><script>
             location = '{target}'; window.open('{target}')</script>"
        );
        let Some(stage) = stage_of(&html).await else { return };
        let rendered = stage.render("http://a.test/").await;
        assert_eq!(rendered.url, "http://a.test/", "{target}");
        assert!(rendered.html.contains("start of the page"), "{target}");
        stage.browser.stop().await;
    }
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_told_in_words() {
    let world = TestWeb::builder().page("http://a.test/", Page::html("x"));
    let Some(stage) = stage(world).await else { return };
    let failed = stage.open(&request("http://a.test:81/")).await;
    let Err(BrowserError::Navigation { reason, .. }) = &failed else { panic!("{failed:?}") };
    assert!(reason.contains("a.test"), "{reason}");
    let refused = stage.open(&request("http://127.0.0.1/")).await;
    assert!(matches!(refused, Err(BrowserError::Forbidden)), "{refused:?}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_download_is_no_page() {
    let file = Page::new("application/octet-stream", "bytes").header("content-disposition", "attachment");
    let Some(stage) = stage(TestWeb::builder().page("http://a.test/f", file)).await else { return };
    let download = stage.open(&request("http://a.test/f")).await;
    assert!(matches!(download, Err(BrowserError::Download)), "{download:?}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_page_that_hangs_or_never_comes_is_cut_at_the_deadline() {
    let world = TestWeb::builder()
        .page("http://a.test/hang", Page::html("<p>x</p><script>for (;;);</script>"))
        .page("http://a.test/silent", Page::unresponsive())
        .page("http://a.test/", Page::html("fine"));
    let Some(stage) = stage(world).await else { return };
    stage.render("http://a.test/").await;
    for path in ["hang", "silent"] {
        let began = std::time::Instant::now();
        let cut = stage.open(&within(&format!("http://a.test/{path}"), Duration::from_secs(2))).await;
        assert!(matches!(cut, Err(BrowserError::Deadline)), "{path}: {cut:?}");
        assert!(began.elapsed() < Duration::from_secs(8), "{path}: {:?}", began.elapsed());
    }
    assert!(stage.render("http://a.test/").await.html.contains("fine"), "the next page works");
    stage.browser.stop().await;
}

#[tokio::test]
async fn questions_of_a_page_stop_nothing() {
    let html = "<p id=p></p><script>alert('a'); const c = confirm('b'); const q = prompt('c');
        p.textContent = 'confirmed ' + c + ', answered ' + q; onbeforeunload = () => 'no'</script>";
    let Some(stage) = stage_of(html).await else { return };
    let rendered = stage.render("http://a.test/").await;
    assert!(rendered.html.contains("confirmed false, answered null"), "{}", rendered.html);
    stage.browser.stop().await;
}

#[tokio::test]
async fn windows_that_a_page_opens_are_closed() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html("<p>the page itself</p><script>window.open('/pop')</script>"))
        .page("http://a.test/pop", Page::html("<script>setInterval(() => fetch('/alive'), 50)</script>"));
    let Some(stage) = stage(world).await else { return };
    let patient = RenderRequest { wait_for: Duration::from_millis(1000), ..request("http://a.test/") };
    assert!(stage.open(&patient).await.unwrap().html.contains("the page itself"));
    assert!(stage.world.count("http://a.test/alive") <= 4, "{}", stage.world.count("http://a.test/alive"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn headers_and_cookies_go_to_the_own_origin_only() {
    let html =
        "<img src='http://b.test/i.png'><img src='/own.png'><script>document.cookie = 'made=here'</script>";
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(html).header("set-cookie", "served=there"))
        .page("http://a.test/own.png", Page::text("no picture"))
        .page("http://b.test/i.png", Page::text("no picture"));
    let Some(stage) = stage(world).await else { return };
    let mut request = request("http://a.test/");
    request.headers.insert("x-key", HeaderValue::from_static("secret"));
    request.headers.insert("authorization", HeaderValue::from_static("Bearer secret"));
    request.cookies.push(Cookie { name: "given".to_owned(), value: "by us".to_owned() });
    let rendered = stage.open(&request).await.unwrap();
    let seen = stage.world.requests();
    let of = |url: &str| seen.iter().find(|seen| seen.url == url).unwrap_or_else(|| panic!("{url}"));
    for own in ["http://a.test/", "http://a.test/own.png"] {
        assert_eq!(of(own).header("x-key"), Some("secret"), "{own}");
        assert_eq!(of(own).header("authorization"), Some("Bearer secret"), "{own}");
        assert!(of(own).header("cookie").unwrap().contains("given=by us"), "{own}");
    }
    let other = of("http://b.test/i.png");
    assert_eq!(
        (other.header("x-key"), other.header("authorization"), other.header("cookie")),
        (None, None, None)
    );
    let mut names: Vec<&str> = rendered.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["given", "made", "served"]);
    let next = stage.render("http://a.test/").await;
    assert!(
        !next.cookies.iter().any(|cookie| cookie.name == "given"),
        "the next context knows nothing of it"
    );
    stage.browser.stop().await;
}

#[tokio::test]
async fn what_is_blocked_is_not_asked_for() {
    let html = "<script src='http://ads.test/ad.js'></script><script src='/own.js'></script>";
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html(html))
        .page("http://a.test/own.js", Page::new("text/javascript", "document.write('own script')"))
        .page("http://ads.test/ad.js", Page::new("text/javascript", "document.write('advertisement')"));
    let Some(stage) = stage(world).await else { return };
    let rule = BlockRule(Arc::new(|url, page, kind| {
        assert_eq!(page.as_str(), "http://a.test/");
        url.contains("ads.test") && kind == "Script"
    }));
    let rendered =
        stage.open(&RenderRequest { block: Some(rule), ..request("http://a.test/") }).await.unwrap();
    assert!(rendered.html.contains("own script") && !rendered.html.contains("advertisement"));
    assert_eq!(stage.world.count("http://ads.test/ad.js"), 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn certificates_are_verified_unless_that_is_skipped() {
    let world = TestWeb::builder().page("https://a.test/", Page::html("<p>secret"));
    let Some(stage) = stage(world).await else { return };
    let failed = stage.open(&request("https://a.test/")).await;
    let Err(BrowserError::Navigation { reason, .. }) = &failed else { panic!("{failed:?}") };
    assert!(reason.contains("certificate"), "{reason}");
    let skipping = RenderRequest { tls: TlsPolicy::SkipVerification, ..request("https://a.test/") };
    let rendered = stage.open(&skipping).await.unwrap();
    assert!(rendered.html.contains("secret") && rendered.unverified);
    stage.browser.stop().await;
}

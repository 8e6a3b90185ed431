//! The navigation rule: it is checked before anything is sent, and a refusal ends the page.

use websvc_browser::{BrowserError, Matches, RenderRequest, Step};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::UrlPolicy;

use crate::support::{request, setup};

/// Pages that navigate by themselves.
const NAVIGATIONS: &[(&str, &str)] = &[
    ("navigation", "<script>location = 'http://evil.test/x'</script>"),
    ("refresh", "<meta http-equiv=refresh content='0; url=http://evil.test/x'>"),
    ("form", "<form action='http://evil.test/x'></form><script>document.forms[0].submit()</script>"),
    ("two steps", "<script>location = 'http://b.test/'</script>"),
];

fn rule() -> UrlPolicy {
    UrlPolicy::new(|url| async move {
        if url.host_str() == Some("evil.test") { Err("refused: evil.test".to_owned()) } else { Ok(()) }
    })
}

fn guarded(url: &str) -> RenderRequest {
    RenderRequest { navigation_rule: Some(rule()), ..request(url) }
}

#[track_caller]
fn assert_refused(error: &BrowserError) {
    assert!(
        matches!(error, BrowserError::RefusedByRule { reason } if reason == "refused: evil.test"),
        "{error:?}"
    );
}

#[tokio::test]
async fn navigation_to_a_refused_url_ends_the_page() {
    for (name, html) in NAVIGATIONS {
        let web = TestWeb::builder()
            .page("http://a.test/", Page::html(*html))
            .page("http://b.test/", Page::redirect(302, "http://evil.test/x"))
            .page("http://evil.test/x", Page::html("<p>evil"));
        let Some(setup) = setup(web).await else { return };
        assert_refused(&setup.open(&guarded("http://a.test/")).await.expect_err(name));
        let is_requested = setup.web.requests().iter().any(|seen| seen.url.contains("evil.test"));
        assert!(!is_requested, "{name}: nothing is sent to a refused host");
    }
}

#[tokio::test]
async fn refused_redirect_and_refused_click_end_the_page() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://evil.test/x"))
        .page("http://link.test/", Page::html("<a href='http://evil.test/x'>go</a>"))
        .page("http://evil.test/x", Page::html("<p>evil"));
    let Some(setup) = setup(web).await else { return };
    assert_refused(&setup.open(&guarded("http://a.test/")).await.expect_err("a redirect"));
    let click = Step::Click { selector: "a".to_owned(), matches: Matches::First };
    let mut clicking = guarded("http://link.test/");
    clicking.steps = vec![click, Step::Wait(std::time::Duration::from_secs(2))];
    assert_refused(&setup.open(&clicking).await.expect_err("a click"));
    assert!(!setup.web.requests().iter().any(|seen| seen.url.contains("evil.test")));
}

#[tokio::test]
async fn allowed_navigations_continue_and_frames_are_not_checked() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://b.test/"))
        .page("http://b.test/", Page::html("<p>there<iframe src='http://evil.test/x'></iframe>"))
        .page("http://evil.test/x", Page::html("<p>inner"));
    let Some(setup) = setup(web).await else { return };
    let rendered = setup.open(&guarded("http://a.test/")).await.unwrap();
    assert_eq!(rendered.url, "http://b.test/");
    assert!(rendered.html.contains("there"), "{}", rendered.html);
}

//! The rule about where a page goes: asked before anything is sent there, and its refusal ends the page.

use websvc_browser::{BrowserError, Matches, RenderRequest, Step};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::UrlPolicy;

use crate::support::{request, stage};

/// Ways of a page to lead itself elsewhere.
const WAYS: &[(&str, &str)] = &[
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
fn is_refused(error: &BrowserError) {
    assert!(
        matches!(error, BrowserError::RefusedByRule { reason } if reason == "refused: evil.test"),
        "{error:?}"
    );
}

#[tokio::test]
async fn whatever_leads_a_page_to_a_refused_url_ends_it_there() {
    for (name, html) in WAYS {
        let world = TestWeb::builder()
            .page("http://a.test/", Page::html(*html))
            .page("http://b.test/", Page::redirect(302, "http://evil.test/x"))
            .page("http://evil.test/x", Page::html("<p>evil"));
        let Some(stage) = stage(world).await else { return };
        is_refused(&stage.open(&guarded("http://a.test/")).await.expect_err(name));
        let went = stage.world.requests().iter().any(|seen| seen.url.contains("evil.test"));
        assert!(!went, "{name}: nothing is sent to a refused host");
    }
}

#[tokio::test]
async fn a_refused_redirect_of_the_first_answer_and_of_an_action_end_the_page() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://evil.test/x"))
        .page("http://link.test/", Page::html("<a href='http://evil.test/x'>go</a>"))
        .page("http://evil.test/x", Page::html("<p>evil"));
    let Some(stage) = stage(world).await else { return };
    is_refused(&stage.open(&guarded("http://a.test/")).await.expect_err("a redirect"));
    let click = Step::Click { selector: "a".to_owned(), matches: Matches::First };
    let mut clicking = guarded("http://link.test/");
    clicking.steps = vec![click, Step::Wait(std::time::Duration::from_secs(2))];
    is_refused(&stage.open(&clicking).await.expect_err("a click"));
    assert!(!stage.world.requests().iter().any(|seen| seen.url.contains("evil.test")));
}

#[tokio::test]
async fn what_the_rule_admits_goes_on_and_frames_are_not_its_concern() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://b.test/"))
        .page("http://b.test/", Page::html("<p>there<iframe src='http://evil.test/x'></iframe>"))
        .page("http://evil.test/x", Page::html("<p>inner"));
    let Some(stage) = stage(world).await else { return };
    let rendered = stage.open(&guarded("http://a.test/")).await.unwrap();
    assert_eq!(rendered.url, "http://b.test/");
    assert!(rendered.html.contains("there"), "{}", rendered.html);
}

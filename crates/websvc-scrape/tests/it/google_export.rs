//! Tests of Google documents, which are read through their exports.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::support::Fixture;

#[tokio::test]
async fn shared_document_is_read_through_its_export_and_keeps_its_url() {
    let web = TestWeb::builder()
        .page(
            "http://docs.google.com/document/d/1a/export?format=docx",
            Page::redirect(307, "http://files.test/1a"),
        )
        .page(
            "http://files.test/1a",
            Page::html("<h1>Tea</h1><p>Green <a href='https://b.test/'>leaves</a>.</p>"),
        );
    let fixture = Fixture::new(web.start().await);
    let url = "http://docs.google.com/document/d/1a/edit?usp=sharing";
    let page = fixture.scrape(url, json!({ "formats": ["markdown"] })).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("# Tea\n\nGreen [leaves](https://b.test/).\n"));
    assert_eq!(page.metadata.source_url.as_deref(), Some(url));
    assert_eq!(page.metadata.url.as_deref(), Some(url));
    let cached = fixture.scrape(url, json!({ "formats": ["markdown"], "maxAge": 60_000 })).await.unwrap();
    assert_eq!(cached.metadata.source_url.as_deref(), Some(url));
    assert_eq!(fixture.web.requests().len(), 2, "the second response is from the cache");
}

#[tokio::test]
async fn sheets_of_one_document_are_different_pages() {
    let sheet =
        |number: u32| format!("http://docs.google.com/spreadsheets/d/1a/export?format=csv&gid={number}");
    let web = TestWeb::builder().page(&sheet(1), Page::text("first")).page(&sheet(2), Page::text("second"));
    let fixture = Fixture::new(web.start().await);
    for (number, expected) in [(1, "first"), (2, "second"), (1, "first")] {
        let url = format!("http://docs.google.com/spreadsheets/d/1a/edit#gid={number}");
        let page = fixture.scrape(&url, json!({ "maxAge": 60_000 })).await.unwrap();
        assert_eq!(page.markdown.as_deref().map(str::trim), Some(expected));
        assert_eq!(page.metadata.source_url, Some(url));
    }
}

#[tokio::test]
async fn private_document_has_a_warning_and_is_not_stored() {
    let web = TestWeb::builder()
        .page(
            "http://drive.google.com/uc?export=download&id=1a",
            Page::redirect(302, "http://accounts.google.com/signin"),
        )
        .page("http://accounts.google.com/signin", Page::html("<p>Sign in to continue.</p>"));
    let fixture = Fixture::new(web.start().await);
    for requests in [2, 4] {
        let page = fixture.scrape("http://drive.google.com/file/d/1a/view", json!({})).await.unwrap();
        assert_eq!(page.metadata.status_code, Some(401));
        assert!(page.warnings.iter().any(|warning| warning.contains("not shared")), "{:?}", page.warnings);
        assert_eq!(fixture.web.requests().len(), requests);
    }
}

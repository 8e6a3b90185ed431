//! Documents of Google, read through their exports.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::support::Bench;

#[tokio::test]
async fn a_shared_document_is_read_through_its_export_and_keeps_its_address() {
    let world = TestWeb::builder()
        .page(
            "http://docs.google.com/document/d/1a/export?format=docx",
            Page::redirect(307, "http://files.test/1a"),
        )
        .page(
            "http://files.test/1a",
            Page::html("<h1>Tea</h1><p>Green <a href='https://b.test/'>leaves</a>.</p>"),
        );
    let bench = Bench::new(world.start().await);
    let address = "http://docs.google.com/document/d/1a/edit?usp=sharing";
    let page = bench.get(address, json!({ "formats": ["markdown"] })).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("# Tea\n\nGreen [leaves](https://b.test/).\n"));
    assert_eq!(page.metadata.source_url.as_deref(), Some(address));
    assert_eq!(page.metadata.url.as_deref(), Some(address));
    let again = bench.get(address, json!({ "formats": ["markdown"], "maxAge": 60_000 })).await.unwrap();
    assert_eq!(again.metadata.source_url.as_deref(), Some(address));
    assert_eq!(bench.world.requests().len(), 2, "the second answer is from the cache");
}

#[tokio::test]
async fn sheets_of_one_document_are_different_pages() {
    let sheet =
        |number: u32| format!("http://docs.google.com/spreadsheets/d/1a/export?format=csv&gid={number}");
    let world = TestWeb::builder().page(&sheet(1), Page::text("first")).page(&sheet(2), Page::text("second"));
    let bench = Bench::new(world.start().await);
    for (number, expected) in [(1, "first"), (2, "second"), (1, "first")] {
        let address = format!("http://docs.google.com/spreadsheets/d/1a/edit#gid={number}");
        let page = bench.get(&address, json!({ "maxAge": 60_000 })).await.unwrap();
        assert_eq!(page.markdown.as_deref().map(str::trim), Some(expected));
        assert_eq!(page.metadata.source_url, Some(address));
    }
}

#[tokio::test]
async fn a_document_that_is_not_shared_says_so_and_is_not_kept() {
    let world = TestWeb::builder()
        .page(
            "http://drive.google.com/uc?export=download&id=1a",
            Page::redirect(302, "http://accounts.google.com/signin"),
        )
        .page("http://accounts.google.com/signin", Page::html("<p>Sign in to continue.</p>"));
    let bench = Bench::new(world.start().await);
    for requests in [2, 4] {
        let page = bench.get("http://drive.google.com/file/d/1a/view", json!({})).await.unwrap();
        assert_eq!(page.metadata.status_code, Some(401));
        assert!(page.warnings.iter().any(|warning| warning.contains("not shared")), "{:?}", page.warnings);
        assert_eq!(bench.world.requests().len(), requests);
    }
}

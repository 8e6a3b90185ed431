//! Tests of PDF files of pages, which parse the files.

use serde_json::{Value, json};
use websvc_documents::{DocumentKind, Limits, parse};

use super::{BrowserTest, start};

/// A page that fills several sheets of small paper.
const ESSAY: &str =
    "<title>Essay</title><h1>On printing</h1><p style='height: 2000px'>The first word is here.</p>
    <p>The last word is here.</p>";

/// Scrapes the page with PDF actions, and returns the numbers of pages of the files.
async fn print(browser: &BrowserTest, actions: Vec<Value>) -> Vec<u32> {
    let (page, _) = browser.scrape("essay.test", json!({"formats": ["markdown"], "actions": actions})).await;
    let urls = page["actions"]["pdfs"].as_array().unwrap_or_else(|| panic!("{page}"));
    assert_eq!(urls.len(), actions.len());
    let mut counts = Vec::new();
    for url in urls {
        let (content_type, bytes) = browser.file(url).await;
        assert_eq!(content_type, "application/pdf");
        let parsed = parse(DocumentKind::Pdf, bytes, &Limits::default()).unwrap();
        assert!(parsed.html.contains("The last word is here."), "{}", parsed.html);
        counts.push(parsed.pages.unwrap().total);
    }
    counts
}

#[tokio::test]
async fn pdf_action_scale_changes_the_page_count() {
    let Some(browser) = start(&[("http://essay.test/", ESSAY)]).await else { return };
    let scaled = |scale: f64| json!({"type": "pdf", "scale": scale});
    let counts = print(&browser, [0.5, 1.0, 2.0].map(scaled).to_vec()).await;
    assert!(counts.is_sorted_by(|fewer, more| fewer < more), "{counts:?}");
    let options = json!({"formats": ["markdown"], "actions": [scaled(9.0)]});
    let (page, warning) = browser.scrape("essay.test", options).await;
    assert_eq!(page["actions"]["pdfs"].as_array().map(Vec::len), Some(1), "{page}");
    assert!(warning.as_str().unwrap_or_default().contains("2 was used instead of 9"), "{warning}");
}

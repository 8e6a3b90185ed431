//! Tests of warnings about a page, which appear only if they matter to the request.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::support::Fixture;

#[tokio::test]
async fn warning_about_content_depends_on_the_requested_formats() {
    let only_an_image = "<body><img src=/a.png alt=A></body>";
    let web = TestWeb::builder().page("http://a.test/", Page::html(only_an_image)).start().await;
    let fixture = Fixture::new(web);
    for (format, has_warning) in [("markdown", true), ("html", true), ("links", true), ("rawHtml", false)] {
        let page = fixture.scrape("http://a.test/", json!({ "formats": [format] })).await.unwrap();
        let warnings = page.warnings.join("; ");
        assert_eq!(warnings.contains("no main content was found"), has_warning, "{format}: {warnings}");
    }
}

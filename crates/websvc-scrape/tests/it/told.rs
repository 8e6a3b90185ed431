//! Tests of warnings about a page, which appear only if they matter to the request.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::support::Bench;

#[tokio::test]
async fn how_the_content_was_chosen_is_told_to_those_who_see_it() {
    let only_a_picture = "<body><img src=/a.png alt=A></body>";
    let world = TestWeb::builder().page("http://a.test/", Page::html(only_a_picture)).start().await;
    let bench = Bench::new(world);
    for (format, is_told) in [("markdown", true), ("html", true), ("links", true), ("rawHtml", false)] {
        let page = bench.get("http://a.test/", json!({ "formats": [format] })).await.unwrap();
        let warnings = page.warnings.join("; ");
        assert_eq!(warnings.contains("no main content was found"), is_told, "{format}: {warnings}");
    }
}

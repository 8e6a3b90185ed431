//! Tests of scraped React, Vue and Svelte applications.

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::{BrowserTest, path_or_skip};

#[tokio::test]
async fn framework_applications_are_scraped_as_rendered() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let Some(apps) = path_or_skip("WEBSVC_TEST_APPS") else { return };
    let names = ["react", "vue", "svelte"];
    let notes: Vec<_> = (1..=8)
        .map(|id| json!({"id": id, "title": format!("Note {id}"), "text": format!("day {id}")}))
        .collect();
    let mut world = TestWeb::builder();
    for name in names {
        world = world
            .page(
                &format!("http://{name}.test/notes.json"),
                Page::new("application/json", json!(notes).to_string()),
            )
            .page(
                &format!("http://{name}.test/comments.json"),
                Page::new("application/json", "[\"Well seen\"]"),
            )
            .directory(&format!("{name}.test"), apps.join(name));
    }
    let urls = names.map(|name| format!("http://{name}.test/index.html"));
    let browser = BrowserTest::start(world, chromium, &urls.each_ref().map(String::as_str)).await;
    for (name, title) in names.into_iter().zip(["React", "Vue", "Svelte"]) {
        let host = format!("{name}.test");
        let (page, warning) = browser.scrape(&host, json!({"formats": ["markdown"]})).await;
        let markdown = page["markdown"].as_str().unwrap_or_default();
        assert!(markdown.contains(&format!("# Field notes, written with {title}")), "{page} {warning}");
        assert!(markdown.contains(&format!("The article of the {title} application arrives")), "{markdown}");
        assert!(markdown.contains("| Whitby | 5.6 m |"), "{markdown}");
        assert!((1..=8).all(|id| markdown.contains(&format!("day {id}"))), "{markdown}");
        assert!(!markdown.contains("Well seen") && !markdown.contains("Loading"), "{markdown}");
        assert_eq!(warning, Value::Null);
        let click =
            json!([{"type": "click", "selector": "#more"}, {"type": "wait", "selector": "#comments p"}]);
        let (page, _) = browser.scrape(&host, json!({"formats": ["markdown"], "actions": click})).await;
        assert!(page["markdown"].as_str().unwrap().contains("Well seen"), "{page}");
    }
    // A rendered page is cached: the second scrape sends no request to the host.
    browser.world.clear_requests();
    let (page, _) = browser.scrape("react.test", json!({"formats": ["markdown"]})).await;
    assert_eq!(page["metadata"]["cacheState"], json!("hit"));
    assert!(browser.world.requests().is_empty());
}

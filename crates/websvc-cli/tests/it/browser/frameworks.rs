//! Applications of the usual frameworks.

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::{Stage, provided};

#[tokio::test]
async fn applications_of_the_usual_frameworks_are_read_as_they_are_drawn() {
    let test = "applications_of_the_usual_frameworks_are_read_as_they_are_drawn";
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", test) else { return };
    let Some(apps) = provided("WEBSVC_TEST_APPS", test) else { return };
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
    let stage = Stage::start(world, chromium, &urls.each_ref().map(String::as_str)).await;
    for (name, title) in names.into_iter().zip(["React", "Vue", "Svelte"]) {
        let host = format!("{name}.test");
        let (page, warning) = stage.scrape(&host, json!({"formats": ["markdown"]})).await;
        let markdown = page["markdown"].as_str().unwrap_or_default();
        assert!(markdown.contains(&format!("# Field notes, written with {title}")), "{page} {warning}");
        assert!(markdown.contains(&format!("The article of the {title} application arrives")), "{markdown}");
        assert!(markdown.contains("| Whitby | 5.6 m |"), "{markdown}");
        assert!((1..=8).all(|id| markdown.contains(&format!("day {id}"))), "{markdown}");
        assert!(!markdown.contains("Well seen") && !markdown.contains("Loading"), "{markdown}");
        assert_eq!(warning, Value::Null);
        let click =
            json!([{"type": "click", "selector": "#more"}, {"type": "wait", "selector": "#comments p"}]);
        let (page, _) = stage.scrape(&host, json!({"formats": ["markdown"], "actions": click})).await;
        assert!(page["markdown"].as_str().unwrap().contains("Well seen"), "{page}");
    }
    // What was drawn once is in the cache, and nothing is asked of the host again.
    stage.world.clear_requests();
    let (page, _) = stage.scrape("react.test", json!({"formats": ["markdown"]})).await;
    assert_eq!(page["metadata"]["cacheState"], json!("hit"));
    assert!(stage.world.requests().is_empty());
}

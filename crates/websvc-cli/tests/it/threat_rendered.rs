//! Threat protection of rendered pages: navigations are checked, and nothing of a blocked page is stored.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use serde_json::{Value, json};
use websvc_store::{Store, TeamChange, ThreatPolicy};
use websvc_testkit::{Page, TestWeb};

use crate::browser::path_or_skip;
use crate::harness::{Service, Site};

const BLOCKED: &str = "unsafe_domain_blocked: threat protection blocks evil.test: it is on the blacklist";

#[tokio::test(flavor = "multi_thread")]
async fn rendered_page_leading_to_blocked_url_is_blocked_and_leaves_no_artifacts() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let navigating =
        "<title>Leads</title><p>Here for now.</p><script>location = 'http://evil.test/'</script>";
    let link = "<title>Link</title><p>A page with a <a href='http://evil.test/'>link</a>.</p>";
    let file = "<title>File</title><p>A page with a <a href='/table.csv'>table</a>.</p>";
    let requests = AtomicU32::new(0);
    let world = TestWeb::builder()
        .page("http://file.test/", Page::html(file))
        .page_with("http://file.test/table.csv", move |_| match requests.fetch_add(1, Relaxed) {
            0 => Page::new("text/csv", "a,b").header("content-disposition", "attachment"),
            _ => Page::redirect(302, "http://evil.test/"),
        })
        .page("http://leads.test/", Page::html(navigating))
        .page("http://link.test/", Page::html(link))
        .page("http://evil.test/", Page::html("<p>evil"));
    let world = world.start().await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command.env("WEBSVC__BROWSER__CONCURRENCY", "2");
    let mut service = Service::start(command.env("WEBSVC__BROWSER__PATH", chromium));
    let indexed =
        [("sencha", "http://leads.test/"), ("matcha", "http://link.test/"), ("oolong", "http://file.test/")];
    service.index_pages(&indexed).await;
    let store = Store::open(site.data_dir()).unwrap();
    let change = TeamChange { threat_protection: Some(ThreatPolicy::Enforced), ..TeamChange::default() };
    store.set_team("red", &change).unwrap();
    store.set_threat_values("red", Some(r#"{"blacklist":["evil.test"]}"#)).unwrap();
    service.key = store.create_key("red", "").unwrap().secret.expose().to_owned();

    let click = json!([
        { "type": "screenshot" }, { "type": "click", "selector": "a" }, { "type": "wait", "milliseconds": 3000 },
    ]);
    let plain = json!({ "formats": ["markdown", "screenshot"] });
    let clicking = json!({ "formats": ["markdown", "screenshot"], "actions": click });
    let mut saving = clicking.clone();
    saving["profile"] = json!({ "name": "shop" });
    for (word, scrape) in
        [("sencha", &plain), ("matcha", &clicking), ("matcha", &saving), ("oolong", &saving)]
    {
        let response = service.search(json!({ "query": word, "scrapeOptions": scrape })).await;
        let result = &response.body["data"]["web"][0];
        assert_eq!(result["metadata"]["error"], BLOCKED, "{word}: {}", response.body);
        for field in ["markdown", "screenshot", "actions"] {
            assert_eq!(result[field], Value::Null, "{word} {field}");
        }
    }
    assert_eq!(world.count("http://evil.test/"), 0, "the blocked URL was requested");
    let artifacts = fs::read_dir(site.data_dir().join("artifacts")).map_or(0, Iterator::count);
    assert_eq!(artifacts, 0, "a screenshot was stored");
    assert!(store.profile("red", "shop").unwrap().is_none(), "a profile was stored");
    // Without the click, the same page is scraped.
    let scrape = json!({ "formats": ["markdown", "screenshot"] });
    let response = service.search(json!({ "query": "matcha", "scrapeOptions": scrape })).await;
    assert!(response.body["data"]["web"][0]["screenshot"].is_string(), "{}", response.body);
}

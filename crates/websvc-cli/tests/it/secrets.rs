//! What may not be said or used: placeholders as keys, and addresses of pages under lockdown in the log.

use serde_json::json;
use websvc_testkit::{Page, World};

use crate::harness::{KEY, Service, Site};

#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_a_placeholder_for_a_key_is_refused() {
    let world = World::builder().start().await;
    let site = Site::new(&world);
    for key in [
        "changeme",
        "fc-YOUR-API-KEY",
        "your_api_key",
        "<key>",
        "${KEY}",
        "fc-xxxxxxxxxxxx",
        "secret",
        "a",
        "",
    ] {
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        let output = command.env("WEBSVC_API_KEY", key).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{key}: {said}");
        assert!(said.contains("WEBSVC_API_KEY"), "{key}: {said}");
    }
    drop(Service::start(
        site.command(&["serve", "--listen", "127.0.0.1:0"]).env("WEBSVC_API_KEY", "fc-3b1f0c9a7d5e4f21"),
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_under_lockdown_is_not_in_the_log() {
    const URL: &str = "http://hush.test/very-private-path?token=very-private-query";
    let world = World::builder().page(URL, Page::html("<main><p>Quiet words.</p></main>")).start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log.txt");
    let serve = || {
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("WEBSVC_API_KEY", KEY).env("WEBSVC_LOG", "trace");
        Service::start_logging(&mut command, &log)
    };
    let options = |lockdown: bool| json!({"formats": ["markdown"], "lockdown": lockdown});
    let ask = |lockdown| json!({"query": "hush", "scrapeOptions": options(lockdown)});
    let service = serve();
    service.list(&[("hush", URL)]).await;
    drop(service);
    // Its own process, so that the log holds nothing else.
    let service = serve();
    assert_eq!(service.search(ask(true)).await.status, 404, "it is not in the cache");
    drop(service);
    let miss = std::fs::read_to_string(&log).unwrap();
    let service = serve();
    assert_eq!(service.search(ask(false)).await.status, 200);
    drop(service);
    assert!(world.count(URL) > 0, "it is now");
    let service = serve();
    let hit = service.search(ask(true)).await;
    assert!(
        hit.body["data"]["web"][0]["markdown"].as_str().unwrap_or_default().contains("Quiet"),
        "{}",
        hit.body
    );
    drop(service);
    let hit = std::fs::read_to_string(&log).unwrap();
    for (name, log) in [("miss", miss), ("hit", hit)] {
        assert!(log.contains("/v2/search"), "{name}: the request itself is there");
        for part in ["hush.test", "very-private-path", "very-private-query"] {
            assert!(!log.contains(part), "{name}: the log has {part}");
        }
    }
}

//! Tests of secrets: placeholder keys are rejected, lockdown URLs are not logged, and passwords in URLs are not stored.

use std::path::Path;

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Service, Site};

#[tokio::test(flavor = "multi_thread")]
async fn placeholder_api_key_ends_the_start() {
    let world = TestWeb::builder().start().await;
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
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{key}: {stderr}");
        assert!(stderr.contains("WEBSVC_API_KEY"), "{key}: {stderr}");
    }
    drop(Service::start(
        site.command(&["serve", "--listen", "127.0.0.1:0"]).env("WEBSVC_API_KEY", "fc-3b1f0c9a7d5e4f21"),
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn page_under_lockdown_is_not_in_the_log() {
    const URL: &str = "http://hush.test/very-private-path?token=very-private-query";
    let world = TestWeb::builder().page(URL, Page::html("<main><p>Quiet words.</p></main>")).start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log.txt");
    let serve = || {
        let mut command = site.serve_command();
        command.env("WEBSVC_LOG", "trace");
        Service::start_logging(&mut command, &log)
    };
    let options = |lockdown: bool| json!({"formats": ["markdown"], "lockdown": lockdown});
    let body = |lockdown| json!({"query": "hush", "scrapeOptions": options(lockdown)});
    let service = serve();
    service.index_pages(&[("hush", URL)]).await;
    drop(service);
    // Each step has its own process and its own log.
    let service = serve();
    assert_eq!(service.search(body(true)).await.status, 404, "the page is in the cache");
    drop(service);
    let miss = std::fs::read_to_string(&log).unwrap();
    let service = serve();
    assert_eq!(service.search(body(false)).await.status, 200);
    drop(service);
    assert!(world.count(URL) > 0, "the page was not fetched");
    let service = serve();
    let hit = service.search(body(true)).await;
    assert!(
        hit.body["data"]["web"][0]["markdown"].as_str().unwrap_or_default().contains("Quiet"),
        "{}",
        hit.body
    );
    drop(service);
    let hit = std::fs::read_to_string(&log).unwrap();
    for (name, log) in [("miss", miss), ("hit", hit)] {
        assert!(log.contains("/v2/search"), "{name}: the log lacks the request");
        for part in ["hush.test", "very-private-path", "very-private-query"] {
            assert!(!log.contains(part), "{name}: the log contains {part}");
        }
    }
}

/// Returns the files below a directory that contain a text.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn page_behind_url_credentials_is_neither_stored_nor_shared() {
    const URL: &str = "http://aladin:open-sesame-77@vault.test/treasure";
    let world = TestWeb::builder()
        .page_with("http://vault.test/treasure", |request| {
            match request.header("authorization") {
                // aladin:open-sesame-77
                Some("Basic YWxhZGluOm9wZW4tc2VzYW1lLTc3") => Page::html(
                    "<title>Vault</title><main><p>Rubies lie beneath the emerald staircase.</p></main>",
                ),
                _ => Page::html("<title>Login</title>").status(401),
            }
        })
        .page(
            "http://vault.test/open",
            Page::html("<title>Open</title><main><p>A public page about sapphires.</p>"),
        )
        .start()
        .await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log.txt");
    let mut command = site.serve_command();
    command.env("WEBSVC_LOG", "trace");
    let service = Service::start_logging(&mut command, &log);

    let page = service.post("/v2/scrape", json!({ "url": URL }).to_string()).await;
    assert!(page.body["data"]["markdown"].as_str().unwrap().contains("Rubies"), "{}", page.body);
    assert_eq!(
        page.body["data"]["metadata"]["sourceURL"],
        json!(URL),
        "the source URL differs from the request"
    );
    let cached = json!({ "url": "http://vault.test/treasure", "lockdown": true });
    assert_eq!(service.post("/v2/scrape", cached.to_string()).await.status, 404, "the page is in the cache");
    service.post("/v2/scrape", json!({ "url": "http://vault.test/open" }).to_string()).await;
    service.search_until_found("sapphires").await;
    let found = service.search(json!({ "query": "rubies emerald staircase" })).await;
    assert_eq!(found.body["data"]["web"], json!([]), "the page is in the index");

    service.stop();
    for secret in ["open-sesame-77", "YWxhZGluOm9wZW4tc2VzYW1lLTc3"] {
        assert_eq!(files_with(site.data_dir(), secret), [""; 0], "{secret}");
    }
}

//! Tests of the browser process of a service: its end, its metrics and its absence.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use websvc_testkit::{Canary, Page, TestWeb};

use super::{TEA, path_or_skip, start_with_tea_page};
use crate::harness::{Service, Site};

#[tokio::test]
#[cfg(target_os = "linux")]
async fn killed_service_leaves_no_browser_process() {
    let Some(browser) = start_with_tea_page().await else { return };
    let (page, _) = browser.scrape("tea.test", json!({"formats": ["markdown"], "waitFor": 1})).await;
    assert!(page["markdown"].as_str().unwrap().contains("A script wrote this"), "{page}");
    let service = i64::from(browser.service.id());
    // Chromium has its own process group. The document workers are in the group of the service.
    let mut groups: Vec<i64> =
        processes().iter().filter(|process| process.parent == service).map(|process| process.group).collect();
    groups
        .retain(|&group| processes().iter().any(|process| process.id == group && process.parent == service));
    assert_eq!(groups.len(), 1, "{:?}", processes());
    let members = processes().iter().filter(|process| process.group == groups[0]).count();
    assert!(members > 1, "the browser has only {members} process");
    browser.service.kill();
    let all_ended = async {
        while processes().iter().any(|process| process.group == groups[0]) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all_ended).await.expect("all browser processes end");
}

#[tokio::test]
async fn browser_directory_is_private_and_removed_after_a_kill() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    let temporary = tempfile::tempdir().unwrap();
    let serve = || {
        let mut command = site.serve_command();
        command.env("WEBSVC__BROWSER__CONCURRENCY", "2").env("WEBSVC__BROWSER__PATH", &chromium);
        Service::start(command.env("TMPDIR", temporary.path()))
    };
    let directories = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(temporary.path()).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| path.to_string_lossy().contains("websvc-browser-")).collect()
    };
    let service = serve();
    let response =
        service.post("/v2/scrape", json!({"url": "http://tea.test/", "waitFor": 1}).to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let created = directories();
    assert_eq!(created.len(), 1, "{created:?}");
    assert_eq!(std::fs::metadata(&created[0]).unwrap().mode() & 0o777, 0o700);
    service.kill();
    drop(service);
    assert_eq!(directories(), created, "the directory is removed before the next start");
    // The start alone removes the directory: no page is opened.
    let service = serve();
    let removed = async {
        while !directories().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), removed).await.expect("the directory is removed");
    service.stop();
}

/// A running process. Zombies are left out.
#[derive(Debug)]
struct Process {
    id: i64,
    parent: i64,
    group: i64,
}

fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter_map(|stat| {
            // The name in parentheses may contain any character.
            let (head, fields) = stat.rsplit_once(')')?;
            let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
            let [state, parent, group] = fields[..3] else { return None };
            let id = head.split_once(' ')?.0.parse().ok()?;
            (state != "Z").then_some(Process { id, parent: parent.parse().ok()?, group: group.parse().ok()? })
        })
        .collect()
}

#[tokio::test]
async fn browser_appears_in_readiness_and_metrics() {
    let Some(browser) = start_with_tea_page().await else { return };
    let before = browser.service.get("/ready").await;
    assert_eq!(
        (before.status.as_u16(), &before.body["browser"]["state"]),
        (200, &json!("ok")),
        "{}",
        before.body
    );
    assert!(
        browser
            .service
            .text("/metrics")
            .await
            .contains("websvc_browser_processes_total{event=\"started\"} 0")
    );
    browser.scrape("tea.test", json!({"formats": ["markdown"], "waitFor": 1})).await;
    // The page is closed after the response.
    let mut metrics = browser.service.text("/metrics").await;
    while !metrics.contains("websvc_browser_pages_open 0") {
        tokio::time::sleep(Duration::from_millis(20)).await;
        metrics = browser.service.text("/metrics").await;
    }
    for line in [
        "websvc_browser_processes_total{event=\"started\"} 1",
        "websvc_browser_processes_total{event=\"crashed\"} 0",
        "websvc_browser_pages_opened_total 1",
        "websvc_browser_pages_open 0",
        "websvc_browser_wait_seconds_count 1",
        "websvc_browser_pages_failed_total{kind=\"crashed\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let warnings = browser.service.get("/ready").await.body["browser"]["warnings"].to_string();
    assert!(!is_root || warnings.contains("without its sandbox"), "{warnings}");
}

#[tokio::test]
async fn missing_browser_degrades_the_service() {
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    let serve = |key: &str, value: &str| {
        let mut command = site.serve_command();
        command.env("WEBSVC__BROWSER__CONCURRENCY", "2").env(key, value);
        Service::start(&mut command)
    };
    let service = serve("WEBSVC__BROWSER__PATH", "/no/such/chromium");
    let ready = service.get("/ready").await;
    assert_eq!(
        (ready.status.as_u16(), &ready.body["browser"]["state"]),
        (200, &json!("degraded")),
        "{}",
        ready.body
    );
    assert!(ready.body["browser"]["reason"].as_str().unwrap().contains("install chromium-headless-shell"));
    service.stop();

    // A remote browser is not connected to before a page needs it.
    let canary = Canary::start().await;
    let service = serve("WEBSVC__BROWSER__CDP_URL", &format!("http://{}", canary.addr()));
    assert_eq!(service.get("/ready").await.body["browser"]["state"], json!("ok"));
    assert_eq!(canary.connections(), 0);
    let documents = json!({"documents": [{"url": "http://tea.test/", "title": "Tea", "body": "listed"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("listed").await;
    let body = json!({"query": "listed", "limit": 1,
        "scrapeOptions": {"formats": ["markdown"], "actions": [{"type": "wait", "milliseconds": 1}]}});
    let response = service.search(body).await;
    let text = response.body.to_string();
    assert!(text.contains("the remote browser cannot be used"), "{text}");
    assert!(!text.contains(&canary.addr().to_string()), "the response contains the address: {text}");
    let ready = service.get("/ready").await.body;
    assert_eq!(ready["browser"], json!({"state": "degraded", "reason": "the remote browser cannot be used"}));
    service.stop();
}

//! Measures memory after many searches, stored scrapes of new pages, and pages rendered in Chromium.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use websvc_testkit::TestWeb;

use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;
use crate::{CONNECTIONS, crawl_manual, queries, requests, scrapes};

/// The variable with the path of Chromium.
const CHROMIUM: &str = "WEBSVC_TEST_CHROMIUM";

const SEARCHES: usize = 30_000;
const SCRAPES: usize = 6_000;
const RENDERED: usize = 600;

/// Pages that Chromium renders concurrently.
const RENDER_CONCURRENCY: usize = 4;

/// Idle time after which the service has returned freed memory to the system. It checks every two seconds.
const IDLE_TIME: Duration = Duration::from_secs(6);

/// Measures the memory of a service whose index contains the manual, after each kind of load.
pub(crate) async fn run(corpus: &Path, report: &mut Report) {
    let world = TestWeb::builder().directory("docs.test", corpus).start().await;
    let data = tempfile::tempdir().unwrap();
    crawl_manual(&world, &data).await;
    let process = start(&world, &data);
    report_memory(&process, "after the start, index of 530 pages", report);
    let words = queries::varied(corpus);
    let searches = requests(&words, |query| json!({ "query": query }));
    send_all(&process, CONNECTIONS, &repeat(&searches, SEARCHES)).await;
    report_memory(&process, "after 30,000 searches", report);
    send_all(&process, CONNECTIONS, &scrapes::new_pages(corpus, SCRAPES)).await;
    report_memory(&process, "and 6,000 stored scrapes of 22 kB", report);
    if std::env::var_os(CHROMIUM).is_none() {
        println!("bench: the row of rendered pages is skipped, {CHROMIUM} is not set");
        return;
    }
    send_all(&process, RENDER_CONCURRENCY, &rendered_pages(corpus)).await;
    report_memory(&process, "and 600 rendered pages", report);
}

fn start(world: &TestWeb, data: &TempDir) -> Process {
    let chromium = std::env::var(CHROMIUM).ok();
    let variables: Vec<_> = chromium.iter().map(|path| ("WEBSVC__BROWSER__PATH", path.as_str())).collect();
    Process::service_with(world, data.path(), &variables)
}

async fn send_all(process: &Process, connections: usize, requests: &[Request]) {
    let load = Load::each_once(process, connections, requests).await;
    assert!(load.failures == 0, "{} requests failed", load.failures);
    tokio::time::sleep(IDLE_TIME).await;
}

fn report_memory(process: &Process, after: &str, report: &mut Report) {
    let (resident, anonymous) = (process.memory_mb(), process.anonymous_memory_mb());
    report.text(
        &format!("memory {after}"),
        resident,
        format!("{resident:.0} MB, of which {anonymous:.0} MB anonymous"),
    );
}

fn repeat(requests: &[Request], count: usize) -> Vec<Request> {
    requests.iter().cycle().take(count).cloned().collect()
}

/// Returns scrapes of rendered pages, each with a different URL.
fn rendered_pages(corpus: &Path) -> Vec<Request> {
    let urls = scrapes::new_urls(corpus, "rendered", RENDERED);
    urls.map(|url| json!({ "url": url, "formats": ["markdown"], "waitFor": 10 }))
        .map(|body| Request::post("/v2/scrape", &body.to_string()))
        .collect()
}

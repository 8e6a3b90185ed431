//! Benchmarks of the service. `cargo xtask bench` compares the service with its parts. The arguments `relevance`, `scale`,
//! `access`, `crawl`, `memory`, `monitors`, `scrapes`, `sessions` and `cluster` select other benchmarks.
//!
//! Machines are shared and noisy, so compare ratios between rows of one run. With two cores, the process under test is
//! pinned to the first core, and the load to the second.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the benchmark prints its results, and panics when a step fails"
)]

mod access;
mod cluster;
mod connection;
mod contract;
mod crawl;
mod crowd;
mod extraction;
mod load;
mod memory;
mod monitors;
mod parts;
mod pdf;
mod process;
mod queries;
mod relevance;
mod report;
mod scale;
mod scrapes;
mod sessions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::TestWeb;

use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;

/// Duration of each measurement.
const DURATION: Duration = Duration::from_secs(5);

/// Connections of the load.
const CONNECTIONS: usize = 16;

/// The row of tantivy without the service.
const BARE_ROW: &str = "tantivy in process, IDs of the ten best documents";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let part = std::env::args().nth(1);
    if part.as_deref() == Some("fetch-all") {
        return crawl::fetch_all(&arguments).await;
    }
    process::pin_self_to(1);
    match part.as_deref() {
        Some("cluster") => cluster::run().await,
        Some("crawl") => crawl::run().await,
        Some("relevance") => relevance::run().await,
        Some("scale") => scale::run().await,
        Some("access") => {
            let mut report = Report::default();
            access::run(&mut report).await;
            report.print();
        }
        Some("memory") => memory_after_work().await,
        Some("scrapes") => scrapes_alone().await,
        Some("sessions") => {
            let mut report = Report::default();
            sessions::run(&mut report).await;
            report.print();
        }
        Some("monitors") => {
            let mut report = Report::default();
            monitors::run(&mut report).await;
            report.print();
        }
        Some(other) => println!("bench: unknown benchmark \"{other}\""),
        None => parts_and_service().await,
    }
}

/// Compares the service with its parts.
async fn parts_and_service() {
    let Some(corpus) = corpus() else { return };
    let mut report = Report::default();
    bare_server(&mut report).await;
    parts::query(&mut report);
    contract::read_requests(&mut report);
    parts::extraction(&corpus, &mut report);
    extraction::by_size(&corpus, &mut report);
    pdf::pages(&corpus, &mut report);

    let (world, _dense) = world(&corpus).await;
    let data = tempfile::tempdir().unwrap();
    idle(&world, &mut report).await;
    crawl(&world, &data, &mut report).await;
    let queries = queries::varied(&corpus);
    let bare = Process::bare_tantivy(&data.path().join("index"), &queries);
    report.number(BARE_ROW, bare, "/s", "");
    parts::index(data.path(), &queries, &mut report);
    service(&world, &data, &corpus, &queries, &mut report).await;
    report.print();
}

/// Starts the manual at `docs.test`, and pages that are nearly all text at `dense.test`.
/// The pages are in the directory.
async fn world(corpus: &Path) -> (TestWeb, TempDir) {
    let dense = tempfile::tempdir().unwrap();
    scrapes::write_dense(corpus, dense.path());
    let world = TestWeb::builder().directory("docs.test", corpus).directory("dense.test", dense.path());
    (world.start().await, dense)
}

/// Measures scrapes with an empty index.
async fn scrapes_alone() {
    let Some(corpus) = corpus() else { return };
    let mut report = Report::default();
    let (world, _dense) = world(&corpus).await;
    let data = tempfile::tempdir().unwrap();
    let process = Process::service(&world, data.path());
    scrapes::unstored(&process, &corpus, &mut report).await;
    scrapes::stored(&process, &corpus, &mut report).await;
    scrapes::dense(&process, &mut report).await;
    report.print();
}

/// Measures memory after many requests of each kind.
async fn memory_after_work() {
    let Some(corpus) = corpus() else { return };
    let mut report = Report::default();
    memory::run(&corpus, &mut report).await;
    report.print();
}

/// Returns the directory of the Python manual. Prints a note if the variable is not set.
fn corpus() -> Option<PathBuf> {
    let directory = std::env::var_os("WEBSVC_CORPUS_DIR").map(PathBuf::from);
    if directory.is_none() {
        println!("bench: skipped, WEBSVC_CORPUS_DIR is not set (cargo xtask corpus)");
    }
    directory
}

/// Measures a bare `200 OK` response of our server and of plain hyper.
async fn bare_server(report: &mut Report) {
    let mut rates = Vec::new();
    for example in ["plain_hyper", "bare_ok"] {
        let process = Process::example(example);
        let load = Load::run(&process, CONNECTIONS, DURATION, &[Request::get("/")]).await;
        report.load(&format!("200 OK, {example}"), &load);
        rates.push(load.rate());
    }
    report.ratio("bare server / plain hyper", rates[1] / rates[0], "at least 0.90");
}

/// Measures the start and the memory of a service with an empty index.
async fn idle(world: &TestWeb, report: &mut Report) {
    let data = tempfile::tempdir().unwrap();
    let process = Process::service(world, data.path());
    report.number(
        "start to the first response",
        process.first_response.as_secs_f64() * 1e3,
        "ms",
        "under 50",
    );
    report.number("memory, idle, empty index", process.memory_mb(), "MB", "under 15");
}

async fn crawl(world: &TestWeb, data: &TempDir, report: &mut Report) {
    let started = std::time::Instant::now();
    let pages = crawl_manual(world, data).await;
    report.number("crawl into the index", pages / started.elapsed().as_secs_f64(), "pages/s", "");
}

/// Crawls the manual into the index, and returns the number of pages.
async fn crawl_manual(world: &TestWeb, data: &TempDir) -> f64 {
    let output =
        Process::run(world, data.path(), &["index", "crawl", "http://docs.test/index.html", "--json"]).await;
    let report: Value = serde_json::from_str(&output).unwrap();
    report["pages"].as_f64().unwrap()
}

/// Measures the service with the corpus.
async fn service(world: &TestWeb, data: &TempDir, corpus: &Path, queries: &[String], report: &mut Report) {
    let process = Process::service(world, data.path());
    let plain = requests(queries, |query| json!({ "query": query }));
    let load = Load::run(&process, CONNECTIONS, DURATION, &plain).await;
    report.load("POST /v2/search", &load);
    report.number("CPU per search", load.cpu_ms(), "ms", "0.15");
    for row in [BARE_ROW, parts::INDEX_ROW] {
        if let Some(in_process) = report.rate_of(row) {
            report.ratio(&format!("search over HTTP / {row}"), load.rate() / in_process, "at least 0.70");
        }
    }
    let scraping =
        requests(queries, |query| json!({ "query": query, "scrapeOptions": { "formats": ["markdown"] } }));
    let warm = Load::run(&process, CONNECTIONS, DURATION, &scraping).await;
    let load = Load::run(&process, CONNECTIONS, DURATION, &scraping).await;
    report.load("search with markdown of 10 results, cached", &load);
    scrapes::cached(&process, corpus, report).await;
    scrapes::fetched(&process, world, corpus, report).await;
    scrapes::unstored(&process, corpus, report).await;
    scrapes::stored(&process, corpus, report).await;
    scrapes::dense(&process, report).await;
    report.number("memory after the load", process.memory_mb(), "MB", "");
    assert!(warm.failures + load.failures == 0, "a request failed");
}

fn requests(queries: &[String], body: impl Fn(&str) -> Value) -> Vec<Request> {
    queries.iter().map(|query| Request::post("/v2/search", &body(query).to_string())).collect()
}

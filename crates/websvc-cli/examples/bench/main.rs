//! Measures the service: beside its parts, in one run, by `cargo xtask bench`; its relevance by `bench relevance`; how
//! it grows by `bench scale`; its door by `bench access`; its crawls by `bench crawl`; and its memory by `bench memory`.
//!
//! The machine is shared and noisy, so what counts are the ratios between rows of one run. The process under test is
//! pinned to the first core and the load to the second, where there are two.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures, and ends when something fails"
)]

mod access;
mod ask;
mod contract;
mod crawl;
mod crowd;
mod load;
mod memory;
mod pages;
mod parts;
mod pdf;
mod process;
mod queries;
mod relevance;
mod report;
mod scale;
mod scrapes;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::TestWeb;

use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;

/// How long each row is measured.
const SPAN: Duration = Duration::from_secs(5);

/// The connections of the load.
const CONNECTIONS: usize = 16;

/// The row of tantivy without us.
const BARE_ROW: &str = "bare tantivy in process, ten best by number";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let part = std::env::args().nth(1);
    if part.as_deref() == Some("fetch-all") {
        return crawl::fetch_all(&arguments).await;
    }
    process::pin_self_to(1);
    match part.as_deref() {
        Some("crawl") => crawl::run().await,
        Some("relevance") => relevance::run().await,
        Some("scale") => scale::run().await,
        Some("access") => {
            let mut report = Report::default();
            access::run(&mut report).await;
            report.print();
        }
        Some("memory") => memory_after_work().await,
        Some(other) => println!("bench: there is no part \"{other}\""),
        None => parts_and_service().await,
    }
}

/// Measures the service beside its parts.
async fn parts_and_service() {
    let Some(corpus) = corpus() else { return };
    let mut report = Report::default();
    bare_server(&mut report).await;
    parts::query(&mut report);
    contract::reading(&mut report);
    parts::extraction(&corpus, &mut report);
    pages::by_size(&corpus, &mut report);
    pdf::pages(&corpus, &mut report);

    let world = TestWeb::builder().directory("docs.test", &corpus).start().await;
    let data = tempfile::tempdir().unwrap();
    idle(&world, &mut report).await;
    crawl(&world, &data, &mut report).await;
    let queries = queries::varied(&corpus);
    let bare = Process::bare_tantivy(&data.path().join("index"), &queries);
    report.figure(BARE_ROW, bare, "/s", "");
    parts::index(data.path(), &queries, &mut report);
    service(&world, &data, &corpus, &queries, &mut report).await;
    report.print();
}

/// Measures memory after many requests of each kind.
async fn memory_after_work() {
    let Some(corpus) = corpus() else { return };
    let mut report = Report::default();
    memory::run(&corpus, &mut report).await;
    report.print();
}

/// Returns the folder of the Python manual, or says that it is not named.
fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("WEBSVC_CORPUS_DIR").map(PathBuf::from);
    if named.is_none() {
        println!("bench: skipped, WEBSVC_CORPUS_DIR is not set (cargo xtask corpus)");
    }
    named
}

/// A bare `200 OK` through our server and through plain hyper.
async fn bare_server(report: &mut Report) {
    let mut rates = Vec::new();
    for example in ["plain_hyper", "bare_ok"] {
        let process = Process::example(example);
        let load = Load::run(&process, CONNECTIONS, SPAN, &[Request::get("/")]).await;
        report.load(&format!("200 OK, {example}"), &load);
        rates.push(load.rate());
    }
    report.ratio("bare server / plain hyper", rates[1] / rates[0], "at least 0.90");
}

/// The service with an empty index: start and memory.
async fn idle(world: &TestWeb, report: &mut Report) {
    let data = tempfile::tempdir().unwrap();
    let process = Process::service(world, data.path());
    report.figure("start to the first answer", process.first_answer.as_secs_f64() * 1e3, "ms", "under 50");
    report.figure("memory, idle, empty index", process.memory_mb(), "MB", "under 15");
}

async fn crawl(world: &TestWeb, data: &TempDir, report: &mut Report) {
    let started = std::time::Instant::now();
    let pages = crawl_manual(world, data).await;
    report.figure("crawl into the index", pages / started.elapsed().as_secs_f64(), "pages/s", "");
}

/// Crawls the manual into the index, and returns the number of pages.
async fn crawl_manual(world: &TestWeb, data: &TempDir) -> f64 {
    let said =
        Process::run(world, data.path(), &["index", "crawl", "http://docs.test/index.html", "--json"]).await;
    let said: Value = serde_json::from_str(&said).unwrap();
    said["pages"].as_f64().unwrap()
}

/// The service with the corpus.
async fn service(world: &TestWeb, data: &TempDir, corpus: &Path, queries: &[String], report: &mut Report) {
    let process = Process::service(world, data.path());
    let plain = requests(queries, |query| json!({ "query": query }));
    let load = Load::run(&process, CONNECTIONS, SPAN, &plain).await;
    report.load("POST /v2/search", &load);
    report.figure("CPU per search", load.cpu_ms(), "ms", "0.15");
    for row in [BARE_ROW, parts::INDEX_ROW] {
        if let Some(in_process) = report.rate_of(row) {
            report.ratio(&format!("search over HTTP / {row}"), load.rate() / in_process, "at least 0.70");
        }
    }
    let scraping =
        requests(queries, |query| json!({ "query": query, "scrapeOptions": { "formats": ["markdown"] } }));
    let warm = Load::run(&process, CONNECTIONS, SPAN, &scraping).await;
    let load = Load::run(&process, CONNECTIONS, SPAN, &scraping).await;
    report.load("search with markdown of 10 results, cached", &load);
    scrapes::cached(&process, corpus, report).await;
    scrapes::fetched(&process, world, corpus, report).await;
    scrapes::unstored(&process, corpus, report).await;
    scrapes::stored(&process, corpus, report).await;
    report.figure("memory after the load", process.memory_mb(), "MB", "");
    assert!(warm.failures + load.failures == 0, "every request is answered with 200");
}

fn requests(queries: &[String], body: impl Fn(&str) -> Value) -> Vec<Request> {
    queries.iter().map(|query| Request::post("/v2/search", &body(query).to_string())).collect()
}

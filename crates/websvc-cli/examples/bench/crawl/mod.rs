//! Compares crawls of a local site without delays with `wget --recursive` and with bare fetches of the same pages.

mod baselines;
mod site;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::connection::Connection;
use crate::load::{Load, Request};
use crate::process::Process;
use crate::{DURATION, extraction};

pub(crate) use baselines::fetch_all;
pub(crate) use site::html;

/// Concurrent pages of the crawl and of the bare fetches.
const CONCURRENCY: usize = 16;

/// Response time of a site that simulates one on another machine.
const REMOTE_DELAY: Duration = Duration::from_millis(25);

/// Sizes of the generated sites, which show whether the cost of a page grows. `WEBSVC_BENCH_CRAWL` sets others.
const SIZES: &[usize] = &[100, 1_000, 5_000, 20_000];

/// Pages of the sites that are measured with one size.
const SITE_PAGES: usize = 1_000;

/// Pages of a crawl that runs in the background.
const BACKGROUND_PAGES: usize = 50_000;

/// Interval between checks whether a crawl has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time limit for a crawl.
const TIMEOUT: Duration = Duration::from_secs(1_800);

/// Result of a crawl.
struct CrawlResult {
    documents: u64,
    seconds: f64,
    /// CPU time of the service.
    cpu_seconds: f64,
    peak_mb: f64,
}

/// A crawl to measure.
struct Benchmark<'a> {
    name: String,
    world: &'a TestWeb,
    start: &'a str,
    /// The pages of the site.
    urls: Vec<String>,
    options: Value,
}

/// Measures and prints the tables.
pub(crate) async fn run() {
    println!(
        "| site | pages | pages/s | CPU per page, ms | peak memory, MB | wget, pages/s | bare, pages/s | CPU, ms | crawl / bare |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let stored = json!({});
    let not_stored = json!({ "storeInCache": false });
    let sizes = std::env::var("WEBSVC_BENCH_CRAWL").ok();
    let sizes = sizes.map(|sizes| sizes.split(',').map(|size| size.parse().unwrap()).collect());
    let sizes: Vec<usize> = sizes.unwrap_or_else(|| SIZES.to_vec());
    for size in &sizes {
        let world = site::world(*size, Duration::ZERO).await;
        generated(&world, *size, "generated", not_stored.clone()).row().await;
    }
    let world = site::world(SITE_PAGES, Duration::ZERO).await;
    generated(&world, SITE_PAGES, "generated, cached and indexed", stored).row().await;
    let remote = site::world(SITE_PAGES, REMOTE_DELAY).await;
    generated(&remote, SITE_PAGES, "generated, responses take 25 ms", not_stored.clone()).row().await;
    manual(&not_stored).await;
    measure_extraction();
    scrape_during_crawl().await;
}

fn generated<'a>(world: &'a TestWeb, pages: usize, name: &str, options: Value) -> Benchmark<'a> {
    Benchmark { name: name.to_owned(), world, start: site::START, urls: site::urls(pages), options }
}

/// Measures the Python manual, whose pages are larger.
async fn manual(options: &Value) {
    let Some(corpus) = std::env::var_os("WEBSVC_CORPUS_DIR").map(PathBuf::from) else {
        println!("bench: the row of the Python manual is skipped, WEBSVC_CORPUS_DIR is not set");
        return;
    };
    let world = TestWeb::builder().directory("docs.test", &corpus).start().await;
    let urls: Vec<String> = crate::parts::html_files(&corpus)
        .into_iter()
        .map(|file| format!("http://docs.test/{}", file.strip_prefix(&corpus).unwrap().display()))
        .collect();
    let name = "Python manual".to_owned();
    let start = "http://docs.test/index.html";
    Benchmark { name, world: &world, start, urls, options: options.clone() }.row().await;
}

impl Benchmark<'_> {
    /// Measures the crawl and the baselines, and prints a row.
    async fn row(&self) {
        let ours = self.crawl().await;
        let wget = baselines::wget(self.world, self.start).await;
        let bare = baselines::bare(self.world, &self.urls, CONCURRENCY).await;
        #[expect(clippy::cast_precision_loss, reason = "only printed")]
        let (documents, fetched) = (ours.documents as f64, self.urls.len() as f64);
        let (rate, bare_rate) = (documents / ours.seconds, fetched / bare.seconds);
        println!(
            "| {} | {} | {rate:.0} | {:.2} | {:.0} | {} | {bare_rate:.0} | {:.2} | {:.2} |",
            self.name,
            ours.documents,
            ours.cpu_seconds * 1e3 / documents,
            ours.peak_mb,
            wget.map_or("absent".to_owned(), |rate| format!("{rate:.0}")),
            bare.cpu_seconds * 1e3 / fetched,
            rate / bare_rate,
        );
    }

    async fn crawl(&self) -> CrawlResult {
        let data = tempfile::tempdir().unwrap();
        let process = service(self.world, data.path());
        let mut connection = Connection::open(&process);
        let (started, cpu) = (Instant::now(), process.cpu_seconds());
        let job = start_crawl(&mut connection, self.start, &self.options);
        // A blocking call would stop the test web, which runs on this thread's runtime.
        let documents = tokio::task::spawn_blocking(move || wait_for_end(connection, &job)).await.unwrap();
        CrawlResult {
            documents,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: process.cpu_seconds() - cpu,
            peak_mb: process.peak_memory_mb(),
        }
    }
}

/// Starts a service without delays between requests to a host.
fn service(world: &TestWeb, data_dir: &std::path::Path) -> Process {
    let concurrency = CONCURRENCY.to_string();
    let fetches = (4 * CONCURRENCY).to_string();
    Process::service_with(
        world,
        data_dir,
        &[
            ("WEBSVC__JOBS__PACE", "requested"),
            ("WEBSVC__JOBS__MAX_PER_HOST", &concurrency),
            ("WEBSVC__JOBS__CONCURRENCY", &concurrency),
            ("WEBSVC__FETCH__CONCURRENCY", &fetches),
            ("WEBSVC__BROWSER__CONCURRENCY", "0"),
        ],
    )
}

/// Starts a crawl without limits, and returns the path of its status.
fn start_crawl(connection: &mut Connection, start: &str, options: &Value) -> String {
    let mut scrape = json!({ "formats": ["markdown"] });
    scrape.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let body = json!({ "url": start, "sitemap": "skip", "limit": 1_000_000, "scrapeOptions": scrape });
    let response = connection.post("/v2/crawl", &body);
    // The response must contain no documents, so `skip` is larger than their number.
    format!("/v2/crawl/{}?skip=999999999", response["id"].as_str().unwrap())
}

/// Waits for the end of a crawl, and returns its number of documents. Blocks the thread.
fn wait_for_end(mut connection: Connection, job: &str) -> u64 {
    let started = Instant::now();
    loop {
        let status = connection.send(&Request::get(job));
        if status["status"] != "scraping" {
            assert_eq!(status["status"], "completed", "{status}");
            return status["completed"].as_u64().unwrap();
        }
        assert!(started.elapsed() < TIMEOUT, "the crawl does not end: {status}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Prints the cost of extracting the same pages without the service.
fn measure_extraction() {
    let pages: Vec<Vec<u8>> = (0..200).map(|number| html(number, SITE_PAGES).into_bytes()).collect();
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    let each_ms = extraction::own_seconds(&pages) * 1e3 / pages.len() as f64;
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!(
        "\nHTML to a document, the generated pages of {} bytes: CPU {each_ms:.2} ms",
        bytes / pages.len()
    );
}

/// Prints the duration of a scrape alone and during a crawl.
async fn scrape_during_crawl() {
    // Enough pages that the crawl outlasts the measurement.
    let world = site::world(BACKGROUND_PAGES, Duration::ZERO).await;
    let data = tempfile::tempdir().unwrap();
    let process = service(&world, data.path());
    let body = json!({ "url": site::START, "formats": ["markdown"], "maxAge": 0, "storeInCache": false });
    let scrape = [Request::post("/v2/scrape", &body.to_string())];
    let alone = Load::run(&process, 1, DURATION, &scrape).await;
    let mut connection = Connection::open(&process);
    let job = start_crawl(&mut connection, site::START, &json!({ "storeInCache": false }));
    let during = Load::run(&process, 1, DURATION, &scrape).await;
    let status = connection.send(&Request::get(&job));
    assert_eq!(status["status"], "scraping", "the crawl ended before the measurement: {status}");
    assert!(alone.failures + during.failures == 0, "a request failed");
    let ms = |load: &Load, percent| load.percentile(percent).as_secs_f64() * 1e3;
    println!(
        "\nPOST /v2/scrape, one at a time: p50 {:.2} ms, p99 {:.2} ms; during a crawl p50 {:.2} ms, p99 {:.2} ms: {:.2} times",
        ms(&alone, 50),
        ms(&alone, 99),
        ms(&during, 50),
        ms(&during, 99),
        ms(&during, 50) / ms(&alone, 50),
    );
}

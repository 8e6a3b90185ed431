//! Crawls of a loopback site without pauses, beside `wget --recursive` and bare fetches of the same pages.

mod others;
mod site;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use crate::ask::Connection;
use crate::load::{Load, Request};
use crate::process::Process;
use crate::{SPAN, pages};

pub(crate) use others::fetch_all;

/// Pages at one time, of the crawl and of the bare fetches.
const AT_ONCE: usize = 16;

/// How long a site of the second kind takes to answer: as one that is not on this machine.
const AWAY: Duration = Duration::from_millis(25);

/// The sizes of the sites that show whether the cost of a page grows, unless `WEBSVC_BENCH_CRAWL` has others.
const SIZES: &[usize] = &[100, 1_000, 5_000, 20_000];

/// The pages of the sites where one size is enough.
const SOME: usize = 1_000;

/// The pages of a crawl that is not waited for.
const MANY: usize = 50_000;

/// How often is asked whether a crawl is over.
const ASKED_EVERY: Duration = Duration::from_millis(20);

/// The most that is waited for a crawl.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// Result of a crawl.
struct Crawled {
    documents: u64,
    seconds: f64,
    /// Of the service.
    cpu_seconds: f64,
    peak_mb: f64,
}

/// A crawl to be measured.
struct Scene<'a> {
    name: String,
    world: &'a TestWeb,
    start: &'a str,
    /// The pages that it has to get.
    urls: Vec<String>,
    options: Value,
}

/// Measures and prints the tables.
pub(crate) async fn run() {
    println!(
        "| site | pages | pages/s | CPU a page, ms | memory at most, MB | wget, pages/s | bare, pages/s | CPU, ms | crawl / bare |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let kept = json!({});
    let unkept = json!({ "storeInCache": false });
    let named = std::env::var("WEBSVC_BENCH_CRAWL").ok();
    let sizes = named.map(|sizes| sizes.split(',').map(|size| size.parse().unwrap()).collect());
    let sizes: Vec<usize> = sizes.unwrap_or_else(|| SIZES.to_vec());
    for size in &sizes {
        let world = site::world(*size, Duration::ZERO).await;
        generated(&world, *size, "generated", unkept.clone()).row().await;
    }
    let world = site::world(SOME, Duration::ZERO).await;
    generated(&world, SOME, "generated, cached and indexed", kept).row().await;
    let away = site::world(SOME, AWAY).await;
    generated(&away, SOME, "generated, answers take 25 ms", unkept.clone()).row().await;
    manual(&unkept).await;
    extraction();
    beside().await;
}

fn generated<'a>(world: &'a TestWeb, pages: usize, name: &str, options: Value) -> Scene<'a> {
    Scene { name: name.to_owned(), world, start: site::START, urls: site::urls(pages), options }
}

/// The Python manual, whose pages are larger.
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
    Scene { name, world: &world, start, urls, options: options.clone() }.row().await;
}

impl Scene<'_> {
    async fn row(&self) {
        let ours = self.crawl().await;
        let wget = others::wget(self.world, self.start).await;
        let bare = others::bare(self.world, &self.urls, AT_ONCE).await;
        #[expect(clippy::cast_precision_loss, reason = "figures to be read")]
        let (documents, asked) = (ours.documents as f64, self.urls.len() as f64);
        let (rate, bare_rate) = (documents / ours.seconds, asked / bare.seconds);
        println!(
            "| {} | {} | {rate:.0} | {:.2} | {:.0} | {} | {bare_rate:.0} | {:.2} | {:.2} |",
            self.name,
            ours.documents,
            ours.cpu_seconds * 1e3 / documents,
            ours.peak_mb,
            wget.map_or("absent".to_owned(), |rate| format!("{rate:.0}")),
            bare.cpu_seconds * 1e3 / asked,
            rate / bare_rate,
        );
    }

    async fn crawl(&self) -> Crawled {
        let data = tempfile::tempdir().unwrap();
        let process = service(self.world, data.path());
        let mut connection = Connection::to(&process);
        let (started, cpu) = (Instant::now(), process.cpu_seconds());
        let job = begin(&mut connection, self.start, &self.options);
        // The loopback web runs on this thread's runtime: it has to go on meanwhile.
        let documents = tokio::task::spawn_blocking(move || ended(connection, &job)).await.unwrap();
        Crawled {
            documents,
            seconds: started.elapsed().as_secs_f64(),
            cpu_seconds: process.cpu_seconds() - cpu,
            peak_mb: process.peak_memory_mb(),
        }
    }
}

/// Starts a service that waits for no site.
fn service(world: &TestWeb, data_dir: &std::path::Path) -> Process {
    let at_once = AT_ONCE.to_string();
    let fetches = (4 * AT_ONCE).to_string();
    Process::service_with(
        world,
        data_dir,
        &[
            ("WEBSVC__JOBS__PAUSE", "asked"),
            ("WEBSVC__JOBS__PER_HOST", &at_once),
            ("WEBSVC__JOBS__CONCURRENCY", &at_once),
            ("WEBSVC__FETCH__CONCURRENCY", &fetches),
            ("WEBSVC__BROWSER__CONCURRENCY", "0"),
        ],
    )
}

/// Begins a crawl of all that a start leads to, and returns where it is asked for.
fn begin(connection: &mut Connection, start: &str, options: &Value) -> String {
    let mut scrape = json!({ "formats": ["markdown"] });
    scrape.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let body = json!({ "url": start, "sitemap": "skip", "limit": 1_000_000, "scrapeOptions": scrape });
    let answer = connection.post("/v2/crawl", &body);
    // Beyond all documents: how it stands is wanted, and nothing else.
    format!("/v2/crawl/{}?skip=999999999", answer["id"].as_str().unwrap())
}

/// Waits for the end of a crawl, and returns how many documents it has. Blocks.
fn ended(mut connection: Connection, job: &str) -> u64 {
    let started = Instant::now();
    loop {
        let status = connection.send(&Request::get(job));
        if status["status"] != "scraping" {
            assert_eq!(status["status"], "completed", "{status}");
            return status["completed"].as_u64().unwrap();
        }
        assert!(started.elapsed() < PATIENCE, "the crawl does not end: {status}");
        std::thread::sleep(ASKED_EVERY);
    }
}

/// Prints what the extraction of the same pages costs without anything around it.
fn extraction() {
    let pages: Vec<Vec<u8>> = (0..200).map(|number| site::html(number, SOME).into_bytes()).collect();
    #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
    let each_ms = pages::own_seconds(&pages) * 1e3 / pages.len() as f64;
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!(
        "\nHTML to a document, the generated pages of {} bytes: CPU {each_ms:.2} ms",
        bytes / pages.len()
    );
}

/// Prints what a scrape that somebody waits for takes beside a crawl.
async fn beside() {
    // So many that the crawl outlasts the measurement.
    let world = site::world(MANY, Duration::ZERO).await;
    let data = tempfile::tempdir().unwrap();
    let process = service(&world, data.path());
    let body = json!({ "url": site::START, "formats": ["markdown"], "maxAge": 0, "storeInCache": false });
    let scrape = [Request::post("/v2/scrape", &body.to_string())];
    let alone = Load::run(&process, 1, SPAN, &scrape).await;
    let mut connection = Connection::to(&process);
    let job = begin(&mut connection, site::START, &json!({ "storeInCache": false }));
    let during = Load::run(&process, 1, SPAN, &scrape).await;
    let status = connection.send(&Request::get(&job));
    assert_eq!(status["status"], "scraping", "the crawl lasts longer than the measurement: {status}");
    assert!(alone.failures + during.failures == 0, "every request is answered with 200");
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

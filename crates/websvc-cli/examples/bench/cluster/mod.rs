//! Measures replicas on one PostgreSQL database, each with the same share of a core, and the latency of the store on
//! SQLite and on PostgreSQL.

mod database;
mod far;
mod shares;
mod store;
mod work;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::{Page, TcpForwarder, TestWeb};

use self::database::Schema;
use self::shares::CpuShares;
use crate::connection::Connection;
use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;

/// The maximum number of replicas. Each gets a slot of the time of one core.
const MAX_REPLICAS: usize = 3;
const CONNECTIONS_PER_REPLICA: usize = 8;
const DURATION: Duration = Duration::from_secs(6);
const PAGES: usize = 64;
/// Crawls that run at the same time, each of a host of its own.
const CRAWLS: usize = 12;
const CRAWLED_PAGES: usize = 60;

/// Runs all measurements, if a PostgreSQL server is available.
pub(crate) async fn run() {
    let Some(server) = database::server() else {
        println!("bench: skipped, {} is not set (cargo xtask cluster)", database::VARIABLE);
        return;
    };
    let mut report = Report::default();
    store::compare(&server, &mut report).await;
    far::measure(&server, &mut report).await;
    work::measure_job(&server, &mut report).await;
    work::measure_webhooks(&server, &mut report).await;
    let mut rates: Vec<Rates> = Vec::new();
    for count in 1..=MAX_REPLICAS {
        let measured = Replicas::start(&server, count).await.measure(&mut report).await;
        rates.push(measured);
    }
    for (at, rate) in rates.iter().enumerate().skip(1) {
        let count = at + 1;
        report.ratio(&format!("cached scrapes, {count} replicas / 1"), rate.scrapes / rates[0].scrapes, "");
        report.ratio(&format!("searches, {count} replicas / 1"), rate.searches / rates[0].searches, "");
        report.ratio(&format!("crawled pages, {count} replicas / 1"), rate.pages / rates[0].pages, "");
    }
    report.print();
}

/// Responses and pages per second.
struct Rates {
    scrapes: f64,
    searches: f64,
    pages: f64,
}

struct Replicas {
    // Dropped first, while the processes exist.
    shares: Option<CpuShares>,
    processes: Vec<Process>,
    _directories: Vec<TempDir>,
    world: TestWeb,
    schema: Schema,
    _forwarder: TcpForwarder,
}

impl Replicas {
    /// Starts replicas on a new schema, and fills their caches and indexes. Each gets the same share of a core.
    async fn start(server: &str, count: usize) -> Self {
        let mut replicas = Self::start_far(server, count, Duration::ZERO).await;
        replicas.shares = Some(CpuShares::start(&replicas.processes, MAX_REPLICAS + 1));
        replicas
    }

    /// Does the same with a time that statements and their responses need to the database and back.
    async fn start_far(server: &str, count: usize, round_trip: Duration) -> Self {
        let world = world().await;
        let schema = Schema::create(server).await;
        let directories: Vec<TempDir> = (0..count).map(|_| tempfile::tempdir().unwrap()).collect();
        let forwarder = TcpForwarder::delayed(&schema.address(), round_trip / 2);
        let url = if round_trip.is_zero() { schema.url.clone() } else { schema.url_at(forwarder.port()) };
        let variables = [("WEBSVC__STORE__URL", url.as_str()), ("WEBSVC__JOBS__CONCURRENCY", "16")];
        let processes: Vec<Process> = directories
            .iter()
            .map(|directory| Process::service_with(&world, directory.path(), &variables))
            .collect();
        for process in &processes {
            Connection::open(process).add((0..500).map(document));
            let filled = Load::each_once(process, 1, &scrapes()).await;
            assert!(filled.failures == 0, "a request failed");
        }
        // Documents are searchable within two seconds, and merged a little later.
        tokio::time::sleep(Duration::from_secs(4)).await;
        Self { shares: None, processes, _directories: directories, world, schema, _forwarder: forwarder }
    }

    async fn measure(self, report: &mut Report) -> Rates {
        let count = self.processes.len();
        let name =
            |what: &str| format!("{what}, {count} {}", if count == 1 { "replica" } else { "replicas" });
        let scrapes = self.load(&scrapes()).await;
        report.number(&name("cached scrapes"), scrapes, "/s", "");
        let searches: Vec<Request> = (0..200)
            .map(|number| {
                let query = format!("tea number{number}");
                Request::post("/v2/search", &json!({ "query": query }).to_string())
            })
            .collect();
        let searches = self.load(&searches).await;
        report.number(&name("searches"), searches, "/s", "");
        let pages = self.crawl().await;
        report.number(&name("crawled pages, 12 crawls"), pages, "/s", "");
        Rates { scrapes, searches, pages }
    }

    /// Sends the requests to all replicas at the same time, and returns the responses per second of all.
    async fn load(&self, requests: &[Request]) -> f64 {
        let loads = self
            .processes
            .iter()
            .map(|process| Load::run(process, CONNECTIONS_PER_REPLICA, DURATION, requests));
        let loads = futures_util::future::join_all(loads).await;
        assert!(loads.iter().all(|load| load.failures == 0), "a request failed");
        loads.iter().map(Load::rate).sum()
    }

    /// Starts crawls on the replicas in turn, and returns the pages per second until the last one has ended.
    async fn crawl(&self) -> f64 {
        let started = Instant::now();
        let crawls: Vec<(usize, String)> = (0..CRAWLS)
            .map(|number| {
                let at = number % self.processes.len();
                let body = json!({ "url": format!("http://crawl{number}.test/"), "limit": CRAWLED_PAGES,
                                   "maxDiscoveryDepth": 5, "ignoreSitemap": true,
                                   "scrapeOptions": { "maxAge": 0 } });
                let mut connection = Connection::open(&self.processes[at]);
                let response = connection.post("/v2/crawl", &body);
                (at, format!("/v2/crawl/{}", response["id"].as_str().unwrap()))
            })
            .collect();
        let mut pages = 0;
        for (at, path) in crawls {
            pages += loop {
                let status = Connection::open(&self.processes[at]).send(&Request::get(&path));
                if status["status"] != "scraping" {
                    break status["completed"].as_u64().unwrap();
                }
                assert!(started.elapsed() < Duration::from_secs(300), "{status}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            };
        }
        assert_eq!(pages, (CRAWLS * CRAWLED_PAGES) as u64);
        f64::from(u32::try_from(pages).unwrap()) / started.elapsed().as_secs_f64()
    }
}

fn document(number: usize) -> Value {
    json!({
        "url": format!("http://index.test/{number}"),
        "title": format!("Tea {number}"),
        "body": format!("tea kettle number{number} leaf water"),
    })
}

fn scrapes() -> Vec<Request> {
    let request = |number: usize| {
        let url = format!("http://cached.test/{number}");
        Request::post("/v2/scrape", &json!({ "url": url, "formats": ["markdown"] }).to_string())
    };
    (0..PAGES).map(request).collect()
}

/// Starts a web with pages for the scrapes, and a host for each crawl.
async fn world() -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..PAGES {
        let html = crate::crawl::html(number, PAGES);
        world = world.page(&format!("http://cached.test/{number}"), Page::html(html));
    }
    for crawl in 0..CRAWLS {
        let links: String =
            (1..CRAWLED_PAGES).map(|number| format!("<a href=/{number}>page {number}</a> ")).collect();
        let start = format!("<title>Start</title><main><h1>Start</h1>{links}</main>");
        world = world.page(&format!("http://crawl{crawl}.test/"), Page::html(start));
        for number in 1..CRAWLED_PAGES {
            let html = crate::crawl::html(number, PAGES);
            world = world.page(&format!("http://crawl{crawl}.test/{number}"), Page::html(html));
        }
    }
    work::add_pages(world).start().await
}

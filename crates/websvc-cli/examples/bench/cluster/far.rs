//! Replicas whose database is some time away, as it is in a data centre: cached scrapes with batches, and pages of jobs.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_testkit::TcpForwarder;

use super::database::Schema;
use super::{CRAWLS, MAX_REPLICAS, Replicas, scrapes, store};
use crate::connection::Connection;
use crate::load::{Load, Request};
use crate::report::Report;

/// Time from a statement to its response in addition to the work of the server.
const PAGE_ROUND_TRIP: Duration = Duration::from_millis(1);
const SCRAPE_ROUND_TRIP: Duration = Duration::from_micros(500);
const CONNECTIONS_PER_REPLICA: usize = 8;
const DURATION: Duration = Duration::from_secs(15);
const BATCH_INTERVAL: Duration = Duration::from_secs(1);
const BATCH_URLS: usize = 50;

/// Measures pages of jobs with one and with several replicas, and scrapes with batches.
pub(super) async fn measure(server: &str, report: &mut Report) {
    let mut rates = Vec::new();
    for count in [1, MAX_REPLICAS] {
        let schema = Schema::create(server).await;
        let forwarder = TcpForwarder::delayed(&schema.address(), PAGE_ROUND_TRIP / 2);
        let url = schema.url_at(forwarder.port());
        let rate = tokio::task::spawn_blocking(move || store::job_pages(&url, count)).await.unwrap();
        let name = format!("completed pages of jobs, database 1 ms away, {count} x 2 jobs, each page alone");
        report.number(&name, rate, "/s", "");
        rates.push(rate);
    }
    report.ratio("completed pages, database 1 ms away, 3 replicas / 1", rates[1] / rates[0], "");
    let replicas = Replicas::start_far(server, MAX_REPLICAS, SCRAPE_ROUND_TRIP).await;
    scrape_with_batches(&replicas, report).await;
}

/// Sends cached scrapes to all replicas, and creates a batch now and then.
async fn scrape_with_batches(replicas: &Replicas, report: &mut Report) {
    let address = replicas.processes[0].address.clone();
    let batches = tokio::task::spawn_blocking(move || create_batches(&address));
    let requests = scrapes();
    let loads = replicas
        .processes
        .iter()
        .map(|process| Load::run_cold(process, CONNECTIONS_PER_REPLICA, DURATION, &requests));
    let loads = futures_util::future::join_all(loads).await;
    let rate: f64 = loads.iter().map(Load::rate).sum();
    let responses: usize = loads.iter().map(Load::responses).sum();
    let schema = &replicas.schema;
    let unwritten = unwritten(schema, responses).await;
    let ended = Instant::now();
    while self::unwritten(schema, responses).await > 0 && ended.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let failures: usize = loads.iter().map(|load| load.failures).sum();
    let (mut times, refused) = batches.await.unwrap();
    times.sort_unstable();
    let slowest = times.last().copied().unwrap_or_default();
    report.number("cached scrapes with batches, database 0.5 ms away, 3 replicas", rate, "/s", "");
    let text = format!(
        "{failures} failed, p99 {:.1} ms; {} of {} batches refused, creation at most {:.0} ms; usage of \
         {unwritten} requests unwritten at the end, of none after {:.1} s",
        loads.iter().map(|load| load.percentile(99)).max().unwrap_or_default().as_secs_f64() * 1e3,
        refused,
        times.len() + refused,
        slowest.as_secs_f64() * 1e3,
        ended.elapsed().as_secs_f64(),
    );
    report.text("... with batches of 50 URLs, one per second", rate, text);
}

/// Returns the times in which batches were created, and how many were refused.
fn create_batches(address: &str) -> (Vec<Duration>, usize) {
    let started = Instant::now();
    let (mut times, mut refused, mut number) = (Vec::new(), 0, 0);
    while started.elapsed() < DURATION {
        let urls: Vec<String> =
            (0..BATCH_URLS).map(|url| format!("http://crawl{}.test/{}", number % CRAWLS, url % 60)).collect();
        let body = json!({ "urls": urls, "formats": ["markdown"] }).to_string();
        let begun = Instant::now();
        match Connection::open_at(address).try_send(&Request::post("/v2/batch/scrape", &body)) {
            Some(_) => times.push(begun.elapsed()),
            None => refused += 1,
        }
        number += 1;
        std::thread::sleep(
            (started + BATCH_INTERVAL * number as u32).saturating_duration_since(Instant::now()),
        );
    }
    (times, refused)
}

/// Returns of how many scrapes the usage is not in the database.
async fn unwritten(schema: &Schema, responses: usize) -> usize {
    let sql = "SELECT coalesce(sum(requests), 0)::BIGINT FROM usage_daily WHERE operation = 'scrape'";
    responses.saturating_sub(usize::try_from(schema.number(sql).await).unwrap_or_default())
}

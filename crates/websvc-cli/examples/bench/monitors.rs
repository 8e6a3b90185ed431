//! Measures monitors: the same 100 checks per minute in a service with 100 monitors and in one with 10,000.
//!
//! Both services run for the same real time, one after the other, so that every check is started by the clock, as in
//! use. The 9,900 further monitors are due at other hours. The delay of a check is the time from the minute at which it was
//! due until its work began.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use websvc_testkit::{Page, ReceivedRequest, TestWeb};

use crate::connection::Connection;
use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;
use crate::{CONNECTIONS, scale};

/// Monitors that are due every minute.
const DUE: u64 = 100;

/// Numbers of monitors of the services.
const MONITORS: [u64; 2] = [DUE, 10_000];

/// Minutes of a measurement.
const MINUTES: u64 = 2;

/// Second of a minute at which a measurement begins and ends: the checks of the minute before have ended, and those of the
/// next one have not begun.
const FIRST_SECOND: i64 = 30;

/// Text of a page: up to this many documents of about 1.3 kB.
const MAX_PARTS: u64 = 30;

/// Measurement of a service.
struct Measurement {
    cpu_seconds: f64,
    resident_mb: f64,
    anonymous_mb: f64,
    /// Sorted delays of the checks.
    delays: Vec<Duration>,
}

/// Measures both services and compares them.
pub(crate) async fn run(report: &mut Report) {
    let world = pages().start().await;
    let mut stores = Vec::new();
    for monitors in MONITORS {
        stores.push((monitors, store(&world, monitors - DUE).await));
    }
    let mut measured = Vec::new();
    for (monitors, data) in &stores {
        wait_until_second(FIRST_SECOND).await;
        let measurement = measure(&world, data).await;
        report_measurement(*monitors, &measurement, report);
        measured.push(measurement);
    }
    let [few, many] = measured.as_slice() else { return };
    let ratio = |value: fn(&Measurement) -> f64| value(many) / value(few);
    report.ratio("CPU, 10,000 monitors / 100", ratio(|service| service.cpu_seconds), "at most 1.1");
    report.ratio(
        "resident memory, 10,000 monitors / 100",
        ratio(|service| service.resident_mb),
        "at most 1.1",
    );
    for percent in [50, 95, 100] {
        let delay = |service: &Measurement| service.delay(percent).as_secs_f64();
        let name = format!("delay {}, 10,000 monitors / 100", percentile_name(percent));
        report.ratio(&name, delay(many) / delay(few), "at most 1.1");
    }
}

/// Returns the web with the pages of the monitors that are due: each on a host of its own, of 1 to 30 parts. A third of
/// the pages change with every request.
fn pages() -> websvc_testkit::TestWebBuilder {
    (0..DUE).fold(TestWeb::builder(), |web, number| {
        web.page_with(&due_url(number), move |_: &ReceivedRequest| page(number))
    })
}

fn page(number: u64) -> Page {
    let parts = 1 + number * 7 % MAX_PARTS;
    let changes = if number.is_multiple_of(3) { Timestamp::now().to_string() } else { "never".to_owned() };
    let paragraphs: String =
        (0..parts).map(|part| format!("<p>{}</p>", scale::text_of(number * MAX_PARTS + part))).collect();
    Page::html(format!("<title>{number}</title><main><h1>{number}</h1><p>{changes}</p>{paragraphs}</main>"))
}

fn due_url(number: u64) -> String {
    format!("http://due{number}.test/page")
}

/// Returns the data directory of a service with this many monitors that are not due during the measurement.
async fn store(world: &TestWeb, monitors: u64) -> TempDir {
    let data = tempfile::tempdir().unwrap();
    // Both services find a database when they are measured.
    let process = start(world, &data);
    if monitors > 0 {
        let requests: Vec<_> = (0..monitors).map(|number| create(&idle_monitor(number))).collect();
        let load = Load::each_once(&process, CONNECTIONS, &requests).await;
        assert!(load.failures == 0, "{} monitors were not created", load.failures);
        println!("created {monitors} monitors, {:.0} per second", load.rate());
    }
    data
}

fn start(world: &TestWeb, data: &TempDir) -> Process {
    let variables =
        [("WEBSVC__MONITOR__MIN_INTERVAL_MINUTES", "1"), ("WEBSVC__MONITOR__MAX_PER_TEAM", "20000")];
    Process::service_with(world, data.path(), &variables)
}

fn create(monitor: &Value) -> Request {
    Request::post("/v2/monitor", &monitor.to_string())
}

/// Returns a monitor that is due once a day, from 2 to 21 hours from now on, with one of several kinds of targets.
fn idle_monitor(number: u64) -> Value {
    let minutes = 120 + number * 13 % (19 * 60);
    let due = Timestamp::now() + SignedDuration::from_mins(i64::try_from(minutes).unwrap());
    let target = match number % 4 {
        0 => {
            json!({ "type": "crawl", "url": format!("http://site{number}.test/"), "crawlOptions": { "limit": 20 } })
        }
        1 => json!({ "type": "search", "queries": [scale::text_of(number).get(..40)] }),
        _ => {
            let urls: Vec<_> =
                (0..=number % 7).map(|page| format!("http://idle{number}.test/{page}")).collect();
            json!({ "type": "scrape", "urls": urls })
        }
    };
    json!({
        "name": format!("idle {number}"),
        "schedule": { "cron": due.strftime("%-M %-H * * *").to_string() },
        "targets": [target],
        "judgeEnabled": false,
    })
}

/// Measures a service, to which the monitors that are due are added first.
async fn measure(world: &TestWeb, data: &TempDir) -> Measurement {
    let process = start(world, data);
    let (begin, cpu_before) = (Timestamp::now(), process.cpu_seconds());
    let mut connection = Connection::open(&process);
    let created = (0..DUE).map(|number| {
        connection.send(&create(&json!({
            "name": format!("due {number}"),
            "schedule": { "cron": "* * * * *" },
            "targets": [{ "type": "scrape", "urls": [due_url(number)] }],
        })))
    });
    let ids: Vec<String> =
        created.map(|response| response["data"]["id"].as_str().unwrap().to_owned()).collect();
    let end = begin + SignedDuration::from_mins(i64::try_from(MINUTES).unwrap());
    tokio::time::sleep(end.duration_since(Timestamp::now()).unsigned_abs()).await;
    let cpu_seconds = process.cpu_seconds() - cpu_before;
    let (resident_mb, anonymous_mb) = (process.memory_mb(), process.anonymous_memory_mb());
    let mut connection = Connection::open(&process);
    let checks = ids.iter().flat_map(|id| {
        let response = connection.send(&Request::get(&format!("/v2/monitor/{id}/checks?limit=100")));
        response["data"].as_array().unwrap().clone()
    });
    let mut delays: Vec<Duration> = checks.map(|check| delay(&check)).collect();
    delays.sort_unstable();
    assert_eq!(delays.len() as u64, DUE * MINUTES, "each monitor was due {MINUTES} times");
    Measurement { cpu_seconds, resident_mb, anonymous_mb, delays }
}

/// Returns the delay of a check, which must have succeeded.
fn delay(check: &Value) -> Duration {
    assert_eq!(check["status"], "completed", "{check}");
    let time = |name: &str| check[name].as_str().unwrap().parse::<Timestamp>().unwrap();
    time("startedAt").duration_since(time("scheduledFor")).unsigned_abs()
}

impl Measurement {
    fn delay(&self, percent: usize) -> Duration {
        let index = (self.delays.len() * percent / 100).min(self.delays.len() - 1);
        self.delays[index]
    }
}

fn report_measurement(monitors: u64, measured: &Measurement, report: &mut Report) {
    let Measurement { cpu_seconds, resident_mb, anonymous_mb, delays: _ } = measured;
    let name = |what: &str| format!("{monitors} monitors, {DUE} due per minute: {what}");
    report.number(&name(&format!("CPU in {MINUTES} minutes")), *cpu_seconds, "s", "");
    let memory = format!("{resident_mb:.0} MB, of which {anonymous_mb:.0} MB anonymous");
    report.text(&name("memory"), *resident_mb, memory);
    let ms = |percent| {
        format!("{} {:.0} ms", percentile_name(percent), measured.delay(percent).as_secs_f64() * 1e3)
    };
    report.text(&name("delay"), measured.delay(50).as_secs_f64(), [50, 95, 100].map(ms).join(", "));
}

fn percentile_name(percent: usize) -> String {
    if percent == 100 { "max".to_owned() } else { format!("p{percent}") }
}

/// Waits until the clock shows a second of a minute.
async fn wait_until_second(second: i64) {
    let now = Timestamp::now();
    let wait = (second - now.as_second()).rem_euclid(60);
    tokio::time::sleep(Duration::from_secs(u64::try_from(wait).unwrap())).await;
}

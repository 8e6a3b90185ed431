//! The door: ten thousand teams, and more requests than the service can answer.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_store::{Store, TeamChange};
use websvc_testkit::TestWeb;

use crate::crowd::{Answers, Crowd};
use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;
use crate::{CONNECTIONS, SPAN, ask};

const TEAMS: usize = 10_000;
const DOCUMENTS: usize = 2_000;
/// The connections of the overload.
const CROWD: usize = 1_000;
/// Offered load relative to the capacity: an overload, and a load without contention.
const OFFERED: f64 = 1.2;
const CALM: f64 = 0.05;
/// When the service is told to stop, in the last overload.
const STOP_AFTER: Duration = Duration::from_secs(2);
/// How long the overload lasts, unless `WEBSVC_BENCH_OVERLOAD_S` says another time.
const OVERLOAD: Duration = Duration::from_secs(60);

/// Measures searches of ten thousand teams, and an overload.
pub(crate) async fn run(report: &mut Report) {
    let world = TestWeb::builder().start().await;
    let data = tempfile::tempdir().unwrap();
    let keys = {
        let store = Store::open(data.path()).unwrap();
        let started = Instant::now();
        let bounds = TeamChange { requests_per_minute: Some(Some(1_000_000)), ..TeamChange::default() };
        let keys: Vec<String> = (0..TEAMS)
            .map(|team| {
                let name = format!("team {team}");
                store.set_team(&name, &bounds).unwrap();
                store.create_key(&name, "").unwrap().secret.expose().to_owned()
            })
            .collect();
        let each = started.elapsed().as_secs_f64() * 1e3 / f64::from(u32::try_from(TEAMS).unwrap());
        report.figure("making a team and its key, flushed to disk", each, "ms", "");
        keys
    };
    let process = Process::service(&world, data.path());
    fill(&process).await;
    let one = Load::run(&process, CONNECTIONS, SPAN, &[search(&keys[0])]).await;
    report.load("POST /v2/search, one team", &one);
    let requests: Vec<Request> = keys.iter().map(|key| search(key)).collect();
    let before = process.memory_mb();
    // A first round reads every key from the database.
    Load::run(&process, CONNECTIONS, SPAN, &requests).await;
    let many = Load::run(&process, CONNECTIONS, SPAN, &requests).await;
    report.load("POST /v2/search, 10,000 teams in turn", &many);
    report.ratio("10,000 teams / one team", many.rate() / one.rate(), "");
    report.figure("memory of 10,000 teams", process.memory_mb() - before, "MB", "");
    assert!(one.failures + many.failures == 0, "every request is answered with 200");
    overload(process, &keys[0], report).await;
}

fn search(key: &str) -> Request {
    Request::post_with(key, "/v2/search", &json!({ "query": "tea kettle" }).to_string())
}

/// Puts documents into the index, and waits until they are found.
async fn fill(process: &Process) {
    let document = |number: usize| {
        let words: Vec<String> = (0..60).map(|word| format!("word{}", number * 7 % (word + 11))).collect();
        json!({
            "url": format!("http://tea.test/{number}"),
            "title": format!("Tea {number}"),
            "body": format!("tea kettle {}", words.join(" ")),
        })
    };
    for begin in (0..DOCUMENTS).step_by(500) {
        let documents: Vec<_> = (begin..begin + 500).map(document).collect();
        let request = Request::post("/v2/index/documents", &json!({ "documents": documents }).to_string());
        ask::Connection::to(process).send(&request);
    }
    // Documents are searchable within two seconds, and merged a while after.
    tokio::time::sleep(Duration::from_secs(5)).await;
}

/// A thousand connections that together ask for more than can be answered, and a stop in the middle of it.
async fn overload(process: Process, key: &str, report: &mut Report) {
    let request = search(key);
    let one = Load::run(&process, 1, SPAN, std::slice::from_ref(&request)).await;
    report.load("one connection", &one);
    let full = Load::run(&process, CONNECTIONS, SPAN, std::slice::from_ref(&request)).await;
    report.load("16 connections: what can be answered", &full);
    assert!(one.failures + full.failures == 0, "a queue of sixteen is no overload");
    let span = std::env::var("WEBSVC_BENCH_OVERLOAD_S")
        .map_or(OVERLOAD, |seconds| Duration::from_secs(seconds.parse().unwrap()));
    let crowd = Crowd::open(&process, CROWD).await;
    let (crowd, calm) = crowd.ask(&request, full.rate() * CALM, span / 4).await;
    report_crowd(report, "1,000 connections at 5 %", &calm);
    let memory = process.memory_mb();
    let cpu = process.cpu_seconds();
    let (crowd, much) = crowd.ask(&request, full.rate() * OFFERED, span).await;
    report_crowd(report, "1,000 connections at 120 %", &much);
    report.ratio("  answered / what can be answered", much.rate() / full.rate(), "");
    report.ratio("  p99 / that at 5 %", ms(much.percentile(99)) / ms(calm.percentile(99)), "under 3");
    report.ratio("  p99 / that of one connection", ms(much.percentile(99)) / ms(one.percentile(99)), "");
    report.figure("  CPU of the service", (process.cpu_seconds() - cpu) / span.as_secs_f64(), "cores", "");
    report.figure("  memory that it took", process.memory_mb() - memory, "MB", "");
    // Those who do nothing are forgotten after ten seconds.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let (crowd, after) = crowd.ask(&request, full.rate() * CALM, SPAN).await;
    report_crowd(report, "  at 5 % after it", &after);
    report.figure("  memory that it left taken", process.memory_mb() - memory, "MB", "");
    let (stop, stopped) = (process.terminate_after(STOP_AFTER), STOP_AFTER * 2);
    let ((_, last), status) = tokio::join!(crowd.ask(&request, full.rate() * OFFERED, stopped), stop);
    let text = format!(
        "{} answered, {} turned away, {} broken off, {}",
        last.times.len(),
        last.refused,
        last.broken_off,
        if status.success() { "ended well" } else { "ended badly" }
    );
    report.text("1,000 connections at 120 %, SIGTERM", 0.0, text);
    for crowd in [&calm, &much, &after] {
        assert!(crowd.otherwise + crowd.closed == 0, "nothing but 200, and 429 with Retry-After");
    }
    assert!(calm.refused + after.refused == 0, "nobody is turned away when there is room");
    assert!(status.success() && last.otherwise + last.broken_off == 0, "no answer is lost by a stop");
}

fn report_crowd(report: &mut Report, name: &str, crowd: &Answers) {
    let text = format!(
        "{:.0}/s answered, {:.0}/s turned away with Retry-After; p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms",
        crowd.rate(),
        crowd.rate_refused(),
        ms(crowd.percentile(50)),
        ms(crowd.percentile(90)),
        ms(crowd.percentile(99))
    );
    report.text(name, ms(crowd.percentile(99)), text);
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

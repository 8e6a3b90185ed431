//! Measures access control and admission: ten thousand teams, and an overload.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_store::{Store, TeamChange};
use websvc_testkit::TestWeb;

use crate::crowd::{Crowd, Outcomes};
use crate::load::{Load, Request};
use crate::process::Process;
use crate::report::Report;
use crate::{CONNECTIONS, DURATION, connection};

const TEAMS: usize = 10_000;
const DOCUMENTS: usize = 2_000;
/// Connections of the overload.
const CROWD_CONNECTIONS: usize = 1_000;
/// Offered load relative to the capacity: an overload, and a light load.
const OVERLOAD_RATIO: f64 = 1.2;
const LIGHT_RATIO: f64 = 0.05;
/// Time until SIGTERM in the last overload.
const STOP_AFTER: Duration = Duration::from_secs(2);
/// Duration of the overload. `WEBSVC_BENCH_OVERLOAD_S` sets another one.
const OVERLOAD: Duration = Duration::from_secs(60);

/// Measures searches of ten thousand teams, and an overload.
pub(crate) async fn run(report: &mut Report) {
    let world = TestWeb::builder().start().await;
    let data = tempfile::tempdir().unwrap();
    let keys = {
        let store = Store::open(data.path()).unwrap();
        let started = Instant::now();
        let change = TeamChange { requests_per_minute: Some(Some(1_000_000)), ..TeamChange::default() };
        let keys: Vec<String> = (0..TEAMS)
            .map(|team| {
                let name = format!("team {team}");
                store.set_team(&name, &change).unwrap();
                store.create_key(&name, "").unwrap().secret.expose().to_owned()
            })
            .collect();
        let each = started.elapsed().as_secs_f64() * 1e3 / f64::from(u32::try_from(TEAMS).unwrap());
        report.number("create a team and its key, flushed to disk", each, "ms", "");
        keys
    };
    let process = Process::service(&world, data.path());
    fill(&process).await;
    let one = Load::run(&process, CONNECTIONS, DURATION, &[search(&keys[0])]).await;
    report.load("POST /v2/search, one team", &one);
    let requests: Vec<Request> = keys.iter().map(|key| search(key)).collect();
    let before = process.memory_mb();
    // A first round reads every key from the database.
    Load::run(&process, CONNECTIONS, DURATION, &requests).await;
    let many = Load::run(&process, CONNECTIONS, DURATION, &requests).await;
    report.load("POST /v2/search, 10,000 teams in turn", &many);
    report.ratio("10,000 teams / one team", many.rate() / one.rate(), "");
    report.number("memory of 10,000 teams", process.memory_mb() - before, "MB", "");
    assert!(one.failures + many.failures == 0, "a request failed");
    overload(process, &keys[0], report).await;
}

fn search(key: &str) -> Request {
    Request::post_with(key, "/v2/search", &json!({ "query": "tea kettle" }).to_string())
}

/// Adds documents to the index, and waits until they are searchable.
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
        connection::Connection::open(process).send(&request);
    }
    // Documents are searchable within two seconds, and merged a little later.
    tokio::time::sleep(Duration::from_secs(5)).await;
}

/// Measures an overload over a thousand connections, and a shutdown during an overload.
async fn overload(process: Process, key: &str, report: &mut Report) {
    let request = search(key);
    let one = Load::run(&process, 1, DURATION, std::slice::from_ref(&request)).await;
    report.load("one connection", &one);
    let full = Load::run(&process, CONNECTIONS, DURATION, std::slice::from_ref(&request)).await;
    report.load("16 connections: capacity", &full);
    assert!(one.failures + full.failures == 0, "a request failed");
    let span = std::env::var("WEBSVC_BENCH_OVERLOAD_S")
        .map_or(OVERLOAD, |seconds| Duration::from_secs(seconds.parse().unwrap()));
    let crowd = Crowd::open(&process, CROWD_CONNECTIONS).await;
    let (crowd, light) = crowd.send(&request, full.rate() * LIGHT_RATIO, span / 4).await;
    report_outcomes(report, "1,000 connections at 5 %", &light);
    let memory = process.memory_mb();
    let cpu = process.cpu_seconds();
    let (crowd, overloaded) = crowd.send(&request, full.rate() * OVERLOAD_RATIO, span).await;
    report_outcomes(report, "1,000 connections at 120 %", &overloaded);
    report.ratio("  answered / capacity", overloaded.rate() / full.rate(), "");
    report.ratio("  p99 / p99 at 5 %", ms(overloaded.percentile(99)) / ms(light.percentile(99)), "under 3");
    report.ratio("  p99 / p99 of one connection", ms(overloaded.percentile(99)) / ms(one.percentile(99)), "");
    report.number("  CPU of the service", (process.cpu_seconds() - cpu) / span.as_secs_f64(), "cores", "");
    report.number("  memory added by the overload", process.memory_mb() - memory, "MB", "");
    // The state of idle teams is removed after ten seconds.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let (crowd, after) = crowd.send(&request, full.rate() * LIGHT_RATIO, DURATION).await;
    report_outcomes(report, "  at 5 % after the overload", &after);
    report.number("  memory added, after the overload", process.memory_mb() - memory, "MB", "");
    let (stop, stopped) = (process.terminate_after(STOP_AFTER), STOP_AFTER * 2);
    let ((_, last), status) = tokio::join!(crowd.send(&request, full.rate() * OVERLOAD_RATIO, stopped), stop);
    let text = format!(
        "{} answered, {} rejected, {} connections broken, {}",
        last.times.len(),
        last.rejected,
        last.incomplete,
        if status.success() { "clean exit" } else { "exit with an error" }
    );
    report.text("1,000 connections at 120 %, SIGTERM", 0.0, text);
    for outcomes in [&light, &overloaded, &after] {
        assert!(
            outcomes.unexpected + outcomes.closed == 0,
            "responses other than 200, and 429 with Retry-After"
        );
    }
    assert!(light.rejected + after.rejected == 0, "requests were rejected below the capacity");
    assert!(status.success() && last.unexpected + last.incomplete == 0, "the shutdown lost a response");
}

fn report_outcomes(report: &mut Report, name: &str, outcomes: &Outcomes) {
    let text = format!(
        "{:.0}/s answered, {:.0}/s rejected with Retry-After; p50 {:.2} ms, p90 {:.2} ms, p99 {:.2} ms",
        outcomes.rate(),
        outcomes.rate_rejected(),
        ms(outcomes.percentile(50)),
        ms(outcomes.percentile(90)),
        ms(outcomes.percentile(99))
    );
    report.text(name, ms(outcomes.percentile(99)), text);
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

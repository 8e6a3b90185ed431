//! The door: ten thousand teams, and more requests than the service can answer.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use websvc_store::{Store, TeamChange};
use websvc_testkit::World;

use crate::load::{Load, Request, content_length, find};
use crate::process::Process;
use crate::report::Report;
use crate::{CONNECTIONS, SPAN};

const TEAMS: usize = 10_000;
const DOCUMENTS: usize = 2_000;
/// The connections of the overload.
const CROWD: usize = 1_000;
/// What is offered, in parts of what can be answered.
const OFFERED: f64 = 1.2;
/// How long the overload lasts, unless `WEBSVC_BENCH_OVERLOAD_S` says another time.
const OVERLOAD: Duration = Duration::from_secs(60);

/// Measures searches of ten thousand teams, and an overload.
pub(crate) async fn run(report: &mut Report) {
    let world = World::builder().start().await;
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
    overload(&process, &keys[0], report).await;
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
        let mut connection = Connection::open(&process.address).await;
        assert_eq!(connection.ask(&request).await.status, 200);
    }
    // Documents are searchable within two seconds, and merged a while after.
    tokio::time::sleep(Duration::from_secs(5)).await;
}

/// A thousand connections that together ask for more than can be answered.
async fn overload(process: &Process, key: &str, report: &mut Report) {
    let request = search(key);
    let calm = Load::run(process, 1, SPAN, std::slice::from_ref(&request)).await;
    report.load("one connection", &calm);
    let full = Load::run(process, 64, SPAN, std::slice::from_ref(&request)).await;
    report.load("64 connections: what can be answered", &full);
    let span = std::env::var("WEBSVC_BENCH_OVERLOAD_S")
        .map_or(OVERLOAD, |seconds| Duration::from_secs(seconds.parse().unwrap()));
    let memory = process.memory_mb();
    let crowd = Crowd::run(process, &request, full.rate() * OFFERED, span).await;
    let p99 = crowd.percentile(99);
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let text = format!(
        "{:.0}/s answered, {:.0}/s turned away with Retry-After, {} otherwise; p50 {:.2} ms, p99 {:.2} ms",
        crowd.rate(crowd.answered.len()),
        crowd.rate(crowd.refused),
        crowd.otherwise,
        ms(crowd.percentile(50)),
        ms(p99)
    );
    report.text("1,000 connections at 120 %", ms(p99), text);
    report.ratio("  p99 / that of one connection", ms(p99) / ms(calm.percentile(99)), "under 3");
    report.figure("  memory that it took", process.memory_mb() - memory, "MB", "");
    tokio::time::sleep(Duration::from_secs(12)).await;
    let after = Load::run(process, 1, SPAN, std::slice::from_ref(&request)).await;
    report.load("  one connection after it", &after);
    assert!(crowd.otherwise == 0, "nothing but 200, and 429 with Retry-After");
}

/// What a crowd was answered.
#[derive(Debug, Default)]
struct Crowd {
    /// The times of those answered with 200, sorted.
    answered: Vec<Duration>,
    /// Those with 429 that say when to come again.
    refused: usize,
    otherwise: usize,
    elapsed: Duration,
}

impl Crowd {
    /// Asks at an even rate over all connections, whose turns are spread over time.
    async fn run(process: &Process, request: &Request, per_second: f64, span: Duration) -> Self {
        let interval = Duration::from_secs_f64(f64::from(u32::try_from(CROWD).unwrap()) / per_second);
        let begin = Instant::now() + Duration::from_secs(2);
        let mut running = JoinSet::new();
        for number in 0..CROWD {
            let (address, request) = (process.address.clone(), request.clone());
            let first = begin
                + interval.mul_f64(
                    f64::from(u32::try_from(number).unwrap()) / f64::from(u32::try_from(CROWD).unwrap()),
                );
            running.spawn(async move {
                let mut connection = Connection::open(&address).await;
                let (mut next, mut mine) = (first, Self::default());
                while next < begin + span {
                    tokio::time::sleep_until(next.into()).await;
                    let started = Instant::now();
                    match connection.ask(&request).await {
                        Answer { status: 200, .. } => mine.answered.push(started.elapsed()),
                        Answer { status: 429, says_when: true } => mine.refused += 1,
                        Answer { .. } => mine.otherwise += 1,
                    }
                    next = (next + interval).max(Instant::now());
                }
                mine
            });
        }
        let mut all = Self::default();
        while let Some(done) = running.join_next().await {
            let Self { answered, refused, otherwise, .. } = done.unwrap();
            all.answered.extend(answered);
            all.refused += refused;
            all.otherwise += otherwise;
        }
        all.elapsed = begin.elapsed();
        all.answered.sort_unstable();
        all
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
    fn rate(&self, count: usize) -> f64 {
        count as f64 / self.elapsed.as_secs_f64()
    }

    fn percentile(&self, percent: usize) -> Duration {
        let at = (self.answered.len() * percent / 100).min(self.answered.len().saturating_sub(1));
        self.answered.get(at).copied().unwrap_or_default()
    }
}

struct Answer {
    status: u16,
    says_when: bool,
}

/// A connection that is kept.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    async fn ask(&mut self, request: &Request) -> Answer {
        self.stream.write_all(&request.0).await.unwrap();
        self.buffer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
            assert!(read > 0, "the server closed a connection that it should keep");
            let Some(head) = find(&self.buffer, b"\r\n\r\n") else { continue };
            let (lines, body) = self.buffer.split_at(head);
            if body.len() >= 4 + content_length(lines) {
                let status = std::str::from_utf8(&lines[9..12]).unwrap().parse().unwrap();
                return Answer { status, says_when: find(lines, b"retry-after: ").is_some() };
            }
        }
    }
}

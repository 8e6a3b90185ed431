//! The latency of operations of the store, on SQLite and on PostgreSQL side by side.

use std::path::Path;
use std::time::{Duration, Instant};

use websvc_store::{
    ApiVersion, CacheLimits, CachedPage, DatabaseUrl, HoldOutcome, JobEvent, JobKind, JobLimits, JobUrl,
    NewHosts, NewJob, NewWebhook, PageKey, ReplicaRole, Store, TeamChange, UrlCompletion, UrlOutcome, Usage,
    UsageItem, UsageRetention,
};
use websvc_testkit::TcpForwarder;
use websvc_transport::{AddressGuard, Client, ClientConfig};

use super::database::Schema;
use super::work::{EVENTS_PER_WEBHOOK, WEBHOOKS, receiver};
use crate::report::Report;

const ROUNDS: usize = 300;

/// The median time of each operation.
type Medians = Vec<(&'static str, Duration)>;

/// Measures both engines, and a server that is a millisecond away, and adds a row per operation.
pub(super) async fn compare(server: &str, report: &mut Report) {
    let schema = Schema::create(server).await;
    let far_schema = Schema::create(server).await;
    let (file, on_server, far) = tokio::task::spawn_blocking(move || {
        let forwarder = TcpForwarder::delayed(&far_schema.address(), Duration::from_micros(500));
        let far = measure_server(&far_schema.url_at(forwarder.port()));
        (measure_file(), measure_server(&schema.url), far)
    })
    .await
    .unwrap();
    for (((name, file), (_, server)), (_, far)) in file.into_iter().zip(on_server).zip(far) {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let text = format!(
            "{:.0} µs on SQLite, {:.0} µs on PostgreSQL, {:.0} µs on one that is 1 ms away",
            us(file),
            us(server),
            us(far)
        );
        report.text(&format!("store: {name}"), us(server), text);
    }
}

fn measure_file() -> Medians {
    let directory = tempfile::tempdir().unwrap();
    measure(&Store::open(directory.path()).unwrap())
}

fn measure_server(url: &str) -> Medians {
    let directory = tempfile::tempdir().unwrap();
    measure(&connect(url, directory.path()))
}

fn measure(store: &Store) -> Medians {
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let change = TeamChange { credits: Some(Some(100_000_000)), ..TeamChange::default() };
    let team = store.set_team("tea", &change).unwrap();
    let key = store.create_key("tea", "").unwrap();
    let limits = CacheLimits::default();
    let mut medians = vec![
        ("authenticate a cached key", median(|_| store.authenticate(key.secret.expose()).unwrap())),
        ("authenticate an unknown key", median(|n| store.authenticate(&format!("wsk-unknown-{n}")).unwrap())),
        ("hold and charge credits of a lease", median(|_| charge(store, &team))),
        ("create a team", median(|n| store.set_team(&format!("t{n}"), &TeamChange::default()).unwrap())),
        ("store a page of 20 kB", median(|n| store.put_page(&page(n), &limits).unwrap())),
        ("read a page of 20 kB", median(|n| store.page(&page(n).key).unwrap())),
    ];
    medians.extend(measure_jobs(store, &team));
    medians
}

fn charge(store: &Store, team: &websvc_store::Team) {
    let outcome = match store.try_hold(team, 1).unwrap() {
        Some(outcome) => outcome,
        None => store.hold(team, 1).unwrap(),
    };
    let HoldOutcome::Granted(hold) = outcome else { panic!("the budget suffices") };
    hold.settle(usage());
}

fn measure_jobs(store: &Store, team: &websvc_store::Team) -> Medians {
    let limits = JobLimits { max_running: u64::MAX, max_stored: u64::MAX, ..JobLimits::default() };
    let created = median(|n| store.create_job(&job(&format!("small{n}"), 10), &limits, 0).unwrap());
    store.create_job(&job("large", ROUNDS * 16), &limits, 0).unwrap();
    let number = store.job("tea", JobKind::Batch, "large", 0).unwrap().unwrap().number;
    let mut leases = Vec::new();
    let leased = median(|_| leases.extend(store.lease_job_urls(number, 16, NewHosts::Wanted).unwrap()));
    let mut leases = leases.into_iter();
    let completed = median(|_| {
        let HoldOutcome::Granted(hold) = store.hold(team, 1).unwrap() else { panic!("the budget suffices") };
        let document = UrlOutcome::Document(vec![b'x'; 10_000]);
        let completion = UrlCompletion {
            charge: Some((hold, usage())),
            ..UrlCompletion::new(leases.next().unwrap(), document)
        };
        store.complete_job_urls(vec![completion.compress()], &limits, 0)
    });
    vec![
        ("create a job of 10 URLs", created),
        ("lease 16 URLs of a job", leased),
        ("complete a URL with document and charge", completed),
    ]
}

/// Returns the pages per second of several stores, as many processes have them. Each works on two jobs in a thread each, and
/// completes one page at a time.
pub(super) fn job_pages(url: &str, stores: usize) -> f64 {
    const PAGES: usize = 320;
    let directories: Vec<_> = (0..stores).map(|_| tempfile::tempdir().unwrap()).collect();
    let stores: Vec<Store> = directories.iter().map(|directory| connect(url, directory.path())).collect();
    let limits = JobLimits { max_running: u64::MAX, max_stored: u64::MAX, ..JobLimits::default() };
    let started = std::sync::Barrier::new(2 * stores.len() + 1);
    std::thread::scope(|scope| {
        for (replica, store) in stores.iter().enumerate() {
            store.join_replicas(ReplicaRole::Worker).unwrap();
            for half in 0..2 {
                let (started, limits, id) = (&started, &limits, format!("job {replica} {half}"));
                scope.spawn(move || {
                    store.create_job(&job(&id, PAGES + 16), limits, 0).unwrap();
                    let number = store.job("tea", JobKind::Batch, &id, 0).unwrap().unwrap().number;
                    // The first pages prepare the statements.
                    complete_pages(store, number, 16, limits);
                    started.wait();
                    complete_pages(store, number, PAGES, limits);
                    started.wait();
                });
            }
        }
        started.wait();
        let begun = Instant::now();
        started.wait();
        (2 * stores.len() * PAGES) as f64 / begun.elapsed().as_secs_f64()
    })
}

fn complete_pages(store: &Store, number: i64, pages: usize, limits: &JobLimits) {
    for _ in 0..pages / 16 {
        for lease in store.lease_job_urls(number, 16, NewHosts::Wanted).unwrap() {
            assert!(store.begin_job_url(&lease).unwrap());
            let completion = UrlCompletion {
                charge: Some((store.hold_unlimited("tea"), usage())),
                ..UrlCompletion::new(lease, UrlOutcome::Document(vec![b'x'; 10_000]))
            };
            assert!(store.complete_job_urls(vec![completion.compress()], limits, 0)[0].is_ok());
        }
    }
}

/// Stores the events of [`WEBHOOKS`] webhooks, all of which are due: of the pages of jobs that are done.
pub(super) fn enqueue_webhooks(url: &str) {
    let directory = tempfile::tempdir().unwrap();
    let store = connect(url, directory.path());
    // No other replica works on its jobs.
    store.join_replicas(ReplicaRole::SingleJob).unwrap();
    let limits = JobLimits { max_running: u64::MAX, max_stored: u64::MAX, ..JobLimits::default() };
    for webhook in 0..WEBHOOKS {
        let id = format!("job {webhook}");
        let webhook = NewWebhook {
            url: receiver(webhook),
            host: format!("hook{webhook}.test"),
            headers: "{}".to_owned(),
            metadata: "{}".to_owned(),
            events: vec![JobEvent::Page],
        };
        let job = NewJob { webhook: Some(webhook), ..job(&id, EVENTS_PER_WEBHOOK) };
        store.create_job(&job, &limits, store.now_ms()).unwrap();
        let number = store.job("tea", JobKind::Batch, &id, 0).unwrap().unwrap().number;
        complete_pages(&store, number, EVENTS_PER_WEBHOOK, &limits);
    }
}

fn connect(url: &str, directory: &Path) -> Store {
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    Store::connect(&DatabaseUrl::parse(url).unwrap(), client, directory).unwrap()
}

/// Returns the median time of a step.
fn median<T>(mut step: impl FnMut(usize) -> T) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let started = Instant::now();
            let result = step(round);
            let elapsed = started.elapsed();
            drop(result);
            elapsed
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn usage() -> Usage {
    Usage {
        key: None,
        request: "bench".to_owned(),
        result: None,
        operation: "scrape",
        api_version: ApiVersion::V2,
        status: 200,
        elapsed: Duration::from_millis(1),
        items: vec![UsageItem { item: "page".to_owned(), count: 1, credits: 1 }],
        stages: Vec::new(),
        query: None,
        retention: UsageRetention::Whole,
    }
}

fn page(number: usize) -> CachedPage {
    let url = format!("http://bench.test/{number}");
    CachedPage {
        key: PageKey::new(&url, ""),
        final_url: url,
        status: 200,
        headers: Vec::new(),
        body: "<p>text of a page</p>".repeat(1_000).into(),
        fetched_at_ms: number as u64,
        truncated: false,
    }
}

fn job(id: &str, urls: usize) -> NewJob {
    let url = |number: usize| JobUrl {
        url: format!("http://bench.test/{number}"),
        key: format!("http://bench.test/{number}"),
        depth: 0,
        entry: None,
    };
    NewJob {
        id: id.to_owned(),
        team: "tea".to_owned(),
        key: None,
        kind: JobKind::Batch,
        api_version: ApiVersion::V2,
        request: "{}".to_owned(),
        idempotency_key: None,
        page_limit: None,
        urls: (0..urls).map(url).collect(),
        list_len: urls as u64,
        webhook: None,
    }
}

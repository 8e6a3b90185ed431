//! Random faults of replicas, clocks, network and index server while jobs are created: nothing that was acknowledged is
//! lost or charged twice.
//!
//! `WEBSVC_TEST_SEED` is the number from which the faults follow.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use websvc_testkit::{FakeElasticsearch, Page, TcpForwarder, TestWeb, scaled};

use super::failures::wait_for_end_despite_errors;
use super::{Cluster, Database, REPLICAS, Variables, numbered_pages_builder};
use crate::clock::{FakeWall, WRONG_S};
use crate::elastic;
use crate::harness::Service;
use crate::outbox::wait_for_pages;

const BATCH: &str = "/v2/batch/scrape";
const HOOK: &str = "http://hook.test/in";

/// The number of faults in the gate: the first kinds of [`FAULTS`].
const GATE_FAULTS: u64 = 3;

/// The number of faults in a proof.
const PROOF_FAULTS: u64 = 20;

const HOSTS: usize = 12;
const PAGES_PER_HOST: usize = 600;
/// Pages of a batch, each of another host.
const BATCH_PAGES: usize = HOSTS;
/// Time between two batches.
const BATCH_INTERVAL: Duration = Duration::from_millis(500);

/// A failure of a part of the cluster, for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// SIGKILL, and a new process in the same directory.
    Kill,
    /// SIGTERM, and a new process in the same directory.
    Restart,
    /// SIGSTOP, and SIGCONT later.
    Freeze,
    /// The clock of the machine is 25 hours ahead.
    ClockAhead,
    /// The clock of the machine is 25 hours behind.
    ClockBehind,
    /// Connections to the database are closed and refused.
    DatabaseCut,
    /// Connections to the database stay open, and nothing arrives.
    DatabaseFrozen,
    /// The index server fails all requests.
    IndexAway,
}

const FAULTS: [Fault; 8] = [
    Fault::Kill,
    Fault::DatabaseCut,
    Fault::ClockAhead,
    Fault::IndexAway,
    Fault::Freeze,
    Fault::ClockBehind,
    Fault::Restart,
    Fault::DatabaseFrozen,
];

/// A linear congruential generator: the same seed makes the same faults.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn seed() -> u64 {
    std::env::var("WEBSVC_TEST_SEED").map_or(1, |text| text.parse().unwrap())
}

/// The parts of the cluster that faults change, for each replica where there is one for each.
struct Faulty {
    cluster: Cluster,
    forwarders: Vec<TcpForwarder>,
    walls: Vec<FakeWall>,
    index: FakeElasticsearch,
}

impl Faulty {
    /// Starts the replicas, each with a clock and a way to the database of its own.
    async fn start(world: &TestWeb, index: FakeElasticsearch) -> Option<Self> {
        let walls: Option<Vec<FakeWall>> = (0..REPLICAS).map(|_| FakeWall::ahead(0)).collect();
        let walls = walls?;
        let (database, url) = Database::create().await?;
        let address = database.address();
        let forwarders: Vec<_> = (0..REPLICAS).map(|_| TcpForwarder::to(&address)).collect();
        let settings = (0..REPLICAS).map(|number| {
            let port = forwarders[number].port();
            let url = url.replace(&address, &format!("127.0.0.1:{port}"));
            let mut variables: Variables = vec![
                ("WEBSVC__STORE__URL", url.into()),
                ("WEBSVC__JOBS__PACE", OsString::from("requested")),
                ("WEBSVC__WEBHOOKS__INITIAL_BACKOFF_MS", OsString::from("200")),
            ];
            let index = elastic::settings(r#"["es"]"#).map(|(name, value)| (name, value.into()));
            variables.extend(index);
            variables.extend(walls[number].variables());
            variables
        });
        let settings = settings.collect();
        let cluster = Cluster::start_all(world, database, url, settings).await;
        Some(Self { cluster, forwarders, walls, index })
    }

    /// Causes a fault, waits, and ends it.
    async fn cause(&mut self, fault: Fault, replica: usize, duration: Duration) {
        let wait = || tokio::time::sleep(duration);
        let clock = |seconds| self.walls[replica].set_ahead(seconds);
        match fault {
            Fault::Kill => {
                self.cluster.kill(replica);
                wait().await;
                self.cluster.restart(replica);
            }
            Fault::Restart => {
                let mut service = self.cluster.replicas[replica].take().unwrap();
                self.cluster.balancer.remove(&service.address);
                assert!(service.end().success());
                self.cluster.restart(replica);
            }
            Fault::Freeze => {
                self.cluster.replica(replica).signal("STOP");
                wait().await;
                self.cluster.replica(replica).signal("CONT");
            }
            Fault::ClockAhead | Fault::ClockBehind => {
                clock(if fault == Fault::ClockAhead { WRONG_S } else { -WRONG_S });
                wait().await;
                clock(0);
            }
            Fault::DatabaseCut => {
                self.forwarders[replica].set_cut(true);
                wait().await;
                self.forwarders[replica].set_cut(false);
            }
            Fault::DatabaseFrozen => {
                self.forwarders[replica].set_frozen(true);
                wait().await;
                self.forwarders[replica].set_frozen(false);
            }
            Fault::IndexAway => {
                self.index.set_away(true);
                wait().await;
                self.index.set_away(false);
            }
        }
    }
}

/// A batch whose creation was acknowledged.
struct Acknowledged {
    path: String,
    urls: Vec<String>,
}

/// The batches that were created and refused.
#[derive(Default)]
struct Created {
    batches: Vec<Acknowledged>,
    refused: BTreeMap<StatusCode, usize>,
}

/// Creates batches through the balancer until it is stopped. No page is in two of them.
struct Traffic {
    is_stopped: Arc<AtomicBool>,
    task: JoinHandle<Created>,
}

impl Traffic {
    fn start(address: &str) -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (stopped, client) = (Arc::clone(&is_stopped), Service::at(address));
        let task = tokio::spawn(async move {
            let mut created = Created::default();
            for page in 0..PAGES_PER_HOST {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let urls: Vec<String> =
                    (0..BATCH_PAGES).map(|host| format!("http://host{host}.test/{page}")).collect();
                let webhook = json!({ "url": HOOK, "events": ["completed", "page"] });
                let body = json!({ "urls": urls, "maxAge": 0, "formats": ["markdown"], "webhook": webhook });
                let response = client.post(BATCH, body.to_string()).await;
                match response.body["id"].as_str() {
                    Some(id) => {
                        created.batches.push(Acknowledged { path: format!("{BATCH}/{id}"), urls });
                    }
                    None => *created.refused.entry(response.status).or_default() += 1,
                }
                tokio::time::sleep(BATCH_INTERVAL).await;
            }
            created
        });
        Self { is_stopped, task }
    }

    async fn stop(self) -> Created {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.task.await.unwrap()
    }
}

/// Returns how often each event of a batch was delivered: `page` by its URL, and `completed`.
fn delivered(world: &TestWeb) -> BTreeMap<(String, String), usize> {
    let mut events = BTreeMap::new();
    for request in world.requests().into_iter().filter(|request| request.url == HOOK) {
        let event: Value = serde_json::from_slice(&request.body).unwrap();
        let id = event["id"].as_str().unwrap().to_owned();
        let kind = match event["type"].as_str().unwrap() {
            "batch_scrape.page" => event["data"][0]["metadata"]["sourceURL"].as_str().unwrap().to_owned(),
            kind => kind.to_owned(),
        };
        *events.entry((id, kind)).or_default() += 1;
    }
    events
}

/// Waits until each event of each batch was delivered, and returns how many were delivered more than once.
async fn wait_for_webhooks(world: &TestWeb, created: &Created) -> usize {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let events = delivered(world);
        let missing = created.batches.iter().flat_map(|batch| {
            let id = batch.path.rsplit('/').next().unwrap();
            let kinds = batch.urls.iter().map(String::as_str).chain(["batch_scrape.completed"]);
            kinds
                .map(move |kind| (id.to_owned(), kind.to_owned()))
                .filter(|event| !events.contains_key(event))
        });
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return events.values().filter(|count| **count > 1).count();
        }
        assert!(Instant::now() < deadline, "{} webhooks are missing: {missing:?}", missing.len());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_or_charged_twice_after_random_faults() {
    let index = elastic::server();
    let hosts: Vec<String> = (0..HOSTS).map(|number| format!("host{number}.test")).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let world = numbered_pages_builder(&hosts, PAGES_PER_HOST, Duration::from_millis(20));
    let world = index.serve(world, "http://es.test").page(HOOK, Page::text("")).start().await;
    let Some(mut faulty) = Faulty::start(&world, index).await else { return };
    faulty.cluster.succeed(&["teams", "set", "default", "--credits", "1000000"]);

    let (faults, seed) = (scaled(GATE_FAULTS, PROOF_FAULTS), seed());
    println!("{faults} faults from the seed {seed}");
    let traffic = Traffic::start(&faulty.cluster.balancer.address);
    let (mut random, begun) = (Random(seed), Instant::now());
    for number in 0..faults {
        // Each kind occurs, and then random ones.
        let fault = match FAULTS.get(number as usize) {
            Some(fault) => *fault,
            None => FAULTS[random.below(FAULTS.len() as u64) as usize],
        };
        let replica = random.below(REPLICAS as u64) as usize;
        // Shorter and longer than the time after which a silent replica counts as lost.
        let duration = Duration::from_millis(1_000 + random.below(9_000));
        println!("{:5.1} s: {fault:?} of replica {replica} for {duration:?}", begun.elapsed().as_secs_f64());
        faulty.cause(fault, replica, duration).await;
        tokio::time::sleep(Duration::from_millis(random.below(2_000))).await;
    }
    let created = traffic.stop().await;
    let ended = Instant::now();
    check(&mut faulty, &world, &created, ended).await;
}

/// Checks that all batches end with all pages, events, charges and indexed pages, and prints the figures.
#[expect(clippy::print_stdout, reason = "cargo xtask cluster shows the figures")]
async fn check(faulty: &mut Faulty, world: &TestWeb, created: &Created, ended: Instant) {
    let Faulty { cluster, index, .. } = faulty;
    let client = cluster.client();
    for batch in &created.batches {
        let status = wait_for_end_despite_errors(&client, &batch.path).await;
        let outcome = (&status["status"], &status["completed"], &status["total"]);
        assert_eq!(outcome, (&json!("completed"), &json!(BATCH_PAGES), &json!(BATCH_PAGES)), "{status}");
    }
    let completed = ended.elapsed();
    let repeated = wait_for_webhooks(world, created).await;
    let urls: BTreeSet<String> = created.batches.iter().flat_map(|batch| batch.urls.clone()).collect();
    wait_for_pages(index, &urls).await;
    let indexed = ended.elapsed();
    for number in 0..REPLICAS {
        let log = std::fs::read_to_string(cluster.data_dir(number).join("log.txt")).unwrap();
        assert!(!log.contains("panicked"), "{log}");
        cluster.replica(number).terminate();
    }
    cluster.replicas.clear();
    cluster.database.check_jobs_and_budgets().await;
    let spent = cluster.database.number("SELECT spent FROM grants WHERE current = 1").await;
    let of_jobs = cluster.database.number("SELECT sum(credits) FROM jobs").await;
    assert_eq!(spent, of_jobs, "credits of the ledger, and of the jobs");
    println!(
        "{} batches with {} pages and {} webhooks completed, none lost; {:?} refused; {repeated} webhooks sent \
         again; {spent} credits = ledger; all done {:.1} s after the last fault, indexed after {:.1} s",
        created.batches.len(),
        urls.len(),
        urls.len() + created.batches.len(),
        created.refused,
        completed.as_secs_f64(),
        indexed.as_secs_f64(),
    );
}

//! Tests of replicas: owners of jobs and webhooks, and the takeover from lost and killed processes.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use websvc_store::{
    CompletionOutcome, HoldOutcome, JobEvent, JobLease, JobLimits, JobState, NewHosts, NewJob, NewWebhook,
    ReplicaRole, SharedBucketSize, Store, UrlCompletion,
};

use crate::credits::{audit, give, usage};
use crate::engine::Rows;
use crate::hammer::Rng;
use crate::jobs::{complete, create, document, job, names};
use crate::processes::start_child;
use crate::server::{elsewhere, eventually, on_server, open_elsewhere, open_forwarded};

fn join(store: &Store) {
    store.join_replicas(ReplicaRole::Worker).unwrap();
}

/// Returns the numbers of the jobs that the store owns after it took over those without an owner.
fn owned(store: &Store) -> Vec<i64> {
    store.claim_jobs(None).unwrap().jobs.into_iter().map(|(number, _)| number).collect()
}

#[test]
fn process_that_joins_a_file_owns_all_jobs() {
    let (_dir, store) = crate::fresh_file();
    let before = create(&store, &job("before", &["a"]));
    join(&store);
    let after = create(&store, &job("after", &["b"]));
    assert_eq!(owned(&store), [before, after]);
    assert!(store.start_job(before, false).unwrap());
    assert_eq!(names(&store.lease_job_urls(before, 9, NewHosts::Wanted).unwrap()), ["a"]);
    // After a restart everything is free again, and the leases end when the job starts.
    let first = store.claim_jobs(None).unwrap().replica;
    join(&store);
    let again = store.claim_jobs(None).unwrap();
    assert!(again.replica > first, "numbers are not used again");
    assert_eq!(again.jobs.len(), 2);
    assert!(store.start_job(before, false).unwrap());
    assert_eq!(names(&store.lease_job_urls(before, 9, NewHosts::Wanted).unwrap()), ["a"]);
    assert_eq!(store.workers(), 1);
}

#[test]
fn pages_of_a_stopping_process_are_not_interrupted() {
    let (_dir, store) = crate::engine::fresh();
    join(&store);
    let number = create(&store, &job("j", &["a", "b"]));
    for _restart in 0..12 {
        let leases = lease_all(&store, number);
        assert_eq!(interruptions(&leases), [0, 0]);
        assert!(store.begin_job_url(&leases[0]).unwrap());
        store.return_leases().unwrap();
        assert_eq!(complete(&store, &leases[0], document("late")), CompletionOutcome::LeaseLost);
    }
    assert!(store.begin_job_url(&lease_all(&store, number)[0]).unwrap());
    store.hand_over_job(number).unwrap();
    assert_eq!(owned(&store), [number]);
    assert_eq!(interruptions(&lease_all(&store, number)), [0, 0]);
}

#[test]
fn kill_and_failure_to_store_interrupt_only_pages_whose_work_has_begun() {
    let (_dir, store) = crate::engine::fresh();
    join(&store);
    let number = create(&store, &job("j", &["begun", "leased", "retried", "not stored", "paused"]));
    for kill in 0..12 {
        let leases = lease_all(&store, number);
        assert_eq!(interruptions(&leases), [kill, 0, 0, kill, 0]);
        for begun in [0, 2, 3, 4] {
            assert!(store.begin_job_url(&leases[begun]).unwrap());
        }
        assert!(store.retry_job_url(&leases[2]).unwrap());
        assert!(store.release_job_url(&leases[3]).unwrap());
        assert!(store.pause_job_url(&leases[4]).unwrap());
        // A process that is killed returns nothing.
        join(&store);
        assert_eq!(owned(&store), [number]);
        assert!(store.start_job(number, false).unwrap());
        assert!(!store.begin_job_url(&leases[1]).unwrap(), "the lease has ended");
    }
}

#[test]
fn lease_ends_with_its_replica_and_work_that_has_begun_was_interrupted() {
    let (_dir, store) = crate::engine::fresh();
    join(&store);
    let number = create(&store, &job("j", &["a", "b"]));
    assert!(store.begin_job_url(&lease_all(&store, number)[1]).unwrap());
    assert_eq!(lease_all(&store, number), []);
    join(&store);
    assert_eq!(owned(&store), [number]);
    let later = lease_all(&store, number);
    assert_eq!(interruptions(&later), [0, 1]);
}

fn lease_all(store: &Store, job: i64) -> Vec<JobLease> {
    store.lease_job_urls(job, 9, NewHosts::Wanted).unwrap()
}

fn interruptions(leases: &[JobLease]) -> Vec<u32> {
    leases.iter().map(JobLease::interruptions).collect()
}

#[test]
fn stopping_replica_returns_only_leases_of_its_own_jobs() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let number = create(&store, &job("j", &["a"]));
    let leases = store.lease_job_urls(number, 9, NewHosts::Wanted).unwrap();
    other.return_leases().unwrap();
    assert!(matches!(complete(&store, &leases[0], document("text")), CompletionOutcome::Recorded { .. }));
}

#[test]
fn job_has_one_owner_until_it_ends_or_is_handed_over() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let number = create(&store, &job("j", &["a", "b"]));
    assert_eq!((owned(&other), owned(&store)), (vec![], vec![number]));
    assert!(!other.start_job(number, false).unwrap());
    assert_eq!(other.lease_job_urls(number, 9, NewHosts::Wanted).unwrap(), []);
    other.fail_job(number, "not mine", &JobLimits::default(), 0).unwrap();
    let leases = store.lease_job_urls(number, 1, NewHosts::Wanted).unwrap();
    assert_eq!(names(&leases), ["a"]);

    store.hand_over_job(number).unwrap();
    store.release_hosts(&["a.test".to_owned()]).unwrap();
    assert_eq!((owned(&other), owned(&store)), (vec![number], vec![]));
    assert!(other.start_job(number, false).unwrap());
    assert_eq!(complete(&store, &leases[0], document("late")), CompletionOutcome::LeaseLost);
    for lease in other.lease_job_urls(number, 9, NewHosts::Wanted).unwrap() {
        complete(&other, &lease, document("text"));
    }
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.state, record.documents), (JobState::Completed, 2));
    assert!(owned(&other).is_empty());
}

#[test]
fn jobs_are_shared_between_workers_but_not_with_other_processes() {
    let Some((dir, store)) = on_server() else { return };
    let (_second, other) = open_elsewhere(&dir);
    let (_third, single) = open_elsewhere(&dir);
    single.join_replicas(ReplicaRole::SingleJob).unwrap();
    let own = create(&single, &job("single", &["a"]));
    join(&store);
    join(&other);
    eventually(|| (store.workers() == 2 && other.workers() == 2).then_some(()));
    let jobs: Vec<i64> = (0..40).map(|n| create(&store, &job(&format!("j{n}"), &["a"]))).collect();
    let first = store.claim_jobs(None).unwrap();
    // 41 jobs, 2 workers.
    assert_eq!((first.jobs.len(), first.surplus), (40, 19));
    for number in &jobs[21..] {
        store.hand_over_job(*number).unwrap();
    }
    assert_eq!((owned(&other), owned(&store)), (jobs[21..].to_vec(), jobs[..21].to_vec()));
    assert_eq!(single.claim_jobs(Some(own)).unwrap().jobs.len(), 1);
}

#[test]
fn process_that_ends_frees_its_jobs_and_webhooks_at_once() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let webhook = NewWebhook {
        url: "http://hook.test/".to_owned(),
        host: "hook.test".to_owned(),
        headers: "{}".to_owned(),
        metadata: "{}".to_owned(),
        events: vec![JobEvent::Started],
    };
    let number = create(&other, &NewJob { webhook: Some(webhook), ..job("j", &["a"]) });
    let queues = |store: &Store| store.webhook_queues(0).unwrap().len();
    assert_eq!((queues(&other), queues(&store), owned(&store).len()), (1, 0, 0));
    drop((other, elsewhere));
    assert_eq!((owned(&store), queues(&store)), (vec![number], 1));
}

#[test]
fn leaving_replica_hands_its_jobs_over_and_records_nothing_more() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let number = create(&store, &job("j", &["a", "b"]));
    let leases = lease_all(&store, number);
    store.leave_replicas().unwrap();
    assert!(owned(&store).is_empty());
    assert_eq!(lease_all(&store, number), []);
    assert_eq!(complete(&store, &leases[0], document("late")), CompletionOutcome::LeaseLost);
    assert_eq!(owned(&other), [number]);
    assert!(other.start_job(number, false).unwrap());
    let taken = lease_all(&other, number);
    assert_eq!((names(&taken), interruptions(&taken)), (vec!["a", "b"], vec![0, 0]));
    assert_eq!(complete(&store, &leases[1], document("late")), CompletionOutcome::LeaseLost);
    for lease in &taken {
        complete(&other, lease, document("text"));
    }
    assert_eq!(other.job_by_number(number).unwrap().unwrap().documents, 2);
    // A request in flight may still create one.
    let later = create(&store, &job("later", &["c"]));
    assert_eq!((owned(&store), owned(&other)), (vec![], vec![later]));
    eventually(|| (other.workers() == 1).then_some(()));
    let replicas = || Rows::open(dir.path()).number("SELECT count(*) FROM replicas");
    assert_eq!(replicas(), 2, "it has requests in flight and browser sessions");
    drop(store);
    assert_eq!(replicas(), 1);
}

#[test]
fn process_on_a_file_keeps_its_jobs_until_it_ends() {
    let (_dir, store) = crate::fresh_file();
    join(&store);
    let number = create(&store, &job("j", &["a"]));
    let leases = lease_all(&store, number);
    store.leave_replicas().unwrap();
    assert!(matches!(complete(&store, &leases[0], document("text")), CompletionOutcome::Recorded { .. }));
}

#[test]
fn disconnected_replica_is_replaced_and_joins_again() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let (forwarder, store) = open_forwarded(&dir);
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let number = create(&store, &job("j", &["a", "b"]));
    let before = store.claim_jobs(None).unwrap().replica;
    let lease = store.lease_job_urls(number, 1, NewHosts::Wanted).unwrap().remove(0);
    forwarder.set_cut(true);
    let cut = Instant::now();
    eventually(|| (owned(&other) == [number]).then_some(()));
    assert!(cut.elapsed() > Duration::from_secs(5), "a short interruption is no reason to take over");
    assert!(other.start_job(number, false).unwrap());
    let taken = other.lease_job_urls(number, 9, NewHosts::Wanted).unwrap();
    assert_eq!(names(&taken), ["a", "b"]);

    forwarder.set_cut(false);
    let after = eventually(|| {
        let owned = store.claim_jobs(None).ok()?;
        (owned.replica != before).then_some(owned)
    });
    assert_eq!(after.jobs, []);
    assert_eq!(complete(&store, &lease, document("late")), CompletionOutcome::LeaseLost);
    for lease in &taken {
        complete(&other, lease, document("text"));
    }
    assert_eq!(other.job_by_number(number).unwrap().unwrap().documents, 2);
    eventually(|| (other.workers() == 2).then_some(()));
}

#[test]
fn replicas_take_tokens_from_one_bucket() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    let hour = Duration::from_secs(3_600);
    let size = SharedBucketSize { capacity: 10, interval: hour };
    let take = |store: &Store, account, wanted| store.take_tokens(account, size, wanted).unwrap().unwrap();
    let first = take(&store, "team:red", 4);
    assert_eq!((first.granted, first.until_full), (4, 4 * hour));
    assert_eq!(take(&other, "team:red", 4).granted, 4);
    assert_eq!(take(&store, "team:red", 4).granted, 2, "only these are left");
    let empty = take(&other, "team:red", 4);
    assert_eq!(empty.granted, 0);
    assert!(empty.until_full > 9 * hour && empty.until_full <= 10 * hour, "{empty:?}");
    assert_eq!(take(&other, "team:blue", 1).granted, 1);
    // A lower limit applies at once.
    let lower = SharedBucketSize { capacity: 3, interval: hour };
    assert_eq!(store.take_tokens("team:red", lower, 1).unwrap().unwrap().until_full, 3 * hour);
    let quick = SharedBucketSize { capacity: 2, interval: Duration::from_millis(20) };
    let mut granted = 0;
    let started = Instant::now();
    while granted < 10 {
        granted += store.take_tokens("team:quick", quick, 5).unwrap().unwrap().granted;
    }
    assert!(started.elapsed() >= Duration::from_millis(8 * 20), "{:?}", started.elapsed());
}

#[test]
fn file_has_no_shared_buckets() {
    let (_dir, store) = crate::fresh_file();
    let size = SharedBucketSize { capacity: 10, interval: Duration::from_secs(1) };
    assert_eq!(store.take_tokens("team:red", size, 1).unwrap(), None);
}

/// Number of URLs of each job of the hammer.
const URLS: usize = 40;
/// Number of its jobs.
const JOBS: usize = 12;

/// Body of a child process: works on jobs until it is killed, and reports each recorded page.
pub(crate) fn work_until_killed(store: &Store, seed: u64) {
    join(store);
    let (mut rng, team) = (Rng(seed), store.team("tea").unwrap().unwrap());
    report("");
    let mut started: HashMap<i64, i64> = HashMap::new();
    loop {
        let owned = store.claim_jobs(None).unwrap();
        for (number, _) in owned.jobs {
            let is_started = started.insert(number, owned.replica) == Some(owned.replica);
            if !is_started && !store.start_job(number, false).unwrap() {
                continue;
            }
            let leases = store.lease_job_urls(number, 1 + rng.below(4) as usize, NewHosts::Wanted).unwrap();
            if leases.is_empty() {
                store.move_job_to_host(number).unwrap();
            }
            for lease in leases {
                let HoldOutcome::Granted(hold) = store.hold(&team, 10).unwrap() else { continue };
                let price = 1 + rng.below(5);
                let text = format!("{seed} {price}").into_bytes();
                let completion = UrlCompletion {
                    charge: Some((hold, usage(price))),
                    ..UrlCompletion::new(lease.clone(), websvc_store::UrlOutcome::Document(text))
                };
                let outcomes = store.complete_job_urls(vec![completion.compress()], &JobLimits::default(), 0);
                if let Ok(CompletionOutcome::Recorded { charged, .. }) = outcomes[0] {
                    report(&format!("recorded {number} {} {charged}", lease.url.key));
                }
            }
        }
        thread::sleep(Duration::from_millis(rng.below(20)));
    }
}

/// Writes a line for the parent process.
fn report(line: &str) {
    std::io::stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// A worker process of the hammer, and a thread that collects its reports.
struct Worker {
    dir: TempDir,
    child: std::process::Child,
    reports: thread::JoinHandle<Vec<String>>,
}

impl Worker {
    fn start(dir: TempDir, seed: u64) -> Self {
        let mut child = start_child(dir.path(), &format!("work {seed}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reports = thread::spawn(move || {
            let complete = lines.map_while(Result::ok);
            complete.filter_map(|line| line.strip_prefix("recorded ").map(str::to_owned)).collect()
        });
        Self { dir, child, reports }
    }

    /// Kills the process, and returns its data directory and its reports.
    fn kill(mut self) -> (TempDir, Vec<String>) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.dir, self.reports.join().unwrap())
    }
}

#[test]
fn killed_workers_lose_no_page_and_charge_none_twice() {
    let Some((dir, store)) = on_server() else { return };
    let budget = 1_000_000;
    give(&store, "tea", Some(budget));
    let keys: Vec<String> = (0..URLS).map(|n| format!("p{n}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let jobs: Vec<i64> = (0..JOBS).map(|n| create(&store, &job(&format!("j{n}"), &keys))).collect();
    let mut workers: Vec<Worker> = (0..3).map(|seed| Worker::start(elsewhere(&dir), seed)).collect();
    let mut reports = Vec::new();
    let documents = || Rows::open(dir.path()).number("SELECT count(*) FROM job_documents");
    let all = (URLS * JOBS) as u64;
    // One is killed and never comes back, the others are killed and start again with their data directories.
    for (round, share) in [(0_u64, 1), (1, 2), (2, 3)] {
        eventually(|| (documents() >= all * share / 5).then_some(()));
        let (killed, reported) = workers.remove(0).kill();
        reports.extend(reported);
        if round > 0 {
            workers.push(Worker::start(killed, 10 + round));
        }
    }
    eventually(|| {
        let running =
            jobs.iter().filter(|job| store.job_by_number(**job).unwrap().unwrap().state == JobState::Running);
        (running.count() == 0).then_some(())
    });
    for worker in workers {
        reports.extend(worker.kill().1);
    }
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for report in &reports {
        *counts.entry(report.rsplit_once(' ').unwrap().0).or_default() += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "a page was recorded twice");
    let rows = Rows::open(dir.path());
    assert_eq!(documents(), all);
    let credits = rows.number("SELECT sum(credits) FROM jobs");
    let spent = rows.number("SELECT sum(spent) FROM grants");
    let logged = rows.number("SELECT sum(credits) FROM usage_log");
    let reported: u64 =
        reports.iter().map(|report| report.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!((credits, logged), (spent, spent), "each page is charged once");
    assert!(reported <= spent, "{reported} of {spent}");
    audit(dir.path());
}

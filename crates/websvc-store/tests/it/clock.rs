//! The clock of the store, with wall clocks that are wrong.

use std::fs;
use std::time::Duration;

use websvc_store::{
    ArtifactRecord, CacheLimits, CompletionOutcome, CreateJobOutcome, JobKind, JobLimits, JobState,
    KeyRights, ReplicaRole, ReserveOutcome, Store, UrlCompletion,
};

use crate::fresh_file;
use crate::jobs::{complete_url, document, job, lease_urls};
use crate::server::{on_server, open_elsewhere};

/// How far a wrong clock is ahead or behind: more than a job is stored.
const WRONG_MS: i64 = 25 * 3_600_000;

const DAY: Duration = Duration::from_secs(86_400);

/// The tolerance for the time between two reads.
const TOLERANCE_MS: u64 = 10_000;

/// The rows of a replica: a job that runs, one that has ended, an artifact and a key that expires.
struct Stored {
    running: i64,
    key: String,
}

impl Stored {
    fn create(store: &Store) -> Self {
        let (limits, now_ms) = (JobLimits::default(), store.now_ms());
        let [running, ended] = ["running", "ended"].map(|id| {
            let created = store.create_job(&job(id, &["a"]), &limits, now_ms).unwrap();
            assert!(matches!(created, CreateJobOutcome::Created { .. }));
            let number = store.job("tea", JobKind::Batch, id, now_ms).unwrap().unwrap().number;
            store.claim_jobs(None).unwrap();
            assert!(store.start_job(number, false).unwrap());
            number
        });
        let lease = lease_urls(store, ended, 1).remove(0);
        let completion = UrlCompletion::new(lease, document("text"));
        let outcome = complete_url(store, completion, &limits, now_ms);
        assert!(matches!(outcome, CompletionOutcome::Recorded { state: JobState::Completed, .. }));
        let artifact = ArtifactRecord {
            id: "image".to_owned(),
            team: "tea".to_owned(),
            kind: "png".to_owned(),
            bytes: 1,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + DAY.as_millis() as u64,
        };
        let reserved = store.reserve_artifact(&artifact, 100).unwrap();
        assert!(matches!(reserved, ReserveOutcome::Reserved { .. }));
        assert!(store.publish_artifact(&artifact.id).unwrap());
        let rights = KeyRights { expires_at_ms: Some(artifact.expires_at_ms), ..KeyRights::default() };
        let key = store.create_key_with("tea", "", &rights).unwrap();
        Self { running, key: key.secret.expose().to_owned() }
    }

    /// Sweeps everything that has expired by the clock of `store`, and checks that nothing had.
    fn check_after_sweep(&self, store: &Store) {
        let now_ms = store.now_ms();
        while store.sweep_jobs(&JobLimits::default(), now_ms).unwrap() {}
        store.sweep_webhooks(DAY, now_ms).unwrap();
        store.evict_pages(&CacheLimits { max_age: DAY, ..CacheLimits::default() }, now_ms).unwrap();
        assert_eq!(store.take_expired_artifacts(now_ms, now_ms - 3_600_000).unwrap(), []);
        let running = store.job("tea", JobKind::Batch, "running", now_ms).unwrap().expect("the job is there");
        assert_eq!((running.number, running.state), (self.running, JobState::Running));
        let ended = store.job("tea", JobKind::Batch, "ended", now_ms).unwrap().expect("the job is there");
        assert_eq!((ended.state, ended.documents), (JobState::Completed, 1));
        assert!(store.authenticate(&self.key).unwrap().is_some(), "the key is valid");
    }
}

#[test]
fn replica_with_a_wrong_wall_clock_fails_and_deletes_nothing_of_the_others() {
    let Some((dir, right)) = on_server() else { return };
    right.join_replicas(ReplicaRole::Worker).unwrap();
    let stored = Stored::create(&right);
    let (_elsewhere, wrong) = open_elsewhere(&dir);
    wrong.join_replicas(ReplicaRole::Worker).unwrap();
    for wrong_ms in [WRONG_MS, -WRONG_MS] {
        wrong.clock().set_wall_ahead(wrong_ms);
        assert!(wrong.now_ms().abs_diff(right.now_ms()) < TOLERANCE_MS);
        assert!(wrong.clock().skew_ms().abs_diff(wrong_ms) < TOLERANCE_MS);
        stored.check_after_sweep(&wrong);
        stored.check_after_sweep(&right);
    }
    assert_eq!((wrong.clock().steps(), right.clock().steps()), (0, 0));
}

#[test]
fn clock_of_a_server_agrees_with_its_statements() {
    let Some((dir, store)) = on_server() else { return };
    let rows = crate::engine::Rows::open(dir.path());
    let server_ms = || rows.number("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)");
    let (before, now, after) = (server_ms(), store.now_ms(), server_ms());
    assert!((before - 1_000..=after + 1_000).contains(&now), "{before} {now} {after}");
}

#[test]
fn wall_clock_that_is_set_for_a_moment_deletes_nothing_in_a_file() {
    let (_dir, store) = fresh_file();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let stored = Stored::create(&store);
    for wrong_ms in [WRONG_MS, -WRONG_MS] {
        let before_ms = store.now_ms();
        store.clock().set_wall_ahead(wrong_ms);
        assert!(store.now_ms().abs_diff(before_ms) < TOLERANCE_MS);
        assert!(store.clock().skew_ms().abs_diff(wrong_ms) < TOLERANCE_MS);
        stored.check_after_sweep(&store);
        store.clock().set_wall_ahead(0);
        assert!(store.clock().skew_ms().abs_diff(0) < TOLERANCE_MS);
    }
    assert_eq!(store.clock().steps(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn wall_clock_that_was_set_while_the_file_was_closed_is_noticed() {
    let (dir, store) = fresh_file();
    let now_ms = store.now_ms();
    drop(store);
    let path = dir.path().join("clock");
    let text = fs::read_to_string(&path).unwrap();
    let (boot, offset_ms) = text.trim().split_once(' ').unwrap();
    // The wall clock was behind when the file was written, so it is ahead now.
    let offset_ms: i64 = offset_ms.parse::<i64>().unwrap() - WRONG_MS;
    fs::write(&path, format!("{boot} {offset_ms}\n")).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert!((store.now_ms() + WRONG_MS as u64).abs_diff(now_ms) < TOLERANCE_MS);
    assert!(store.clock().skew_ms().abs_diff(WRONG_MS) < TOLERANCE_MS);
    drop(store);
    // After a start of the machine, nothing is known about the time that has passed: the wall clock counts.
    fs::write(&path, format!("another-boot {offset_ms}\n")).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert!(store.now_ms().abs_diff(now_ms) < TOLERANCE_MS);
    assert!(fs::read_to_string(&path).unwrap().starts_with(boot));
}

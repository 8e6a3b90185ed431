//! Tests with several processes on one store, and with killed processes.
//!
//! The other process is this test binary, started again for the test [`child`] with a role in its environment.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use websvc_store::{ACCESS_REFRESH, CacheLimits, CacheSize, KeyRights, PageKey, Store};

use crate::engine::{Rows, is_server};
use crate::{fresh, noise, page};

const ROLE: &str = "WEBSVC_STORE_TEST_ROLE";
const DIR: &str = "WEBSVC_STORE_TEST_DIR";
const CRASH_CACHE_BYTES: u64 = 2_000_000;

pub(crate) fn start_child(dir: &Path, role: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run_child(dir: &Path, role: &str) {
    let output = start_child(dir, role).wait_with_output().unwrap();
    assert!(output.status.success(), "{role}: {}", String::from_utf8_lossy(&output.stdout));
}

/// Body of the child process; does nothing in an ordinary test run.
#[test]
fn child() {
    let Ok(role) = env::var(ROLE) else { return };
    let store = crate::open(env::var(DIR).unwrap());
    match role.split_once(' ').unwrap_or((&role, "")) {
        ("revoke", id) => drop(store.revoke_key(id).unwrap()),
        ("create", team) => (0..20).for_each(|n| drop(store.create_key(team, &n.to_string()).unwrap())),
        ("write", team) => write_until_killed(&store, team),
        ("work", seed) => crate::replicas::work_until_killed(&store, seed.parse().unwrap()),
        ("spend", seed) => crate::hammer::spend_until_killed(&store, seed.parse().unwrap()),
        _ => panic!("unknown role {role}"),
    }
}

/// Stores pages and keys, and reports each page after it is stored.
fn write_until_killed(store: &Store, team: &str) {
    let limits = CacheLimits { max_bytes: CRASH_CACHE_BYTES, ..CacheLimits::default() };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout).unwrap();
    for n in 0.. {
        let body = noise(n, 2_000 + (n as usize % 7) * 9_000);
        store.put_page(&page(&format!("http://crash.test/{n}"), n, body), &limits).unwrap();
        if n % 10 == 0 {
            store.create_key(team, &n.to_string()).unwrap();
        }
        writeln!(stdout, "stored {n}").unwrap();
    }
}

#[test]
fn revocation_by_another_process_is_seen_within_a_second() {
    let (dir, store) = fresh();
    let key = store.create_key("default", "").unwrap();
    let other = store.create_key("default", "").unwrap();
    let authenticates = |secret: &str| store.authenticate(secret).unwrap().is_some();
    assert!(authenticates(key.secret.expose()));
    run_child(dir.path(), &format!("revoke {}", key.id));
    let revoked = Instant::now();
    while authenticates(key.secret.expose()) {
        assert!(revoked.elapsed() < Duration::from_secs(1), "still valid");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(authenticates(other.secret.expose()));
    assert!(ACCESS_REFRESH < Duration::from_secs(1));
}

#[test]
fn team_change_by_another_handle_is_seen_within_a_second() {
    let (dir, store) = fresh();
    let key = store.create_key("red", "").unwrap();
    let audit = || store.authenticate(key.secret.expose()).unwrap().unwrap().team.audit;
    assert!(!audit());
    let other = crate::open(dir.path());
    let change = websvc_store::TeamChange { audit: Some(true), ..Default::default() };
    other.set_team("red", &change).unwrap();
    let changed = Instant::now();
    while !audit() {
        assert!(changed.elapsed() < Duration::from_secs(1), "not seen");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn concurrent_processes_and_threads_lose_no_writes() {
    let (dir, store) = fresh();
    let children: Vec<_> =
        ["one", "two", "three"].map(|team| start_child(dir.path(), &format!("create {team}"))).into();
    let limits = CacheLimits::default();
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = store.clone();
            scope.spawn(move || {
                for n in 0..50 {
                    let stored = page(&format!("http://{thread}.test/{n}"), n, noise(n, 3000));
                    store.put_page(&stored, &limits).unwrap();
                    assert_eq!(store.page(&stored.key).unwrap(), Some(stored));
                }
            });
        }
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(store.list_keys().unwrap().len(), 60);
    assert_eq!(store.cache_size().unwrap().pages, 200);
    store.verify().unwrap();
}

#[test]
fn new_store_can_be_opened_concurrently() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("new");
    let created: usize = thread::scope(|scope| {
        let openers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| crate::open(&dir).ensure_default_key(&KeyRights::default()).unwrap().is_some())
            })
            .collect();
        openers.into_iter().map(|opener| usize::from(opener.join().unwrap())).sum()
    });
    assert_eq!(created, 1, "exactly one creates the first key");
    assert_eq!(crate::open(&dir).list_keys().unwrap().len(), 1);
}

#[test]
fn writer_waits_for_a_transaction_of_another_process() {
    let (dir, store) = fresh();
    let other = Rows::open(dir.path());
    let begin = if is_server() {
        "BEGIN; SELECT pg_advisory_xact_lock(2003139681, hashtext(current_schema()))"
    } else {
        "BEGIN IMMEDIATE"
    };
    other.execute(begin);
    thread::scope(|scope| {
        let writer = scope.spawn(|| store.create_key("default", ""));
        thread::sleep(Duration::from_millis(100));
        assert!(!writer.is_finished(), "the lock is held by another connection");
        other.execute("COMMIT");
        writer.join().unwrap().unwrap();
    });
    // Reads never wait for a writer.
    other.execute(begin);
    assert_eq!(store.list_keys().unwrap().len(), 1);
}

#[test]
fn killed_writer_leaves_an_intact_store_with_all_reported_writes() {
    let (dir, store) = fresh();
    drop(store);
    for reports in [1, 60, 300] {
        let team = format!("round of {reports}");
        let mut child = start_child(dir.path(), &format!("write {team}"));
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let last: u64 = lines
            .filter_map(|line| line.strip_prefix("stored ").map(|n| n.parse().unwrap()))
            .nth(reports - 1)
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        check_after_crash(dir.path(), &team, last);
    }
}

/// Checks the store after a crash that happened after page `last` was reported as stored.
fn check_after_crash(dir: &Path, team: &str, last: u64) {
    let store = crate::open(dir);
    store.verify().unwrap();
    let mut numbers: Vec<u64> = Vec::new();
    let mut bytes = 0;
    for row in Rows::open(dir).query("SELECT fetched_at, size FROM pages ORDER BY fetched_at") {
        let number = |column: usize| -> u64 { row[column].as_ref().unwrap().parse().unwrap() };
        numbers.push(number(0));
        bytes += number(1);
    }
    assert_eq!(store.cache_size().unwrap(), CacheSize { pages: numbers.len() as u64, bytes });
    assert!(bytes <= CRASH_CACHE_BYTES, "{bytes}");
    // Only the oldest pages may be missing, because they were evicted.
    let newest = *numbers.last().unwrap();
    assert!(newest >= last, "page {last} was reported as stored, {newest} is the newest");
    assert_eq!(numbers, (numbers[0]..=newest).collect::<Vec<_>>());
    let is_eviction_plausible = numbers[0] == 0 || bytes > CRASH_CACHE_BYTES / 2;
    assert!(is_eviction_plausible, "too many pages are missing: {} remain, {bytes} bytes", numbers.len());
    for number in numbers {
        assert!(store.page(&PageKey::new(format!("http://crash.test/{number}"), "")).unwrap().is_some());
    }
    let keys = store.list_keys().unwrap();
    for number in (0..=last).step_by(10).map(|number| number.to_string()) {
        assert!(keys.iter().any(|key| key.team == team && key.label == number), "key {number} is lost");
    }
    store.purge_host("crash.test").unwrap();
    assert_eq!(store.cache_size().unwrap().pages, 0);
}

//! Many pages: what they leave in memory, and what of them is left.

use std::collections::HashSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use tokio::task::JoinSet;
use websvc_browser::{BrowserConfig, BrowserError};
use websvc_testkit::{Page, TestWeb};

use crate::support::{Stage, config, request, stage_with};

const PAGES: usize = 500;
const AT_ONCE: usize = 8;
/// For the service and all of Chromium's processes together, in bytes.
const LIMIT: u64 = 512 * 1024 * 1024;

/// Set for the process that has this test to itself: the memory of other tests would count, too.
const ALONE: &str = "WEBSVC_TEST_ALONE";

#[tokio::test]
async fn five_hundred_pages_stay_within_the_memory_and_leave_no_process() {
    let Some(config) = config() else { return };
    if std::env::var_os(ALONE).is_none() {
        let name = "endurance::five_hundred_pages_stay_within_the_memory_and_leave_no_process";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", name]).env(ALONE, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let html = "<!DOCTYPE html><p>a page of some words, enough to be taken for one</p>
        <p id=more></p><script>setTimeout(() => { more.textContent = 'and ' + 'more' }, 100)</script>";
    let config = BrowserConfig { memory_bytes: LIMIT, concurrency: AT_ONCE, ..config };
    let world = TestWeb::builder().page("http://a.test/", Page::html(html));
    let stage = Arc::new(stage_with(world, config).await.unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        workers.spawn(work(Arc::clone(&stage), Arc::clone(&opened)));
    }
    let seen = watch(&stage, &opened).await;
    let failures: Vec<BrowserError> = workers.join_all().await.into_iter().flatten().collect();
    // Those that were open when Chromium was killed.
    assert!(failures.len() <= AT_ONCE, "{failures:?}");
    assert!(failures.iter().all(|failure| matches!(failure, BrowserError::Crashed)), "{failures:?}");
    assert!(seen.len() >= 2, "another Chromium went on: {seen:?}");
    stage.browser.stop().await;
    for process in seen {
        while test_kill_process_group(process).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Opens pages until all are opened, and returns why some failed.
async fn work(stage: Arc<Stage>, opened: Arc<AtomicUsize>) -> Vec<BrowserError> {
    let mut failures = Vec::new();
    while opened.fetch_add(1, Ordering::Relaxed) < PAGES {
        match stage.open(&request("http://a.test/")).await {
            Ok(page) => assert!(page.html.contains("and more"), "{}", page.html),
            Err(failure) => failures.push(failure),
        }
    }
    failures
}

/// Looks at the memory until all pages are opened, kills Chromium in the middle, and returns the processes there were.
async fn watch(stage: &Stage, opened: &AtomicUsize) -> HashSet<Pid> {
    let mut seen = HashSet::new();
    let mut is_killed = false;
    loop {
        let done = opened.load(Ordering::Relaxed);
        let status = stage.browser.status().await;
        let together = status.memory_bytes + own_memory();
        assert!(together <= LIMIT, "{together} bytes after {done} pages");
        if let Some(process) = status.process.and_then(Pid::from_raw) {
            seen.insert(process);
            if done >= PAGES / 2 && !is_killed {
                is_killed = kill_process(process, Signal::KILL).is_ok();
            }
        }
        if done >= PAGES {
            return seen;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the memory of this process, in bytes; 0 where it is not told.
fn own_memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    resident.unwrap_or(0) * rustix::param::page_size() as u64
}

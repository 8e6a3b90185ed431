//! Many pages in a row: their memory, and the processes that they leave.

use std::collections::HashSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use tokio::task::JoinSet;
use websvc_browser::{BrowserConfig, BrowserError};
use websvc_testkit::{Page, TestWeb, scaled, until};

use crate::support::{Setup, config, request, setup_with};

const CONCURRENCY: usize = 8;
/// The maximum memory of this process and all processes of Chromium together, in bytes.
const LIMIT: u64 = 512 * 1024 * 1024;

/// Set for a process that runs this test alone, so that the memory of other tests does not count.
const ALONE: &str = "WEBSVC_TEST_ALONE";

#[tokio::test]
async fn hundreds_of_pages_stay_below_the_memory_limit_and_leave_no_process() {
    let Some(config) = config() else { return };
    if std::env::var_os(ALONE).is_none() {
        let name = "endurance::hundreds_of_pages_stay_below_the_memory_limit_and_leave_no_process";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", name]).env(ALONE, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let html = "<!DOCTYPE html><p>a page of some words, enough to be taken for one</p>
        <p id=more></p><script>setTimeout(() => { more.textContent = 'and ' + 'more' }, 100)</script>";
    let config = BrowserConfig { memory_bytes: LIMIT, concurrency: CONCURRENCY, ..config };
    let web = TestWeb::builder().page("http://a.test/", Page::html(html));
    let setup = Arc::new(setup_with(web, config).await.unwrap());
    let opened = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..CONCURRENCY {
        workers.spawn(work(Arc::clone(&setup), Arc::clone(&opened)));
    }
    let processes = watch(&setup, &opened).await;
    let failures: Vec<BrowserError> = workers.join_all().await.into_iter().flatten().collect();
    // The pages that were open when Chromium was killed.
    assert!(failures.len() <= CONCURRENCY, "{failures:?}");
    assert!(failures.iter().all(|failure| matches!(failure, BrowserError::Crashed)), "{failures:?}");
    assert!(processes.len() >= 2, "a second Chromium was started: {processes:?}");
    setup.browser.stop().await;
    for process in processes {
        until("all processes have ended", || test_kill_process_group(process).is_err()).await;
    }
}

/// Returns the number of pages to open.
fn pages() -> usize {
    scaled(150, 500)
}

/// Opens pages until [`pages`] were opened, and returns the failures.
async fn work(setup: Arc<Setup>, opened: Arc<AtomicUsize>) -> Vec<BrowserError> {
    let mut failures = Vec::new();
    while opened.fetch_add(1, Ordering::Relaxed) < pages() {
        match setup.open(&request("http://a.test/")).await {
            Ok(page) => assert!(page.html.contains("and more"), "{}", page.html),
            Err(failure) => failures.push(failure),
        }
    }
    failures
}

/// Checks the memory until all pages were opened, kills Chromium halfway, and returns all root processes.
async fn watch(setup: &Setup, opened: &AtomicUsize) -> HashSet<Pid> {
    let mut processes = HashSet::new();
    let mut is_killed = false;
    loop {
        let done = opened.load(Ordering::Relaxed);
        let status = setup.browser.status().await;
        let total_bytes = status.memory_bytes + own_memory();
        assert!(total_bytes <= LIMIT, "{total_bytes} bytes after {done} pages");
        if let Some(process) = status.process.and_then(Pid::from_raw) {
            processes.insert(process);
            if done >= pages() / 2 && !is_killed {
                is_killed = kill_process(process, Signal::KILL).is_ok();
            }
        }
        if done >= pages() {
            return processes;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the memory of this process, in bytes; 0 on systems that do not report it.
fn own_memory() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    resident.unwrap_or(0) * rustix::param::page_size() as u64
}

//! The life of the process: queue, crashes, replacement, the end, and what is left after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use tokio::task::JoinSet;
use websvc_browser::{BrowserConfig, BrowserError, BrowserStatus, RenderRequest};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{config, request, stage, stage_with, within, wrapped_in};

fn world() -> TestWebBuilder {
    TestWeb::builder()
        .page("http://a.test/", Page::html("<p>a page of some words, enough to be taken for one</p>"))
        .page("http://a.test/slow", Page::html("<p>slow</p>").delay(Duration::from_secs(3)))
        .page("http://a.test/never", Page::unresponsive())
        .page("http://a.test/alive", Page::html("<p>alive</p><script>fetch('/beat')</script>"))
}

fn pid(status: &BrowserStatus) -> Pid {
    Pid::from_raw(status.process.unwrap()).unwrap()
}

fn is_running(group: Pid) -> bool {
    test_kill_process_group(group).is_ok()
}

/// Waits until no process of a group is left: what was killed needs a moment.
async fn ended(group: Pid) {
    let all_ended = async {
        while is_running(group) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), all_ended).await.expect("no process is left");
}

#[tokio::test]
async fn nothing_runs_before_it_is_needed_and_nothing_after_stop() {
    let Some(stage) = stage(world()).await else { return };
    assert_eq!(stage.browser.status().await.process, None);
    stage.render("http://a.test/").await;
    let status = stage.at_rest().await;
    assert_eq!((status.pages, status.free_places), (0, 8));
    assert!(!cfg!(target_os = "linux") || status.memory_bytes > 10_000_000, "{status:?}");
    stage.browser.stop().await;
    ended(pid(&status)).await;
    assert_eq!(stage.browser.status().await.process, None);
    stage.render("http://a.test/").await;
    let again = stage.browser.status().await;
    assert_ne!(again.process, status.process);
    stage.browser.stop().await;
}

#[tokio::test]
async fn pages_that_are_open_when_it_is_stopped_fail_and_start_nothing() {
    let Some(stage) = stage(world()).await else { return };
    let browser = stage.browser.clone();
    let in_flight = tokio::spawn(async move { browser.render(&request("http://a.test/never")).await });
    stage.world.wait_for_request("http://a.test/never").await;
    stage.browser.stop().await;
    let failed = in_flight.await.unwrap();
    assert!(matches!(failed, Err(BrowserError::Crashed | BrowserError::Navigation { .. })), "{failed:?}");
    assert_eq!(stage.browser.status().await.process, None);
    assert_eq!(stage.browser.figures().await.started, 1);
}

#[tokio::test]
async fn dropping_the_browser_ends_everything() {
    let Some(stage) = stage(world()).await else { return };
    stage.render("http://a.test/").await;
    let group = pid(&stage.browser.status().await);
    assert!(is_running(group));
    drop(stage.browser);
    ended(group).await;
}

#[tokio::test]
async fn eight_pages_at_once_are_eight_pages() {
    let mut world = TestWeb::builder();
    for page in 0..8 {
        world =
            world.page(&format!("http://a.test/{page}"), Page::html(format!("<p>this is page {page}</p>")));
    }
    let Some(stage) = stage(world).await else { return };
    let mut pages = JoinSet::new();
    for page in 0..8 {
        let browser = stage.browser.clone();
        pages.spawn(async move { (page, browser.render(&request(&format!("http://a.test/{page}"))).await) });
    }
    while let Some(done) = pages.join_next().await {
        let (page, rendered) = done.unwrap();
        assert!(rendered.unwrap().html.contains(&format!("this is page {page}<")));
    }
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_killed_chromium_loses_only_the_pages_that_have_begun() {
    let is_first = AtomicBool::new(true);
    let late = "http://a.test/late";
    let world = world().page_with(late, move |_| {
        if is_first.swap(false, Ordering::AcqRel) { Page::unresponsive() } else { Page::html("<p>late</p>") }
    });
    let Some(stage) = stage(world).await else { return };
    stage.render("http://a.test/").await;
    let chromium = pid(&stage.browser.status().await);
    let waiting = RenderRequest { wait_for: Duration::from_secs(50), ..request("http://a.test/alive") };
    let [begun, awaited] = [waiting, request(late)].map(|request| {
        let browser = stage.browser.clone();
        tokio::spawn(async move { browser.render(&request).await })
    });
    stage.world.wait_for_request("http://a.test/beat").await;
    stage.world.wait_for_request(late).await;
    kill_process(chromium, Signal::KILL).unwrap();
    let lost = begun.await.unwrap();
    assert!(matches!(lost, Err(BrowserError::Crashed)), "{lost:?}");
    assert!(awaited.await.unwrap().unwrap().html.contains("late"));
    assert!(stage.render("http://a.test/").await.html.contains("a page of some words"));
    ended(chromium).await;
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_crashed_tab_loses_only_itself() {
    let large = "<p>large</p><script>large = new Uint8Array(3e8).fill(1); fetch('/beat')</script>";
    let Some(stage) = stage(world().page("http://a.test/large", Page::html(large))).await else { return };
    stage.render("http://a.test/").await;
    let chromium = stage.browser.status().await.process;
    let browser = stage.browser.clone();
    let waiting = RenderRequest { wait_for: Duration::from_secs(50), ..request("http://a.test/large") };
    let in_flight = tokio::spawn(async move { browser.render(&waiting).await });
    stage.world.wait_for_request("http://a.test/beat").await;
    let renderers = renderers_of(pid(&stage.browser.status().await));
    let largest = renderers.into_iter().max_by_key(|process| pages_in_memory(*process));
    kill_process(largest.unwrap(), Signal::KILL).unwrap();
    let lost = in_flight.await.unwrap();
    assert!(matches!(lost, Err(BrowserError::Crashed)), "{lost:?}");
    stage.render("http://a.test/").await;
    assert_eq!(stage.browser.status().await.process, chromium, "the browser itself lives");
    stage.browser.stop().await;
}

/// Chromium itself does not always live through it.
#[tokio::test]
async fn pages_that_crash_before_they_are_used_are_not_missed() {
    let Some(stage) = stage(world()).await else { return };
    for _ in 0..3 {
        stage.render("http://a.test/").await;
        let chromium = stage.browser.status().await.process.and_then(Pid::from_raw);
        for renderer in chromium.map(renderers_of).unwrap_or_default() {
            let _ = kill_process(renderer, Signal::KILL);
        }
    }
    stage.render("http://a.test/").await;
    stage.browser.stop().await;
}

/// Returns the processes of pages; empty where the system does not list them.
fn renderers_of(group: Pid) -> Vec<Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    ids.filter_map(Pid::from_raw)
        .filter(|process| {
            let path = format!("/proc/{}/cmdline", process.as_raw_nonzero());
            std::fs::read_to_string(path).is_ok_and(|line| line.contains("--type=renderer"))
        })
        .filter(|process| rustix::process::getpgid(Some(*process)) == Ok(group))
        .collect()
}

/// Returns how much memory a process has, in pages of the system.
fn pages_in_memory(process: Pid) -> u64 {
    let text =
        std::fs::read_to_string(format!("/proc/{}/statm", process.as_raw_nonzero())).unwrap_or_default();
    text.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn a_place_is_waited_for_until_the_deadline_and_no_longer() {
    let Some(config) = config() else { return };
    let stage = stage_with(world(), BrowserConfig { concurrency: 1, ..config }).await.unwrap();
    stage.render("http://a.test/").await;
    let browser = stage.browser.clone();
    let slow = tokio::spawn(async move { browser.render(&request("http://a.test/slow")).await });
    stage.world.wait_for_request("http://a.test/slow").await;
    let busy = stage.open(&within("http://a.test/", Duration::from_millis(300))).await;
    assert!(matches!(busy, Err(BrowserError::Busy { .. })), "{busy:?}");
    assert!(stage.render("http://a.test/").await.html.contains("a page of some words"));
    slow.await.unwrap().unwrap();
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_dropped_request_leaves_its_place() {
    let Some(config) = config() else { return };
    let stage = stage_with(world(), BrowserConfig { concurrency: 1, ..config }).await.unwrap();
    let browser = stage.browser.clone();
    let dropped = tokio::spawn(async move { browser.render(&request("http://a.test/never")).await });
    stage.world.wait_for_request("http://a.test/never").await;
    dropped.abort();
    assert!(stage.render("http://a.test/").await.html.contains("a page of some words"));
    assert_eq!(stage.at_rest().await.pages, 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_process_is_replaced_after_its_pages() {
    let Some(config) = config() else { return };
    let stage = stage_with(world(), BrowserConfig { pages_per_process: 2, ..config }).await.unwrap();
    let mut processes = Vec::new();
    for _ in 0..2 {
        stage.render("http://a.test/").await;
        processes.push(stage.at_rest().await.process);
        stage.render("http://a.test/").await;
        assert_eq!(stage.at_rest().await.process, None, "the second page was the last");
    }
    assert_ne!(processes[0], processes[1]);
    stage.browser.stop().await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_process_that_is_too_large_is_replaced() {
    let Some(config) = config() else { return };
    let stage = stage_with(world(), BrowserConfig { memory_bytes: 1, ..config }).await.unwrap();
    stage.render("http://a.test/").await;
    assert_eq!(stage.at_rest().await.process, None);
    stage.render("http://a.test/").await;
    stage.browser.stop().await;
}

#[tokio::test]
async fn an_idle_process_ends() {
    let Some(config) = config() else { return };
    let idle_shutdown = Duration::from_millis(200);
    let stage = stage_with(world(), BrowserConfig { idle_shutdown, ..config }).await.unwrap();
    stage.render("http://a.test/").await;
    let Some(process) = stage.browser.status().await.process else { return };
    ended(Pid::from_raw(process).unwrap()).await;
    stage.render("http://a.test/").await;
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_chromium_that_ends_while_it_starts_is_started_again() {
    let (directory, Some(config)) = (tempfile::tempdir().unwrap(), config()) else { return };
    let first = directory.path().join("first");
    std::fs::write(&first, "").unwrap();
    let path = wrapped_in(&config, &directory, |path| {
        let first = first.display();
        format!(
            "case \"$*\" in --version) ;; *) rm {first} 2>/dev/null && exit 1 ;; esac\nexec {path} \"$@\""
        )
    });
    let config = BrowserConfig { path: Some(path), ..config };
    let Some(stage) = stage_with(world(), config).await else { return };
    assert!(stage.render("http://a.test/").await.html.contains("a page of some words"));
    assert!(!first.exists());
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_start_that_takes_too_long_for_one_request_is_there_for_the_next() {
    let Some(stage) = stage(world()).await else { return };
    let impatient = stage.open(&within("http://a.test/", Duration::from_millis(1))).await;
    assert!(matches!(impatient, Err(BrowserError::Deadline)), "{impatient:?}");
    assert!(stage.render("http://a.test/").await.html.contains("a page of some words"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_missing_chromium_is_named() {
    let config = BrowserConfig { path: Some("/no/such/chromium".into()), ..BrowserConfig::default() };
    let stage = stage_with(world(), config).await.unwrap();
    let missing = stage.open(&request("http://a.test/")).await;
    let Err(error @ BrowserError::Missing { .. }) = missing else { panic!("{missing:?}") };
    assert!(error.to_string().contains("install chromium-headless-shell"), "{error}");
}

#[tokio::test]
async fn a_program_that_is_no_chromium_does_not_start() {
    let config = BrowserConfig { path: Some("/bin/true".into()), ..BrowserConfig::default() };
    let stage = stage_with(world(), config).await.unwrap();
    let failed = stage.open(&request("http://a.test/")).await;
    assert!(matches!(failed, Err(BrowserError::Start { .. })), "{failed:?}");
}

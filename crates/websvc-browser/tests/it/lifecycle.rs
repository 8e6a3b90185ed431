//! The lifecycle of the process: start, queue, crashes, replacement and end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use tokio::task::JoinSet;
use websvc_browser::{Browser, BrowserConfig, BrowserError, BrowserStatus, BubblewrapMode, RenderRequest};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::{chromium_wrapper_script, config, request, request_within, setup, setup_with};

fn web() -> TestWebBuilder {
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

/// Waits until no process of a group is left, because killed processes end with a delay.
async fn wait_ended(group: Pid) {
    let all_ended = async {
        while is_running(group) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), all_ended).await.expect("no process is left");
}

#[tokio::test]
async fn chromium_starts_on_demand_and_ends_on_stop() {
    let Some(setup) = setup(web()).await else { return };
    assert_eq!(setup.browser.status().await.process, None);
    setup.render("http://a.test/").await;
    let status = setup.wait_all_closed().await;
    assert_eq!((status.pages, status.free_permits), (0, 8));
    assert!(!cfg!(target_os = "linux") || status.memory_bytes > 10_000_000, "{status:?}");
    setup.browser.stop().await;
    wait_ended(pid(&status)).await;
    assert_eq!(setup.browser.status().await.process, None);
    setup.render("http://a.test/").await;
    let again = setup.browser.status().await;
    assert_ne!(again.process, status.process);
    setup.browser.stop().await;
}

#[tokio::test]
async fn stop_fails_open_pages_and_starts_no_process() {
    let Some(setup) = setup(web()).await else { return };
    let browser = setup.browser.clone();
    let in_flight = tokio::spawn(async move { browser.render(&request("http://a.test/never")).await });
    setup.web.wait_for_request("http://a.test/never").await;
    setup.browser.stop().await;
    let failed = in_flight.await.unwrap();
    assert!(matches!(failed, Err(BrowserError::Crashed | BrowserError::Navigation { .. })), "{failed:?}");
    assert_eq!(setup.browser.status().await.process, None);
    assert_eq!(setup.browser.metrics().started.get(), 1);
}

#[tokio::test]
async fn drop_of_the_browser_ends_all_processes() {
    let Some(setup) = setup(web()).await else { return };
    setup.render("http://a.test/").await;
    let group = pid(&setup.browser.status().await);
    assert!(is_running(group));
    drop(setup.browser);
    wait_ended(group).await;
}

#[tokio::test]
async fn eight_concurrent_pages_return_their_own_content() {
    let mut web = TestWeb::builder();
    for page in 0..8 {
        web = web.page(&format!("http://a.test/{page}"), Page::html(format!("<p>this is page {page}</p>")));
    }
    let Some(setup) = setup(web).await else { return };
    let mut pages = JoinSet::new();
    for page in 0..8 {
        let browser = setup.browser.clone();
        pages.spawn(async move { (page, browser.render(&request(&format!("http://a.test/{page}"))).await) });
    }
    while let Some(done) = pages.join_next().await {
        let (page, rendered) = done.unwrap();
        assert!(rendered.unwrap().html.contains(&format!("this is page {page}<")));
    }
    setup.browser.stop().await;
}

#[tokio::test]
async fn killed_chromium_fails_only_pages_with_a_response() {
    let is_first = AtomicBool::new(true);
    let late = "http://a.test/late";
    let web = web().page_with(late, move |_| {
        if is_first.swap(false, Ordering::AcqRel) { Page::unresponsive() } else { Page::html("<p>late</p>") }
    });
    let Some(setup) = setup(web).await else { return };
    setup.render("http://a.test/").await;
    let chromium = pid(&setup.browser.status().await);
    let waiting = RenderRequest { wait_for: Duration::from_secs(50), ..request("http://a.test/alive") };
    let [begun, awaited] = [waiting, request(late)].map(|request| {
        let browser = setup.browser.clone();
        tokio::spawn(async move { browser.render(&request).await })
    });
    setup.web.wait_for_request("http://a.test/beat").await;
    setup.web.wait_for_request(late).await;
    kill_process(chromium, Signal::KILL).unwrap();
    let lost = begun.await.unwrap();
    assert!(matches!(lost, Err(BrowserError::Crashed)), "{lost:?}");
    assert!(awaited.await.unwrap().unwrap().html.contains("late"));
    assert!(setup.render("http://a.test/").await.html.contains("a page of some words"));
    wait_ended(chromium).await;
    setup.browser.stop().await;
}

#[tokio::test]
async fn crashed_page_fails_alone() {
    let large = "<p>large</p><script>large = new Uint8Array(3e8).fill(1); fetch('/beat')</script>";
    let Some(setup) = setup(web().page("http://a.test/large", Page::html(large))).await else { return };
    setup.render("http://a.test/").await;
    let chromium = setup.browser.status().await.process;
    let browser = setup.browser.clone();
    let waiting = RenderRequest { wait_for: Duration::from_secs(50), ..request("http://a.test/large") };
    let in_flight = tokio::spawn(async move { browser.render(&waiting).await });
    setup.web.wait_for_request("http://a.test/beat").await;
    let renderers = renderers_of(pid(&setup.browser.status().await));
    let largest = renderers.into_iter().max_by_key(|process| pages_in_memory(*process));
    kill_process(largest.unwrap(), Signal::KILL).unwrap();
    let lost = in_flight.await.unwrap();
    assert!(matches!(lost, Err(BrowserError::Crashed)), "{lost:?}");
    setup.render("http://a.test/").await;
    assert_eq!(setup.browser.status().await.process, chromium, "the browser itself continues");
    setup.browser.stop().await;
}

/// Chromium itself does not always survive this.
#[tokio::test]
async fn warm_pages_that_crash_are_replaced() {
    let Some(setup) = setup(web()).await else { return };
    for _ in 0..3 {
        setup.render("http://a.test/").await;
        let chromium = setup.browser.status().await.process.and_then(Pid::from_raw);
        for renderer in chromium.map(renderers_of).unwrap_or_default() {
            let _ = kill_process(renderer, Signal::KILL);
        }
    }
    setup.render("http://a.test/").await;
    setup.browser.stop().await;
}

/// Returns the processes of pages; empty on systems without `/proc`.
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

/// Returns the resident memory of a process, in memory pages.
fn pages_in_memory(process: Pid) -> u64 {
    let text =
        std::fs::read_to_string(format!("/proc/{}/statm", process.as_raw_nonzero())).unwrap_or_default();
    text.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn request_waits_for_a_permit_until_its_deadline() {
    let Some(config) = config() else { return };
    let setup = setup_with(web(), BrowserConfig { concurrency: 1, ..config }).await.unwrap();
    setup.render("http://a.test/").await;
    let browser = setup.browser.clone();
    let slow = tokio::spawn(async move { browser.render(&request("http://a.test/slow")).await });
    setup.web.wait_for_request("http://a.test/slow").await;
    let busy = setup.open(&request_within("http://a.test/", Duration::from_millis(300))).await;
    assert!(matches!(busy, Err(BrowserError::Busy { .. })), "{busy:?}");
    assert!(setup.render("http://a.test/").await.html.contains("a page of some words"));
    slow.await.unwrap().unwrap();
    setup.browser.stop().await;
}

#[tokio::test]
async fn free_page_is_for_the_team_with_the_fewest_pages() {
    let Some(config) = config() else { return };
    let setup = setup_with(web(), BrowserConfig { concurrency: 1, ..config }).await.unwrap();
    setup.render("http://a.test/").await;
    setup.wait_all_closed().await;
    let render = |team: &str, url: &str| {
        let (browser, request) = (setup.browser.clone(), RenderRequest { team: team.into(), ..request(url) });
        tokio::spawn(async move { browser.render(&request).await.map(|_| ()) })
    };
    let first = render("many", "http://a.test/slow");
    setup.web.wait_for_request("http://a.test/slow").await;
    let mut waiting = JoinSet::new();
    for _ in 0..4 {
        waiting.spawn(render("many", "http://a.test/never"));
    }
    waiting_for_permits(&setup.browser, 4).await;
    let few = render("few", "http://a.test/");
    waiting_for_permits(&setup.browser, 5).await;
    setup.web.clear_requests();
    first.await.unwrap().unwrap();
    few.await.unwrap().unwrap();
    let order = setup.web.requests().into_iter().map(|request| request.url);
    // The whole Chromium requests the icons of pages.
    let order: Vec<String> = order.filter(|url| !url.ends_with("/favicon.ico")).collect();
    assert_eq!(order.first().map(String::as_str), Some("http://a.test/"), "{order:?}");
    setup.browser.stop().await;
}

/// Waits until this many pages wait for a permit.
async fn waiting_for_permits(browser: &Browser, pages: u64) {
    while browser.metrics().waiting() != pages {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn dropped_request_releases_its_permit() {
    let Some(config) = config() else { return };
    let setup = setup_with(web(), BrowserConfig { concurrency: 1, ..config }).await.unwrap();
    let browser = setup.browser.clone();
    let dropped = tokio::spawn(async move { browser.render(&request("http://a.test/never")).await });
    setup.web.wait_for_request("http://a.test/never").await;
    dropped.abort();
    assert!(setup.render("http://a.test/").await.html.contains("a page of some words"));
    assert_eq!(setup.wait_all_closed().await.pages, 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn process_is_replaced_after_its_number_of_pages() {
    let Some(config) = config() else { return };
    let setup = setup_with(web(), BrowserConfig { pages_per_process: 2, ..config }).await.unwrap();
    let mut processes = Vec::new();
    for _ in 0..2 {
        setup.render("http://a.test/").await;
        processes.push(setup.wait_all_closed().await.process);
        setup.render("http://a.test/").await;
        assert_eq!(
            setup.wait_all_closed().await.process,
            None,
            "the second page was the last of the process"
        );
    }
    assert_ne!(processes[0], processes[1]);
    setup.browser.stop().await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn process_above_its_memory_limit_is_replaced() {
    let Some(config) = config() else { return };
    let setup = setup_with(web(), BrowserConfig { memory_bytes: 1, ..config }).await.unwrap();
    setup.render("http://a.test/").await;
    assert_eq!(setup.wait_all_closed().await.process, None);
    setup.render("http://a.test/").await;
    setup.browser.stop().await;
}

#[tokio::test]
async fn idle_process_ends() {
    let Some(config) = config() else { return };
    let idle_shutdown = Duration::from_millis(200);
    let setup = setup_with(web(), BrowserConfig { idle_shutdown, ..config }).await.unwrap();
    setup.render("http://a.test/").await;
    let Some(process) = setup.browser.status().await.process else { return };
    wait_ended(Pid::from_raw(process).unwrap()).await;
    setup.render("http://a.test/").await;
    setup.browser.stop().await;
}

#[tokio::test]
async fn chromium_that_ends_during_its_start_is_started_again() {
    let (directory, Some(config)) = (tempfile::tempdir().unwrap(), config()) else { return };
    let first = directory.path().join("first");
    std::fs::write(&first, "").unwrap();
    let path = chromium_wrapper_script(&config, &directory, |path| {
        let first = first.display();
        format!(
            "case \"$*\" in --version) ;; *) rm {first} 2>/dev/null && exit 1 ;; esac\nexec {path} \"$@\""
        )
    });
    // In bubblewrap the script cannot remove the file.
    let config = BrowserConfig { path: Some(path), bubblewrap: BubblewrapMode::Off, ..config };
    let Some(setup) = setup_with(web(), config).await else { return };
    assert!(setup.render("http://a.test/").await.html.contains("a page of some words"));
    assert!(!first.exists());
    setup.browser.stop().await;
}

#[tokio::test]
async fn start_continues_after_its_request_timed_out() {
    let Some(setup) = setup(web()).await else { return };
    let impatient = setup.open(&request_within("http://a.test/", Duration::from_millis(1))).await;
    assert!(matches!(impatient, Err(BrowserError::Deadline)), "{impatient:?}");
    assert!(setup.render("http://a.test/").await.html.contains("a page of some words"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn missing_chromium_is_reported() {
    let config = BrowserConfig { path: Some("/no/such/chromium".into()), ..BrowserConfig::default() };
    let setup = setup_with(web(), config).await.unwrap();
    let missing = setup.open(&request("http://a.test/")).await;
    let Err(error @ BrowserError::Missing { .. }) = missing else { panic!("{missing:?}") };
    assert!(error.to_string().contains("install chromium-headless-shell"), "{error}");
}

#[tokio::test]
async fn program_that_is_not_chromium_fails_to_start() {
    let config = BrowserConfig { path: Some("/bin/true".into()), ..BrowserConfig::default() };
    let setup = setup_with(web(), config).await.unwrap();
    let failed = setup.open(&request("http://a.test/")).await;
    assert!(matches!(failed, Err(BrowserError::Start { .. })), "{failed:?}");
}

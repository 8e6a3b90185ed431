//! The memory limits of pages: a page that uses too much memory is stopped, however it uses it; other pages continue.

use std::time::Duration;

use tokio::task::JoinHandle;
use websvc_browser::{BrowserConfig, BrowserError, BrowserStatus, RenderRequest, RenderedPage};
use websvc_testkit::{Page, TestWeb, until};

use crate::support::{Setup, config, request_within, setup_with};

const MIB: u64 = 1024 * 1024;
const PAGE_BYTES: u64 = 300 * MIB;
const MAX_BYTES: u64 = 1024 * MIB;
/// The maximum memory of all processes at any time: the limit, and what a page can allocate within 200 ms.
const PEAK_BYTES: u64 = 1600 * MIB;
const LARGE: &str = "http://large.test/";
const NEIGHBOR: &str = "http://neighbor.test/";
const BEAT: &str = "http://neighbor.test/beat";

/// Opens a page that allocates memory next to one that does not, and returns the failure of the first one.
async fn open_large(web: websvc_testkit::TestWebBuilder, config: BrowserConfig) -> BrowserError {
    let html = "<p>neighbor</p><script>setInterval(() => fetch('/beat'), 100)</script>";
    let config = BrowserConfig { page_memory_bytes: PAGE_BYTES, max_memory_bytes: MAX_BYTES, ..config };
    let web = web.page(NEIGHBOR, Page::html(html)).page(BEAT, Page::text(""));
    let setup = setup_with(web, config).await.unwrap();
    let neighbor = open(&setup, NEIGHBOR);
    setup.web.wait_for_request(BEAT).await;
    let chromium = setup.browser.status().await.process;
    let large = open(&setup, LARGE);
    let mut peak = 0;
    while !large.is_finished() {
        let BrowserStatus { memory_bytes, .. } = setup.browser.status().await;
        peak = peak.max(memory_bytes);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let failure = large.await.unwrap().expect_err("the page uses too much memory");
    assert!(peak < PEAK_BYTES, "{} MiB", peak / MIB);
    setup.web.clear_requests();
    // The neighbor still sends requests, in the same browser.
    until("the neighbor sends a request or has ended", || {
        setup.web.count(BEAT) > 0 || neighbor.is_finished()
    })
    .await;
    assert!(!neighbor.is_finished(), "{:?}", neighbor.await.map(|outcome| outcome.map(|page| page.status)));
    assert_eq!(setup.browser.status().await.process, chromium, "the browser itself continues");
    assert_eq!(setup.web.count(LARGE), 0, "the page is not opened again");
    let failed = setup.browser.metrics().failed.counts();
    assert!(failed.contains(&("memory_exceeded", 1)), "{failed:?}");
    neighbor.abort();
    setup.browser.stop().await;
    failure
}

fn open(setup: &Setup, url: &str) -> JoinHandle<Result<RenderedPage, BrowserError>> {
    let browser = setup.browser.clone();
    // Longer than a page on a busy machine needs to reach its memory limit: the neighbor must outlast it.
    let request =
        RenderRequest { wait_for: Duration::from_secs(170), ..request_within(url, Duration::from_secs(180)) };
    tokio::spawn(async move { browser.render(&request).await })
}

async fn assert_stopped(html: &str) {
    let Some(config) = config() else { return };
    let web = TestWeb::builder().page(LARGE, Page::html(html)).page("http://large.test/image", image());
    let failure = open_large(web, config).await;
    assert!(
        matches!(failure, BrowserError::MemoryExceeded { limit_bytes: PAGE_BYTES, is_shared: false }),
        "{failure:?}"
    );
    assert_eq!(failure.to_string(), "the page was stopped: it used more than 300 MiB of memory");
}

/// Returns an image with a small file and 24 MB of pixels.
fn image() -> Page {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2500, 2500);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&vec![7; 2500 * 2500 * 3]).unwrap();
    Page::new("image/png", file).header("cache-control", "no-store")
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn wasm_memories_stop_the_page() {
    assert_stopped(
        "<script>const kept = []; setInterval(() => {
         const memory = new WebAssembly.Memory({initial: 160});
         new Uint8Array(memory.buffer).fill(1); kept.push(memory) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn buffers_allocated_in_an_endless_loop_stop_the_page() {
    assert_stopped("<script>const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1))</script>").await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn script_objects_stop_the_page() {
    assert_stopped(
        "<script>const kept = []; setInterval(() => {
         for (let i = 0; i < 100000; i++) kept.push({a: i, b: [i]}) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn canvases_stop_the_page() {
    assert_stopped(
        "<body><script>setInterval(() => { const canvas = document.createElement('canvas');
         canvas.width = 2000; canvas.height = 1500;
         canvas.getContext('2d').fillRect(0, 0, 2000, 1500); document.body.append(canvas) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn images_stop_the_page() {
    assert_stopped(
        // Some releases of Chromium drop the pixels of elements soon after decoding; bitmaps keep theirs.
        "<body><script>const bitmaps = []; let next = 0; setInterval(() => { const image = new Image();
         image.src = '/image?' + next++; image.style.width = '9px'; document.body.prepend(image);
         image.decode().then(() => createImageBitmap(image)).then((bitmap) => bitmaps.push(bitmap)) }, 20)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn elements_stop_the_page() {
    assert_stopped(
        // Without boxes: each change of the layout would take longer than the one before.
        "<body hidden><script>setInterval(() => { const box = document.createElement('div');
         box.innerHTML = '<p><b>x</b> y'.repeat(20000); document.body.append(box) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn workers_stop_the_page() {
    assert_stopped(
        "<script>const url = URL.createObjectURL(new Blob([`const kept = [];
         setInterval(() => kept.push(new Uint8Array(1e6).fill(1)), 10)`]));
         for (let i = 0; i < 20; i++) new Worker(url)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn blobs_in_the_browser_process_stop_the_page_that_creates_them() {
    assert_stopped(
        "<script>const kept = [], bytes = new Uint8Array(1e7).fill(1);
         setInterval(() => { bytes[0]++; kept.push(new Blob([bytes])) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn frame_of_another_site_stops_its_page() {
    let Some(config) = config() else { return };
    let frame =
        "<script>const kept = []; setInterval(() => kept.push(new Uint8Array(1e7).fill(1)), 10)</script>";
    let web = TestWeb::builder()
        .page(LARGE, Page::html("<p>around</p><iframe src='http://frame.test/'></iframe>"))
        .page("http://frame.test/", Page::html(frame));
    let failure = open_large(web, config).await;
    assert!(
        matches!(failure, BrowserError::MemoryExceeded { limit_bytes: PAGE_BYTES, is_shared: false }),
        "{failure:?}"
    );
}

/// In Chromium, frames of other sites have processes of their own, and the limit of the browser stops the page. The headless
/// shell does not isolate sites: the frames share the process of the page, and the limit of the page applies.
#[tokio::test]
async fn many_frames_stop_the_page_by_the_limit_of_browser_or_page() {
    let Some(config) = config() else { return };
    let mut html = "<p>many</p>".to_owned();
    let mut web = TestWeb::builder();
    for number in 0..12 {
        let url = format!("http://frame{number}.test/");
        html.push_str(&format!("<iframe src='{url}'></iframe>"));
        web = web.page(&url, Page::html("<script>kept = new Uint8Array(1e8).fill(1)</script>"));
    }
    match open_large(web.page(LARGE, Page::html(html)), config).await {
        BrowserError::MemoryExceeded { limit_bytes, is_shared } => {
            assert_eq!(limit_bytes, if is_shared { MAX_BYTES } else { PAGE_BYTES });
        }
        failure => panic!("{failure:?}"),
    }
}

#[tokio::test]
async fn pages_below_their_limit_are_stopped_by_the_limit_of_the_browser() {
    let Some(config) = config() else { return };
    let names: Vec<String> = (0..5).map(|number| format!("http://within{number}.test/")).collect();
    let html = "<p>within</p><script>kept = new Uint8Array(2.4e8).fill(1)</script>";
    let web = names.iter().fold(TestWeb::builder(), |web, name| web.page(name, Page::html(html)));
    let config = BrowserConfig {
        page_memory_bytes: PAGE_BYTES,
        max_memory_bytes: MAX_BYTES,
        concurrency: names.len(),
        ..config
    };
    let setup = setup_with(web, config).await.unwrap();
    let mut pages: Vec<_> = names.iter().map(|name| open(&setup, name)).collect();
    let ended = loop {
        if let Some(index) = pages.iter().position(JoinHandle::is_finished) {
            break pages
                .swap_remove(index)
                .await
                .unwrap()
                .expect_err("all pages together use too much memory");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(
        matches!(ended, BrowserError::MemoryExceeded { limit_bytes: MAX_BYTES, is_shared: true }),
        "{ended:?}"
    );
    assert!(pages.iter().any(|page| !page.is_finished()), "the other pages continue");
    pages.iter().for_each(JoinHandle::abort);
    setup.browser.stop().await;
}

#[tokio::test]
async fn page_below_its_memory_limit_is_rendered() {
    let Some(config) = config() else { return };
    let html = "<script>kept = new Uint8Array(1e8).fill(1); document.write('<p>' + kept.length)</script>";
    let config = BrowserConfig { page_memory_bytes: PAGE_BYTES, max_memory_bytes: MAX_BYTES, ..config };
    let setup = setup_with(TestWeb::builder().page(LARGE, Page::html(html)), config).await.unwrap();
    assert!(setup.render(LARGE).await.html.contains("<p>100000000"));
    setup.browser.stop().await;
}

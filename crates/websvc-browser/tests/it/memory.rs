//! A page that takes too much memory is ended while it is open, whatever it takes it with; the page beside it goes on.

use std::time::Duration;

use tokio::task::JoinHandle;
use websvc_browser::{BrowserConfig, BrowserError, BrowserStatus, RenderRequest, RenderedPage};
use websvc_testkit::{Page, TestWeb, until};

use crate::support::{Stage, config, request, stage_with};

const MIB: u64 = 1024 * 1024;
const PAGE_BYTES: u64 = 300 * MIB;
const MAX_BYTES: u64 = 1024 * MIB;
/// For all processes together at any moment: the bound, and what is taken within 200 ms.
const PEAK_BYTES: u64 = 1600 * MIB;
const LARGE: &str = "http://large.test/";
const BESIDE: &str = "http://beside.test/";
const BEAT: &str = "http://beside.test/beat";

/// Opens a page that takes memory beside one that takes none, and returns how the first one failed.
async fn open_large(world: websvc_testkit::TestWebBuilder, config: BrowserConfig) -> BrowserError {
    let beside = "<p>beside</p><script>setInterval(() => fetch('/beat'), 100)</script>";
    let config = BrowserConfig { page_memory_bytes: PAGE_BYTES, max_memory_bytes: MAX_BYTES, ..config };
    let world = world.page(BESIDE, Page::html(beside)).page(BEAT, Page::text(""));
    let stage = stage_with(world, config).await.unwrap();
    let neighbor = open(&stage, BESIDE);
    stage.world.wait_for_request(BEAT).await;
    let chromium = stage.browser.status().await.process;
    let large = open(&stage, LARGE);
    let mut peak = 0;
    while !large.is_finished() {
        let BrowserStatus { memory_bytes, .. } = stage.browser.status().await;
        peak = peak.max(memory_bytes);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let failure = large.await.unwrap().expect_err("the page takes too much memory");
    assert!(peak < PEAK_BYTES, "{} MiB", peak / MIB);
    stage.world.clear_requests();
    // The neighbor still beats, in the same browser.
    until("the neighbor beats or has ended", || stage.world.count(BEAT) > 0 || neighbor.is_finished()).await;
    assert!(!neighbor.is_finished(), "{:?}", neighbor.await.map(|end| end.map(|page| page.status)));
    assert_eq!(stage.browser.status().await.process, chromium, "the browser itself goes on");
    assert_eq!(stage.world.count(LARGE), 0, "it is not opened again");
    let failed = stage.browser.figures().await.failed;
    assert!(failed.contains(&("memory_exceeded", 1)), "{failed:?}");
    neighbor.abort();
    stage.browser.stop().await;
    failure
}

fn open(stage: &Stage, url: &str) -> JoinHandle<Result<RenderedPage, BrowserError>> {
    let browser = stage.browser.clone();
    let request = RenderRequest { wait_for: Duration::from_secs(50), ..request(url) };
    tokio::spawn(async move { browser.render(&request).await })
}

async fn assert_ends(html: &str) {
    let Some(config) = config() else { return };
    let world = TestWeb::builder().page(LARGE, Page::html(html)).page("http://large.test/image", image());
    let failure = open_large(world, config).await;
    assert!(
        matches!(failure, BrowserError::MemoryExceeded { limit_bytes: PAGE_BYTES, is_shared: false }),
        "{failure:?}"
    );
    assert_eq!(failure.to_string(), "the page was stopped: it used more than 300 MiB of memory");
}

/// Returns an image that is small as a file and has 24 MB as pixels.
fn image() -> Page {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2500, 2500);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&vec![7; 2500 * 2500 * 3]).unwrap();
    Page::new("image/png", file).header("cache-control", "no-store")
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn memories_of_wasm_end_the_page() {
    assert_ends(
        "<script>const kept = []; setInterval(() => {
         const memory = new WebAssembly.Memory({initial: 160});
         new Uint8Array(memory.buffer).fill(1); kept.push(memory) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn buffers_end_the_page_even_in_a_loop_without_end() {
    assert_ends("<script>const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1))</script>").await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn objects_of_scripts_end_the_page() {
    assert_ends(
        "<script>const kept = []; setInterval(() => {
         for (let i = 0; i < 100000; i++) kept.push({a: i, b: [i]}) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn canvases_end_the_page() {
    assert_ends(
        "<body><script>setInterval(() => { const canvas = document.createElement('canvas');
         canvas.width = 2000; canvas.height = 1500;
         canvas.getContext('2d').fillRect(0, 0, 2000, 1500); document.body.append(canvas) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn images_end_the_page() {
    assert_ends(
        // Some releases of Chromium drop the pixels of elements soon after decoding; bitmaps keep theirs.
        "<body><script>const bitmaps = []; let next = 0; setInterval(() => { const image = new Image();
         image.src = '/image?' + next++; image.style.width = '9px'; document.body.prepend(image);
         image.decode().then(() => createImageBitmap(image)).then((bitmap) => bitmaps.push(bitmap)) }, 20)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn elements_end_the_page() {
    assert_ends(
        "<body><script>setInterval(() => { const box = document.createElement('div');
         box.innerHTML = '<p><b>x</b> y'.repeat(20000); document.body.append(box) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn workers_end_the_page() {
    assert_ends(
        "<script>const url = URL.createObjectURL(new Blob([`const kept = [];
         setInterval(() => kept.push(new Uint8Array(1e6).fill(1)), 10)`]));
         for (let i = 0; i < 20; i++) new Worker(url)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn blobs_in_the_browser_process_end_the_page_that_makes_them() {
    assert_ends(
        "<script>const kept = [], bytes = new Uint8Array(1e7).fill(1);
         setInterval(() => { bytes[0]++; kept.push(new Blob([bytes])) }, 10)</script>",
    )
    .await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn frame_of_another_site_ends_the_page_around_it() {
    let Some(config) = config() else { return };
    let frame =
        "<script>const kept = []; setInterval(() => kept.push(new Uint8Array(1e7).fill(1)), 10)</script>";
    let world = TestWeb::builder()
        .page(LARGE, Page::html("<p>around</p><iframe src='http://frame.test/'></iframe>"))
        .page("http://frame.test/", Page::html(frame));
    let failure = open_large(world, config).await;
    assert!(
        matches!(failure, BrowserError::MemoryExceeded { limit_bytes: PAGE_BYTES, is_shared: false }),
        "{failure:?}"
    );
}

/// Frames of other sites have processes of their own in Chromium, and that of their page in the headless shell, which
/// isolates no sites: the bound of the browser ends the page in the one, that of the page in the other.
#[tokio::test]
async fn many_frames_end_by_the_bound_of_the_browser_or_of_the_process_that_they_share() {
    let Some(config) = config() else { return };
    let mut html = "<p>many</p>".to_owned();
    let mut world = TestWeb::builder();
    for number in 0..12 {
        let url = format!("http://frame{number}.test/");
        html.push_str(&format!("<iframe src='{url}'></iframe>"));
        world = world.page(&url, Page::html("<script>kept = new Uint8Array(1e8).fill(1)</script>"));
    }
    match open_large(world.page(LARGE, Page::html(html)), config).await {
        BrowserError::MemoryExceeded { limit_bytes, is_shared } => {
            assert_eq!(limit_bytes, if is_shared { MAX_BYTES } else { PAGE_BYTES });
        }
        failure => panic!("{failure:?}"),
    }
}

#[tokio::test]
async fn pages_within_their_bound_end_by_that_of_the_browser_until_it_is_enough() {
    let Some(config) = config() else { return };
    let names: Vec<String> = (0..5).map(|number| format!("http://within{number}.test/")).collect();
    let html = "<p>within</p><script>kept = new Uint8Array(2.4e8).fill(1)</script>";
    let world = names.iter().fold(TestWeb::builder(), |world, name| world.page(name, Page::html(html)));
    let config = BrowserConfig {
        page_memory_bytes: PAGE_BYTES,
        max_memory_bytes: MAX_BYTES,
        concurrency: names.len(),
        ..config
    };
    let stage = stage_with(world, config).await.unwrap();
    let mut pages: Vec<_> = names.iter().map(|name| open(&stage, name)).collect();
    let ended = loop {
        if let Some(place) = pages.iter().position(JoinHandle::is_finished) {
            break pages.swap_remove(place).await.unwrap().expect_err("all of them are too much");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(
        matches!(ended, BrowserError::MemoryExceeded { limit_bytes: MAX_BYTES, is_shared: true }),
        "{ended:?}"
    );
    assert!(pages.iter().any(|page| !page.is_finished()), "the others go on");
    pages.iter().for_each(JoinHandle::abort);
    stage.browser.stop().await;
}

#[tokio::test]
async fn page_within_its_memory_is_rendered() {
    let Some(config) = config() else { return };
    let html = "<script>kept = new Uint8Array(1e8).fill(1); document.write('<p>' + kept.length)</script>";
    let config = BrowserConfig { page_memory_bytes: PAGE_BYTES, max_memory_bytes: MAX_BYTES, ..config };
    let stage = stage_with(TestWeb::builder().page(LARGE, Page::html(html)), config).await.unwrap();
    assert!(stage.render(LARGE).await.html.contains("<p>100000000"));
    stage.browser.stop().await;
}

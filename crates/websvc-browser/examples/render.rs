//! Opens a URL again and again and says how long that takes: `render URL [TIMES [AT ONCE]]`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its user")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use url::Url;
use websvc_browser::{Browser, BrowserConfig, PageRequest};
use websvc_transport::{AddressGuard, Client, ClientConfig, IpNetwork};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(Ok(url)) = arguments.next().map(|url| Url::parse(&url)) else {
        eprintln!("usage: render URL [TIMES [AT ONCE]]");
        return ExitCode::FAILURE;
    };
    let mut number = |usual| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (times, at_once) = (number(20usize), number(1usize));
    let loopback: IpNetwork = "127.0.0.0/8".parse().expect("a network");
    let guard = AddressGuard::public().allow(loopback);
    let client = Client::new(ClientConfig::new(guard)).expect("a client needs no files");
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    let config = BrowserConfig { path, concurrency: at_once, ..BrowserConfig::default() };
    let browser = Browser::new(config, client);

    let open = |browser: Browser, url: Url| async move {
        let began = Instant::now();
        let request = PageRequest::new(url, began + Duration::from_secs(60));
        browser.open(&request).await.map(|page| (began.elapsed(), page.html.len()))
    };
    match open(browser.clone(), url.clone()).await {
        Ok((time, bytes)) => println!("first, with the start: {} ms, {bytes} bytes", time.as_millis()),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    let began = Instant::now();
    let places = Arc::new(Semaphore::new(at_once));
    let mut pages = JoinSet::new();
    for _ in 0..times {
        let place = Arc::clone(&places).acquire_owned().await.expect("never closed");
        let opening = open(browser.clone(), url.clone());
        pages.spawn(async move {
            let opened = opening.await;
            drop(place);
            opened
        });
    }
    let mut waits: Vec<Duration> =
        pages.join_all().await.into_iter().flatten().map(|(time, _)| time).collect();
    let all = began.elapsed();
    waits.sort_unstable();
    let failed = times - waits.len();
    let at =
        |share: usize| waits.get(waits.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
    println!(
        "{times} pages, {at_once} at once, {failed} failed: p50 {} ms, p99 {} ms, {:.1} pages/s, {} MB",
        at(50).as_millis(),
        at(99).as_millis(),
        times as f64 / all.as_secs_f64(),
        browser.status().await.memory_bytes / 1_000_000,
    );
    browser.stop().await;
    ExitCode::SUCCESS
}

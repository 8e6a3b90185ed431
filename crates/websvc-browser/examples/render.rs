//! Renders a URL repeatedly in one Chromium and prints a line of JSON, `{times_ms, seconds, incomplete}`.
//!
//! Usage: `render URL [TIMES [CONCURRENCY [EXPECTED]]]`. A page without the expected text is incomplete.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example is a program")]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;
use url::Url;
use websvc_browser::{Browser, BrowserConfig, BrowserError, RenderRequest};
use websvc_transport::{AddressGuard, Client, ClientConfig, IpNetwork};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(Ok(url)) = arguments.next().map(|url| Url::parse(&url)) else {
        eprintln!("usage: render URL [TIMES [CONCURRENCY [EXPECTED]]]");
        return ExitCode::FAILURE;
    };
    let mut number = |default| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (times, concurrency) = (number(20usize), number(1usize));
    let expected: Arc<str> = arguments.next().unwrap_or_default().into();
    let browser = browser(concurrency);
    // The first page starts Chromium.
    if let Err(error) = render(&browser, &url).await {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let started = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..concurrency {
        let (browser, url, started) = (browser.clone(), url.clone(), Arc::clone(&started));
        let expected = Arc::clone(&expected);
        workers.spawn(async move {
            let mut pages = Vec::new();
            while started.fetch_add(1, Ordering::Relaxed) < times {
                let start = Instant::now();
                let page = render(&browser, &url).await;
                let is_complete = page.is_ok_and(|html| html.contains(&*expected));
                pages.push((start.elapsed().as_secs_f64() * 1000.0, is_complete));
            }
            pages
        });
    }
    let pages = workers.join_all().await.concat();
    let seconds = start.elapsed().as_secs_f64();
    browser.stop().await;
    let times: Vec<f64> = pages.iter().map(|(time, _)| *time).collect();
    let incomplete = pages.iter().filter(|(_, is_complete)| !is_complete).count();
    println!("{}", json!({"times_ms": times, "seconds": seconds, "incomplete": incomplete}));
    ExitCode::SUCCESS
}

/// Returns a browser that may also connect to this machine.
fn browser(concurrency: usize) -> Browser {
    let loopback: IpNetwork = "127.0.0.0/8".parse().expect("a network");
    let guard = AddressGuard::public().allow(loopback);
    let client = Client::new(ClientConfig::new(guard)).expect("a client needs no files");
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    Browser::new(BrowserConfig { path, concurrency, ..BrowserConfig::default() }, client)
}

async fn render(browser: &Browser, url: &Url) -> Result<String, BrowserError> {
    let request = RenderRequest::new(url.clone(), Instant::now() + Duration::from_secs(60));
    Ok(browser.render(&request).await?.html)
}

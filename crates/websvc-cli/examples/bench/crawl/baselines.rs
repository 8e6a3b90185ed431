//! Baselines of crawls: `wget --recursive`, and fetches of a list of URLs by the HTTP client alone.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::task::JoinSet;
use websvc_testkit::TestWeb;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::process::{cpu_seconds_of_children, pin_self_to, pinned};

/// Result of the fetches by the HTTP client alone.
pub(crate) struct Bare {
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
}

/// Returns the pages per second of wget; `None` if it is not installed.
pub(crate) async fn wget(world: &TestWeb, start: &str) -> Option<f64> {
    Command::new("wget").arg("--version").output().ok()?;
    let folder = tempfile::tempdir().unwrap();
    let mut command = pinned("wget".as_ref());
    command
        .args(["--recursive", "--level=inf", "--quiet", "--delete-after", "--execute", "use_proxy=yes"])
        .arg("--execute")
        .arg(format!("http_proxy=http://{}/", world.http_addr()))
        // Like crawls, fetches no files but pages.
        .args(["--reject", "css,js,png,svg,ico,gif,jpg,txt,zip"])
        .arg("--directory-prefix")
        .arg(folder.path())
        .arg(start);
    world.clear_requests();
    let started = Instant::now();
    // A blocking call would stop the test web, which runs on this thread's runtime.
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    #[expect(clippy::cast_precision_loss, reason = "only printed")]
    let rate = world.requests().len() as f64 / started.elapsed().as_secs_f64();
    Some(rate)
}

/// Fetches the URLs in a separate process, `concurrency` at once.
pub(crate) async fn bare(world: &TestWeb, urls: &[String], concurrency: usize) -> Bare {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("urls");
    std::fs::write(&list, urls.join("\n")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("fetch-all").arg(world.http_addr().to_string()).arg(&list).arg(concurrency.to_string());
    let cpu = cpu_seconds_of_children();
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seconds = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    Bare { seconds, cpu_seconds: cpu_seconds_of_children() - cpu }
}

/// The separate process of [`bare`]: fetches the URLs and prints the elapsed seconds.
pub(crate) async fn fetch_all(arguments: &[String]) {
    pin_self_to(0);
    let [address, list, concurrency] = arguments else {
        panic!("expected the arguments ADDRESS LIST CONCURRENCY")
    };
    let address: SocketAddr = address.parse().unwrap();
    let guard = AddressGuard::public().connect_to("*:80", &address.to_string()).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    let urls: Arc<Vec<String>> =
        Arc::new(std::fs::read_to_string(list).unwrap().lines().map(str::to_owned).collect());
    let (next, started) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let mut running = JoinSet::new();
    for _ in 0..concurrency.parse().unwrap() {
        let (client, urls, next) = (client.clone(), Arc::clone(&urls), Arc::clone(&next));
        running.spawn(async move {
            while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                let response = client.fetch(FetchRequest::get(url.parse().unwrap())).await.unwrap();
                assert!(response.status.is_success(), "{url}: {}", response.status);
            }
        });
    }
    while let Some(result) = running.join_next().await {
        result.unwrap();
    }
    println!("{}", started.elapsed().as_secs_f64());
}

//! A Chromium that somebody else runs: reached, shared, lost, found again, and never let out past the guard.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use websvc_browser::{
    Browser, BrowserConfig, BrowserError, Remote, RemoteError, RenderRequest, Screenshot, Step,
};
use websvc_testkit::{Canary, Page, TestWeb, TestWebBuilder};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::egress;
use crate::support::{Stage, config, request};

/// What `docs/scraping.md` tells to start a remote Chromium with.
const FLAGS: &[&str] = &[
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pings",
];

/// A Chromium with a port, as an operator would start it.
struct Chromium {
    child: Child,
    /// As it says itself: `ws://127.0.0.1:PORT/devtools/browser/ID`.
    socket: String,
    _profile: TempDir,
}

impl Chromium {
    fn start(flags: &[&str]) -> Option<Self> {
        config()?;
        let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
        let path = Browser::new(config()?, client).executable().unwrap();
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(path);
        command.args(["--headless", "--remote-debugging-port=0", "--disable-gpu", "--disable-dev-shm-usage"]);
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.args(flags).arg(format!("--user-data-dir={}", profile.path().display()));
        command.env("HOME", profile.path()).env("TMPDIR", profile.path()).process_group(0);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said =
            lines.find_map(|line| line.unwrap().strip_prefix("DevTools listening on ").map(str::to_owned));
        // Its pipe must not fill.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, socket: said.unwrap(), _profile: profile })
    }

    fn addr(&self) -> SocketAddr {
        self.socket.split('/').nth(2).unwrap().parse().unwrap()
    }

    /// Returns what it shows of itself at a path.
    async fn shows(&self, path: &str) -> serde_json::Value {
        let url = format!("http://{}/json/{path}", self.addr()).parse().unwrap();
        serde_json::from_slice(&open_client().fetch(FetchRequest::get(url)).await.unwrap().body).unwrap()
    }

    /// Waits until no page of ours is left.
    async fn is_empty(&self) {
        let empty = async {
            while self
                .shows("list")
                .await
                .as_array()
                .unwrap()
                .iter()
                .any(|page| page["url"].as_str().unwrap().contains(".test"))
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), empty).await.expect("our pages are put away");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let group = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
    }
}

fn open_client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

fn remote(address: &str) -> Remote {
    Remote::new(address.parse().unwrap(), open_client())
}

async fn stage(world: TestWebBuilder, remote: Remote) -> Stage {
    let world = world.start().await;
    let config = BrowserConfig { remote: Some(remote), ..BrowserConfig::default() };
    Stage::of(world, config)
}

fn world() -> TestWebBuilder {
    let page = "<body style='margin:0;background:#00f'><p id=p>words of a page</p>
        <script>p.onclick = () => p.textContent = 'clicked'</script>";
    TestWeb::builder()
        .page("http://a.test/", Page::html(page))
        .page("http://a.test/alive", Page::html("<p>alive</p><script>fetch('/beat')</script>"))
        .page("http://a.test/cookie", Page::html("<p>x</p>").header("set-cookie", "name=value"))
}

/// Returns why a browser cannot be used.
async fn reason(remote: Remote) -> Arc<RemoteError> {
    let stage = stage(world(), remote).await;
    match stage.open(&request("http://a.test/")).await {
        Err(BrowserError::Remote { source }) => {
            assert_eq!(stage.browser.health().failure.as_deref(), Some("the remote browser cannot be used"));
            source
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn pages_pictures_and_actions_are_as_with_a_browser_of_our_own() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    for address in [chromium.socket.clone(), format!("http://{}", chromium.addr())] {
        let stage = stage(world(), remote(&address)).await;
        let click = Step::Click { selector: "p".to_owned(), matches: websvc_browser::Matches::First };
        let asked = RenderRequest {
            steps: vec![click],
            screenshot: Some(Screenshot::default()),
            ..request("http://a.test/")
        };
        let rendered = stage.open(&asked).await.unwrap();
        assert!(rendered.html.contains("clicked"), "{}", rendered.html);
        let picture = png::Decoder::new(std::io::Cursor::new(rendered.screenshot.unwrap().bytes));
        let mut picture = picture.read_info().unwrap();
        let mut pixels = vec![0; picture.output_buffer_size().unwrap()];
        picture.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels[..3], [0, 0, 255]);
        let agent = stage.world.requests()[0].headers["user-agent"].to_str().unwrap().to_owned();
        assert!(agent.contains("Chrome/") && !agent.contains("Headless"), "{agent}");
        let status = stage.browser.status().await;
        assert_eq!((status.process, status.memory_bytes, status.warning), (None, 0, None));
        let figures = stage.browser.figures().await;
        assert_eq!((figures.started, figures.opened, figures.crashed), (1, 1, 0));
        assert_eq!(stage.at_rest().await.pages, 0);
        stage.browser.stop().await;
        chromium.is_empty().await;
    }
    assert!(chromium.shows("version").await["webSocketDebuggerUrl"].is_string(), "it is not ended from here");
}

#[tokio::test]
async fn no_way_leads_from_a_remote_browser_to_a_forbidden_address() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let canary = Canary::start().await;
    let target = canary.addr().to_string();
    let stage = stage(egress::world(egress::WAYS, &target), remote(&chromium.socket)).await;
    egress::every_way_is_refused(&stage, |refusal| format!("{}:{}", refusal.host, refusal.port) == target)
        .await;
    assert_eq!(canary.connections(), 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn calls_and_other_transports_lead_nowhere_from_a_remote_browser() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let canary = Canary::start().await;
    let datagrams = std::net::UdpSocket::bind(canary.addr()).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let world = egress::world(egress::OTHER_WAYS, &canary.addr().to_string());
    let stage = stage(world, remote(&chromium.socket)).await;
    for scheme in ["http", "https"] {
        for (place, outcome) in
            egress::go_ways(&stage, 0..egress::OTHER_WAYS.len(), scheme, egress::PATIENCE[0]).await
        {
            outcome.unwrap_or_else(|error| panic!("{}: {error:?}", egress::OTHER_WAYS[place].0));
        }
    }
    assert_eq!(canary.connections(), 0);
    let received = datagrams.recv(&mut [0; 2048]);
    assert!(received.is_err(), "{received:?} bytes arrived by UDP");
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_browser_that_lets_calls_past_the_guard_is_not_used() {
    let Some(chromium) = Chromium::start(&[]) else { return };
    let error = reason(remote(&chromium.socket)).await;
    assert!(matches!(*error, RemoteError::Leaks { .. }), "{error}");
    assert!(
        error.to_string().contains("--force-webrtc-ip-handling-policy=disable_non_proxied_udp"),
        "{error}"
    );
    chromium.is_empty().await;
}

/// Passes bytes on until it is told to cut all connections.
async fn relay(on: &str, to: SocketAddr) -> (SocketAddr, Arc<Notify>) {
    let listener = TcpListener::bind((on, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let cut = Arc::new(Notify::new());
    let told = Arc::clone(&cut);
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(to).await.unwrap();
            let told = Arc::clone(&told);
            tokio::spawn(async move {
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                    () = told.notified() => {}
                }
            });
        }
    });
    (addr, cut)
}

#[tokio::test]
async fn a_lost_connection_fails_the_pages_that_have_begun_and_the_next_ones_work() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let (addr, cut) = relay("127.0.0.1", chromium.addr()).await;
    let stage = stage(world(), remote(&format!("http://{addr}"))).await;
    let browser = stage.browser.clone();
    let waiting = RenderRequest { wait_for: Duration::from_secs(50), ..request("http://a.test/alive") };
    let in_flight = tokio::spawn(async move { browser.render(&waiting).await });
    stage.world.wait_for_request("http://a.test/beat").await;
    cut.notify_waiters();
    let lost = in_flight.await.unwrap();
    assert!(matches!(lost, Err(BrowserError::Crashed)), "{lost:?}");
    chromium.is_empty().await;
    assert!(stage.render("http://a.test/").await.html.contains("words of a page"));
    let figures = stage.browser.figures().await;
    assert_eq!((figures.started, figures.crashed, figures.recycled), (2, 1, 0));
    assert!(figures.failed.contains(&("crashed", 1)), "{figures:?}");
    stage.browser.stop().await;
}

#[tokio::test]
async fn pages_that_are_open_when_it_is_stopped_fail_and_connect_nothing() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let world = world().page("http://a.test/never", Page::unresponsive());
    let stage = stage(world, remote(&chromium.socket)).await;
    let browser = stage.browser.clone();
    let in_flight = tokio::spawn(async move { browser.render(&request("http://a.test/never")).await });
    stage.world.wait_for_request("http://a.test/never").await;
    stage.browser.stop().await;
    let failed = in_flight.await.unwrap();
    assert!(matches!(failed, Err(BrowserError::Crashed)), "{failed:?}");
    assert_eq!(stage.browser.figures().await.started, 1);
    chromium.is_empty().await;
}

#[tokio::test]
async fn a_browser_that_comes_back_is_found_again() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let addr = chromium.addr();
    let stage = stage(world(), remote(&format!("http://{addr}"))).await;
    stage.render("http://a.test/").await;
    drop(chromium);
    let gone = stage.open(&request("http://a.test/")).await;
    assert!(matches!(gone, Err(BrowserError::Remote { .. } | BrowserError::Crashed)), "{gone:?}");
    let port = format!("--remote-debugging-port={}", addr.port());
    let _again = Chromium::start(&[FLAGS, &[&port]].concat());
    let found = async {
        loop {
            match stage.open(&request("http://a.test/")).await {
                Ok(rendered) => return rendered,
                // Its pause is not over.
                Err(BrowserError::Remote { .. } | BrowserError::Crashed) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    let rendered = tokio::time::timeout(Duration::from_secs(30), found).await.unwrap();
    assert!(rendered.html.contains("words of a page"));
    assert_eq!(stage.browser.health().failure, None);
    stage.browser.stop().await;
}

#[tokio::test]
async fn two_services_share_a_browser_and_nothing_else() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let one = stage(world(), remote(&chromium.socket)).await;
    let page = "<p>of the other</p><script>document.title = document.cookie + localStorage.length</script>";
    let other = TestWeb::builder().page("http://a.test/", Page::html(page));
    let other = stage(other, remote(&chromium.socket)).await;
    let waiting = RenderRequest { wait_for: Duration::from_secs(2), ..request("http://a.test/cookie") };
    let browser = one.browser.clone();
    let open = tokio::spawn(async move { browser.render(&waiting).await });
    one.world.wait_for_request("http://a.test/cookie").await;
    let rendered = other.render("http://a.test/").await;
    assert!(
        rendered.html.contains("of the other") && rendered.html.contains("<title>0</title>"),
        "{}",
        rendered.html
    );
    assert_eq!(rendered.cookies.len(), 0);
    other.browser.stop().await;
    let kept = open.await.unwrap().unwrap();
    assert_eq!(kept.cookies.len(), 1, "the page of one goes on when the other leaves");
    one.browser.stop().await;
    chromium.is_empty().await;
}

#[tokio::test]
async fn a_browser_is_found_by_a_name_that_it_would_refuse() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let addr = chromium.addr();
    let named = format!("chromium.test:{}", addr.port());
    let guard = AddressGuard::open().connect_to(&named, &addr.to_string()).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    for address in [format!("http://{named}"), chromium.socket.replace(&addr.to_string(), &named)] {
        let remote = Remote::new(address.parse().unwrap(), client.clone());
        let stage = stage(world(), remote).await;
        assert!(stage.render("http://a.test/").await.html.contains("words of a page"));
        stage.browser.stop().await;
    }
}

#[tokio::test]
async fn a_proxy_that_the_browser_does_not_reach_is_named() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let elsewhere =
        Remote { egress_host: Some(url::Host::parse("127.0.0.2").unwrap()), ..remote(&chromium.socket) };
    let error = reason(elsewhere).await;
    assert!(matches!(*error, RemoteError::NoWayBack { .. }), "{error}");
    assert!(error.to_string().contains("socks5://127.0.0.2:"), "{error}");
    let strangers = Remote { egress_from: vec!["192.0.2.0/24".parse().unwrap()], ..remote(&chromium.socket) };
    let error = reason(strangers).await.to_string();
    assert!(error.contains("a connection from 127.0.0.1 was turned away"), "{error}");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_browser_behind_another_address_comes_in_by_its_network() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    // As with a published port of a container: it is found at one address and comes from another.
    let (addr, _cut) = relay("127.0.0.2", chromium.addr()).await;
    let everywhere =
        Remote { egress_listen: "0.0.0.0".parse().unwrap(), ..remote(&format!("http://{addr}")) };
    let error = reason(everywhere.clone()).await.to_string();
    assert!(error.contains("a connection from 127.0.0.1 was turned away"), "{error}");
    let network = Remote { egress_from: vec!["127.0.0.1/32".parse().unwrap()], ..everywhere };
    let stage = stage(world(), network).await;
    assert!(stage.render("http://a.test/").await.html.contains("words of a page"));
    stage.browser.stop().await;
}

#[tokio::test]
async fn what_is_no_browser_is_named() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let world = TestWeb::builder().page("http://127.0.0.1/json/version", Page::html("hello")).start().await;
    let http = world.http_addr();
    for (address, expected) in [
        (format!("http://{closed}"), format!("http://{closed}/json/version cannot be reached")),
        (
            format!("ws://{closed}/devtools/browser/1?token=secret"),
            format!("http://{closed}/devtools/browser/1 cannot be reached"),
        ),
        (format!("http://{http}"), format!("http://{http}/json/version is no Chromium: ")),
        (format!("ws://{http}/x"), format!("ws://{http}/x is no WebSocket of a browser: it answers 404")),
    ] {
        let error = reason(remote(&address)).await.to_string();
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn a_browser_that_is_gone_is_not_asked_for_by_every_page() {
    let canary = Canary::start().await;
    let stage = stage(world(), remote(&format!("http://{}", canary.addr()))).await;
    for _ in 0..20 {
        let failed = stage.open(&request("http://a.test/")).await;
        assert!(matches!(failed, Err(BrowserError::Remote { .. })), "{failed:?}");
    }
    assert!(canary.connections() < 5, "{} connections", canary.connections());
}

//! Remote browsers: connection, sharing, loss and reconnection; their pages never bypass the address guard.

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
use crate::support::{Setup, config, request};

/// The flags for a remote Chromium in `docs/rendering.md`.
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

/// A Chromium with a debugging port, as an operator would start it.
struct Chromium {
    child: Child,
    /// The WebSocket that it reports: `ws://127.0.0.1:PORT/devtools/browser/ID`.
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
        let socket =
            lines.find_map(|line| line.unwrap().strip_prefix("DevTools listening on ").map(str::to_owned));
        // Reads the rest, so that the pipe does not fill.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, socket: socket.unwrap(), _profile: profile })
    }

    fn addr(&self) -> SocketAddr {
        self.socket.split('/').nth(2).unwrap().parse().unwrap()
    }

    /// Returns the JSON of a path below `/json/`.
    async fn json(&self, path: &str) -> serde_json::Value {
        let url = format!("http://{}/json/{path}", self.addr()).parse().unwrap();
        serde_json::from_slice(&open_client().fetch(FetchRequest::get(url)).await.unwrap().body).unwrap()
    }

    /// Waits until none of our pages is open.
    async fn wait_empty(&self) {
        let closed = async {
            while self
                .json("list")
                .await
                .as_array()
                .unwrap()
                .iter()
                .any(|page| page["url"].as_str().unwrap().contains(".test"))
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), closed).await.expect("our pages are closed");
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

async fn setup(web: TestWebBuilder, remote: Remote) -> Setup {
    let web = web.start().await;
    let config = BrowserConfig { remote: Some(remote), ..BrowserConfig::default() };
    Setup::new(web, config)
}

fn web() -> TestWebBuilder {
    let page = "<body style='margin:0;background:#00f'><p id=p>words of a page</p>
        <script>p.onclick = () => p.textContent = 'clicked'</script>";
    TestWeb::builder()
        .page("http://a.test/", Page::html(page))
        .page("http://a.test/alive", Page::html("<p>alive</p><script>fetch('/beat')</script>"))
        .page("http://a.test/cookie", Page::html("<p>x</p>").header("set-cookie", "name=value"))
}

/// Returns the error of a remote browser that cannot be used.
async fn connect_error(remote: Remote) -> Arc<RemoteError> {
    let setup = setup(web(), remote).await;
    match setup.open(&request("http://a.test/")).await {
        Err(BrowserError::Remote { source }) => {
            assert_eq!(setup.browser.health().failure.as_deref(), Some("the remote browser cannot be used"));
            source
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn remote_browser_renders_pages_actions_and_screenshots() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    for address in [chromium.socket.clone(), format!("http://{}", chromium.addr())] {
        let setup = setup(web(), remote(&address)).await;
        let click = Step::Click { selector: "p".to_owned(), matches: websvc_browser::Matches::First };
        let request = RenderRequest {
            steps: vec![click],
            screenshot: Some(Screenshot::default()),
            ..request("http://a.test/")
        };
        let rendered = setup.open(&request).await.unwrap();
        assert!(rendered.html.contains("clicked"), "{}", rendered.html);
        let decoder = png::Decoder::new(std::io::Cursor::new(rendered.screenshot.unwrap().bytes));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels[..3], [0, 0, 255]);
        let agent = setup.web.requests()[0].headers["user-agent"].to_str().unwrap().to_owned();
        assert!(agent.contains("Chrome/") && !agent.contains("Headless"), "{agent}");
        let status = setup.browser.status().await;
        assert_eq!((status.process, status.memory_bytes, status.warning), (None, 0, None));
        let metrics = setup.browser.metrics();
        assert_eq!((metrics.started.get(), metrics.opened.get(), metrics.crashed.get()), (1, 1, 0));
        assert_eq!(setup.wait_all_closed().await.pages, 0);
        setup.browser.stop().await;
        chromium.wait_empty().await;
    }
    assert!(
        chromium.json("version").await["webSocketDebuggerUrl"].is_string(),
        "the remote browser is not stopped"
    );
}

#[tokio::test]
async fn remote_browser_requests_to_a_forbidden_address_are_refused() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let canary = Canary::start().await;
    let target = canary.addr().to_string();
    let setup = setup(egress::web(egress::REQUESTS, &target), remote(&chromium.socket)).await;
    egress::assert_all_refused(&setup, |refusal| format!("{}:{}", refusal.host, refusal.port) == target)
        .await;
    assert_eq!(canary.connections(), 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn remote_browser_other_transports_reach_no_forbidden_address() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let canary = Canary::start().await;
    let datagrams = std::net::UdpSocket::bind(canary.addr()).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let web = egress::web(egress::OTHER_ACCESSES, &canary.addr().to_string());
    let setup = setup(web, remote(&chromium.socket)).await;
    for scheme in ["http", "https"] {
        for (index, outcome) in
            egress::render_pages(&setup, 0..egress::OTHER_ACCESSES.len(), scheme, egress::DURATIONS[0]).await
        {
            outcome.unwrap_or_else(|error| panic!("{}: {error:?}", egress::OTHER_ACCESSES[index].0));
        }
    }
    assert_eq!(canary.connections(), 0);
    let received = datagrams.recv(&mut [0; 2048]);
    assert!(received.is_err(), "{received:?} bytes arrived by UDP");
    setup.browser.stop().await;
}

#[tokio::test]
async fn remote_browser_that_bypasses_the_guard_by_webrtc_is_rejected() {
    let Some(chromium) = Chromium::start(&[]) else { return };
    let error = connect_error(remote(&chromium.socket)).await;
    assert!(matches!(*error, RemoteError::WebRtcBypass { .. }), "{error}");
    assert!(
        error.to_string().contains("--force-webrtc-ip-handling-policy=disable_non_proxied_udp"),
        "{error}"
    );
    chromium.wait_empty().await;
}

/// Relays connections to an address until it is notified to close all of them.
async fn relay(host: &str, target: SocketAddr) -> (SocketAddr, Arc<Notify>) {
    let listener = TcpListener::bind((host, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let close = Arc::new(Notify::new());
    let closed = Arc::clone(&close);
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(target).await.unwrap();
            let closed = Arc::clone(&closed);
            tokio::spawn(async move {
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                    () = closed.notified() => {}
                }
            });
        }
    });
    (addr, close)
}

#[tokio::test]
async fn lost_connection_fails_pages_with_a_response_and_is_reestablished() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let (addr, close) = relay("127.0.0.1", chromium.addr()).await;
    let setup = setup(web(), remote(&format!("http://{addr}"))).await;
    let browser = setup.browser.clone();
    let waiting = RenderRequest { wait_for: Duration::from_secs(50), ..request("http://a.test/alive") };
    let in_flight = tokio::spawn(async move { browser.render(&waiting).await });
    setup.web.wait_for_request("http://a.test/beat").await;
    close.notify_waiters();
    let lost = in_flight.await.unwrap();
    assert!(matches!(lost, Err(BrowserError::Crashed)), "{lost:?}");
    chromium.wait_empty().await;
    assert!(setup.render("http://a.test/").await.html.contains("words of a page"));
    let metrics = setup.browser.metrics();
    assert_eq!((metrics.started.get(), metrics.crashed.get(), metrics.recycled.get()), (2, 1, 0));
    assert!(metrics.failed.counts().contains(&("crashed", 1)), "{metrics:?}");
    setup.browser.stop().await;
}

#[tokio::test]
async fn stop_fails_open_pages_and_does_not_reconnect() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let web = web().page("http://a.test/never", Page::unresponsive());
    let setup = setup(web, remote(&chromium.socket)).await;
    let browser = setup.browser.clone();
    let in_flight = tokio::spawn(async move { browser.render(&request("http://a.test/never")).await });
    setup.web.wait_for_request("http://a.test/never").await;
    setup.browser.stop().await;
    let failed = in_flight.await.unwrap();
    assert!(matches!(failed, Err(BrowserError::Crashed)), "{failed:?}");
    assert_eq!(setup.browser.metrics().started.get(), 1);
    chromium.wait_empty().await;
}

#[tokio::test]
async fn restarted_remote_browser_is_found_again() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let addr = chromium.addr();
    let setup = setup(web(), remote(&format!("http://{addr}"))).await;
    setup.render("http://a.test/").await;
    drop(chromium);
    let gone = setup.open(&request("http://a.test/")).await;
    assert!(matches!(gone, Err(BrowserError::Remote { .. } | BrowserError::Crashed)), "{gone:?}");
    let port = format!("--remote-debugging-port={}", addr.port());
    let _again = Chromium::start(&[FLAGS, &[&port]].concat());
    let found = async {
        loop {
            match setup.open(&request("http://a.test/")).await {
                Ok(rendered) => return rendered,
                // The backoff is not over.
                Err(BrowserError::Remote { .. } | BrowserError::Crashed) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    };
    let rendered = tokio::time::timeout(Duration::from_secs(30), found).await.unwrap();
    assert!(rendered.html.contains("words of a page"));
    assert_eq!(setup.browser.health().failure, None);
    setup.browser.stop().await;
}

#[tokio::test]
async fn two_services_share_a_remote_browser_in_isolation() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let one = setup(web(), remote(&chromium.socket)).await;
    let page = "<p>of the other</p><script>document.title = document.cookie + localStorage.length</script>";
    let other = TestWeb::builder().page("http://a.test/", Page::html(page));
    let other = setup(other, remote(&chromium.socket)).await;
    let waiting = RenderRequest { wait_for: Duration::from_secs(2), ..request("http://a.test/cookie") };
    let browser = one.browser.clone();
    let open = tokio::spawn(async move { browser.render(&waiting).await });
    one.web.wait_for_request("http://a.test/cookie").await;
    let rendered = other.render("http://a.test/").await;
    assert!(
        rendered.html.contains("of the other") && rendered.html.contains("<title>0</title>"),
        "{}",
        rendered.html
    );
    assert_eq!(rendered.cookies.len(), 0);
    other.browser.stop().await;
    let rendered = open.await.unwrap().unwrap();
    assert_eq!(rendered.cookies.len(), 1, "the page of the first service continues");
    one.browser.stop().await;
    chromium.wait_empty().await;
}

#[tokio::test]
async fn remote_browser_is_reached_by_a_host_name_that_it_refuses() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let addr = chromium.addr();
    let named = format!("chromium.test:{}", addr.port());
    let guard = AddressGuard::open().connect_to(&named, &addr.to_string()).unwrap();
    let client = Client::new(ClientConfig::new(guard)).unwrap();
    for address in [format!("http://{named}"), chromium.socket.replace(&addr.to_string(), &named)] {
        let remote = Remote::new(address.parse().unwrap(), client.clone());
        let setup = setup(web(), remote).await;
        assert!(setup.render("http://a.test/").await.html.contains("words of a page"));
        setup.browser.stop().await;
    }
}

#[tokio::test]
async fn proxy_unreachable_for_the_remote_browser_is_reported() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    let other_host =
        Remote { egress_host: Some(url::Host::parse("127.0.0.2").unwrap()), ..remote(&chromium.socket) };
    let error = connect_error(other_host).await;
    assert!(matches!(*error, RemoteError::ProxyUnreachable { .. }), "{error}");
    assert!(error.to_string().contains("socks5://127.0.0.2:"), "{error}");
    let other_network =
        Remote { egress_from: vec!["192.0.2.0/24".parse().unwrap()], ..remote(&chromium.socket) };
    let error = connect_error(other_network).await.to_string();
    assert!(error.contains("a connection from 127.0.0.1 was rejected"), "{error}");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn remote_browser_behind_another_address_is_admitted_by_its_network() {
    let Some(chromium) = Chromium::start(FLAGS) else { return };
    // As with a published port of a container: its address differs from that of its connections.
    let (addr, _close) = relay("127.0.0.2", chromium.addr()).await;
    let any_address =
        Remote { egress_listen: "0.0.0.0".parse().unwrap(), ..remote(&format!("http://{addr}")) };
    let error = connect_error(any_address.clone()).await.to_string();
    assert!(error.contains("a connection from 127.0.0.1 was rejected"), "{error}");
    let network = Remote { egress_from: vec!["127.0.0.1/32".parse().unwrap()], ..any_address };
    let setup = setup(web(), network).await;
    assert!(setup.render("http://a.test/").await.html.contains("words of a page"));
    setup.browser.stop().await;
}

#[tokio::test]
async fn endpoint_that_is_not_a_browser_is_reported() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let web = TestWeb::builder().page("http://127.0.0.1/json/version", Page::html("hello")).start().await;
    let http = web.http_addr();
    for (address, expected) in [
        (format!("http://{closed}"), format!("http://{closed}/json/version cannot be reached")),
        (
            format!("ws://{closed}/devtools/browser/1?token=secret"),
            format!("http://{closed}/devtools/browser/1 cannot be reached"),
        ),
        (format!("http://{http}"), format!("http://{http}/json/version is not a Chromium: ")),
        (
            format!("ws://{http}/x"),
            format!("ws://{http}/x is not a WebSocket of a browser: it responded with 404"),
        ),
    ] {
        let error = connect_error(remote(&address)).await.to_string();
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn unreachable_remote_browser_is_not_contacted_for_every_page() {
    let canary = Canary::start().await;
    let setup = setup(web(), remote(&format!("http://{}", canary.addr()))).await;
    for _ in 0..20 {
        let failed = setup.open(&request("http://a.test/")).await;
        assert!(matches!(failed, Err(BrowserError::Remote { .. })), "{failed:?}");
    }
    assert!(canary.connections() < 5, "{} connections", canary.connections());
}

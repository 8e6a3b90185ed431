//! Egress of pages: every network access goes through the address guard.

use std::mem;
use std::net::UdpSocket;
use std::time::Duration;

use tokio::task::JoinSet;
use websvc_browser::{BrowserError, Refusal, RenderRequest, RenderedPage, Step};
use websvc_testkit::{Canary, Page, TestWeb, TestWebBuilder};
use websvc_transport::{Proxy, TlsPolicy};

use crate::support::{Setup, request, setup};

/// Pages that send a request to a host in different ways. `HOST` stands for the host.
pub(crate) const REQUESTS: &[(&str, &str)] = &[
    ("frame", "<iframe src='http://HOST/x'></iframe>"),
    ("object", "<object data='http://HOST/x'></object>"),
    ("image", "<img src='http://HOST/x'>"),
    ("video", "<video src='http://HOST/x' autoplay></video>"),
    ("style", "<link rel=stylesheet href='http://HOST/x'>"),
    ("style of a style", "<style>@import url(http://HOST/x);</style>"),
    ("background", "<style>body { background: url(http://HOST/x) }</style>"),
    (
        "font",
        "<style>@font-face { font-family: f; src: url(http://HOST/x) } p { font-family: f }</style><p>f",
    ),
    ("script", "<script src='http://HOST/x'></script>"),
    ("module", "<script type=module src='http://HOST/x'></script>"),
    ("prefetch", "<link rel=prefetch href='http://HOST/x'>"),
    ("preload", "<link rel=preload as=script href='http://HOST/x'>"),
    ("fetch", "<script>fetch('http://HOST/x', {mode: 'no-cors'})</script>"),
    ("request", "<script>r = new XMLHttpRequest(); r.open('GET', 'http://HOST/x'); r.send()</script>"),
    ("beacon", "<script>navigator.sendBeacon('http://HOST/x', 'data')</script>"),
    ("socket", "<script>new WebSocket('ws://HOST/x')</script>"),
    ("event source", "<script>new EventSource('http://HOST/x')</script>"),
    (
        "worker",
        "<script>new Worker(URL.createObjectURL(new Blob([\"importScripts('http://HOST/x')\"])))</script>",
    ),
    (
        "shared worker",
        "<script>new SharedWorker(URL.createObjectURL(new Blob([\"importScripts('http://HOST/x')\"])))</script>",
    ),
    (
        "form",
        "<form method=post action='http://HOST/x'><input name=a></form><script>document.forms[0].submit()</script>",
    ),
    ("navigation", "<script>location = 'http://HOST/x'</script>"),
    ("refresh", "<meta http-equiv=refresh content='0; url=http://HOST/x'>"),
    (WINDOW, "<script>window.open('http://HOST/x')</script>"),
    ("save as", "<a download href='http://HOST/x'>x</a><script>document.querySelector('a').click()</script>"),
    (
        "script of a frame",
        "<iframe srcdoc=\"<script>fetch('http://HOST/x', {mode: 'no-cors'})</script>\"></iframe>",
    ),
    ("frame of a frame", "<iframe srcdoc=\"<iframe src='http://HOST/x'></iframe>\"></iframe>"),
    ("frame of data", "<iframe src=\"data:text/html,<img src='http://HOST/x'>\"></iframe>"),
    ("frame in a box", "<iframe sandbox srcdoc=\"<img src='http://HOST/x'>\"></iframe>"),
    (
        "frame of a blob",
        "<iframe></iframe><script>document.querySelector('iframe').src =
         URL.createObjectURL(new Blob([\"<img src='http://HOST/x'>\"], {type: 'text/html'}))</script>",
    ),
    ("frame that saves", "<iframe srcdoc=\"<a download href='http://HOST/x'>x</a>\" onload=
         \"contentDocument.querySelector('a').click()\"></iframe>"),
    ("embedded", "<embed src='http://HOST/x'>"),
    ("poster", "<video poster='http://HOST/x'></video>"),
    ("choice of images", "<img srcset='http://HOST/x 1x'>"),
    ("drawing", "<svg><image href='http://HOST/x' width=9 height=9 /></svg>"),
    ("import", "<script>import('http://HOST/x').catch(() => 0)</script>"),
    (
        "worker of data",
        "<script>new Worker(\"data:text/javascript,fetch('http://HOST/x', {mode: 'no-cors'})\")</script>",
    ),
    (
        "worker of a worker",
        "<script>const made = (code) => `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(code)}])))`;
         eval(made(made(\"fetch('http://HOST/x', {mode: 'no-cors'})\")))</script>",
    ),
    (
        "worker of a frame",
        "<iframe srcdoc=\"<script>new Worker(URL.createObjectURL(
         new Blob(['fetch(`http://HOST/x`, {mode: `no-cors`})'])))</script>\"></iframe>",
    ),
    (
        "socket of a worker",
        "<script>new Worker(\"data:text/javascript,new WebSocket('ws://HOST/x')\")</script>",
    ),
    ("service worker", "<script>navigator.serviceWorker.register('/worker.js?HOST/x')</script>"),
    (
        "beacon at the end",
        "<script>onpagehide = () => navigator.sendBeacon('http://HOST/x', 'bye'); location = '/end'</script>",
    ),
    (
        "request at the end",
        "<script>onpagehide = () => fetch('http://HOST/x', {mode: 'no-cors', keepalive: true});
         location = '/end'</script>",
    ),
    // A report of its content security policy.
    (CSP_REPORT, "<img src='/nothing'>"),
];

const CSP_REPORT: &str = "CSP report";

const WINDOW: &str = "window";

/// Pages that use other kinds of network access: some need HTTPS, others send nothing that an HTTP server can receive.
pub(crate) const OTHER_ACCESSES: &[(&str, &str)] = &[
    ("preconnect", "<link rel=preconnect href='http://HOST/'><link rel=dns-prefetch href='http://HOST/'>"),
    (
        "calls",
        "<script>
         const c = new RTCPeerConnection({iceServers: [{urls: 'stun:HOST'},
             {urls: 'turn:HOST?transport=tcp', username: 'a', credential: 'b'}, {urls: 'turn:HOST', username: 'a', credential: 'b'}]});
         c.createDataChannel('x'); c.createOffer().then((offer) => c.setLocalDescription(offer))</script>",
    ),
    ("transport", "<script>new WebTransport('https://HOST/x').ready.catch(() => 0)</script>"),
    (
        "prediction",
        r#"<script type=speculationrules>{
            "prefetch": [{"source": "list", "urls": ["http://HOST/x", "https://HOST/x"], "eagerness": "immediate"}],
            "prerender": [{"source": "list", "urls": ["http://HOST/x"], "eagerness": "immediate"}]}</script>
            <link rel=prerender href='http://HOST/x'>"#,
    ),
    ("ping", "<a href='#x' ping='http://HOST/x'>x</a><script>document.querySelector('a').click()</script>"),
    ("icon", "<link rel=icon href='http://HOST/x'><link rel=manifest href='http://HOST/x'>"),
    ("window without an opener", "<script>window.open('http://HOST/x', '_blank', 'noopener')</script>"),
    // This page does not navigate away: it unloads when it is closed.
    ("beacon at unload", "<script>onpagehide = onunload = () => navigator.sendBeacon('http://HOST/x', 'bye')</script>"),
    (
        "fetch at unload",
        "<script>onpagehide = () => fetch('http://HOST/x', {mode: 'no-cors', keepalive: true})</script>",
    ),
    (
        "transport of a worker",
        "<script>new Worker(\"data:text/javascript,new WebTransport('https://HOST/x')\")</script>",
    ),
];

/// A host on which pages may register service workers without HTTPS.
const HOME: &str = "a.localhost";

const SERVICE_WORKER: &str =
    "oninstall = () => fetch('http://' + location.search.slice(1), {mode: 'no-cors'}).catch(() => 0)";

pub(crate) fn web(pages: &[(&str, &str)], host: &str) -> TestWebBuilder {
    let mut web = TestWeb::builder();
    for (index, (name, html)) in pages.iter().enumerate() {
        let html = format!(
            "<title>{name}</title><p>words of the page</p>{}",
            html.replace("HOST/x", &format!("{host}/{index}")).replace("HOST", host)
        );
        let mut page = Page::html(html);
        if *name == CSP_REPORT {
            let policy = format!("img-src 'none'; report-uri http://{host}/{index}");
            page = page.header("content-security-policy", &policy);
        }
        web = web
            .page(&format!("http://{HOME}/{index}"), page)
            .page(
                &format!("http://{HOME}/worker.js?{host}/{index}"),
                Page::new("text/javascript", SERVICE_WORKER),
            )
            .page(&format!("http://b.test/{index}"), Page::text("an answer"));
    }
    web.page(&format!("http://{HOME}/end"), Page::text("words of the page"))
}

/// The times for which pages are open. On a busy machine, a page may not have sent the requests that it sends when it is
/// idle or unloads. Such a page is opened again, for longer.
pub(crate) const DURATIONS: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(3), Duration::from_secs(9)];

/// Renders the pages with these indexes, and returns their outcomes.
pub(crate) async fn render_pages(
    setup: &Setup,
    indexes: impl IntoIterator<Item = usize>,
    scheme: &str,
    wait_for: Duration,
) -> Vec<(usize, Result<RenderedPage, BrowserError>)> {
    let mut pages = JoinSet::new();
    for index in indexes {
        let browser = setup.browser.clone();
        let request = RenderRequest {
            wait_for,
            tls: TlsPolicy::SkipVerification,
            ..request(&format!("{scheme}://{HOME}/{index}"))
        };
        pages.spawn(async move { (index, browser.render(&request).await) });
    }
    pages.join_all().await
}

/// Renders every page of [`REQUESTS`] until its request is detected. This fails if the request of a page is not detected,
/// except that of the window, which is closed before it sends one.
async fn render_until_detected(
    setup: &Setup,
    is_detected: impl Fn(usize, &str, Result<RenderedPage, BrowserError>) -> bool,
) {
    let names = |indexes: &[usize]| indexes.iter().map(|index| REQUESTS[*index].0).collect::<Vec<_>>();
    let mut undetected: Vec<usize> = (0..REQUESTS.len()).collect();
    for wait_for in DURATIONS {
        for (index, outcome) in render_pages(setup, mem::take(&mut undetected), "http", wait_for).await {
            if !is_detected(index, REQUESTS[index].0, outcome) {
                undetected.push(index);
            }
        }
        if names(&undetected) == [WINDOW] {
            return;
        }
    }
    panic!(
        "only the window sends no request, but these requests were not detected: {:?}",
        names(&undetected)
    );
}

/// Asserts that the request of every page is refused and reported.
pub(crate) async fn assert_all_refused(setup: &Setup, is_expected: impl Fn(&Refusal) -> bool) {
    render_until_detected(setup, |_, name, outcome| match outcome {
        Ok(rendered) => rendered.refused.iter().any(&is_expected),
        Err(error) => {
            assert!(matches!(error, BrowserError::Forbidden), "{name}: {error:?}");
            true
        }
    })
    .await;
}

#[tokio::test]
async fn requests_to_a_forbidden_address_are_refused() {
    let canary = Canary::start().await;
    let (host, port) = ("127.0.0.1", canary.addr().port());
    let Some(setup) = setup(web(REQUESTS, &format!("{host}:{port}"))).await else { return };
    assert_all_refused(&setup, |refusal| refusal.host == host && refusal.port == port).await;
    assert_eq!(canary.connections(), 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn requests_to_an_allowed_address_are_sent() {
    let Some(setup) = setup(web(REQUESTS, "b.test")).await else { return };
    render_until_detected(&setup, |index, name, outcome| {
        let rendered = outcome.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(rendered.refused, [], "{name}");
        setup.web.count(&format!("http://b.test/{index}")) > 0
    })
    .await;
    setup.browser.stop().await;
}

#[tokio::test]
async fn webrtc_and_other_transports_reach_no_forbidden_address() {
    let canary = Canary::start().await;
    let datagrams = UdpSocket::bind(canary.addr()).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let Some(setup) = setup(web(OTHER_ACCESSES, &canary.addr().to_string())).await else { return };
    for scheme in ["http", "https"] {
        for (index, outcome) in render_pages(&setup, 0..OTHER_ACCESSES.len(), scheme, DURATIONS[0]).await {
            let rendered = outcome.unwrap_or_else(|error| panic!("{}: {error:?}", OTHER_ACCESSES[index].0));
            assert!(rendered.html.contains("words of the page"));
        }
    }
    assert_eq!(canary.connections(), 0);
    let received = datagrams.recv(&mut [0; 2048]);
    assert!(received.is_err(), "{received:?} bytes arrived by UDP");
    setup.browser.stop().await;
}

#[tokio::test]
async fn spellings_of_forbidden_addresses_are_refused() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let Some(setup) = setup(TestWeb::builder()).await else { return };
    for host in ["127.1", "0x7f000001", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let refused = setup.open(&request(&format!("http://{host}:{port}/"))).await;
        assert!(matches!(refused, Err(BrowserError::Forbidden)), "{host}: {refused:?}");
    }
    assert_eq!(canary.connections(), 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn redirect_to_a_forbidden_address_is_refused() {
    let canary = Canary::start().await;
    let target = format!("http://{}/", canary.addr());
    let web = TestWeb::builder().page("http://a.test/", Page::redirect(302, &target));
    let Some(setup) = setup(web).await else { return };
    let refused = setup.open(&request("http://a.test/")).await;
    assert!(matches!(refused, Err(BrowserError::Forbidden)), "{refused:?}");
    assert_eq!(canary.connections(), 0);
    setup.browser.stop().await;
}

#[tokio::test]
async fn script_of_the_caller_has_no_access_to_the_service() {
    let Some(setup) = setup(TestWeb::builder().page("http://a.test/", Page::html("<p>x"))).await else {
        return;
    };
    let script = "[typeof process, typeof require, typeof Deno, typeof window.chrome?.runtime?.connect,
        typeof found, typeof lastChange, Object.keys(window).filter((name) => /cdp|devtools|websvc/i.test(name)).length]";
    let steps = vec![
        Step::Click { selector: "p".to_owned(), matches: websvc_browser::Matches::First },
        Step::Script(script.to_owned()),
    ];
    let rendered = setup.run_steps(steps).await.unwrap();
    let expected =
        serde_json::json!(["undefined", "undefined", "undefined", "undefined", "undefined", "undefined", 0]);
    assert_eq!(rendered.returns[0].value, expected);
    setup.browser.stop().await;
}

#[tokio::test]
async fn upstream_proxy_is_used_for_all_requests() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html("<p>words</p><img src='http://b.test/i'>"))
        .page("http://b.test/i", Page::text("x"));
    let Some(setup) = setup(web).await else { return };
    let http = setup.web.http_addr();
    let proxy = websvc_testkit::SocksProxy::start(None, move |_| Some(http)).await;
    let url = format!("socks5://{}", proxy.addr).parse().unwrap();
    let request = RenderRequest { proxy: Some(Proxy::new(&url).unwrap()), ..request("http://a.test/") };
    assert!(setup.open(&request).await.unwrap().html.contains("words"));
    assert!(proxy.requests().len() >= 2, "{:?}", proxy.requests());
    setup.browser.stop().await;
}

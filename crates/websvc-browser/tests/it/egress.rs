//! Nothing that a page does leads anywhere but through the guard.

use std::mem;
use std::net::UdpSocket;
use std::time::Duration;

use tokio::task::JoinSet;
use websvc_browser::{BrowserError, Refusal, RenderRequest, RenderedPage, Step};
use websvc_testkit::{Canary, Page, TestWeb, TestWebBuilder};
use websvc_transport::{Proxy, TlsPolicy};

use crate::support::{Stage, request, stage};

/// Ways of a page to a host, which stands for `HOST`.
pub(crate) const WAYS: &[(&str, &str)] = &[
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
    // Its policy names where to complain.
    (COMPLAINT, "<img src='/nothing'>"),
];

const COMPLAINT: &str = "complaint";

const WINDOW: &str = "window";

/// Ways that need a page of https, or that lead to no request that an HTTP server could see.
pub(crate) const OTHER_WAYS: &[(&str, &str)] = &[
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
    // Nothing leads away from this page: it ends when it is put away.
    ("farewell", "<script>onpagehide = onunload = () => navigator.sendBeacon('http://HOST/x', 'bye')</script>"),
    (
        "late fetch",
        "<script>onpagehide = () => fetch('http://HOST/x', {mode: 'no-cors', keepalive: true})</script>",
    ),
    (
        "transport of a worker",
        "<script>new Worker(\"data:text/javascript,new WebTransport('https://HOST/x')\")</script>",
    ),
];

/// A host whose pages may have service workers without a certificate.
const HOME: &str = "a.localhost";

const SERVICE_WORKER: &str =
    "oninstall = () => fetch('http://' + location.search.slice(1), {mode: 'no-cors'}).catch(() => 0)";

pub(crate) fn world(ways: &[(&str, &str)], host: &str) -> TestWebBuilder {
    let mut world = TestWeb::builder();
    for (place, (name, html)) in ways.iter().enumerate() {
        let html = format!(
            "<title>{name}</title><p>words of the page</p>{}",
            html.replace("HOST/x", &format!("{host}/{place}")).replace("HOST", host)
        );
        let mut page = Page::html(html);
        if *name == COMPLAINT {
            let policy = format!("img-src 'none'; report-uri http://{host}/{place}");
            page = page.header("content-security-policy", &policy);
        }
        world = world
            .page(&format!("http://{HOME}/{place}"), page)
            .page(
                &format!("http://{HOME}/worker.js?{host}/{place}"),
                Page::new("text/javascript", SERVICE_WORKER),
            )
            .page(&format!("http://b.test/{place}"), Page::text("an answer"));
    }
    world.page(&format!("http://{HOME}/end"), Page::text("words of the page"))
}

/// How long the pages of ways are looked at. What a page does when it has nothing better to do, or at its end, may
/// not be done yet on a machine that does much else: such a page is opened again, for longer.
pub(crate) const PATIENCE: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(3), Duration::from_secs(9)];

/// Opens the pages of these ways, and returns what became of each.
pub(crate) async fn go_ways(
    stage: &Stage,
    ways: impl IntoIterator<Item = usize>,
    scheme: &str,
    patience: Duration,
) -> Vec<(usize, Result<RenderedPage, BrowserError>)> {
    let mut pages = JoinSet::new();
    for place in ways {
        let browser = stage.browser.clone();
        let request = RenderRequest {
            wait_for: patience,
            tls: TlsPolicy::SkipVerification,
            ..request(&format!("{scheme}://{HOME}/{place}"))
        };
        pages.spawn(async move { (place, browser.render(&request).await) });
    }
    pages.join_all().await
}

/// Opens the page of every way until something is heard of it, and expects that of all but the window, which is closed
/// before it asks for anything.
async fn go_until_heard(
    stage: &Stage,
    is_heard: impl Fn(usize, &str, Result<RenderedPage, BrowserError>) -> bool,
) {
    let names = |places: &[usize]| places.iter().map(|place| WAYS[*place].0).collect::<Vec<_>>();
    let mut silent: Vec<usize> = (0..WAYS.len()).collect();
    for patience in PATIENCE {
        for (place, outcome) in go_ways(stage, mem::take(&mut silent), "http", patience).await {
            if !is_heard(place, WAYS[place].0, outcome) {
                silent.push(place);
            }
        }
        if names(&silent) == [WINDOW] {
            return;
        }
    }
    panic!("nothing is to be heard of the window only, and was not of {:?}", names(&silent));
}

/// Expects that what each way leads to is refused, and told.
pub(crate) async fn every_way_is_refused(stage: &Stage, is_it: impl Fn(&Refusal) -> bool) {
    go_until_heard(stage, |_, name, outcome| match outcome {
        Ok(rendered) => rendered.refused.iter().any(&is_it),
        Err(error) => {
            assert!(matches!(error, BrowserError::Forbidden), "{name}: {error:?}");
            true
        }
    })
    .await;
}

#[tokio::test]
async fn no_way_leads_to_a_forbidden_address() {
    let canary = Canary::start().await;
    let (host, port) = ("127.0.0.1", canary.addr().port());
    let Some(stage) = stage(world(WAYS, &format!("{host}:{port}"))).await else { return };
    every_way_is_refused(&stage, |refusal| refusal.host == host && refusal.port == port).await;
    assert_eq!(canary.connections(), 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn every_way_leads_to_an_allowed_address() {
    let Some(stage) = stage(world(WAYS, "b.test")).await else { return };
    go_until_heard(&stage, |place, name, outcome| {
        let rendered = outcome.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(rendered.refused, [], "{name}");
        stage.world.count(&format!("http://b.test/{place}")) > 0
    })
    .await;
    stage.browser.stop().await;
}

#[tokio::test]
async fn calls_and_other_transports_lead_nowhere() {
    let canary = Canary::start().await;
    let datagrams = UdpSocket::bind(canary.addr()).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let Some(stage) = stage(world(OTHER_WAYS, &canary.addr().to_string())).await else { return };
    for scheme in ["http", "https"] {
        for (place, outcome) in go_ways(&stage, 0..OTHER_WAYS.len(), scheme, PATIENCE[0]).await {
            let rendered = outcome.unwrap_or_else(|error| panic!("{}: {error:?}", OTHER_WAYS[place].0));
            assert!(rendered.html.contains("words of the page"));
        }
    }
    assert_eq!(canary.connections(), 0);
    let received = datagrams.recv(&mut [0; 2048]);
    assert!(received.is_err(), "{received:?} bytes arrived by UDP");
    stage.browser.stop().await;
}

#[tokio::test]
async fn spellings_of_forbidden_addresses_are_refused() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let Some(stage) = stage(TestWeb::builder()).await else { return };
    for host in ["127.1", "0x7f000001", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let refused = stage.open(&request(&format!("http://{host}:{port}/"))).await;
        assert!(matches!(refused, Err(BrowserError::Forbidden)), "{host}: {refused:?}");
    }
    assert_eq!(canary.connections(), 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_redirect_to_a_forbidden_address_is_refused() {
    let canary = Canary::start().await;
    let target = format!("http://{}/", canary.addr());
    let world = TestWeb::builder().page("http://a.test/", Page::redirect(302, &target));
    let Some(stage) = stage(world).await else { return };
    let refused = stage.open(&request("http://a.test/")).await;
    assert!(matches!(refused, Err(BrowserError::Forbidden)), "{refused:?}");
    assert_eq!(canary.connections(), 0);
    stage.browser.stop().await;
}

#[tokio::test]
async fn scripts_of_the_caller_have_nothing_of_the_service() {
    let Some(stage) = stage(TestWeb::builder().page("http://a.test/", Page::html("<p>x"))).await else {
        return;
    };
    let script = "[typeof process, typeof require, typeof Deno, typeof window.chrome?.runtime?.connect,
        typeof found, typeof lastChange, Object.keys(window).filter((name) => /cdp|devtools|websvc/i.test(name)).length]";
    let steps = vec![
        Step::Click { selector: "p".to_owned(), matches: websvc_browser::Matches::First },
        Step::Script(script.to_owned()),
    ];
    let rendered = stage.act(steps).await.unwrap();
    let expected =
        serde_json::json!(["undefined", "undefined", "undefined", "undefined", "undefined", "undefined", 0]);
    assert_eq!(rendered.returns[0].value, expected);
    stage.browser.stop().await;
}

#[tokio::test]
async fn a_proxy_of_the_operator_is_used_for_everything() {
    let world = TestWeb::builder()
        .page("http://a.test/", Page::html("<p>words</p><img src='http://b.test/i'>"))
        .page("http://b.test/i", Page::text("x"));
    let Some(stage) = stage(world).await else { return };
    let http = stage.world.http_addr();
    let proxy = websvc_testkit::SocksProxy::start(None, move |_| Some(http)).await;
    let url = format!("socks5://{}", proxy.addr).parse().unwrap();
    let request = RenderRequest { proxy: Some(Proxy::new(&url).unwrap()), ..request("http://a.test/") };
    assert!(stage.open(&request).await.unwrap().html.contains("words"));
    assert!(proxy.requests().len() >= 2, "{:?}", proxy.requests());
    stage.browser.stop().await;
}

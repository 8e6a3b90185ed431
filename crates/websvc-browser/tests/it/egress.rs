//! Egress of pages: every network access goes through the address guard.

use std::collections::BTreeSet;
use std::mem;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use websvc_browser::{BrowserError, HostRule, Refusal, RenderRequest, RenderedPage, Step};
use websvc_testkit::{Canary, Page, TestWeb, TestWebBuilder};
pub(crate) use websvc_testkit::{OTHER_ACCESSES, REQUESTS};
use websvc_transport::{AddressGuard, Client, ClientConfig, Proxy, Resolve, ResolveFuture, TlsPolicy};

use crate::support::{Setup, config, request, setup};

/// The page that opens a window. A scrape closes it, with the headless shell always before its request, with the whole
/// Chromium often after it: then the request is guarded like all others.
const WINDOW: &str = "window";

const HOME: &str = websvc_testkit::ATTACKER;

pub(crate) fn web(pages: &[(&str, &str)], host: &str) -> TestWebBuilder {
    let web = TestWeb::builder().attacks(pages, "", |_| host.to_owned(), |_| String::new());
    (0..pages.len())
        .fold(web, |web, index| web.page(&format!("http://b.test/{index}"), Page::text("an answer")))
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
            hosts: setup.hosts.clone(),
            ..request(&format!("{scheme}://{HOME}/{index}"))
        };
        pages.spawn(async move { (index, browser.render(&request).await) });
    }
    pages.join_all().await
}

/// Renders every page of [`REQUESTS`] until its request is detected. This fails if the request of a page is not detected,
/// except that of the window.
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
        if names(&undetected).iter().all(|name| *name == WINDOW) {
            return;
        }
    }
    panic!("these requests were not detected: {:?}", names(&undetected));
}

/// Asserts that the request of every page is refused and reported, and that no page fails because of it.
pub(crate) async fn assert_all_refused(setup: &Setup, is_expected: impl Fn(&Refusal) -> bool) {
    render_until_detected(setup, |_, name, outcome| {
        let rendered = outcome.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        rendered.refused.iter().any(&is_expected)
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

/// Records the names that are looked up. The address of each is forbidden.
#[derive(Default)]
struct Lookups(Mutex<BTreeSet<String>>);

impl Resolve for Lookups {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        self.0.lock().unwrap().insert(host.to_owned());
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

#[tokio::test]
async fn host_rule_refuses_requests_of_all_kinds_before_names_are_looked_up() {
    let Some(config) = config() else { return };
    let web = web(REQUESTS, "b.test").start().await;
    let lookups = Arc::new(Lookups::default());
    let guard = AddressGuard::public().connect_to("a.localhost:80", &web.http_addr().to_string());
    let guard = guard.unwrap().connect_to("a.localhost:443", &web.https_addr().to_string()).unwrap();
    let resolver = Arc::clone(&lookups) as Arc<dyn Resolve>;
    let client = Client::new(ClientConfig { resolver, ..ClientConfig::new(guard) }).unwrap();
    let mut setup = Setup::with_client(web, config, client);
    setup.hosts = Some(HostRule(Arc::new(|host| host == HOME)));
    assert_all_refused(&setup, |_| true).await;
    for scheme in ["http", "https"] {
        render_pages(&setup, 0..OTHER_ACCESSES.len(), scheme, DURATIONS[0]).await;
    }
    assert_eq!(*lookups.0.lock().unwrap(), BTreeSet::new());
    setup.hosts = None;
    assert_all_refused(&setup, |_| true).await;
    assert!(lookups.0.lock().unwrap().contains("b.test"));
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
async fn page_stays_as_it_is_when_it_navigates_to_a_forbidden_address() {
    let canary = Canary::start().await;
    let target = format!("http://{}/", canary.addr());
    let click = Step::Click { selector: "a".to_owned(), matches: websvc_browser::Matches::First };
    for (name, html, steps) in [
        // Chromium does not parse what follows a navigation.
        ("script", format!("<p>before<p>after<script>location = '{target}'</script>"), vec![]),
        (
            "loaded page",
            format!("<p>before<script>onload = () => location = '{target}'</script><p>after"),
            vec![],
        ),
        ("refresh", format!("<meta http-equiv=refresh content='0; url={target}'><p>before<p>after"), vec![]),
        (
            "form",
            format!(
                "<p>before<form method=post action='{target}'></form><p>after\
                 <script>document.forms[0].submit()</script>"
            ),
            vec![],
        ),
        ("link", format!("<p>before<a href='{target}'>x</a><p>after"), vec![click.clone()]),
        ("download", format!("<p>before<a download href='{target}'>x</a><p>after"), vec![click.clone()]),
        ("redirect", "<p>before<a href='/redirect'>x</a><p>after".to_owned(), vec![click.clone()]),
    ] {
        let web = TestWeb::builder()
            .page("http://a.test/", Page::html(html))
            .page("http://a.test/redirect", Page::redirect(302, &target));
        let Some(setup) = setup(web).await else { return };
        let wait_for = Duration::from_millis(500);
        let rendered = setup.open(&RenderRequest { wait_for, steps, ..request("http://a.test/") }).await;
        let rendered = rendered.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!((rendered.url.as_str(), rendered.status), ("http://a.test/", Some(200)), "{name}");
        assert!(
            rendered.html.contains("before") && rendered.html.contains("after"),
            "{name}: {}",
            rendered.html
        );
        let refused: Vec<_> = rendered.refused.iter().map(|refusal| refusal.port).collect();
        assert_eq!(refused, [canary.addr().port()], "{name}");
        setup.browser.stop().await;
    }
    assert_eq!(canary.connections(), 0);
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

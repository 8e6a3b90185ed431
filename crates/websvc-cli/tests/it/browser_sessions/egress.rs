//! Egress of sessions: a table of attacks and of the ways to start them. No connection to a forbidden address is made, and
//! each attack reaches the same URL of an allowed host, so that it is one.
//!
//! The log of the service has a line for each refused connection. Each attack on a forbidden address must add one. Attacks
//! alternate between two of its rules, so that a late line of one is not taken for that of the next.

mod direct;
mod playwright;
mod ways;

use std::net::UdpSocket;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{Canary, OTHER_ACCESSES, Page, REQUESTS, TestWeb, is_proof};

use super::SessionTest;
use crate::browser::{path_or_skip, serve_logging};
use crate::harness::Site;
use direct::Target;
use ways::Way;

/// The time in which an attack takes effect before it is started again: on a busy machine, a page may be closed too early,
/// and Chromium sometimes crashes when it opens a window.
const ATTEMPTS: [Duration; 5] = [
    Duration::from_secs(5),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(20),
    Duration::from_secs(40),
];

/// The number of ways. In the gate, each of them has other requests.
const WAYS: usize = 6;

/// A page that opens the URL in its query as a window.
const OPENER: &str = "<title>opener</title><script>window.open(location.search.slice(1))</script>";
/// A page whose whole area is a link to the URL in its query, and that opens the URL that is typed into it.
const LINK: &str =
    "<title>link</title><body style='margin: 0'><a style='position: fixed; inset: 0'>x</a><input autofocus>
    <script>document.links.length; document.querySelector('a').href = location.search.slice(1);
    onkeydown = (event) => { if (event.key == 'Enter') location = document.querySelector('input').value };
    document.querySelector('input').focus()</script>";

/// A session, the addresses that it must not reach, and the log of the service.
struct EgressTest {
    test: SessionTest,
    session: Value,
    log: PathBuf,
    canaries: [Canary; 2],
    datagrams: UdpSocket,
}

/// The hosts that must not be reached, with the part of the log line about each.
fn forbidden(canaries: &[Canary; 2], index: usize) -> (String, &'static str) {
    let rules = ["127.0.0.0/8", "::1/128"];
    let at = index % 2;
    (canaries[at].addr().to_string(), rules[at])
}

impl EgressTest {
    async fn start() -> Option<Self> {
        let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
        if std::net::TcpListener::bind("[::1]:0").is_err() {
            crate::harness::skip("this machine has no IPv6 loopback address");
            return None;
        }
        let canaries = [Canary::start().await, Canary::start_at("[::1]:0").await];
        let datagrams = UdpSocket::bind(canaries[0].addr()).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let refused = |index| forbidden(&canaries, index).0;
        let nothing = |_| String::new();
        // Shows that the page ran, also if its attack is one that Chromium never tries.
        let control =
            |index| format!("<script>fetch('http://b.test/ran/{index}', {{mode: 'no-cors'}})</script>");
        let mut web = TestWeb::builder()
            .attacks(REQUESTS, "refused/", refused, nothing)
            .attacks(REQUESTS, "allowed/", |_| "b.test".to_owned(), nothing)
            .attacks(OTHER_ACCESSES, "other/", |_| canaries[0].addr().to_string(), control)
            .page("http://a.localhost/opener", Page::html(OPENER))
            .page("http://a.localhost/link", Page::html(LINK));
        for path in (0..REQUESTS.len()).map(|index| index.to_string()).chain(["direct".to_owned()]) {
            web = web.page(&format!("http://b.test/{path}"), Page::text("an answer"));
        }
        let world = web.start().await;
        let site = Site::new(&world);
        let log = site.data_dir().join("log");
        let service = serve_logging(&site, &chromium, &log);
        let test = SessionTest { world, site, service };
        let session = test.create(json!({"blockAds": false, "ttl": 3600})).await;
        Some(Self { test, session, log, canaries, datagrams })
    }

    /// Returns the number of refused connections under a rule.
    fn refusals(&self, rule: &str) -> usize {
        let log = std::fs::read_to_string(&self.log).unwrap();
        log.lines().filter(|line| line.contains("refused to connect") && line.contains(rule)).count()
    }

    /// Starts an attack until it takes effect.
    async fn attack(
        &self,
        way: &mut Way,
        what: &str,
        start: impl AsyncFn(&mut Way),
        has_effect: impl Fn() -> bool,
    ) {
        for limit in ATTEMPTS {
            let deadline = Instant::now() + limit;
            start(way).await;
            while !has_effect() && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            way.leave(self).await;
            if has_effect() {
                return;
            }
        }
        panic!("{what} had no effect");
    }

    /// Opens a page in this way until its request is refused.
    async fn assert_refused(&self, way: &mut Way, what: &str, rule: &str, start: impl AsyncFn(&mut Way)) {
        let before = self.refusals(rule);
        self.attack(way, &format!("{what}, forbidden"), start, || self.refusals(rule) > before).await;
    }

    async fn assert_sent(&self, way: &mut Way, what: &str, url: &str, start: impl AsyncFn(&mut Way)) {
        let before = self.test.world.count(url);
        let is_sent = || self.test.world.count(url) > before;
        self.attack(way, &format!("{what}, allowed"), start, is_sent).await;
    }

    /// Runs the table for one way. In the gate, the ways share the requests of pages.
    async fn run(self, number: usize, mut way: Way) {
        let is_in_gate = |index: usize| index % WAYS == number;
        let is_chosen = |(index, _): &(usize, _)| is_proof() || is_in_gate(*index);
        let page =
            |prefix: &str, index: usize| format!("http://{}/{prefix}{index}", websvc_testkit::ATTACKER);
        for (index, (name, _)) in REQUESTS.iter().enumerate().filter(is_chosen) {
            let (_, rule) = forbidden(&self.canaries, index);
            let (refused, allowed) = (page("refused/", index), page("allowed/", index));
            self.assert_refused(&mut way, name, rule, async |way| way.open(&self, &refused).await).await;
            let sent = format!("http://b.test/{index}");
            self.assert_sent(&mut way, name, &sent, async |way| way.open(&self, &allowed).await).await;
        }
        for (index, (name, _)) in OTHER_ACCESSES.iter().enumerate().filter(is_chosen) {
            let other = page("other/", index);
            let ran = format!("http://b.test/ran/{index}");
            self.assert_sent(&mut way, name, &ran, async |way| way.open(&self, &other).await).await;
        }
        for (index, attack) in way.direct_attacks().iter().enumerate() {
            let (host, rule) = forbidden(&self.canaries, index);
            let target = Target::new(&format!("http://{host}/direct"));
            let name = attack.name();
            self.assert_refused(&mut way, name, rule, async |way| attack.start(way, &self, &target).await)
                .await;
            let target = Target::new("http://b.test/direct");
            let start = async |way: &mut Way| attack.start(way, &self, &target).await;
            self.assert_sent(&mut way, name, "http://b.test/direct", start).await;
        }
        let port = self.canaries[0].addr().port();
        let spellings = [
            ("127.1", "127.0.0.0/8"),
            ("0x7f000001", "127.0.0.0/8"),
            ("2130706433", "127.0.0.0/8"),
            ("localhost", "127.0.0.0/8"),
            ("[::ffff:127.0.0.1]", "127.0.0.0/8"),
            ("0.0.0.0", "0.0.0.0/8"),
            ("169.254.169.254", "169.254.0.0/16"),
        ];
        for (index, (host, rule)) in spellings.into_iter().enumerate() {
            if !is_proof() && !is_in_gate(index) {
                continue;
            }
            let url = format!("http://{host}:{port}/");
            self.assert_refused(&mut way, host, rule, async |way| way.open(&self, &url).await).await;
        }
        assert_eq!(self.canaries.each_ref().map(Canary::connections), [0, 0]);
        let received = self.datagrams.recv(&mut [0; 2048]);
        assert!(received.is_err(), "{received:?} bytes arrived by UDP");
        assert_eq!(self.test.listed(&self.session).await["status"], "active");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_reach_no_forbidden_address() {
    let Some(test) = EgressTest::start().await else { return };
    test.run(0, Way::Node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_reach_no_forbidden_address() {
    let Some(test) = EgressTest::start().await else { return };
    test.run(1, Way::Bash).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn devtools_clients_reach_no_forbidden_address() {
    let Some(test) = EgressTest::start().await else { return };
    let way = Way::client(&test).await;
    test.run(2, way).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_reach_no_forbidden_address() {
    let Some(test) = EgressTest::start().await else { return };
    let way = Way::popup(&test).await;
    test.run(3, way).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_reach_no_forbidden_address() {
    let Some(test) = EgressTest::start().await else { return };
    let way = Way::live_view(&test).await;
    test.run(4, way).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn playwright_reaches_no_forbidden_address() {
    let Some(package) = path_or_skip("WEBSVC_TEST_PLAYWRIGHT") else { return };
    let Some(test) = EgressTest::start().await else { return };
    let way = Way::playwright(&test, &package).await;
    test.run(5, way).await;
}

//! Threat protection as a team has it: what it blocks, what that costs, and what happens when the scanner fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use websvc_store::{Retention, Store, TeamChange, ThreatOverride, ThreatPolicy};
use websvc_testkit::{FakeSearxng, Page, ReceivedRequest, TestWeb, TestWebBuilder};

use crate::harness::{Answer, KEY, Service, Site};

const SCANNER: &str = "http://scanner.test/scan";

/// How the stand-in scanner behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mood {
    /// It says 90 of hosts whose names begin with `risky`, else 1.
    Well,
    Failing,
    Hanging,
    Babbling,
}

/// A scanner that is a page of the loopback web.
#[derive(Clone)]
struct StandIn(Arc<Mutex<Mood>>);

impl StandIn {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Mood::Well)))
    }

    fn becomes(&self, mood: Mood) {
        *self.0.lock().unwrap() = mood;
    }

    fn serve(&self, world: TestWebBuilder) -> TestWebBuilder {
        let mood = Arc::clone(&self.0);
        world.page_with(SCANNER, move |seen| match *mood.lock().unwrap() {
            Mood::Well => {
                let score = if asked(seen).starts_with("http://risky") { 90 } else { 1 };
                Page::new("application/json", json!({ "score": score }).to_string())
            }
            Mood::Failing => Page::text("down").status(500),
            Mood::Hanging => Page::unresponsive(),
            Mood::Babbling => Page::html("<p>a page of somebody else"),
        })
    }
}

fn asked(seen: &ReceivedRequest) -> String {
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    body["url"].as_str().unwrap_or_default().to_owned()
}

/// Returns the URLs that the scanner was asked about since the last look.
fn scans(world: &TestWeb) -> Vec<String> {
    let mut urls: Vec<_> = world.requests().iter().filter(|seen| seen.url == SCANNER).map(asked).collect();
    urls.sort();
    world.clear_requests();
    urls
}

fn web() -> TestWebBuilder {
    let article = |title: &str| Page::html(format!("<title>{title}</title><main><p>An article on {title}."));
    TestWeb::builder()
        .page("http://fine.test/", article("fine"))
        .page("http://risky.test/", article("risky"))
        .page("http://listed.test/", article("listed"))
        .page("http://archive.zip/", article("zipped"))
        .page("http://leads.test/", Page::redirect(302, "http://risky.test/"))
        .page(
            "http://refreshes.test/",
            Page::html("<head><meta http-equiv=refresh content='0; url=http://listed.test/'>"),
        )
}

const LISTED: &[(&str, &str)] = &[
    ("oolong", "http://fine.test/"),
    ("oolong sencha", "http://risky.test/"),
    ("oolong matcha", "http://listed.test/"),
    ("oolong gyokuro", "http://archive.zip/"),
    ("kukicha", "http://leads.test/"),
    ("hojicha", "http://refreshes.test/"),
];

/// A service with the stand-in as its scanner, its pages in the index, and a team of this policy.
pub(crate) struct Stage {
    world: TestWeb,
    scanner: StandIn,
    service: Service,
    pub(crate) site: Site,
}

impl Stage {
    async fn new(settings: &[(&str, &str)]) -> Self {
        let scanner = StandIn::new();
        let world = scanner.serve(web()).start().await;
        let site = Site::new(&world);
        let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("WEBSVC_API_KEY", KEY);
        for (name, value) in settings {
            command.env(name, value);
        }
        let service = Service::start(&mut command);
        service.list(LISTED).await;
        Self { world, scanner, service, site }
    }

    pub(crate) async fn scanning() -> Self {
        Self::new(&scanned()).await
    }

    fn store(&self) -> Store {
        Store::open(self.site.data_dir()).unwrap()
    }

    /// Makes a team of this policy and returns its key.
    pub(crate) fn team(&self, name: &str, change: &TeamChange) -> String {
        let store = self.store();
        store.set_team(name, change).unwrap();
        store.create_key(name, "").unwrap().secret.expose().to_owned()
    }

    pub(crate) fn protected(&self) -> String {
        self.team("protected", &protection(ThreatPolicy::On, ThreatOverride::Allowed))
    }

    pub(crate) async fn search(&self, key: &str, body: Value) -> Answer {
        self.post(key, "/v2/search", body).await
    }

    pub(crate) async fn post(&self, key: &str, path: &str, body: Value) -> Answer {
        let headers = [("authorization", &format!("Bearer {key}")[..]), ("content-type", "application/json")];
        self.service.send(http::Method::POST, path, &headers, body.to_string()).await
    }
}

fn scanned() -> Vec<(&'static str, &'static str)> {
    vec![
        ("WEBSVC__THREAT__SCANNER", "http"),
        ("WEBSVC__THREAT__URL", SCANNER),
        ("WEBSVC__THREAT__API_KEY", "\"the-scanners-own-key\""),
        ("WEBSVC__THREAT__TIMEOUT_MS", "500"),
    ]
}

pub(crate) fn protection(threat: ThreatPolicy, threat_override: ThreatOverride) -> TeamChange {
    TeamChange {
        threat_protection: Some(threat),
        threat_override: Some(threat_override),
        zdr: Some(Retention::Allowed),
        ..TeamChange::default()
    }
}

pub(crate) fn urls(answer: &Answer) -> Vec<&str> {
    let list = answer.body["data"]["web"].as_array();
    let mut urls: Vec<_> = list.into_iter().flatten().filter_map(|result| result["url"].as_str()).collect();
    urls.sort_unstable();
    urls
}

fn warning(answer: &Answer) -> &str {
    answer.body["warning"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_have_it_or_change_it_gets_403() {
    use ThreatOverride::{Allowed, Denied};
    use ThreatPolicy::{Enforced, Off, On};
    let stage = Stage::scanning().await;
    let table = [
        ("not enabled", Off, Allowed, json!({}), 403),
        ("not enabled, off", Off, Allowed, json!({ "mode": "off" }), 403),
        ("enabled", On, Allowed, json!({ "mode": "normal" }), 200),
        ("turned off", On, Allowed, json!({ "mode": "off" }), 200),
        ("enforced", Enforced, Allowed, json!({ "mode": "normal" }), 200),
        ("enforced, off", Enforced, Allowed, json!({ "mode": "off" }), 403),
        ("denied", On, Denied, json!({}), 403),
        ("denied, enforced", Enforced, Denied, json!({ "mode": "normal" }), 403),
        ("denied, without the object", Enforced, Denied, json!(null), 200),
    ];
    for (at, (name, threat, threat_override, own, status)) in table.into_iter().enumerate() {
        let key = stage.team(&format!("team {at}"), &protection(threat, threat_override));
        for body in [
            json!({ "query": "oolong", "threatProtection": own }),
            json!({ "query": "oolong", "scrapeOptions": { "threatProtection": own } }),
        ] {
            let answer = stage.search(&key, body).await;
            assert_eq!(answer.status, status, "{name}: {}", answer.body);
            if status == 403 {
                assert_eq!(
                    (&answer.body["success"], &answer.body["code"]),
                    (&json!(false), &json!("FORBIDDEN"))
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_results_are_removed_counted_and_the_scans_are_charged() {
    let stage = Stage::scanning().await;
    let key = stage.protected();
    let lists = json!({ "blacklist": ["listed.test"], "blockedTlds": ["zip"] });
    let answer = stage.search(&key, json!({ "query": "oolong", "threatProtection": lists })).await;
    assert_eq!(urls(&answer), ["http://fine.test/"]);
    assert_eq!(warning(&answer), "threat protection removed 3 results");
    assert_eq!(scans(&stage.world), ["http://fine.test/", "http://risky.test/"], "lists need no scan");
    assert_eq!(answer.body["creditsUsed"], 2 + 2 * 2);

    // Verdicts are remembered, and cost the same.
    let again = stage.search(&key, json!({ "query": "oolong", "threatProtection": lists })).await;
    assert_eq!((urls(&again), &again.body["creditsUsed"]), (urls(&answer), &json!(6)));
    assert!(scans(&stage.world).is_empty());

    let lenient = json!({ "riskScoreThreshold": 91, "whitelist": ["archive.zip"], "blockedTlds": ["zip"] });
    let answer = stage.search(&key, json!({ "query": "oolong", "threatProtection": lenient })).await;
    assert_eq!(urls(&answer).len(), 4, "{}", answer.body);
    assert_eq!(answer.body["creditsUsed"], 2 + 3 * 2);

    let off = stage.search(&key, json!({ "query": "oolong", "threatProtection": { "mode": "off" } })).await;
    assert_eq!((urls(&off).len(), &off.body["creditsUsed"]), (4, &json!(2)));
    let free = stage.search(KEY, json!({ "query": "oolong" })).await;
    assert_eq!(
        (urls(&free).len(), &free.body["creditsUsed"]),
        (4, &json!(2)),
        "other teams are not concerned"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_search_is_left_and_its_scans_are_charged_all_the_same() {
    let stage = Stage::scanning().await;
    let key = stage.protected();
    let strict = json!({ "query": "oolong", "threatProtection": { "riskScoreThreshold": 0 } });
    let answer = stage.search(&key, strict).await;
    assert_eq!((answer.status.as_u16(), urls(&answer).len()), (200, 0));
    assert_eq!(
        (warning(&answer), &answer.body["creditsUsed"]),
        ("threat protection removed 4 results", &json!(8))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_leads_to_a_blocked_url_has_the_error_and_is_not_kept() {
    let stage = Stage::scanning().await;
    let key = stage.protected();
    for (word, expected) in [
        ("kukicha", "threat protection blocks risky.test: its risk score 90 is not below the threshold 75"),
        ("hojicha", "threat protection blocks listed.test: it is on the blacklist"),
    ] {
        let body = json!({
            "query": word,
            "threatProtection": { "blacklist": ["listed.test"] },
            "scrapeOptions": { "formats": ["markdown", "rawHtml"] },
        });
        let answer = stage.search(&key, body).await;
        let [result] = &answer.body["data"]["web"].as_array().unwrap()[..] else { panic!("{}", answer.body) };
        let metadata = &result["metadata"];
        assert_eq!(metadata["error"], format!("unsafe_domain_blocked: {expected}"));
        assert_eq!(metadata["statusCode"], 403);
        assert_eq!((&result["markdown"], &result["rawHtml"]), (&Value::Null, &Value::Null));
    }
    for blocked in ["http://risky.test/", "http://listed.test/"] {
        assert_eq!(stage.world.count(blocked), 0, "nothing is sent to {blocked}");
    }
    // The scan of the redirect's target is charged, too: two URLs, one result, no page.
    stage.world.clear_requests();
    let body = json!({ "query": "kukicha", "scrapeOptions": { "formats": ["markdown"] } });
    assert_eq!(stage.search(&key, body).await.body["creditsUsed"], 2 + 2 * 2);
    // Nothing is in the cache for those who would be allowed.
    let body = json!({ "query": "kukicha", "scrapeOptions": { "formats": ["markdown"], "minAge": 1 } });
    assert_eq!(stage.search(KEY, body).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_may_have_rules_of_their_own_and_cached_ones_are_checked() {
    let stage = Stage::scanning().await;
    let key = stage.protected();
    let scrape = |own: Value| {
        json!({
            "query": "oolong sencha",
            "threatProtection": { "mode": "off" },
            "scrapeOptions": { "formats": ["markdown"], "threatProtection": own },
        })
    };
    let error_of = |answer: &Answer, url: &str| {
        let results = answer.body["data"]["web"].as_array().unwrap();
        let result = results.iter().find(|result| result["url"] == url).unwrap();
        result["metadata"]["error"].as_str().unwrap_or_default().to_owned()
    };
    let free = stage.search(&key, scrape(json!({ "mode": "off" }))).await;
    assert_eq!(error_of(&free, "http://risky.test/"), "");
    // Now it is in the cache, and in memory as it was written.
    let checked = stage.search(&key, scrape(json!({}))).await;
    assert!(
        error_of(&checked, "http://risky.test/").starts_with("unsafe_domain_blocked: "),
        "{}",
        checked.body
    );
    assert_eq!(error_of(&checked, "http://fine.test/"), "");
    assert!(!warning(&checked).contains("removed"), "results are not screened where that is off");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_failure_policy_decides_while_the_scanner_is_down() {
    let mut settings = scanned();
    settings.push(("WEBSVC__THREAT__BREAKER_FAILURES", "1000"));
    let stage = Stage::new(&settings).await;
    let key = stage.protected();
    for mood in [Mood::Failing, Mood::Hanging, Mood::Babbling] {
        stage.scanner.becomes(mood);
        for (policy, shown) in [(json!(null), 0), (json!("closed"), 0), (json!("open"), 4)] {
            let own = json!({ "failurePolicy": policy });
            let answer = stage.search(&key, json!({ "query": "oolong", "threatProtection": own })).await;
            assert_eq!((answer.status.as_u16(), urls(&answer).len()), (200, shown), "{mood:?} {policy}");
            let told = "the scanner of threat protection gave no verdict on 4 URLs; failurePolicy decided";
            assert!(warning(&answer).contains(told), "{mood:?}: {}", answer.body);
            let credits = if shown == 0 { 0 } else { 2 };
            assert_eq!(answer.body["creditsUsed"], credits, "what was not scanned is not charged");
        }
    }
    stage.scanner.becomes(Mood::Well);
    let answer = stage.search(&key, json!({ "query": "oolong" })).await;
    assert_eq!(urls(&answer).len(), 3, "no failure is remembered: {}", answer.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scanner_that_is_down_is_left_alone_and_metrics_tell() {
    let mut settings = scanned();
    settings.extend([("WEBSVC__THREAT__BREAKER_FAILURES", "2"), ("WEBSVC__THREAT__CONCURRENCY", "1")]);
    let stage = Stage::new(&settings).await;
    let key = stage.protected();
    stage.scanner.becomes(Mood::Failing);
    stage.world.clear_requests();
    for _ in 0..3 {
        assert!(urls(&stage.search(&key, json!({ "query": "oolong" })).await).is_empty());
    }
    assert_eq!(scans(&stage.world).len(), 2, "then the breaker is open");
    let metrics = stage.service.text("/metrics").await;
    for line in [
        "websvc_threat_scans_total{scanner=\"http\",outcome=\"failed\",reason=\"status\"} 2",
        "websvc_threat_scans_total{scanner=\"http\",outcome=\"failed\",reason=\"paused\"} 10",
        "websvc_threat_blocked_total{rule=\"unchecked\"} 12",
        "websvc_threat_scan_duration_seconds_count{scanner=\"http\"} 2",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_scanner_the_lists_work_and_the_answer_says_so() {
    let stage = Stage::new(&[]).await;
    let key = stage.protected();
    let own = json!({ "blacklist": ["*.test"], "whitelist": ["fine.test"], "riskScoreThreshold": 0 });
    let answer = stage.search(&key, json!({ "query": "oolong", "threatProtection": own })).await;
    assert_eq!(urls(&answer), ["http://archive.zip/", "http://fine.test/"]);
    assert_eq!(
        warning(&answer),
        "threat protection removed 2 results; threat protection went by its lists alone: \
         no scanner of URLs is configured"
    );
    assert_eq!(answer.body["creditsUsed"], 2, "nothing was scanned");
    let closed = json!({ "query": "oolong", "threatProtection": { "failurePolicy": "closed" } });
    assert!(urls(&stage.search(&key, closed).await).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_can_ask_what_becomes_of_a_url() {
    let scanner = StandIn::new();
    let world = scanner.serve(web()).start().await;
    let site = Site::new(&world);
    site.succeed(&["threat", "set", "default", "--blacklist", "listed.test"]);
    let check = |url: &str| {
        let output = site.command(&["threat", "check", url]).envs(scanned()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(check("http://fine.test/"), "allowed");
    assert_eq!(
        check("http://listed.test/x"),
        "blocked: threat protection blocks listed.test: it is on the blacklist"
    );
    assert!(
        check("http://risky.test/")
            .starts_with("blocked: threat protection blocks risky.test: its risk score 90")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_zero_retention_leaves_no_verdict_and_no_trace() {
    const MARKER: &str = "zdrmarker4711";
    let [fine, risky] = ["", "risky-"].map(|prefix| format!("http://{prefix}{MARKER}.test/"));
    let result =
        |url: &str| json!({ "url": url, "title": "A result", "content": "of a search", "engine": "x" });
    let engine = FakeSearxng::new().results("general", vec![result(&fine), result(&risky)]);
    let (scanner, logs) = (StandIn::new(), tempfile::tempdir().unwrap());
    let world = scanner.serve(web()).page_with("http://searx.test/search", move |seen| engine.respond(seen));
    let world = world.start().await;
    let site = Site::new(&world);
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", KEY).env("WEBSVC_LOG", "trace").envs(scanned());
    command.env("WEBSVC__SEARCH__PROVIDERS", r#"["searxng"]"#);
    command.env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test");
    let log = logs.path().join("log");
    let service = Service::start_logging(&mut command, &log);
    let stage = Stage { world, scanner, service, site };
    let key = stage.protected();
    let zdr = json!({ "query": "tea", "enterprise": ["zdr"] });
    let both = vec![risky.clone(), fine.clone()];
    for _ in 0..2 {
        let answer = stage.search(&key, zdr.clone()).await;
        assert_eq!((urls(&answer), &answer.body["creditsUsed"]), (vec![&fine[..]], &json!(10 + 2 * 2)));
        assert_eq!(scans(&stage.world), both, "each request asks for itself");
    }
    let metrics = stage.service.text("/metrics").await;
    assert!(!metrics.contains(MARKER), "{metrics}");
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("/v2/search"), "the log is written");
    for secret in [MARKER, "the-scanners-own-key"] {
        assert!(!logged.contains(secret), "{secret} is in the log");
    }
    for file in files(stage.site.data_dir()) {
        let bytes = fs::read(&file).unwrap();
        let found = bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
        assert!(!found, "{}", file.display());
    }
    stage.search(&key, json!({ "query": "tea" })).await;
    assert_eq!(scans(&stage.world), both, "nothing was left for others");
    stage.search(&key, json!({ "query": "tea" })).await;
    assert!(scans(&stage.world).is_empty(), "others do leave their verdicts");
    stage.search(&key, zdr).await;
    assert_eq!(scans(&stage.world), both, "and those are not read");
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    found.collect()
}

#[test]
fn values_of_the_section_that_cannot_work_are_told() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(TestWeb::builder().start());
    let site = Site::new(&world);
    for (settings, expected) in [
        (vec![("WEBSVC__THREAT__SCANNER", "http")], "threat.url is missing"),
        (vec![("WEBSVC__THREAT__SCANNER", "web-risk")], "threat.api_key is missing"),
        (vec![("WEBSVC__THREAT__SCANNER", "magic")], "magic"),
        (vec![("WEBSVC__THREAT__SCANER", "http")], "did you mean `scanner`?"),
        (vec![("WEBSVC__THREAT__TIMEOUT_MS", "0")], "threat.timeout_ms is 0"),
    ] {
        let output = site.command(&["serve", "--listen", "127.0.0.1:0"]).envs(settings).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{expected}: {said}");
    }
}

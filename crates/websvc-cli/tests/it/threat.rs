//! Tests of threat protection: blocked results, charges and scanner failures.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use websvc_store::{Retention, Store, TeamChange, ThreatOverride, ThreatPolicy};
use websvc_testkit::{FakeSearxng, Page, ReceivedRequest, TestWeb, TestWebBuilder};

use crate::harness::{KEY, Response, Service, Site, assert_fields};

const SCANNER: &str = "http://scanner.test/scan";

/// The behaviour of the fake scanner.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ScannerState {
    /// Returns score 90 for hosts that start with `risky`, and 1 for all others.
    Working,
    Failing,
    Hanging,
    Garbage,
}

/// A scanner that is a page of the test web.
#[derive(Clone)]
struct FakeScanner(Arc<Mutex<ScannerState>>);

impl FakeScanner {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(ScannerState::Working)))
    }

    fn set_state(&self, state: ScannerState) {
        *self.0.lock().unwrap() = state;
    }

    fn serve(&self, world: TestWebBuilder) -> TestWebBuilder {
        let state = Arc::clone(&self.0);
        world.page_with(SCANNER, move |request| match *state.lock().unwrap() {
            ScannerState::Working => {
                let score = if scanned_url(request).starts_with("http://risky") { 90 } else { 1 };
                Page::new("application/json", json!({ "score": score }).to_string())
            }
            ScannerState::Failing => Page::text("down").status(500),
            ScannerState::Hanging => Page::unresponsive(),
            ScannerState::Garbage => Page::html("<p>not a verdict"),
        })
    }
}

fn scanned_url(request: &ReceivedRequest) -> String {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["url"].as_str().unwrap_or_default().to_owned()
}

/// Returns the URLs that were scanned since the last call.
fn scans(world: &TestWeb) -> Vec<String> {
    let mut urls: Vec<_> =
        world.requests().iter().filter(|request| request.url == SCANNER).map(scanned_url).collect();
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
        .page("http://redirects.test/", Page::redirect(302, "http://risky.test/"))
        .page(
            "http://refreshes.test/",
            Page::html("<head><meta http-equiv=refresh content='0; url=http://listed.test/'>"),
        )
}

const PAGES: &[(&str, &str)] = &[
    ("oolong", "http://fine.test/"),
    ("oolong sencha", "http://risky.test/"),
    ("oolong matcha", "http://listed.test/"),
    ("oolong gyokuro", "http://archive.zip/"),
    ("kukicha", "http://redirects.test/"),
    ("hojicha", "http://refreshes.test/"),
];

/// A service with the fake scanner, whose index contains the pages.
pub(crate) struct ThreatTest {
    world: TestWeb,
    scanner: FakeScanner,
    service: Service,
    pub(crate) site: Site,
}

impl ThreatTest {
    async fn new(settings: &[(&str, &str)]) -> Self {
        let scanner = FakeScanner::new();
        let world = scanner.serve(web()).start().await;
        let site = Site::new(&world);
        let service = site.serve_with(settings);
        service.index_pages(PAGES).await;
        Self { world, scanner, service, site }
    }

    pub(crate) async fn with_scanner() -> Self {
        Self::new(&scanner_settings()).await
    }

    fn store(&self) -> Store {
        Store::open(self.site.data_dir()).unwrap()
    }

    /// Creates a team with these values and returns its key.
    pub(crate) fn team(&self, name: &str, change: &TeamChange) -> String {
        let store = self.store();
        store.set_team(name, change).unwrap();
        store.create_key(name, "").unwrap().secret.expose().to_owned()
    }

    /// Creates a team with threat protection and returns its key.
    pub(crate) fn protected_team(&self) -> String {
        self.team("protected", &protection(ThreatPolicy::On, ThreatOverride::Allowed))
    }

    pub(crate) async fn search(&self, key: &str, body: Value) -> Response {
        self.post(key, "/v2/search", body).await
    }

    pub(crate) async fn post(&self, key: &str, path: &str, body: Value) -> Response {
        let headers = [("authorization", &format!("Bearer {key}")[..]), ("content-type", "application/json")];
        self.service.send(http::Method::POST, path, &headers, body.to_string()).await
    }
}

fn scanner_settings() -> Vec<(&'static str, &'static str)> {
    vec![
        ("WEBSVC__THREAT__SCANNER", "http"),
        ("WEBSVC__THREAT__URL", SCANNER),
        ("WEBSVC__THREAT__API_KEY", "\"the-scanners-own-key\""),
        ("WEBSVC__THREAT__TIMEOUT_MS", "500"),
    ]
}

pub(crate) fn protection(policy: ThreatPolicy, threat_override: ThreatOverride) -> TeamChange {
    TeamChange {
        threat_protection: Some(policy),
        threat_override: Some(threat_override),
        zdr: Some(Retention::Allowed),
        ..TeamChange::default()
    }
}

pub(crate) fn urls(response: &Response) -> Vec<&str> {
    let list = response.body["data"]["web"].as_array();
    let mut urls: Vec<_> = list.into_iter().flatten().filter_map(|result| result["url"].as_str()).collect();
    urls.sort_unstable();
    urls
}

fn warning(response: &Response) -> &str {
    response.body["warning"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_protection_request_without_permission_is_forbidden() {
    use ThreatOverride::{Allowed, Denied};
    use ThreatPolicy::{Enforced, Off, On};
    let test = ThreatTest::with_scanner().await;
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
    for (index, (name, policy, threat_override, rules, status)) in table.into_iter().enumerate() {
        let key = test.team(&format!("team {index}"), &protection(policy, threat_override));
        for body in [
            json!({ "query": "oolong", "threatProtection": rules }),
            json!({ "query": "oolong", "scrapeOptions": { "threatProtection": rules } }),
        ] {
            let response = test.search(&key, body).await;
            assert_eq!(response.status, status, "{name}: {}", response.body);
            if status == 403 {
                assert_fields(&response.body, &json!({ "success": false, "code": "FORBIDDEN" }));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_results_are_removed_and_scans_charged() {
    let test = ThreatTest::with_scanner().await;
    let key = test.protected_team();
    let lists = json!({ "blacklist": ["listed.test"], "blockedTlds": ["zip"] });
    let response = test.search(&key, json!({ "query": "oolong", "threatProtection": lists })).await;
    assert_eq!(urls(&response), ["http://fine.test/"]);
    assert_eq!(warning(&response), "threat protection removed 3 results");
    assert_eq!(
        scans(&test.world),
        ["http://fine.test/", "http://risky.test/"],
        "URLs on the lists were scanned"
    );
    assert_eq!(response.body["creditsUsed"], 2 + 2 * 2);

    // Cached verdicts cost the same.
    let again = test.search(&key, json!({ "query": "oolong", "threatProtection": lists })).await;
    assert_eq!((urls(&again), &again.body["creditsUsed"]), (urls(&response), &json!(6)));
    assert!(scans(&test.world).is_empty());

    let lenient = json!({ "riskScoreThreshold": 91, "whitelist": ["archive.zip"], "blockedTlds": ["zip"] });
    let response = test.search(&key, json!({ "query": "oolong", "threatProtection": lenient })).await;
    assert_eq!(urls(&response).len(), 4, "{}", response.body);
    assert_eq!(response.body["creditsUsed"], 2 + 3 * 2);

    let off = test.search(&key, json!({ "query": "oolong", "threatProtection": { "mode": "off" } })).await;
    assert_eq!((urls(&off).len(), &off.body["creditsUsed"]), (4, &json!(2)));
    let free = test.search(KEY, json!({ "query": "oolong" })).await;
    assert_eq!(
        (urls(&free).len(), &free.body["creditsUsed"]),
        (4, &json!(2)),
        "the rules affect another team"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn search_with_all_results_blocked_charges_its_scans() {
    let test = ThreatTest::with_scanner().await;
    let key = test.protected_team();
    let strict = json!({ "query": "oolong", "threatProtection": { "riskScoreThreshold": 0 } });
    let response = test.search(&key, strict).await;
    assert_eq!((response.status.as_u16(), urls(&response).len()), (200, 0));
    assert_eq!(
        (warning(&response), &response.body["creditsUsed"]),
        ("threat protection removed 4 results", &json!(8))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn page_redirecting_to_a_blocked_url_fails_and_is_not_stored() {
    let test = ThreatTest::with_scanner().await;
    let key = test.protected_team();
    for (word, expected) in [
        ("kukicha", "threat protection blocks risky.test: its risk score 90 is not below the threshold 75"),
        ("hojicha", "threat protection blocks listed.test: it is on the blacklist"),
    ] {
        let body = json!({
            "query": word,
            "threatProtection": { "blacklist": ["listed.test"] },
            "scrapeOptions": { "formats": ["markdown", "rawHtml"] },
        });
        let response = test.search(&key, body).await;
        let [result] = &response.body["data"]["web"].as_array().unwrap()[..] else {
            panic!("{}", response.body)
        };
        let metadata = &result["metadata"];
        assert_eq!(metadata["error"], format!("unsafe_domain_blocked: {expected}"));
        assert_eq!(metadata["statusCode"], 403);
        assert_eq!((&result["markdown"], &result["rawHtml"]), (&Value::Null, &Value::Null));
    }
    for blocked in ["http://risky.test/", "http://listed.test/"] {
        assert_eq!(test.world.count(blocked), 0, "{blocked} was requested");
    }
    // The scan of the redirect target is charged, too: two URLs, one result, no page.
    test.world.clear_requests();
    let body = json!({ "query": "kukicha", "scrapeOptions": { "formats": ["markdown"] } });
    assert_eq!(test.search(&key, body).await.body["creditsUsed"], 2 + 2 * 2);
    // The blocked page is not cached for teams that may fetch it.
    let body = json!({ "query": "kukicha", "scrapeOptions": { "formats": ["markdown"], "minAge": 1 } });
    assert_eq!(test.search(KEY, body).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_rules_override_search_rules_and_apply_to_cached_pages() {
    let test = ThreatTest::with_scanner().await;
    let key = test.protected_team();
    let scrape = |rules: Value| {
        json!({
            "query": "oolong sencha",
            "threatProtection": { "mode": "off" },
            "scrapeOptions": { "formats": ["markdown"], "threatProtection": rules },
        })
    };
    let error_of = |response: &Response, url: &str| {
        let results = response.body["data"]["web"].as_array().unwrap();
        let result = results.iter().find(|result| result["url"] == url).unwrap();
        result["metadata"]["error"].as_str().unwrap_or_default().to_owned()
    };
    let free = test.search(&key, scrape(json!({ "mode": "off" }))).await;
    assert_eq!(error_of(&free, "http://risky.test/"), "");
    // The page is now in the cache.
    let checked = test.search(&key, scrape(json!({}))).await;
    assert!(
        error_of(&checked, "http://risky.test/").starts_with("unsafe_domain_blocked: "),
        "{}",
        checked.body
    );
    assert_eq!(error_of(&checked, "http://fine.test/"), "");
    assert!(!warning(&checked).contains("removed"), "results were checked although the mode is off");
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_policy_applies_while_the_scanner_fails() {
    let mut settings = scanner_settings();
    settings.push(("WEBSVC__THREAT__BREAKER_FAILURES", "1000"));
    let test = ThreatTest::new(&settings).await;
    let key = test.protected_team();
    for state in [ScannerState::Failing, ScannerState::Hanging, ScannerState::Garbage] {
        test.scanner.set_state(state);
        for (policy, shown) in [(json!(null), 0), (json!("closed"), 0), (json!("open"), 4)] {
            let rules = json!({ "failurePolicy": policy });
            let response = test.search(&key, json!({ "query": "oolong", "threatProtection": rules })).await;
            assert_eq!((response.status.as_u16(), urls(&response).len()), (200, shown), "{state:?} {policy}");
            let expected = "the threat scanner gave no verdict on 4 URLs; failurePolicy decided";
            assert!(warning(&response).contains(expected), "{state:?}: {}", response.body);
            let credits = if shown == 0 { 0 } else { 2 };
            assert_eq!(response.body["creditsUsed"], credits, "failed scans were charged");
        }
    }
    test.scanner.set_state(ScannerState::Working);
    let response = test.search(&key, json!({ "query": "oolong" })).await;
    assert_eq!(urls(&response).len(), 3, "a failed scan was cached: {}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_scanner_opens_the_breaker_and_is_counted() {
    let mut settings = scanner_settings();
    settings.extend([("WEBSVC__THREAT__BREAKER_FAILURES", "2"), ("WEBSVC__THREAT__CONCURRENCY", "1")]);
    let test = ThreatTest::new(&settings).await;
    let key = test.protected_team();
    test.scanner.set_state(ScannerState::Failing);
    test.world.clear_requests();
    for _ in 0..3 {
        assert!(urls(&test.search(&key, json!({ "query": "oolong" })).await).is_empty());
    }
    assert_eq!(scans(&test.world).len(), 2, "the breaker must open after two failures");
    let metrics = test.service.text("/metrics").await;
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
async fn missing_scanner_uses_lists_only_with_a_warning() {
    let test = ThreatTest::new(&[]).await;
    let key = test.protected_team();
    let rules = json!({ "blacklist": ["*.test"], "whitelist": ["fine.test"], "riskScoreThreshold": 0 });
    let response = test.search(&key, json!({ "query": "oolong", "threatProtection": rules })).await;
    assert_eq!(urls(&response), ["http://archive.zip/", "http://fine.test/"]);
    assert_eq!(
        warning(&response),
        "threat protection removed 2 results; threat protection used only its lists: \
         no URL scanner is configured"
    );
    assert_eq!(response.body["creditsUsed"], 2, "a scan was charged");
    let closed = json!({ "query": "oolong", "threatProtection": { "failurePolicy": "closed" } });
    assert!(urls(&test.search(&key, closed).await).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_check_command_prints_the_verdict() {
    let scanner = FakeScanner::new();
    let world = scanner.serve(web()).start().await;
    let site = Site::new(&world);
    site.succeed(&["threat", "set", "default", "--blacklist", "listed.test"]);
    let check = |url: &str| {
        let output = site.command(&["threat", "check", url]).envs(scanner_settings()).output().unwrap();
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
async fn zero_retention_request_leaves_no_verdict_and_no_trace() {
    const MARKER: &str = "zdrmarker4711";
    let [fine, risky] = ["", "risky-"].map(|prefix| format!("http://{prefix}{MARKER}.test/"));
    let result =
        |url: &str| json!({ "url": url, "title": "A result", "content": "of a search", "engine": "x" });
    let engine = FakeSearxng::new().results("general", vec![result(&fine), result(&risky)]);
    let (scanner, logs) = (FakeScanner::new(), tempfile::tempdir().unwrap());
    let world =
        scanner.serve(web()).page_with("http://searx.test/search", move |request| engine.respond(request));
    let world = world.start().await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command.env("WEBSVC_LOG", "trace").envs(scanner_settings());
    command.env("WEBSVC__SEARCH__PROVIDERS", r#"["searxng"]"#);
    command.env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test");
    let log = logs.path().join("log");
    let service = Service::start_logging(&mut command, &log);
    let test = ThreatTest { world, scanner, service, site };
    let key = test.protected_team();
    let zdr = json!({ "query": "tea", "enterprise": ["zdr"] });
    let both = vec![risky.clone(), fine.clone()];
    for _ in 0..2 {
        let response = test.search(&key, zdr.clone()).await;
        assert_eq!((urls(&response), &response.body["creditsUsed"]), (vec![&fine[..]], &json!(10 + 2 * 2)));
        assert_eq!(scans(&test.world), both, "verdicts under zero data retention were cached");
    }
    let metrics = test.service.text("/metrics").await;
    assert!(!metrics.contains(MARKER), "{metrics}");
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("/v2/search"), "the log lacks the request");
    for secret in [MARKER, "the-scanners-own-key"] {
        assert!(!logged.contains(secret), "{secret} is in the log");
    }
    for file in files(test.site.data_dir()) {
        let bytes = fs::read(&file).unwrap();
        let found = bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
        assert!(!found, "{}", file.display());
    }
    test.search(&key, json!({ "query": "tea" })).await;
    assert_eq!(scans(&test.world), both, "a verdict under zero data retention was cached");
    test.search(&key, json!({ "query": "tea" })).await;
    assert!(scans(&test.world).is_empty(), "verdicts of normal requests are not cached");
    test.search(&key, zdr).await;
    assert_eq!(scans(&test.world), both, "a request under zero data retention used cached verdicts");
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    found.collect()
}

#[test]
fn invalid_threat_settings_end_the_start() {
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
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && stderr.contains(expected), "{expected}: {stderr}");
    }
}

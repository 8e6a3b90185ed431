//! Tests of data retention. Requests with zero data retention leave no data, and anonymous requests leave no content and
//! no names. The same requests with normal retention leave data, which proves that the search for the marker works.

mod marker;
mod requests;
mod stored_data;
mod web;

use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use websvc_store::{KeyRights, NewKey, Retention, Store, TeamChange, ThreatPolicy};
use websvc_testkit::{FakeElasticsearch, TestWeb};

use self::marker::Marker;
use self::stored_data::StoredData;
use self::web::{MIRROR, Web};
use crate::browser::path_or_skip;
use crate::harness::{Service, Site};

/// Name of the file of audit events in the directory for temporary files.
const EVENTS: &str = "events.jsonl";

/// The data retention of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetentionKind {
    /// Normal requests, whose data is stored.
    Stored,
    /// With `enterprise: ["zdr"]`.
    Zero,
    /// By a team with forced zero data retention.
    ForcedZero,
    /// With `enterprise: ["anon"]`.
    Anonymous,
}

/// A service with all storage, logs and traces enabled, and the keys of its callers.
struct RetentionTest {
    marker: Marker,
    web: Web,
    world: TestWeb,
    mirror: FakeElasticsearch,
    site: Site,
    /// The directory for temporary files, including those of the browser.
    scratch: TempDir,
    log: PathBuf,
    service: Service,
    enterprise: Option<&'static str>,
    team: String,
    key: String,
    key_id: String,
    /// An admin key of the team.
    admin: String,
    /// A key of a team without threat protection.
    unprotected: String,
    /// A key that is limited to one format.
    markdown_only: String,
    /// A key of a team with a single credit.
    poor: String,
    /// A key of a team whose requests of this minute are used up.
    busy: String,
}

impl RetentionTest {
    async fn new(kind: RetentionKind) -> Self {
        Self::with_browser(kind, None).await
    }

    async fn with_browser(kind: RetentionKind, chromium: Option<PathBuf>) -> Self {
        let marker = Marker::new();
        let web = Web::new(&marker);
        let mut hashed = web.all().to_vec();
        let query = marker.named("query");
        hashed.push(&query);
        let marker = Marker::from_word(&marker.named("")).and_hash_of(&hashed);
        let mirror = FakeElasticsearch::new("pages").require_authorization("ApiKey secret");
        let world = web.start(&marker, &mirror).await;
        let site = Site::new(&world);
        let (scratch, logs) = (TempDir::new().unwrap(), TempDir::new().unwrap().keep());
        let store = Store::open(site.data_dir()).unwrap();
        let team = Marker::new().named("team");
        let change_of_team = change(kind);
        let keys = Keys { store: &store, team: &team, change_of_team: &change_of_team };
        let poor = keys.key_of_other_team("poor", &TeamChange { credits: Some(Some(1)), ..change_of_team });
        let busy = keys
            .key_of_other_team("busy", &TeamChange { requests_per_minute: Some(Some(1)), ..change_of_team });
        let unprotected = keys.key_of_other_team(
            "unprotected",
            &TeamChange { threat_protection: Some(ThreatPolicy::Off), ..change_of_team },
        );
        let NewKey { id, secret } = keys.create_key(&KeyRights::default());
        let (key_id, key) = (id.to_string(), secret.expose().to_owned());
        let secret = |rights: KeyRights| keys.create_key(&rights).secret.expose().to_owned();
        let admin = secret(KeyRights { admin: true, ..KeyRights::default() });
        let formats = Some(["markdown".to_owned()].into());
        let markdown_only = secret(KeyRights { formats, ..KeyRights::default() });
        drop(store);
        let log = logs.join("log");
        let service = start(&site, &scratch, &log, chromium);
        let enterprise = match kind {
            RetentionKind::Stored | RetentionKind::ForcedZero => None,
            RetentionKind::Zero => Some("zdr"),
            RetentionKind::Anonymous => Some("anon"),
        };
        Self {
            marker,
            web,
            world,
            mirror,
            site,
            scratch,
            log,
            service,
            enterprise,
            team,
            key,
            key_id,
            admin,
            unprotected,
            markdown_only,
            poor,
            busy,
        }
    }

    /// Reads all data while the service runs.
    async fn stored_data(&self) -> StoredData {
        StoredData::of_running(&self.service, &self.admin, &self.site, self.scratch.path(), &self.log).await
    }

    /// Reads the data on disk while no service runs.
    fn on_disk(&self) -> StoredData {
        StoredData::on_disk(&self.site, self.scratch.path(), &self.log)
    }

    fn assert_no_trace(&self, stored_data: &StoredData, when: &str) {
        let traces = stored_data.traces(&self.marker);
        assert!(traces.is_empty(), "{when}:\n{}", traces.join("\n"));
        let mirrored = json!(self.mirror.documents()).to_string();
        assert!(self.marker.trace(mirrored.as_bytes()).is_none(), "{when}: {mirrored}");
        assert_eq!(self.marker.trace(&self.spans()), None, "{when}: in a span");
    }

    /// Returns the bodies that the trace collector received.
    fn spans(&self) -> Vec<u8> {
        let sent =
            self.world.requests().into_iter().filter(|request| request.url.starts_with(web::COLLECTOR));
        sent.flat_map(|request| request.body).collect()
    }
}

fn change(kind: RetentionKind) -> TeamChange {
    let (zdr, anon) = match kind {
        RetentionKind::Stored => (Retention::Off, Retention::Off),
        RetentionKind::Zero => (Retention::Allowed, Retention::Off),
        RetentionKind::ForcedZero => (Retention::Forced, Retention::Off),
        RetentionKind::Anonymous => (Retention::Off, Retention::Allowed),
    };
    let threat_protection = Some(ThreatPolicy::On);
    TeamChange {
        zdr: Some(zdr),
        anon: Some(anon),
        threat_protection,
        audit: Some(true),
        ..TeamChange::default()
    }
}

/// Creates teams and keys.
struct Keys<'a> {
    store: &'a Store,
    team: &'a str,
    change_of_team: &'a TeamChange,
}

impl Keys<'_> {
    fn create_key(&self, rights: &KeyRights) -> NewKey {
        self.store.set_team(self.team, self.change_of_team).unwrap();
        self.store.create_key_with(self.team, "", rights).unwrap()
    }

    fn key_of_other_team(&self, name: &str, change: &TeamChange) -> String {
        self.store.set_team(name, change).unwrap();
        self.store.create_key(name, "").unwrap().secret.expose().to_owned()
    }
}

fn start(site: &Site, scratch: &TempDir, log: &std::path::Path, chromium: Option<PathBuf>) -> Service {
    let mut command = site.serve_command();
    command
        .env("WEBSVC_LOG", "trace")
        .env("TMPDIR", scratch.path())
        .env("ES_KEY", "secret")
        .env("WEBSVC__AUDIT__FILE", scratch.path().join(EVENTS))
        .env("WEBSVC__TRACES__ENDPOINT", web::COLLECTOR)
        .env("WEBSVC__SEARCH__PROVIDERS", r#"["index", "searxng"]"#)
        .env("WEBSVC__SEARCH__SEARXNG__URL", "http://searx.test")
        .env("WEBSVC__SEARCH__SOURCES__ES__KIND", "elasticsearch")
        .env("WEBSVC__SEARCH__SOURCES__ES__URL", MIRROR)
        .env("WEBSVC__SEARCH__SOURCES__ES__INDEX", "pages")
        .env("WEBSVC__SEARCH__SOURCES__ES__WRITE", "true")
        .env("WEBSVC__SEARCH__SOURCES__ES__API_KEY", "${ES_KEY}");
    if let Some(chromium) = chromium {
        command.env("WEBSVC__BROWSER__CONCURRENCY", "2").env("WEBSVC__BROWSER__PATH", chromium);
    }
    Service::start_logging(&mut command, log)
}

/// Asserts that no data contains the marker while the service runs and after it has stopped.
async fn assert_nothing_is_left(mut retention: RetentionTest) {
    let running = retention.stored_data().await;
    retention.assert_no_trace(&running, "while the service runs");
    assert!(retention.service.end().success());
    retention.assert_no_trace(&retention.on_disk(), "after the stop");
}

#[tokio::test(flavor = "multi_thread")]
async fn retained_data_is_found_by_the_same_search() {
    let mut retention = RetentionTest::new(RetentionKind::Stored).await;
    retention.send_all_requests().await;
    let id = retention.search_once().await;
    let stored_data = retention.stored_data().await;
    let assert_found = |location: &str, name: &str| {
        let found = stored_data.with(location, &retention.marker.named(name));
        assert!(
            !found.is_empty(),
            "{name} is not in {location}:\n{}",
            stored_data.traces(&retention.marker).join("\n")
        );
    };
    for query in ["query", "played", "tool"] {
        assert_found("table usage_log", query);
        assert_found("/dashboard/requests", query);
        assert_found("websvc.db", query);
    }
    // The bodies in this table are compressed.
    for name in ["path", "parameter", "etag", "title", "body", "comment", "alt", "pdf"] {
        assert_found("table pages", name);
    }
    for name in ["path", "title", "heading", "body", "alt", "anchor", "pdf"] {
        assert_found("the documents of the index", name);
    }
    assert_found("index/", "title");
    for query in ["query", "tool"] {
        assert_found(EVENTS, query);
    }
    let mirrored = json!(retention.mirror.documents()).to_string();
    assert!(retention.marker.trace(mirrored.as_bytes()).is_some(), "no page was written to the mirror");
    assert!(!stored_data.with("the log", &id).is_empty(), "the log lacks the request");
    let logged: Vec<_> = stored_data
        .traces(&retention.marker)
        .into_iter()
        .filter(|trace| trace.starts_with("the log"))
        .collect();
    assert!(logged.is_empty(), "the log contains content of a request: {logged:?}");
    // The result of a request is written with a delay.
    assert!(retention.service.end().success());
    let spans = retention.spans();
    assert!(Marker::from_word(&id).trace(&spans).is_some(), "the request has no span");
    assert_eq!(retention.marker.trace(&spans), None, "a span contains content of a request");
    let stored_data = retention.on_disk();
    for (name, text) in [("team", &retention.team), ("key", &retention.key_id), ("request", &id)] {
        assert_eq!(stored_data.with("table usage_log", text).len(), 1, "the {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_retention_request_leaves_no_data() {
    let retention = RetentionTest::new(RetentionKind::Zero).await;
    retention.send_all_requests().await;
    assert_nothing_is_left(retention).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forced_zero_retention_team_leaves_no_data() {
    let retention = RetentionTest::new(RetentionKind::ForcedZero).await;
    retention.send_all_requests().await;
    assert_nothing_is_left(retention).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_zero_retention_request_leaves_no_data() {
    let chromium = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(PathBuf::from);
    let mut retention = RetentionTest::with_browser(RetentionKind::Zero, chromium).await;
    retention.cancel_search_after(retention.silent_page_requested()).await;
    // The other pages were scraped, and the request is still in flight.
    let requested = retention.silent_page_requested();
    retention
        .cancel_search_after(async {
            requested.await;
            retention.service.kill();
        })
        .await;
    assert!(!retention.service.end().success());
    retention.assert_no_trace(&retention.on_disk(), "after the kill");
    retention.service = start(&retention.site, &retention.scratch, &retention.log, None);
    assert_nothing_is_left(retention).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rendered_zero_retention_pages_leave_no_data() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let stored_test = RetentionTest::with_browser(RetentionKind::Stored, Some(chromium.clone())).await;
    stored_test.render_pages().await;
    let stored_data = stored_test.stored_data().await;
    assert!(
        stored_data.named("artifacts/").len() >= 3,
        "screenshots and PDFs are not stored as files: {:?}",
        stored_data.named("")
    );
    assert!(
        !stored_data.with("table pages", &stored_test.marker.named("body")).is_empty(),
        "rendered pages are not cached"
    );
    drop(stored_test);
    let retention = RetentionTest::with_browser(RetentionKind::Zero, Some(chromium)).await;
    retention.render_pages().await;
    retention.cancel_search_after(retention.silent_page_requested()).await;
    let stored_data = retention.stored_data().await;
    assert_eq!(stored_data.named("artifacts/"), Vec::<&str>::new());
    assert_nothing_is_left(retention).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lockdown_request_is_written_nowhere() {
    let retention = RetentionTest::new(RetentionKind::Stored).await;
    assert_eq!(retention.search_under_lockdown(&retention.marker.named("query")).await, 404);
    let stored_data = retention.stored_data().await;
    retention.assert_no_trace(&stored_data, "after a miss");
    retention.search_with_content().await;
    let another = Marker::new();
    assert_eq!(retention.search_under_lockdown(&another.named("query")).await, 200);
    let traces = retention.stored_data().await.traces(&another);
    assert!(traces.is_empty(), "after a hit:\n{}", traces.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn anonymous_request_data_names_no_team_or_key() {
    let mut retention = RetentionTest::new(RetentionKind::Anonymous).await;
    retention.send_all_requests().await;
    let id = retention.search_once().await;
    // Teams, keys and totals of credits are not data of a request.
    let unrelated = [
        "table teams",
        "table keys",
        "table grants",
        "table leases",
        "table usage_daily",
        "websvc.db",
        "ledger",
        "/dashboard/teams",
        "/dashboard/usage",
        "/v2/team/",
        "the command usage",
    ];
    let running = retention.stored_data().await.without(&unrelated);
    assert!(retention.service.end().success());
    for stored_data in [running, retention.on_disk().without(&unrelated)] {
        let content = stored_data.traces(&retention.marker);
        assert!(content.is_empty(), "content is stored:\n{}", content.join("\n"));
        assert!(!stored_data.named("table usage_log").is_empty() && !stored_data.named("the log").is_empty());
        // Audit events of sign-ins and of malformed bodies may name the team.
        let is_unexpected = |location: &&str| *location != EVENTS && !location.starts_with("audit/");
        for name in [&retention.team, &retention.key_id] {
            assert_eq!(stored_data.with("", name).into_iter().find(is_unexpected), None);
        }
        for query in ["query", "played", "tool", "failing"] {
            let found = stored_data.with("", &retention.marker.named(query));
            assert_eq!(found, Vec::<&str>::new(), "{query}");
        }
        // The request ID is only in the log, so no stored data can be linked to the request.
        assert_eq!(stored_data.with("", &id), ["the log"]);
    }
}

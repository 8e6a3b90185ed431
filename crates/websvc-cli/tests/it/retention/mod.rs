//! Traces of a request: none under zero data retention, and none with content or a name under the anonymized kind. The
//! same requests without either leave traces, which shows that the search finds them.

mod mark;
mod places;
mod ways;
mod web;

use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use websvc_store::{KeyRights, NewKey, Retention, Store, TeamChange, ThreatPolicy};
use websvc_testkit::{FakeElasticsearch, TestWeb};

use self::mark::Mark;
use self::places::Places;
use self::web::{MIRROR, Web};
use crate::browser::provided;
use crate::harness::{KEY, Service, Site};

/// The file of audit events, among the temporary ones.
const EVENTS: &str = "events.jsonl";

/// How requests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As most are: all that can be kept is.
    Kept,
    /// With `enterprise: ["zdr"]`.
    Zero,
    /// By a team that may not ask otherwise.
    ForcedZero,
    /// With `enterprise: ["anon"]`.
    Anonymous,
}

/// A service that keeps what it may and tells what it can, and those who ask it.
struct Stage {
    mark: Mark,
    web: Web,
    world: TestWeb,
    mirror: FakeElasticsearch,
    site: Site,
    /// The directory for temporary files, the browser's among them.
    scratch: TempDir,
    log: PathBuf,
    service: Service,
    enterprise: Option<&'static str>,
    team: String,
    key: String,
    key_id: String,
    /// An administrator of the team.
    admin: String,
    /// A key of a team without threat protection.
    unprotected: String,
    /// A key for one format.
    narrow: String,
    /// A key of a team with a single credit.
    poor: String,
    /// A key of a team with no request left in this minute.
    busy: String,
}

impl Stage {
    async fn new(kind: Kind) -> Self {
        Self::with_browser(kind, None).await
    }

    async fn with_browser(kind: Kind, chromium: Option<PathBuf>) -> Self {
        let mark = Mark::new();
        let web = Web::of(&mark);
        let mut hashed = web.all().to_vec();
        let query = mark.named("query");
        hashed.push(&query);
        let mark = Mark::of(&mark.named("")).and_hash_of(&hashed);
        let mirror = FakeElasticsearch::new("pages").require_authorization("ApiKey secret");
        let world = web.start(&mark, &mirror).await;
        let site = Site::new(&world);
        let (scratch, logs) = (TempDir::new().unwrap(), TempDir::new().unwrap().keep());
        let store = Store::open(site.data_dir()).unwrap();
        let team = Mark::new().named("crew");
        let own = change(kind);
        let keys = Keys { store: &store, team: &team, own: &own };
        let poor = keys.of_other("poor", &TeamChange { credits: Some(Some(1)), ..own });
        let busy = keys.of_other("busy", &TeamChange { requests_per_minute: Some(Some(1)), ..own });
        let unprotected =
            keys.of_other("unprotected", &TeamChange { threat_protection: Some(ThreatPolicy::Off), ..own });
        let NewKey { id, secret } = keys.own(&KeyRights::default());
        let (key_id, key) = (id.to_string(), secret.expose().to_owned());
        let secret = |rights: KeyRights| keys.own(&rights).secret.expose().to_owned();
        let admin = secret(KeyRights { admin: true, ..KeyRights::default() });
        let formats = Some(["markdown".to_owned()].into());
        let narrow = secret(KeyRights { formats, ..KeyRights::default() });
        drop(store);
        let log = logs.join("log");
        let service = start(&site, &scratch, &log, chromium);
        let enterprise = match kind {
            Kind::Kept | Kind::ForcedZero => None,
            Kind::Zero => Some("zdr"),
            Kind::Anonymous => Some("anon"),
        };
        Self {
            mark,
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
            narrow,
            poor,
            busy,
        }
    }

    /// Looks everywhere while the service runs.
    async fn places(&self) -> Places {
        Places::of(&self.service, &self.admin, &self.site, self.scratch.path(), &self.log).await
    }

    /// Looks everywhere while nothing runs.
    fn on_disk(&self) -> Places {
        Places::on_disk(&self.site, self.scratch.path(), &self.log)
    }

    fn nothing_is_in(&self, places: &Places, when: &str) {
        let traces = places.traces(&self.mark);
        assert!(traces.is_empty(), "{when}:\n{}", traces.join("\n"));
        let mirrored = json!(self.mirror.documents()).to_string();
        assert!(self.mark.trace(mirrored.as_bytes()).is_none(), "{when}: {mirrored}");
        assert_eq!(self.mark.trace(&self.spans()), None, "{when}: in a trace");
    }

    /// Returns what the collector of traces was sent.
    fn spans(&self) -> Vec<u8> {
        let sent = self.world.requests().into_iter().filter(|seen| seen.url.starts_with(web::COLLECTOR));
        sent.flat_map(|seen| seen.body).collect()
    }
}

fn change(kind: Kind) -> TeamChange {
    let (zdr, anon) = match kind {
        Kind::Kept => (Retention::Off, Retention::Off),
        Kind::Zero => (Retention::Allowed, Retention::Off),
        Kind::ForcedZero => (Retention::Forced, Retention::Off),
        Kind::Anonymous => (Retention::Off, Retention::Allowed),
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

/// Makes teams and keys.
struct Keys<'a> {
    store: &'a Store,
    team: &'a str,
    own: &'a TeamChange,
}

impl Keys<'_> {
    fn own(&self, rights: &KeyRights) -> NewKey {
        self.store.set_team(self.team, self.own).unwrap();
        self.store.create_key_with(self.team, "", rights).unwrap()
    }

    fn of_other(&self, name: &str, change: &TeamChange) -> String {
        self.store.set_team(name, change).unwrap();
        self.store.create_key(name, "").unwrap().secret.expose().to_owned()
    }
}

fn start(site: &Site, scratch: &TempDir, log: &std::path::Path, chromium: Option<PathBuf>) -> Service {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("WEBSVC_API_KEY", KEY)
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

/// Checks that no trace of what was asked is anywhere, while the service runs and after it was stopped.
async fn leaves_nothing(mut stage: Stage) {
    let running = stage.places().await;
    stage.nothing_is_in(&running, "while it runs");
    assert!(stage.service.end().success());
    stage.nothing_is_in(&stage.on_disk(), "after it was stopped");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_be_kept_is_found_by_the_same_search() {
    let mut stage = Stage::new(Kind::Kept).await;
    stage.drive().await;
    let id = stage.ask().await;
    let places = stage.places().await;
    let find = |place: &str, name: &str| {
        let found = places.with(place, &stage.mark.named(name));
        assert!(!found.is_empty(), "{name} is not in {place}:\n{}", places.traces(&stage.mark).join("\n"));
    };
    for query in ["query", "played", "tool"] {
        find("table usage_log", query);
        find("/dashboard/requests", query);
        find("websvc.db", query);
    }
    // The body is compressed.
    for name in ["path", "parameter", "etag", "title", "body", "comment", "alt", "pdf"] {
        find("table pages", name);
    }
    for name in ["path", "title", "heading", "body", "alt", "anchor", "pdf"] {
        find("the documents of the index", name);
    }
    find("index/", "title");
    for query in ["query", "tool"] {
        find(EVENTS, query);
    }
    let mirrored = json!(stage.mirror.documents()).to_string();
    assert!(stage.mark.trace(mirrored.as_bytes()).is_some(), "pages are written to the mirror");
    assert!(!places.with("the log", &id).is_empty(), "the log has every request");
    let logged: Vec<_> =
        places.traces(&stage.mark).into_iter().filter(|trace| trace.starts_with("the log")).collect();
    assert!(logged.is_empty(), "the log has no content of any request: {logged:?}");
    // What a request came to is written a little later.
    assert!(stage.service.end().success());
    let spans = stage.spans();
    assert!(Mark::of(&id).trace(&spans).is_some(), "every request is traced");
    assert_eq!(stage.mark.trace(&spans), None, "traces have no content of any request");
    let places = stage.on_disk();
    for (name, text) in [("team", &stage.team), ("key", &stage.key_id), ("request", &id)] {
        assert_eq!(places.with("table usage_log", text).len(), 1, "the {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_request_of_zero_retention_is_left() {
    let stage = Stage::new(Kind::Zero).await;
    stage.drive().await;
    leaves_nothing(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_team_that_always_has_zero_retention_is_left() {
    let stage = Stage::new(Kind::ForcedZero).await;
    stage.drive().await;
    leaves_nothing(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_request_that_a_kill_breaks_off() {
    let chromium = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(PathBuf::from);
    let mut stage = Stage::with_browser(Kind::Zero, chromium).await;
    stage.hang(stage.web_was_asked_for_the_silent_page()).await;
    // The pages that answer were read meanwhile, and the request is still in work.
    let asked = stage.web_was_asked_for_the_silent_page();
    stage
        .hang(async {
            asked.await;
            stage.service.kill();
        })
        .await;
    assert!(!stage.service.end().success());
    stage.nothing_is_in(&stage.on_disk(), "after it was killed");
    stage.service = start(&stage.site, &stage.scratch, &stage.log, None);
    leaves_nothing(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_pages_in_the_browser_is_left() {
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", "nothing_of_pages_in_the_browser_is_left") else {
        return;
    };
    let kept = Stage::with_browser(Kind::Kept, Some(chromium.clone())).await;
    kept.draw().await;
    let places = kept.places().await;
    assert!(
        places.named("artifacts/").len() >= 3,
        "pictures and printed pages are files: {:?}",
        places.named("")
    );
    assert!(
        !places.with("table pages", &kept.mark.named("body")).is_empty(),
        "pages that were drawn are cached"
    );
    drop(kept);
    let stage = Stage::with_browser(Kind::Zero, Some(chromium)).await;
    stage.draw().await;
    stage.hang(stage.web_was_asked_for_the_silent_page()).await;
    let places = stage.places().await;
    assert_eq!(places.named("artifacts/"), Vec::<&str>::new());
    leaves_nothing(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_cache_was_asked_for_is_written_nowhere() {
    let stage = Stage::new(Kind::Kept).await;
    assert_eq!(stage.ask_the_cache(&stage.mark.named("query")).await, 404);
    let places = stage.places().await;
    stage.nothing_is_in(&places, "after a miss");
    stage.search_with_content().await;
    let another = Mark::new();
    assert_eq!(stage.ask_the_cache(&another.named("query")).await, 200);
    let traces = stage.places().await.traces(&another);
    assert!(traces.is_empty(), "after a hit:\n{}", traces.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_of_anonymous_requests_is_nobodys() {
    let mut stage = Stage::new(Kind::Anonymous).await;
    stage.drive().await;
    let id = stage.ask().await;
    // Who there is, and what a team spent, is no part of what is kept of a request.
    let own = [
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
    let running = stage.places().await.without(&own);
    assert!(stage.service.end().success());
    for places in [running, stage.on_disk().without(&own)] {
        let content = places.traces(&stage.mark);
        assert!(content.is_empty(), "content is kept:\n{}", content.join("\n"));
        assert!(!places.named("table usage_log").is_empty() && !places.named("the log").is_empty());
        // Events tell of signing in, and of what could not be read, too, which is nobody's secret.
        let unnamed = |place: &&str| *place != EVENTS && !place.starts_with("audit/");
        for name in [&stage.team, &stage.key_id] {
            assert_eq!(places.with("", name).into_iter().find(unnamed), None);
        }
        for query in ["query", "played", "tool", "failing"] {
            let found = places.with("", &stage.mark.named(query));
            assert_eq!(found, Vec::<&str>::new(), "{query}");
        }
        // The log has the number of every request, and nothing else leads from there to what is kept.
        assert_eq!(places.with("", &id), ["the log"]);
    }
}

//! Tests of pages in the index of a team: their visibility, storage and deletion.

use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{FakeElasticsearch, Page, TestWeb, TestWebBuilder};

use crate::batch::{start_at, wait_for_end};
use crate::elastic;
use crate::harness::{Service, Site};

/// A URL that only one team may see.
const SECRET: &str = "http://files.test/report/token-s3cr3t";
/// A URL that several teams fetch.
const COMMON: &str = "http://files.test/common";

/// Time limit for a change to apply, and for a page to be searchable.
const TIMEOUT: Duration = Duration::from_secs(30);

fn page(title: &str, text: &str) -> Page {
    Page::html(format!("<html lang=en><title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>"))
}

fn world() -> TestWebBuilder {
    TestWeb::builder()
        .page(SECRET, page("Quarterly xylophone", "The xylophone sales of the quarter."))
        .page(COMMON, page("Common marimba", "Public information about the marimba."))
        .page("http://files.test/", Page::html("<title>Files</title><main><p>Nothing to see.</p></main>"))
}

/// A service with the teams `red` and `blue`, and their keys.
struct TeamPagesTest {
    world: TestWeb,
    site: Site,
    service: Service,
    red: String,
    blue: String,
}

impl TeamPagesTest {
    async fn new(policy: &str) -> Self {
        Self::start(world().start().await, policy, Site::serve)
    }

    /// Starts a service with an Elasticsearch server as the only index.
    async fn with_server(es: &FakeElasticsearch, policy: &str) -> Self {
        let world = es.serve(world(), "http://es.test").start().await;
        Self::start(world, policy, |site| elastic::serve(site, r#"["es"]"#))
    }

    fn start(world: TestWeb, policy: &str, serve: impl FnOnce(&Site) -> Service) -> Self {
        let site = Site::new(&world);
        site.succeed(&["teams", "set", "red", "--index", policy]);
        let key = |team: &str| site.create_key(&["--team", team]);
        let (red, blue) = (key("red"), key("blue"));
        let service = serve(&site);
        Self { world, site, service, red, blue }
    }

    async fn post(&self, key: &str, path: &str, body: Value) -> Value {
        let response = self.response(key, path, body).await;
        assert_eq!(response.0, StatusCode::OK, "{path}: {}", response.1);
        response.1
    }

    async fn response(&self, key: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let headers = [("authorization", &*format!("Bearer {key}")), ("content-type", "application/json")];
        let response = self.service.send(http::Method::POST, path, &headers, body.to_string()).await;
        (response.status, response.body)
    }

    /// Scrapes a page and returns whether it came from the cache.
    async fn scrape(&self, key: &str, url: &str) -> bool {
        let response = self.post(key, "/v2/scrape", json!({"url": url, "maxAge": 3_600_000})).await;
        assert!(response["warning"].is_null(), "{response}");
        response["data"]["metadata"]["cacheState"] == "hit"
    }

    /// Returns the URLs of all results of a search: web, news and images.
    async fn search(&self, key: &str, query: &str) -> Vec<String> {
        let body = json!({"query": query, "sources": ["web", "news", "images"]});
        let response = self.post(key, "/v2/search", body).await;
        let kinds = ["web", "news", "images"].map(|kind| response["data"][kind].as_array().cloned());
        let results = kinds.into_iter().flatten().flatten();
        results.map(|result| result["url"].as_str().unwrap_or_default().to_owned()).collect()
    }

    async fn search_until_found(&self, key: &str, query: &str, url: &str) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.search(key, query).await.iter().any(|found| found == url) {
            assert!(Instant::now() < deadline, "{query:?} does not find {url}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn map(&self, key: &str) -> Vec<String> {
        let response = self.post(key, "/v2/map", json!({"url": "http://files.test/"})).await;
        let links = response["links"].as_array().unwrap().iter();
        links.map(|link| link["url"].as_str().unwrap().to_owned()).collect()
    }

    async fn documents(&self, key: &str) -> u64 {
        let headers = [("authorization", &*format!("Bearer {key}"))];
        let stats = self.service.send(http::Method::GET, "/v2/index/stats", &headers, "").await;
        stats.body["documents"].as_u64().unwrap()
    }

    /// Asserts that only team red sees the secret page, in searches, maps and the cache. Fetches no page again.
    async fn assert_secret_of_red(&self) {
        self.search_until_found(&self.red, "xylophone", SECRET).await;
        assert!(self.map(&self.red).await.iter().any(|url| url == SECRET));
        assert!(self.scrape(&self.red, SECRET).await, "the page was not served from the team's cache");
        for query in ["xylophone", "xylophnoe", "quarterly sales", "site:files.test", "inurl:token"] {
            let found = self.search(&self.blue, query).await;
            assert!(!found.iter().any(|url| url.contains("token")), "{query}: {found:?}");
        }
        assert!(!self.map(&self.blue).await.iter().any(|url| url.contains("token")));
        let lockdown = json!({"url": SECRET, "lockdown": true});
        assert_eq!(self.response(&self.blue, "/v2/scrape", lockdown).await.0, StatusCode::NOT_FOUND);
    }

    fn restart(self, kill: bool) -> Self {
        let Self { world, site, mut service, red, blue } = self;
        if kill {
            service.kill();
        } else {
            assert!(service.end().success());
        }
        drop(service);
        Self { service: site.serve(), world, site, red, blue }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn team_page_is_found_by_its_team_only_and_after_a_restart() {
    let test = TeamPagesTest::new("team").await;
    assert!(!test.scrape(&test.red, SECRET).await);
    test.assert_secret_of_red().await;
    assert_eq!(test.world.count(SECRET), 1);
    assert_eq!((test.documents(&test.red).await, test.documents(&test.blue).await), (1, 0));
    let test = test.restart(false);
    test.assert_secret_of_red().await;
    assert_eq!(test.world.count(SECRET), 1);
    assert!(!test.scrape(&test.blue, SECRET).await, "the other team received the cached page");
    assert_eq!(test.world.count(SECRET), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn team_page_survives_a_kill_right_after_the_response() {
    let mut test = TeamPagesTest::new("team").await;
    assert!(!test.scrape(&test.red, SECRET).await);
    test = test.restart(true);
    test.assert_secret_of_red().await;
    let document = json!({"url": "http://up.test/", "title": "Up", "body": "theremin"});
    let body = json!({"documents": [document]});
    test.post(&test.red, "/v2/index/documents", body).await;
    test = test.restart(true);
    test.search_until_found(&test.red, "theremin", "http://up.test/").await;
    assert!(test.search(&test.blue, "theremin").await.is_empty());
    assert_eq!(test.world.count(SECRET), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn team_and_shared_copies_of_one_url_coexist() {
    let test = TeamPagesTest::new("team").await;
    assert!(!test.scrape(&test.blue, COMMON).await);
    test.search_until_found(&test.blue, "marimba", COMMON).await;
    assert!(test.scrape(&test.red, COMMON).await, "the team does not use the shared cache");
    test.search_until_found(&test.red, "marimba", COMMON).await;
    // The team has its own version of the URL.
    let document = json!({"url": COMMON, "title": "Our marimba", "body": "marimba with a glockenspiel"});
    test.post(&test.red, "/v2/index/documents", json!({"documents": [document]})).await;
    test.search_until_found(&test.red, "glockenspiel", COMMON).await;
    assert_eq!(test.search(&test.red, "marimba").await, [COMMON], "the URL must appear once");
    let title = async |key: &str| {
        let response = test.post(key, "/v2/search", json!({"query": "marimba"})).await;
        response["data"]["web"][0]["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(&test.red).await, "Our marimba", "the team's version does not take precedence");
    assert_eq!(title(&test.blue).await, "Common marimba");
    assert!(test.search(&test.blue, "glockenspiel").await.is_empty());
    // A new shared version does not replace the team's version.
    let shared_document =
        json!({"url": COMMON, "title": "Their marimba", "body": "marimba with a vibraphone"});
    test.post(&test.blue, "/v2/index/documents", json!({"documents": [shared_document]})).await;
    test.search_until_found(&test.blue, "vibraphone", COMMON).await;
    assert_eq!(title(&test.red).await, "Our marimba");
    assert_eq!(title(&test.blue).await, "Their marimba");
    assert_eq!((test.documents(&test.red).await, test.documents(&test.blue).await), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn index_setting_applies_to_jobs_searches_and_version_1() {
    let mut test = TeamPagesTest::new("team").await;
    test.service.key.clone_from(&test.red);
    let path = start_at(&test.service, "/v2/batch/scrape", json!({"urls": [SECRET]})).await;
    wait_for_end(&test.service, &path).await;
    test.assert_secret_of_red().await;
    let v1 = test.post(&test.red, "/v1/scrape", json!({"url": COMMON})).await;
    assert_eq!(v1["success"], true, "{v1}");
    test.search_until_found(&test.red, "marimba", COMMON).await;
    let found = json!({"query": "marimba", "scrapeOptions": {"formats": ["markdown"], "maxAge": 0}});
    test.post(&test.red, "/v2/search", found).await;
    assert!(test.search(&test.blue, "marimba").await.is_empty());
    assert_eq!(test.documents(&test.blue).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn team_with_index_off_stores_nothing() {
    let test = TeamPagesTest::new("off").await;
    assert!(!test.scrape(&test.red, SECRET).await);
    assert!(!test.scrape(&test.red, SECRET).await);
    let upload = json!({"documents": [{"url": "http://up.test/", "title": "Up", "body": "theremin"}]});
    let (status, body) = test.response(&test.red, "/v2/index/documents", upload).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(body["error"].as_str().unwrap().contains("teams set NAME --index"), "{body}");
    assert!(!test.scrape(&test.blue, COMMON).await);
    test.search_until_found(&test.blue, "marimba", COMMON).await;
    test.search_until_found(&test.red, "marimba", COMMON).await;
    assert!(test.scrape(&test.red, COMMON).await, "the team does not use the shared cache");
    assert_eq!(test.documents(&test.red).await, 1);
    let cache: Value = serde_json::from_str(&test.site.succeed(&["cache", "stats", "--json"])).unwrap();
    assert_eq!(cache["pages"], 1, "{cache}");
    assert!(test.search(&test.red, "xylophone").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_index_setting_applies_to_a_running_service() {
    let test = TeamPagesTest::new("shared").await;
    assert!(!test.scrape(&test.red, COMMON).await);
    assert!(test.scrape(&test.blue, COMMON).await, "the cache is not shared by default");
    let shown = test.site.succeed(&["teams", "set", "red", "--index", "team", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["index"], "team");
    assert!(test.site.succeed(&["teams", "show", "red"]).contains("index                team"));
    assert!(test.site.succeed(&["teams", "list"]).contains("INDEX"));
    // The server applies the change within a second. Until then, pages of the team are shared.
    let deadline = Instant::now() + TIMEOUT;
    for number in 0.. {
        let url = format!("http://files.test/?probe={number}");
        test.scrape(&test.red, &url).await;
        if !test.scrape(&test.blue, &url).await {
            break;
        }
        assert!(Instant::now() < deadline, "the server does not apply the change");
    }
    test.scrape(&test.red, SECRET).await;
    test.assert_secret_of_red().await;
    assert!(test.scrape(&test.blue, COMMON).await, "an earlier shared page is not shared any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_team_deletes_its_pages() {
    let test = TeamPagesTest::new("team").await;
    test.scrape(&test.red, SECRET).await;
    test.search_until_found(&test.red, "xylophone", SECRET).await;
    let team_indexes = test.site.data_dir().join("index/teams");
    let indexes = || std::fs::read_dir(&team_indexes).unwrap().count();
    assert_eq!(indexes(), 1);
    test.site.succeed(&["teams", "delete", "red"]);
    let deadline = Instant::now() + TIMEOUT;
    while indexes() > 0 {
        assert!(Instant::now() < deadline, "the index of the team was not deleted");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let cache: Value = serde_json::from_str(&test.site.succeed(&["cache", "stats", "--json"])).unwrap();
    assert_eq!(cache["pages"], 0, "{cache}");
    // A new team with the same name does not see the old pages.
    test.site.succeed(&["teams", "set", "red", "--index", "team"]);
    let red = test.site.create_key(&["--team", "red"]);
    let test = TeamPagesTest { red, ..test }.restart(false);
    assert!(test.search(&test.red, "xylophone").await.is_empty());
    assert!(!test.scrape(&test.red, SECRET).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn team_page_is_in_the_backup_and_deletable() {
    let test = TeamPagesTest::new("team").await;
    test.scrape(&test.red, SECRET).await;
    test.search_until_found(&test.red, "xylophone", SECRET).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("websvc.tar");
    test.site.succeed(&["backup", file.to_str().unwrap()]);
    let TeamPagesTest { world, site, service, red, blue } = test;
    assert!(service.stop().success());
    let restored = Site::new(&world);
    let tar = ["-xf", file.to_str().unwrap(), "-C", restored.data_dir().to_str().unwrap()];
    assert!(std::process::Command::new("tar").args(tar).status().unwrap().success());
    let doctor = String::from_utf8(restored.run(&["doctor", "--json"]).stdout).unwrap();
    assert!(!doctor.contains("damaged"), "{doctor}");
    let test = TeamPagesTest { service: restored.serve(), world, site: restored, red, blue };
    test.assert_secret_of_red().await;
    let TeamPagesTest { world, service, red, blue, .. } = test;
    assert!(service.stop().success());
    let deleted: Value =
        serde_json::from_str(&site.succeed(&["index", "delete", "--url", SECRET, "--json"])).unwrap();
    assert_eq!(deleted["documents"], 1);
    let test = TeamPagesTest { service: site.serve(), world, site, red, blue };
    assert!(test.search(&test.red, "xylophone").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_index_setting_is_rejected_with_the_allowed_values() {
    let site = Site::new(&world().start().await);
    let output = site.run(&["teams", "set", "red", "--index", "private"]);
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    for word in ["private", "--index", "shared, team, off"] {
        assert!(stderr.contains(word), "{stderr}");
    }
    assert!(!site.succeed(&["teams", "list", "--json"]).contains("red"), "the team was created");
}

#[tokio::test(flavor = "multi_thread")]
async fn team_page_on_a_server_is_found_by_its_team_only_and_deleted_with_it() {
    let es = elastic::server();
    let test = TeamPagesTest::with_server(&es, "team").await;
    assert!(!test.scrape(&test.red, SECRET).await);
    test.assert_secret_of_red().await;
    assert_eq!((test.documents(&test.red).await, test.documents(&test.blue).await), (1, 0));
    let indexes = es.team_indexes();
    assert_eq!((indexes.len(), es.documents().len()), (1, 0), "{indexes:?}");

    // Each team has a copy of its own, and finds one.
    assert!(!test.scrape(&test.red, COMMON).await && !test.scrape(&test.blue, COMMON).await);
    for key in [&test.red, &test.blue] {
        test.search_until_found(key, "marimba", COMMON).await;
        assert_eq!(test.search(key, "marimba").await, [COMMON]);
    }
    let document =
        json!({"url": "http://files.test/uploaded", "title": "Glockenspiel", "body": "A glockenspiel."});
    test.post(&test.red, "/v2/index/documents", json!({ "documents": [document] })).await;
    test.search_until_found(&test.red, "glockenspiel", "http://files.test/uploaded").await;
    assert_eq!(test.search(&test.blue, "glockenspiel").await, Vec::<String>::new());

    let delete = ["index", "delete", "--url", COMMON];
    let output = elastic::command(&test.site, &delete, r#"["es"]"#).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "es: 2 documents deleted\n0 documents deleted\n");
    assert_eq!((test.documents(&test.red).await, test.documents(&test.blue).await), (2, 0));
    test.site.succeed(&["teams", "delete", "red"]);
    let deadline = Instant::now() + TIMEOUT;
    while !es.team_indexes().is_empty() {
        assert!(Instant::now() < deadline, "the index of the deleted team is on the server");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(es.violations(), Vec::<String>::new());
}

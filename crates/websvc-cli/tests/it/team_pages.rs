//! Pages of teams that keep theirs to themselves, over HTTP: who finds them, and when they go.

use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::{ended, start_at};
use crate::harness::{Service, Site};

/// An address that only its holder is to know.
const SECRET: &str = "http://files.test/report/token-s3cr3t";
/// An address that several teams get.
const COMMON: &str = "http://files.test/common";

/// How long a change may take to be seen, and a page to be searchable.
const PATIENCE: Duration = Duration::from_secs(30);

fn page(title: &str, words: &str) -> Page {
    Page::html(format!("<html lang=en><title>{title}</title><main><h1>{title}</h1><p>{words}</p></main>"))
}

async fn world() -> TestWeb {
    TestWeb::builder()
        .page(SECRET, page("Quarterly xylophone", "The xylophone sales of the quarter."))
        .page(COMMON, page("Common marimba", "What everybody may know of the marimba."))
        .page("http://files.test/", Page::html("<title>Files</title><main><p>Nothing to see.</p></main>"))
        .start()
        .await
}

/// A service with teams `red` and `blue`, each with a key.
struct Stage {
    world: TestWeb,
    site: Site,
    service: Service,
    red: String,
    blue: String,
}

impl Stage {
    async fn new(policy: &str) -> Self {
        let world = world().await;
        let site = Site::new(&world);
        site.succeed(&["teams", "set", "red", "--index", policy]);
        let key = |team: &str| site.succeed(&["keys", "create", "--team", team]).trim().to_owned();
        let (red, blue) = (key("red"), key("blue"));
        let service = site.serve();
        Self { world, site, service, red, blue }
    }

    async fn post(&self, key: &str, path: &str, body: Value) -> Value {
        let answer = self.answer(key, path, body).await;
        assert_eq!(answer.0, StatusCode::OK, "{path}: {}", answer.1);
        answer.1
    }

    async fn answer(&self, key: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let headers = [("authorization", &*format!("Bearer {key}")), ("content-type", "application/json")];
        let answer = self.service.send(http::Method::POST, path, &headers, body.to_string()).await;
        (answer.status, answer.body)
    }

    /// Scrapes a page and returns whether it came from the cache.
    async fn scrape(&self, key: &str, url: &str) -> bool {
        let answer = self.post(key, "/v2/scrape", json!({"url": url, "maxAge": 3_600_000})).await;
        assert!(answer["warning"].is_null(), "{answer}");
        answer["data"]["metadata"]["cacheState"] == "hit"
    }

    /// Returns the URLs that a search finds, of all kinds.
    async fn search(&self, key: &str, query: &str) -> Vec<String> {
        let body = json!({"query": query, "sources": ["web", "news", "images"]});
        let answer = self.post(key, "/v2/search", body).await;
        let kinds = ["web", "news", "images"].map(|kind| answer["data"][kind].as_array().cloned());
        let results = kinds.into_iter().flatten().flatten();
        results.map(|result| result["url"].as_str().unwrap_or_default().to_owned()).collect()
    }

    async fn until_found(&self, key: &str, query: &str, url: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.search(key, query).await.iter().any(|found| found == url) {
            assert!(Instant::now() < deadline, "{query:?} never finds {url}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn map(&self, key: &str) -> Vec<String> {
        let answer = self.post(key, "/v2/map", json!({"url": "http://files.test/"})).await;
        let links = answer["links"].as_array().unwrap().iter();
        links.map(|link| link["url"].as_str().unwrap().to_owned()).collect()
    }

    async fn documents(&self, key: &str) -> u64 {
        let headers = [("authorization", &*format!("Bearer {key}"))];
        let stats = self.service.send(http::Method::GET, "/v2/index/stats", &headers, "").await;
        stats.body["documents"].as_u64().unwrap()
    }

    /// Asserts that red alone sees the secret page, everywhere; asks for none of it anew.
    async fn assert_secret_of_red(&self) {
        self.until_found(&self.red, "xylophone", SECRET).await;
        assert!(self.map(&self.red).await.iter().any(|url| url == SECRET));
        assert!(self.scrape(&self.red, SECRET).await, "the copy of the team");
        for query in ["xylophone", "xylophnoe", "quarterly sales", "site:files.test", "inurl:token"] {
            let found = self.search(&self.blue, query).await;
            assert!(!found.iter().any(|url| url.contains("token")), "{query}: {found:?}");
        }
        assert!(!self.map(&self.blue).await.iter().any(|url| url.contains("token")));
        let lockdown = json!({"url": SECRET, "lockdown": true});
        assert_eq!(self.answer(&self.blue, "/v2/scrape", lockdown).await.0, StatusCode::NOT_FOUND);
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
async fn page_of_a_team_is_found_by_that_team_alone_and_after_a_restart() {
    let stage = Stage::new("team").await;
    assert!(!stage.scrape(&stage.red, SECRET).await);
    stage.assert_secret_of_red().await;
    assert_eq!(stage.world.count(SECRET), 1);
    assert_eq!((stage.documents(&stage.red).await, stage.documents(&stage.blue).await), (1, 0));
    let stage = stage.restart(false);
    stage.assert_secret_of_red().await;
    assert_eq!(stage.world.count(SECRET), 1);
    assert!(!stage.scrape(&stage.blue, SECRET).await, "its own fetch");
    assert_eq!(stage.world.count(SECRET), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_team_survives_a_kill_right_after_the_answer_as_its_own() {
    let mut stage = Stage::new("team").await;
    assert!(!stage.scrape(&stage.red, SECRET).await);
    stage = stage.restart(true);
    stage.assert_secret_of_red().await;
    let document = json!({"url": "http://up.test/", "title": "Up", "body": "theremin"});
    let body = json!({"documents": [document]});
    stage.post(&stage.red, "/v2/index/documents", body).await;
    stage = stage.restart(true);
    stage.until_found(&stage.red, "theremin", "http://up.test/").await;
    assert!(stage.search(&stage.blue, "theremin").await.is_empty());
    assert_eq!(stage.world.count(SECRET), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_one_url_stand_beside_each_other() {
    let stage = Stage::new("team").await;
    assert!(!stage.scrape(&stage.blue, COMMON).await);
    stage.until_found(&stage.blue, "marimba", COMMON).await;
    assert!(stage.scrape(&stage.red, COMMON).await, "what all teams have answers a team, too");
    stage.until_found(&stage.red, "marimba", COMMON).await;
    // Another text of its own under the same URL.
    let own = json!({"url": COMMON, "title": "Our marimba", "body": "marimba with a glockenspiel"});
    stage.post(&stage.red, "/v2/index/documents", json!({"documents": [own]})).await;
    stage.until_found(&stage.red, "glockenspiel", COMMON).await;
    assert_eq!(stage.search(&stage.red, "marimba").await, [COMMON], "once");
    let title = async |key: &str| {
        let answer = stage.post(key, "/v2/search", json!({"query": "marimba"})).await;
        answer["data"]["web"][0]["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(&stage.red).await, "Our marimba", "its own comes first");
    assert_eq!(title(&stage.blue).await, "Common marimba");
    assert!(stage.search(&stage.blue, "glockenspiel").await.is_empty());
    // The other way round: what all teams get anew does not replace it either.
    let theirs = json!({"url": COMMON, "title": "Their marimba", "body": "marimba with a vibraphone"});
    stage.post(&stage.blue, "/v2/index/documents", json!({"documents": [theirs]})).await;
    stage.until_found(&stage.blue, "vibraphone", COMMON).await;
    assert_eq!(title(&stage.red).await, "Our marimba");
    assert_eq!(title(&stage.blue).await, "Their marimba");
    assert_eq!((stage.documents(&stage.red).await, stage.documents(&stage.blue).await), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_searches_and_other_interfaces_keep_to_the_setting() {
    let mut stage = Stage::new("team").await;
    stage.service.key.clone_from(&stage.red);
    let path = start_at(&stage.service, "/v2/batch/scrape", json!({"urls": [SECRET]})).await;
    ended(&stage.service, &path).await;
    stage.assert_secret_of_red().await;
    let v1 = stage.post(&stage.red, "/v1/scrape", json!({"url": COMMON})).await;
    assert_eq!(v1["success"], true, "{v1}");
    stage.until_found(&stage.red, "marimba", COMMON).await;
    let found = json!({"query": "marimba", "scrapeOptions": {"formats": ["markdown"], "maxAge": 0}});
    stage.post(&stage.red, "/v2/search", found).await;
    assert!(stage.search(&stage.blue, "marimba").await.is_empty());
    assert_eq!(stage.documents(&stage.blue).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_stored_of_a_team_whose_index_is_off() {
    let stage = Stage::new("off").await;
    assert!(!stage.scrape(&stage.red, SECRET).await);
    assert!(!stage.scrape(&stage.red, SECRET).await);
    let upload = json!({"documents": [{"url": "http://up.test/", "title": "Up", "body": "theremin"}]});
    let (status, body) = stage.answer(&stage.red, "/v2/index/documents", upload).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(body["error"].as_str().unwrap().contains("teams set NAME --index"), "{body}");
    assert!(!stage.scrape(&stage.blue, COMMON).await);
    stage.until_found(&stage.blue, "marimba", COMMON).await;
    stage.until_found(&stage.red, "marimba", COMMON).await;
    assert!(stage.scrape(&stage.red, COMMON).await, "what all teams have");
    assert_eq!(stage.documents(&stage.red).await, 1);
    let cache: Value = serde_json::from_str(&stage.site.succeed(&["cache", "stats", "--json"])).unwrap();
    assert_eq!(cache["pages"], 1, "{cache}");
    assert!(stage.search(&stage.red, "xylophone").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn change_of_the_setting_applies_to_later_requests_of_a_running_service() {
    let stage = Stage::new("shared").await;
    assert!(!stage.scrape(&stage.red, COMMON).await);
    assert!(stage.scrape(&stage.blue, COMMON).await, "as ever");
    let shown = stage.site.succeed(&["teams", "set", "red", "--index", "team", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["index"], "team");
    assert!(stage.site.succeed(&["teams", "show", "red"]).contains("index                team"));
    assert!(stage.site.succeed(&["teams", "list"]).contains("INDEX"));
    // The server knows within a second: until then a page of its own is everybody's.
    let deadline = Instant::now() + PATIENCE;
    for number in 0.. {
        let url = format!("http://files.test/?probe={number}");
        stage.scrape(&stage.red, &url).await;
        if !stage.scrape(&stage.blue, &url).await {
            break;
        }
        assert!(Instant::now() < deadline, "the server never knows");
    }
    stage.scrape(&stage.red, SECRET).await;
    stage.assert_secret_of_red().await;
    assert!(stage.scrape(&stage.blue, COMMON).await, "what was everybody's stays so");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_deleted_team_go_with_it() {
    let stage = Stage::new("team").await;
    stage.scrape(&stage.red, SECRET).await;
    stage.until_found(&stage.red, "xylophone", SECRET).await;
    let of_teams = stage.site.data_dir().join("index/teams");
    let indexes = || std::fs::read_dir(&of_teams).unwrap().count();
    assert_eq!(indexes(), 1);
    stage.site.succeed(&["teams", "delete", "red"]);
    let deadline = Instant::now() + PATIENCE;
    while indexes() > 0 {
        assert!(Instant::now() < deadline, "the index of the team stays");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let cache: Value = serde_json::from_str(&stage.site.succeed(&["cache", "stats", "--json"])).unwrap();
    assert_eq!(cache["pages"], 0, "{cache}");
    // Another team of the name finds nothing of the old one.
    stage.site.succeed(&["teams", "set", "red", "--index", "team"]);
    let red = stage.site.succeed(&["keys", "create", "--team", "red"]).trim().to_owned();
    let stage = Stage { red, ..stage }.restart(false);
    assert!(stage.search(&stage.red, "xylophone").await.is_empty());
    assert!(!stage.scrape(&stage.red, SECRET).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_team_is_backed_up_and_deleted_by_command() {
    let stage = Stage::new("team").await;
    stage.scrape(&stage.red, SECRET).await;
    stage.until_found(&stage.red, "xylophone", SECRET).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("websvc.tar");
    stage.site.succeed(&["backup", file.to_str().unwrap()]);
    let Stage { world, site, service, red, blue } = stage;
    assert!(service.stop().success());
    let restored = Site::new(&world);
    let tar = ["-xf", file.to_str().unwrap(), "-C", restored.data_dir().to_str().unwrap()];
    assert!(std::process::Command::new("tar").args(tar).status().unwrap().success());
    let doctor = String::from_utf8(restored.run(&["doctor", "--json"]).stdout).unwrap();
    assert!(!doctor.contains("damaged"), "{doctor}");
    let stage = Stage { service: restored.serve(), world, site: restored, red, blue };
    stage.assert_secret_of_red().await;
    let Stage { world, service, red, blue, .. } = stage;
    assert!(service.stop().success());
    let deleted: Value =
        serde_json::from_str(&site.succeed(&["index", "delete", "--url", SECRET, "--json"])).unwrap();
    assert_eq!(deleted["documents"], 1);
    let stage = Stage { service: site.serve(), world, site, red, blue };
    assert!(stage.search(&stage.red, "xylophone").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn setting_that_does_not_exist_is_refused_with_those_that_do() {
    let site = Site::new(&world().await);
    let output = site.run(&["teams", "set", "red", "--index", "private"]);
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    for word in ["private", "--index", "shared, team, off"] {
        assert!(told.contains(word), "{told}");
    }
    assert!(!site.succeed(&["teams", "list", "--json"]).contains("red"), "nothing was made");
}

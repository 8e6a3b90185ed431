//! Tests of the format `changeTracking`: statuses, diffs, separate histories, and what is never stored.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::batch::{read_all, start_at, wait_for_end};
use crate::harness::{Response, Service, Site};

const URL: &str = "http://shop.test/tea";
const SITEMAP: &str = "http://shop.test/sitemap.xml";
const MODEL: &str = "http://model.test/v1";

/// A page whose content a test changes.
#[derive(Clone)]
struct ChangingPage(Arc<Mutex<Page>>);

impl ChangingPage {
    fn new(lines: &[&str]) -> Self {
        Self(Arc::new(Mutex::new(page(lines))))
    }

    fn set(&self, lines: &[&str]) {
        self.respond(page(lines));
    }

    fn respond(&self, page: Page) {
        *self.0.lock().unwrap() = page;
    }

    fn current(&self) -> Page {
        self.0.lock().unwrap().clone()
    }
}

fn page(lines: &[&str]) -> Page {
    let lines: String = lines.iter().map(|line| format!("<p>{line}</p>\n")).collect();
    Page::html(format!("<title>Tea</title><main><h1>Tea</h1>{lines}</main>"))
}

/// A service, and a page that it tracks.
struct TrackingTest {
    page: ChangingPage,
    world: TestWeb,
    site: Site,
    service: Service,
}

impl TrackingTest {
    async fn new() -> Self {
        Self::with(|_| FakeModel::bad_request("no model in this test"), &[]).await
    }

    async fn with(model: impl Fn(&Value) -> Page + Send + Sync + 'static, settings: &[(&str, &str)]) -> Self {
        let page = ChangingPage::new(&["Sencha costs 12 euros.", "Rooibos costs 5 euros."]);
        let served = page.clone();
        let home = "<title>Shop</title><main><p>A shop.</p><a href='/tea'>Tea</a></main>";
        let world = TestWeb::builder()
            .page("http://shop.test/", Page::html(home))
            .page_with(URL, move |_| served.current());
        let world = FakeModel::with_responder(model).serve(world, MODEL).start().await;
        let site = Site::new(&world);
        let service = serve(&site, settings);
        Self { page, world, site, service }
    }

    /// Scrapes the page with markdown and this format, and returns the response.
    async fn response(&self, format: Value, mut options: Value) -> Response {
        options["url"] = json!(URL);
        options["formats"] = json!(["markdown", format]);
        self.service.post("/v2/scrape", options.to_string()).await
    }

    async fn scrape(&self, format: Value) -> Value {
        let Response { status, body, .. } = self.response(format, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        body
    }

    /// Scrapes the page, and returns the status of the change.
    async fn status(&self, format: Value) -> String {
        let body = self.scrape(format).await;
        body["data"]["changeTracking"]["changeStatus"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }
}

fn serve(site: &Site, settings: &[(&str, &str)]) -> Service {
    site.serve_with(settings)
}

fn with_model() -> [(&'static str, &'static str); 2] {
    [("WEBSVC__LLM__BASE_URL", MODEL), ("WEBSVC__LLM__MODEL", "tiny")]
}

fn git_diff() -> Value {
    json!({ "type": "changeTracking", "modes": ["git-diff"] })
}

fn tagged(tag: Option<&str>) -> Value {
    json!({ "type": "changeTracking", "tag": tag })
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_new_then_same_then_changed_whatever_max_age_says() {
    let test = TrackingTest::new().await;
    let first = test.scrape(json!("changeTracking")).await;
    let expected = json!({ "previousScrapeAt": null, "changeStatus": "new", "visibility": "visible" });
    assert_eq!(first["data"]["changeTracking"], expected, "{first}");
    assert_eq!(first["data"]["metadata"]["creditsUsed"], 1);
    let second = test.scrape(json!("changeTracking")).await;
    let changes = &second["data"]["changeTracking"];
    assert_eq!(changes["changeStatus"], "same", "{second}");
    let time: jiff::Timestamp = changes["previousScrapeAt"].as_str().unwrap().parse().unwrap();
    assert!(time <= jiff::Timestamp::now());
    test.page.set(&["Sencha costs 13 euros."]);
    // The Python client sends this age with every scrape.
    let third = test.response(json!("changeTracking"), json!({ "maxAge": 14_400_000 })).await.body;
    let changes = &third["data"]["changeTracking"];
    assert_eq!((&changes["changeStatus"], changes.get("diff")), (&json!("changed"), None), "{third}");
    assert!(third["data"]["markdown"].as_str().unwrap().contains("13 euros"));
    assert!(
        changes["previousScrapeAt"].as_str() > second["data"]["changeTracking"]["previousScrapeAt"].as_str()
    );
    assert_eq!(test.status(json!("changeTracking")).await, "same");
}

#[tokio::test(flavor = "multi_thread")]
async fn git_diff_shows_the_changed_lines_with_their_numbers() {
    let test = TrackingTest::new().await;
    assert!(test.scrape(git_diff()).await["data"]["changeTracking"].get("diff").is_none());
    test.page.set(&["Sencha costs 13 euros.", "Rooibos costs 5 euros."]);
    let body = test.scrape(git_diff()).await;
    let diff = &body["data"]["changeTracking"]["diff"];
    let text = "--- previous.md\n+++ current.md\n@@ -1,5 +1,5 @@\n # Tea\n \n-Sencha costs 12 euros.\n\
                +Sencha costs 13 euros.\n \n Rooibos costs 5 euros.\n";
    assert_eq!(diff["text"], text, "{body}");
    let file = &diff["json"]["files"][0];
    assert_eq!((&file["from"], &file["to"]), (&json!("previous.md"), &json!("current.md")));
    assert_eq!(file["chunks"][0]["content"], "@@ -1,5 +1,5 @@");
    let changes = &file["chunks"][0]["changes"];
    let expected = [
        json!({ "type": "normal", "normal": true, "ln1": 2, "ln2": 2, "content": " " }),
        json!({ "type": "del", "del": true, "ln": 3, "content": "-Sencha costs 12 euros." }),
        json!({ "type": "add", "add": true, "ln": 3, "content": "+Sencha costs 13 euros." }),
    ];
    assert_eq!(changes.as_array().unwrap()[1..4], expected);
    assert!(
        test.scrape(git_diff()).await["data"]["changeTracking"].get("diff").is_none(),
        "the page is the same"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_of_tags_and_teams_are_independent() {
    let mut test = TrackingTest::new().await;
    let other = test.site.create_key(&["--team", "other"]);
    assert_eq!(test.status(tagged(Some("a"))).await, "new");
    test.page.set(&["Sencha is sold out."]);
    assert_eq!(test.status(tagged(Some("b"))).await, "new");
    assert_eq!(test.status(tagged(None)).await, "new");
    assert_eq!(test.status(tagged(Some("a"))).await, "changed");
    assert_eq!(test.status(tagged(Some("b"))).await, "same");
    other.clone_into(&mut test.service.key);
    assert_eq!(test.status(tagged(Some("a"))).await, "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn format_needs_markdown_in_the_same_list() {
    let test = TrackingTest::new().await;
    for (path, body) in [
        ("/v2/scrape", json!({ "url": URL, "formats": ["changeTracking"] })),
        ("/v2/batch/scrape", json!({ "urls": [URL], "formats": ["html", git_diff()] })),
        ("/v2/search", json!({ "query": "tea", "scrapeOptions": { "formats": [git_diff()] } })),
    ] {
        let response = test.service.post(path, body.to_string()).await;
        assert_eq!(response.status, StatusCode::BAD_REQUEST, "{path}");
        let error = response.body["error"].as_str().unwrap();
        assert!(error.contains("changeTracking needs the format markdown"), "{error}");
    }
    let long = test.response(tagged(Some(&"t".repeat(257))), json!({})).await;
    assert_eq!(long.status, StatusCode::BAD_REQUEST, "{}", long.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_page_is_removed_and_returns_to_its_last_content() {
    let test = TrackingTest::new().await;
    test.page.respond(Page::html("<p>Not found").status(404));
    let body = test.scrape(git_diff()).await;
    let expected = json!({ "previousScrapeAt": null, "changeStatus": "removed", "visibility": "visible" });
    assert_eq!(body["data"]["changeTracking"], expected, "{body}");
    test.page.set(&["Sencha."]);
    assert_eq!(test.status(git_diff()).await, "new");
    for status in [404, 410] {
        test.page.respond(Page::html("<p>Not found").status(status));
        let body = test.scrape(git_diff()).await;
        let changes = &body["data"]["changeTracking"];
        assert_eq!(changes["changeStatus"], "removed", "{body}");
        assert!(changes["previousScrapeAt"].is_string() && changes.get("diff").is_none(), "{body}");
    }
    test.page.respond(Page::html("<p>Broken").status(500));
    let body = test.scrape(git_diff()).await;
    assert!(body["data"].get("changeTracking").is_none(), "{body}");
    assert!(body["warning"].as_str().unwrap().contains("status 500"), "{body}");
    test.page.set(&["Sencha."]);
    assert_eq!(test.status(git_diff()).await, "same");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_store_nothing_or_read_the_cache_only_get_a_warning() {
    let test = TrackingTest::new().await;
    let policy = ["teams", "set", "default", "--zdr", "allowed"];
    test.site.succeed(&policy);
    test.scrape(json!("links")).await;
    for (options, words) in [
        (json!({ "zeroDataRetention": true }), "zero data retention"),
        (json!({ "lockdown": true }), "minAge or lockdown"),
        (json!({ "minAge": 0 }), "minAge or lockdown"),
    ] {
        let Response { status, body, .. } = test.response(git_diff(), options.clone()).await;
        assert_eq!(status, StatusCode::OK, "{options}: {body}");
        assert!(body["data"].get("changeTracking").is_none(), "{body}");
        assert!(body["data"]["markdown"].is_string(), "{body}");
        let warning = body["warning"].as_str().unwrap();
        assert!(warning.contains("changeTracking") && warning.contains(words), "{warning}");
    }
    assert_eq!(test.status(git_diff()).await, "new", "nothing of these requests was stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_crawl_and_search_documents_have_their_changes() {
    let test = TrackingTest::new().await;
    let formats = json!(["markdown", git_diff()]);
    let documents = async |endpoint: &str, body: Value| {
        let path = start_at(&test.service, endpoint, body).await;
        wait_for_end(&test.service, &path).await;
        let documents = read_all(&test.service, &path).await.0;
        let of_tea = |document: &Value| document["metadata"]["sourceURL"] == URL;
        documents.into_iter().find(of_tea).unwrap()["changeTracking"].clone()
    };
    let batch = documents("/v2/batch/scrape", json!({ "urls": [URL], "formats": formats })).await;
    assert_eq!(batch["changeStatus"], "new");
    test.page.set(&["Sencha costs 13 euros."]);
    let crawl = json!({ "url": "http://shop.test/", "scrapeOptions": { "formats": formats } });
    let crawled = documents("/v2/crawl", crawl).await;
    assert_eq!(crawled["changeStatus"], "changed", "{crawled}");
    assert!(crawled["diff"]["text"].as_str().unwrap().contains("+Sencha costs 13 euros."), "{crawled}");
    test.service.index_pages(&[("sencha", URL)]).await;
    test.page.set(&["Sencha costs 14 euros."]);
    let search = json!({ "query": "sencha", "scrapeOptions": { "formats": formats } });
    let response = test.service.search(search).await;
    let found = &response.body["data"]["web"][0]["changeTracking"];
    assert_eq!(found["changeStatus"], "changed", "{}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn history_survives_a_killed_process() {
    let test = TrackingTest::new().await;
    assert_eq!(test.status(git_diff()).await, "new");
    let TrackingTest { page, world, site, service } = test;
    service.kill();
    drop(service);
    page.set(&["Sencha costs 13 euros."]);
    let service = serve(&site, &[]);
    let test = TrackingTest { page, world, site, service };
    assert_eq!(test.status(git_diff()).await, "changed");
    assert_eq!(test.world.count(URL), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_killed_job_is_compared_with_the_version_before_the_job() {
    let page = ChangingPage::new(&["Sencha costs 12 euros."]);
    let is_released = Arc::new(AtomicBool::new(false));
    let (served, flag) = (page.clone(), Arc::clone(&is_released));
    // The start page of a crawl is completed after its sitemaps were read, so the first process never completes it.
    let sitemap = move |_: &_| match flag.load(Ordering::SeqCst) {
        true => Page::text("").status(404),
        false => Page::unresponsive(),
    };
    let world = TestWeb::builder().page_with(URL, move |_| served.current()).page_with(SITEMAP, sitemap);
    let world = world.start().await;
    let site = Site::new(&world);
    let service = serve(&site, &[]);
    let formats = json!(["markdown", git_diff()]);
    let scrape = json!({ "url": URL, "formats": formats });
    let first = service.post("/v2/scrape", scrape.to_string()).await.body;
    assert_eq!(first["data"]["changeTracking"]["changeStatus"], "new", "{first}");
    page.set(&["Sencha costs 13 euros."]);
    let crawl = json!({ "url": URL, "scrapeOptions": { "formats": formats } });
    let path = start_at(&service, "/v2/crawl", crawl).await;
    world.wait_for_request(SITEMAP).await;
    service.kill();
    drop(service);
    assert_eq!(world.count(URL), 2, "the page was read before the process ended");
    is_released.store(true, Ordering::SeqCst);
    let service = serve(&site, &[]);
    let ended = wait_for_end(&service, &path).await;
    assert_eq!((&ended["status"], world.count(URL)), (&json!("completed"), 3), "{ended}");
    let changes = &ended["data"][0]["changeTracking"];
    assert_eq!(changes["changeStatus"], "changed", "{ended}");
    assert!(changes["diff"]["text"].as_str().unwrap().contains("-Sencha costs 12 euros."), "{changes}");
    let next = service.post("/v2/scrape", scrape.to_string()).await.body;
    assert_eq!(next["data"]["changeTracking"]["changeStatus"], "same", "the version of the job is stored");
}

#[tokio::test(flavor = "multi_thread")]
async fn full_history_is_a_warning_of_a_page_of_a_job() {
    let settings = [("WEBSVC__CHANGE_TRACKING__MAX_PAGES_PER_TEAM", "1")];
    let test = TrackingTest::with(|_| FakeModel::bad_request("no model"), &settings).await;
    assert_eq!(test.status(tagged(Some("t"))).await, "new");
    let batch = json!({ "urls": [URL], "formats": ["markdown", git_diff()] });
    let path = start_at(&test.service, "/v2/batch/scrape", batch).await;
    let ended = wait_for_end(&test.service, &path).await;
    let warning = ended["data"][0]["warning"].as_str().unwrap_or_else(|| panic!("{ended}"));
    assert!(warning.contains("history of the team is full"), "{warning}");
    assert_eq!(test.status(tagged(Some("t"))).await, "new", "the older version was deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_options_and_a_full_history_are_warnings() {
    let settings = [("WEBSVC__CHANGE_TRACKING__MAX_PAGES_PER_TEAM", "1")];
    let test = TrackingTest::with(|_| FakeModel::bad_request("no model"), &settings).await;
    let first = test.scrape(git_diff()).await;
    assert_eq!(first.get("warning"), None, "{first}");
    let other = test.response(git_diff(), json!({ "onlyMainContent": false })).await.body;
    assert!(other["warning"].as_str().unwrap().contains("other options"), "{other}");
    let full = test.scrape(tagged(Some("t"))).await;
    assert!(full["warning"].as_str().unwrap().contains("history of the team is full"), "{full}");
    assert_eq!(test.status(git_diff()).await, "new", "the older version was deleted");
}

/// Answers as a model that reads the price of sencha, and obeys nothing.
fn read_price(body: &Value) -> Page {
    let text = FakeModel::prompt_text(body);
    let price = if text.contains("13 euros") { 13 } else { 12 };
    FakeModel::json(&json!({ "name": "Sencha", "price": price }))
}

fn json_mode(schema: Option<&Value>) -> Value {
    json!({ "type": "changeTracking", "modes": ["json", "git-diff"], "schema": schema, "prompt": "the price" })
}

#[tokio::test(flavor = "multi_thread")]
async fn json_mode_returns_the_fields_that_differ() {
    let test = TrackingTest::with(read_price, &with_model()).await;
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "price": { "type": "integer" } },
        "required": ["name", "price"],
    });
    let first = test.scrape(json_mode(Some(&schema))).await;
    assert_eq!(first["data"]["metadata"]["creditsUsed"], 1, "{first}");
    assert!(first["data"]["changeTracking"].get("json").is_none());
    test.page.set(&["Sencha costs 13 euros.", "Rooibos costs 5 euros."]);
    let body = test.scrape(json_mode(Some(&schema))).await;
    let changes = &body["data"]["changeTracking"];
    assert_eq!(changes["json"], json!({ "price": { "previous": 12, "current": 13 } }), "{body}");
    assert!(changes["diff"]["text"].is_string());
    assert_eq!(body["data"]["metadata"]["creditsUsed"], 5);
    let requests = test.world.requests();
    let of_model = requests.iter().filter(|request| request.url.starts_with(MODEL));
    let prompts: Vec<String> = of_model
        .map(|request| FakeModel::prompt_text(&serde_json::from_slice(&request.body).unwrap()))
        .collect();
    assert_eq!(prompts.len(), 2, "each version is read on its own");
    for prompt in prompts {
        assert!(prompt.contains("<web-content>") && prompt.contains("is an instruction to you"), "{prompt}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_mode_without_a_schema_summarizes_the_difference() {
    let respond = |body: &Value| {
        let text = FakeModel::prompt_text(body);
        assert!(text.contains("the price") && text.contains("+Sencha costs 13 euros."), "{text}");
        FakeModel::json(&json!({ "summary": "Sencha is dearer." }))
    };
    let test = TrackingTest::with(respond, &with_model()).await;
    test.scrape(json_mode(None)).await;
    test.page.set(&["Sencha costs 13 euros.", "Rooibos costs 5 euros."]);
    let body = test.scrape(json_mode(None)).await;
    assert_eq!(body["data"]["changeTracking"]["json"], json!({ "summary": "Sencha is dearer." }), "{body}");
}

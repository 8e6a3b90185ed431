//! Tests of feedback, of the activity list, of the llms.txt, and of paths that are not offered.

#[path = "../../examples/bench/relevance/trec.rs"]
mod trec;

use std::path::Path;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::wait_for_end;
use crate::harness::{KEY, Response, Service, Site, assert_fields, tea_world};
use crate::parsing::parse;
use crate::sdk;

const PAGE: &str = "http://tea.test/green.html";
const UNKNOWN: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

async fn rate_search(service: &Service, id: &str, body: &Value) -> Response {
    service.post(&format!("/v2/search/{id}/feedback"), body.to_string()).await
}

async fn rate(service: &Service, body: &Value) -> Response {
    service.post("/v2/feedback", body.to_string()).await
}

#[track_caller]
fn assert_rejected(response: &Response, status: u16, code: &str, feedback_code: &str) {
    let body = &response.body;
    assert_eq!((response.status.as_u16(), &body["success"]), (status, &json!(false)), "{body}");
    assert_eq!((&body["code"], &body["feedbackErrorCode"]), (&json!(code), &json!(feedback_code)), "{body}");
}

fn good() -> Value {
    json!({ "rating": "good", "valuableSources": [{ "url": PAGE, "reason": "complete" }], "origin": "test" })
}

/// Starts a service with one page, and a key of another team.
async fn serve() -> (TestWeb, Site, Service, String) {
    let world = tea_world().await;
    let site = Site::new(&world);
    let other = site.create_key(&["--team", "others"]);
    let service = site.serve();
    service.index_pages(&[("listed", PAGE)]).await;
    (world, site, service, other)
}

async fn search(service: &Service) -> String {
    let found = service.search(json!({ "query": "listed" })).await;
    found.body["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn search_is_rated_once_by_its_team() {
    let (_world, _site, mut service, other) = serve().await;
    let id = search(&service).await;
    let without = rate_search(&service, &id, &json!({ "rating": "good" })).await;
    assert_rejected(&without, 400, "BAD_REQUEST", "INVALID_BODY");
    assert_eq!(without.body["details"][0]["path"], json!("/valuableSources"));
    let no_json = service.post(&format!("/v2/search/{id}/feedback"), "{").await;
    assert_rejected(&no_json, 400, "BAD_REQUEST_INVALID_JSON", "INVALID_BODY");
    let stored = rate_search(&service, &id, &good()).await;
    let (feedback, body) = (stored.body["feedbackId"].as_str().unwrap(), &stored.body);
    assert_eq!(body, &json!({ "success": true, "feedbackId": feedback, "creditsRefunded": 0 }));
    let repeated =
        rate_search(&service, &id.to_uppercase(), &json!({ "rating": "bad", "querySuggestions": "q" })).await;
    assert_fields(&repeated.body, &json!({ "alreadySubmitted": true, "feedbackId": feedback }));
    assert_rejected(
        &rate_search(&service, UNKNOWN, &good()).await,
        404,
        "SEARCH_NOT_FOUND",
        "SEARCH_NOT_FOUND",
    );
    assert_rejected(&rate_search(&service, "7", &good()).await, 400, "BAD_REQUEST", "INVALID_BODY");
    other.clone_into(&mut service.key);
    assert_rejected(&rate_search(&service, &id, &good()).await, 404, "SEARCH_NOT_FOUND", "SEARCH_NOT_FOUND");
}

#[tokio::test]
async fn results_of_scrapes_maps_and_files_are_rated() {
    let (_world, _site, service, _other) = serve().await;
    let scraped = service.post("/v2/scrape", json!({ "url": PAGE }).to_string()).await;
    let scrape = scraped.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    let mapped = service.post("/v2/map", json!({ "url": "http://tea.test/" }).to_string()).await;
    let map = mapped.body["id"].as_str().unwrap();
    let body = |endpoint: &str, id: &str| json!({ "endpoint": endpoint, "jobId": id, "rating": "partial", "issues": ["missing_table"], "note": "cut" });
    let parsed = parse(&service, "tea.html", b"<main><h1>Tea</h1><p>Green tea.</p></main>", &json!({})).await;
    let file = parsed.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    for (endpoint, id) in [("scrape", scrape), ("map", map), ("parse", file)] {
        let response = rate(&service, &body(endpoint, id)).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["creditsRefunded"]),
            (200, &json!(0)),
            "{}",
            response.body
        );
    }
    assert_eq!(rate(&service, &body("scrape", scrape)).await.body["alreadySubmitted"], json!(true));
    assert_rejected(&rate(&service, &body("parse", UNKNOWN)).await, 404, "JOB_NOT_FOUND", "JOB_NOT_FOUND");
    assert_rejected(&rate(&service, &body("crawl", scrape)).await, 400, "BAD_REQUEST", "INVALID_BODY");
    let empty = json!({ "endpoint": "scrape", "jobId": scrape, "rating": "good" });
    assert_rejected(&rate(&service, &empty).await, 400, "BAD_REQUEST", "INVALID_BODY");
    // Lockdown implies zero data retention: nothing about the result is stored, not even its ID.
    let locked = service.post("/v2/scrape", json!({ "url": PAGE, "lockdown": true }).to_string()).await;
    let id = locked.body["data"]["metadata"]["scrapeId"].as_str().unwrap();
    assert_rejected(&rate(&service, &body("scrape", id)).await, 404, "JOB_NOT_FOUND", "JOB_NOT_FOUND");
}

#[tokio::test]
async fn failed_and_old_searches_are_not_rated() {
    let (_world, site, service, _other) = serve().await;
    let database = rusqlite::Connection::open(site.data_dir().join("websvc.db")).unwrap();
    // The service writes its log before it reads it, and the search is not found as a map.
    let as_map = async |id: &str| {
        let body = json!({ "endpoint": "map", "jobId": id, "rating": "bad", "note": "n" });
        assert_rejected(&rate(&service, &body).await, 404, "JOB_NOT_FOUND", "JOB_NOT_FOUND");
    };
    let failed = search(&service).await;
    as_map(&failed).await;
    database.execute("UPDATE usage_log SET status = 503 WHERE operation = 'search'", []).unwrap();
    assert_rejected(&rate_search(&service, &failed, &good()).await, 409, "SEARCH_FAILED", "SEARCH_FAILED");
    let old = search(&service).await;
    as_map(&old).await;
    database.execute("UPDATE usage_log SET at = at - 86400001 WHERE status = 200", []).unwrap();
    let response = rate_search(&service, &old, &good()).await;
    assert_rejected(&response, 409, "FEEDBACK_WINDOW_EXPIRED", "FEEDBACK_WINDOW_EXPIRED");
}

#[tokio::test]
async fn feedback_needs_the_scope_of_its_operation() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let key = site.create_key(&["--team", "default", "--scope", "scrape"]);
    let mut service = site.serve();
    key.clone_into(&mut service.key);
    let body = |endpoint: &str| json!({ "endpoint": endpoint, "jobId": UNKNOWN, "rating": "bad", "querySuggestions": "q" });
    for (endpoint, status) in [("search", 403), ("map", 403), ("scrape", 404), ("parse", 404)] {
        assert_eq!(rate(&service, &body(endpoint)).await.status, status, "{endpoint}");
    }
    assert_eq!(rate_search(&service, UNKNOWN, &good()).await.status, 403);
}

#[tokio::test]
async fn feedback_is_exported_as_judgments() {
    let (_world, site, service, other) = serve().await;
    let id = search(&service).await;
    assert_eq!(rate_search(&service, &id, &good()).await.status, 200);
    let hostile = search(&service).await;
    let too_little =
        json!({ "endpoint": "search", "jobId": hostile, "rating": "bad", "note": "\u{1b}[31m red" });
    assert_rejected(&rate(&service, &too_little).await, 400, "BAD_REQUEST", "INVALID_BODY");
    let mut enough = too_little;
    enough["missingContent"] = json!([{ "topic": "x" }]);
    let stored = rate(&service, &enough).await;
    assert_eq!((stored.status.as_u16(), stored.body.get("alreadySubmitted")), (200, None), "{}", stored.body);
    drop(other);
    let directory = site.data_dir().join("judgments");
    let directory = directory.to_str().unwrap();
    let text = site.succeed(&["feedback", "export", directory]);
    assert!(text.starts_with("1 judgment of 1 query"), "{text}");
    let read = |name: &str| std::fs::read_to_string(Path::new(directory).join(name)).unwrap();
    let query: Value = serde_json::from_str(read("queries.jsonl").trim()).unwrap();
    assert_eq!(query["text"], json!("listed"));
    let query = query["_id"].as_str().unwrap();
    assert_eq!(read("qrels.txt"), format!("{query} 0 {PAGE} 2\n"));
    // The benchmark of relevance finds the judged sources among the documents of the index.
    let judged = trec::read(&Path::new(directory).join("qrels.txt"));
    let corpus = Path::new(directory).join("corpus.jsonl");
    site.succeed(&["index", "export", corpus.to_str().unwrap()]);
    let document: Value = serde_json::from_str(read("corpus.jsonl").trim()).unwrap();
    assert_eq!(judged[query].get(document["url"].as_str().unwrap()), Some(&2.0), "{judged:?}");
    let none = site.succeed(&["feedback", "export", directory, "--team", "others", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&none).unwrap(), json!({ "queries": 0, "judgments": 0 }));
    let listed: Value = serde_json::from_str(&site.succeed(&["feedback", "list", "--json"])).unwrap();
    let ratings: Vec<&Value> = listed.as_array().unwrap().iter().map(|entry| &entry["rating"]).collect();
    assert_eq!(ratings, ["bad", "good"]);
    assert_eq!(listed[1]["content"]["valuableSources"][0]["reason"], json!("complete"));
    let table = site.succeed(&["feedback", "list"]);
    assert!(table.contains("search") && !table.contains('\u{1b}'), "{table:?}");
}

#[tokio::test]
async fn activity_is_listed_page_by_page() {
    let (_world, _site, mut service, other) = serve().await;
    let mut jobs = Vec::new();
    for _ in 0..3 {
        let started = service.post("/v2/batch/scrape", json!({ "urls": [PAGE] }).to_string()).await;
        let id = started.body["id"].as_str().unwrap().to_owned();
        wait_for_end(&service, &format!("/v2/batch/scrape/{id}")).await;
        jobs.push(id);
    }
    jobs.reverse();
    let (mut found, mut path) = (Vec::new(), "/v2/team/activity?endpoint=batch_scrape&limit=1".to_owned());
    loop {
        let page = service.get(&path).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let [item] = page.body["data"].as_array().unwrap().as_slice() else { panic!("{}", page.body) };
        assert_fields(item, &json!({ "target": PAGE, "endpoint": "batch_scrape", "api_version": "v2" }));
        found.push(item["id"].as_str().unwrap().to_owned());
        assert_eq!(page.body["has_more"], json!(page.body["cursor"].is_string()));
        let Some(cursor) = page.body["cursor"].as_str() else { break };
        path = format!("/v2/team/activity?endpoint=batch_scrape&limit=1&cursor={cursor}");
    }
    assert_eq!(found, jobs);
    let all = service.get("/v2/team/activity?limit=100").await.body;
    let endpoints: Vec<&str> =
        all["data"].as_array().unwrap().iter().map(|item| item["endpoint"].as_str().unwrap()).collect();
    assert!(
        endpoints.contains(&"search")
            && endpoints.iter().filter(|name| **name == "batch_scrape").count() == 3
    );
    assert!(!endpoints.contains(&"batch"), "pages of jobs are not listed: {endpoints:?}");
    for wrong in ["endpoint=cat", "limit=0", "limit=101", "cursor=x"] {
        let response = service.get(&format!("/v2/team/activity?{wrong}")).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["code"]),
            (400, &json!("BAD_REQUEST")),
            "{wrong}"
        );
    }
    other.clone_into(&mut service.key);
    assert_eq!(service.get("/v2/team/activity").await.body["data"], json!([]));
}

#[tokio::test]
async fn activity_shows_the_version_that_was_called() {
    let (_world, _site, service, _other) = serve().await;
    let page = json!({ "url": PAGE });
    let site = json!({ "url": "http://tea.test/", "limit": 1 });
    let search = json!({ "query": "tea" });
    let list = json!({ "urls": [PAGE] });
    for (operation, body) in
        [("scrape", &page), ("map", &site), ("search", &search), ("batch/scrape", &list), ("crawl", &site)]
    {
        let endpoint = operation.replace('/', "_");
        for version in ["v1", "v2"] {
            let response = service.post(&format!("/{version}/{operation}"), body.to_string()).await;
            assert_eq!(response.status, 200, "{version} {operation}: {}", response.body);
            let listed = service.get(&format!("/v2/team/activity?endpoint={endpoint}&limit=1")).await.body;
            assert_eq!(listed["data"][0]["api_version"], json!(version), "{operation}: {listed}");
        }
    }
    let started = service.post("/v1/llmstxt", json!({ "url": "http://tea.test/" }).to_string()).await;
    let listed = service.get("/v2/team/activity?endpoint=llmstxt&limit=1").await.body;
    assert_fields(&listed["data"][0], &json!({ "id": started.body["id"], "api_version": "v1" }));
}

#[tokio::test]
async fn activity_lists_only_what_the_key_may_request() {
    let (_world, site, mut service, _other) = serve().await;
    search(&service).await;
    for (path, body) in
        [("/v2/scrape", json!({ "url": PAGE })), ("/v2/batch/scrape", json!({ "urls": [PAGE] }))]
    {
        assert_eq!(service.post(path, body.to_string()).await.status, 200, "{path}");
    }
    for (scope, expected) in [("search", &["search"][..]), ("batch", &["batch_scrape"]), ("index", &[])] {
        let key = site.succeed(&["keys", "create", "--team", "default", "--scope", scope]);
        key.trim().clone_into(&mut service.key);
        let page = service.get("/v2/team/activity").await.body;
        let mut listed: Vec<&Value> =
            page["data"].as_array().unwrap().iter().map(|item| &item["endpoint"]).collect();
        listed.dedup();
        assert_eq!(listed, expected, "{scope}: {page}");
        let scrapes = service.get("/v2/team/activity?endpoint=scrape").await.body;
        assert_eq!(scrapes["data"], json!([]), "{scope}");
    }
}

/// A site of five pages.
async fn five_pages() -> TestWeb {
    let names = ["a", "b", "c", "d"];
    let links: String = names.iter().map(|name| format!("<a href=/{name}>{name}</a> ")).collect();
    let page = |title: &str| {
        Page::html(format!(
            "<title>{title}</title><meta name=description content=\"About {title}.\"><main><h1>{title}</h1>\
             <p>This page is about {title} and says enough to be the main content of it.</p>{links}</main>"
        ))
    };
    let world = TestWeb::builder().page("http://site.test/", page("Start"));
    names
        .iter()
        .fold(world, |world, name| world.page(&format!("http://site.test/{name}"), page(name)))
        .start()
        .await
}

async fn llms_txt(service: &Service, body: &Value) -> Value {
    let started = service.post("/v1/llmstxt", body.to_string()).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let id = started.body["id"].as_str().unwrap();
    wait_for_end(service, &format!("/v2/crawl/{id}")).await;
    let status = service.get(&format!("/v1/llmstxt/{id}")).await;
    assert_eq!(status.status, 200, "{}", status.body);
    status.body
}

#[tokio::test]
async fn llms_txt_has_a_heading_and_a_line_for_each_page() {
    let world = five_pages().await;
    let service = Service::for_world(&world);
    let done = llms_txt(&service, &json!({ "url": "http://site.test/" })).await;
    assert_eq!((&done["success"], &done["status"]), (&json!(true), &json!("completed")));
    assert!(done["expiresAt"].as_str().unwrap().ends_with('Z'), "{done}");
    let expected = "# site.test\n\n- [Start](http://site.test/): About Start.\n- [a](http://site.test/a): About a.\n\
                    - [b](http://site.test/b): About b.\n- [c](http://site.test/c): About c.\n\
                    - [d](http://site.test/d): About d.\n";
    assert_eq!(done["data"], json!({ "llmstxt": expected }));
    let fetched = world.count("http://site.test/a");
    let full =
        llms_txt(&service, &json!({ "url": "http://site.test/", "showFullText": true, "maxUrls": 2 })).await;
    assert_eq!(full["data"]["llmstxt"].as_str().unwrap().lines().count(), 4, "{full}");
    let text = full["data"]["llmsfulltxt"].as_str().unwrap();
    assert!(text.contains("## [Start](http://site.test/)\n\n# Start\n\nThis page is about Start"), "{text}");
    assert_eq!(world.count("http://site.test/a"), fetched, "pages come from the cache");
    llms_txt(&service, &json!({ "url": "http://site.test/", "cache": false })).await;
    assert_eq!(world.count("http://site.test/a"), fetched + 1);
    let usage: Value = service.get("/v2/team/activity?endpoint=llmstxt").await.body;
    assert_eq!(usage["data"].as_array().unwrap().len(), 3, "{usage}");
}

#[tokio::test]
async fn llms_txt_checks_its_request_and_its_job() {
    let world = five_pages().await;
    let service = Service::for_world(&world);
    for (body, path) in [
        (json!({ "url": "http://site.test/", "maxUrls": 0 }), "/maxUrls"),
        (json!({ "url": "http://site.test/", "maxUrls": 5001 }), "/maxUrls"),
        (json!({ "url": "ftp://site.test/" }), "/url"),
        (json!({}), "/url"),
    ] {
        let response = service.post("/v1/llmstxt", body.to_string()).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["details"][0]["path"]),
            (400, &json!(path)),
            "{body}"
        );
    }
    assert_eq!(service.get(&format!("/v1/llmstxt/{UNKNOWN}")).await.status, 404);
    assert_eq!(service.get("/v1/llmstxt/7").await.status, 400);
    let crawl = service.post("/v2/crawl", json!({ "url": "http://site.test/" }).to_string()).await;
    let id = crawl.body["id"].as_str().unwrap();
    assert_eq!(service.get(&format!("/v1/llmstxt/{id}")).await.status, 404, "it is a crawl without a text");
}

#[tokio::test]
async fn llms_txt_survives_a_restart() {
    let world = five_pages().await;
    let site = Site::new(&world);
    let service = site.serve();
    let started = service.post("/v1/llmstxt", json!({ "url": "http://site.test/" }).to_string()).await;
    let id = started.body["id"].as_str().unwrap().to_owned();
    service.kill();
    drop(service);
    let service = site.serve();
    wait_for_end(&service, &format!("/v2/crawl/{id}")).await;
    let done = service.get(&format!("/v1/llmstxt/{id}")).await.body;
    assert_eq!(done["data"]["llmstxt"].as_str().unwrap().lines().count(), 7, "{done}");
}

#[tokio::test]
async fn operations_that_are_not_offered_name_an_alternative() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    for (path, text) in [
        ("/v2/search/developer", "POST /v2/search"),
        ("/v2/search/research/papers", "POST /v2/search"),
        ("/v2/search/gov", "POST /v2/search"),
        ("/v2/support/ask", "GET /openapi.json"),
        ("/v2/x402/search", "GET /openapi.json"),
        ("/v1/deep-research", "POST /v2/agent"),
        ("/v2/deep-research", "POST /v2/search"),
        ("/v2/scrape/7/feedback", "POST /v2/feedback"),
    ] {
        let response = service.post(path, "{}").await;
        let body = &response.body;
        assert_eq!((response.status.as_u16(), &body["success"]), (404, &json!(false)), "{path}");
        let error = body["error"].as_str().unwrap();
        assert!(error.contains("does not offer") && error.contains(text), "{path}: {error}");
    }
    let gone = service.post("/v0/scrape", "{}").await;
    assert_eq!(
        (gone.status.as_u16(), &gone.body["code"], &gone.body["success"]),
        (410, &json!("GONE"), &json!(false))
    );
    assert!(gone.body["error"].as_str().unwrap().contains("POST /v2/scrape"), "{}", gone.body);
    let alexandria = json!({ "alexandria": [{ "provider": "p", "capability": "c", "options": {} }] });
    let refused = service.post("/v2/scrape", alexandria.to_string()).await;
    assert_eq!((refused.status.as_u16(), &refused.body["code"]), (400, &json!("BAD_REQUEST")));
    let text = refused.body["error"].as_str().unwrap();
    assert!(text.contains("not offered here") && !text.contains("url is required"), "{text}");
}

#[tokio::test]
async fn version_1_returns_usage_and_results_in_its_names() {
    let (_world, _site, service, _other) = serve().await;
    let credits = service.get("/v1/team/credit-usage").await.body;
    let mut keys: Vec<&String> = credits["data"].as_object().unwrap().keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["billing_period_end", "billing_period_start", "plan_credits", "remaining_credits"]);
    let tokens = service.get("/v1/team/token-usage").await.body;
    assert_eq!(tokens["data"]["remaining_tokens"], credits["data"]["remaining_credits"]);
    for path in ["team/credit-usage/historical", "team/token-usage/historical"] {
        let [first, second] =
            [service.get(&format!("/v1/{path}")).await, service.get(&format!("/v2/{path}")).await];
        assert_eq!((first.status.as_u16(), first.body), (200, second.body), "{path}");
    }
    assert!(service.get("/v1/team/queue-status").await.body["maxConcurrency"].is_u64());
    assert!(service.get("/v1/concurrency-check").await.body["concurrency"].is_u64());
    let scraped = service.post("/v1/scrape", json!({ "url": PAGE }).to_string()).await.body;
    let id = scraped["data"]["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(service.get(&format!("/v1/scrape/{id}")).await.body, scraped);
    assert_eq!(service.get(&format!("/v1/scrape/{UNKNOWN}")).await.status, 404);
}

/// A script with the operations of this file that the SDK has.
const SCRIPT: &str = r###"
import sys
from firecrawl import Firecrawl
from firecrawl.v1.client import V1FirecrawlApp

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
print(app.get_credit_usage().remaining_credits > 0, app.get_token_usage().remaining_tokens > 0)
print(app.get_queue_status().max_concurrency > 0, app.get_concurrency().max_concurrency > 0)
inner = app._v2_client
print(inner.get_credit_usage_historical().success, inner.get_token_usage_historical(by_api_key=True).success)
old = V1FirecrawlApp(api_key=sys.argv[2], api_url=sys.argv[1])
print(old.get_credit_usage().data.remaining_credits > 0, old.get_token_usage().data.remaining_tokens > 0)
print(old.get_credit_usage_historical().success, old.get_token_usage_historical(by_api_key=True).success)
print(old.scrape_url("http://site.test/a").metadata["title"])
sys.stdout, stdout = sys.stderr, sys.stdout
done = old.generate_llms_text("http://site.test/", max_urls=5, show_full_text=True)
sys.stdout = stdout
print(done.status, done.data.llmstxt.splitlines()[0], len(done.data.llmstxt.splitlines()), "## [Start]" in done.data.llmsfulltxt)
try:
    old.deep_research("tea")
    print("deep research: accepted")
except Exception as error:
    print("deep research:", "does not offer deep research" in str(error))
"###;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_reads_usage_and_generates_llms_txt() {
    let world = five_pages().await;
    let service = Service::for_world(&world);
    assert_eq!(service.key, KEY);
    let expected = "True True\nTrue True\nTrue True\nTrue True\nTrue True\na\n\
                    completed # site.test 7 True\ndeep research: True\n";
    sdk::check(SCRIPT, &service, expected);
}

//! Tests of batch scrapes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, until};

use crate::harness::{Response, Service, Site, assert_fields};

const START: &str = "/v2/batch/scrape";

/// Time limit for a job, also on slow machines.
const TIMEOUT: Duration = Duration::from_secs(150);

/// Starts a site of `pages` pages, each of which responds after `response_time`.
async fn site_of(pages: usize, response_time: Duration) -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..pages {
        let text =
            format!("<title>Page {number}</title><main><h1>Page {number}</h1><p>Text {number}.</p></main>");
        world = world.page(&format!("http://list.test/{number}"), Page::html(text).delay(response_time));
    }
    world.start().await
}

fn urls(pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://list.test/{number}")).collect()
}

pub(crate) async fn delete(service: &Service, path: &str) -> Response {
    service.send(Method::DELETE, path, &[], String::new()).await
}

/// Starts a batch, and returns the path of its status.
async fn start(service: &Service, body: Value) -> String {
    start_at(service, START, body).await
}

/// Starts a job, and returns the path of its status.
pub(crate) async fn start_at(service: &Service, endpoint: &str, body: Value) -> String {
    let response = service.post(endpoint, body.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let (id, url) = (response.body["id"].as_str().unwrap(), response.body["url"].as_str().unwrap());
    let path = format!("{endpoint}/{id}");
    assert_eq!(url, format!("{}{path}", service.address));
    path
}

/// Polls a path of a job until the response fulfils a condition.
pub(crate) async fn poll_until(service: &Service, path: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
    let polling = async {
        loop {
            let response = service.get(path).await;
            assert_eq!(response.status, 200, "{}", response.body);
            if is_expected(&response.body) {
                return response.body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polling).await.expect("the job reaches the expected state")
}

pub(crate) async fn wait_for_end(service: &Service, path: &str) -> Value {
    poll_until(service, path, |body| body["status"] != "scraping").await
}

/// Reads all documents by following `next`, as clients do. Returns the documents and the number of requests.
pub(crate) async fn read_all(service: &Service, path: &str) -> (Vec<Value>, usize) {
    let (mut documents, mut requests, mut next) = (Vec::new(), 0, Some(path.to_owned()));
    while let Some(path) = next {
        let response = service.get(&path).await;
        requests += 1;
        documents.extend(response.body["data"].as_array().unwrap().iter().cloned());
        let url = response.body["next"].as_str();
        next =
            url.map(|url| url.strip_prefix(&service.address).expect("the URL is on the service").to_owned());
    }
    (documents, requests)
}

/// Returns how many documents each source URL has.
pub(crate) fn source_counts(documents: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for document in documents {
        let source = document["metadata"]["sourceURL"].as_str().unwrap();
        *counts.entry(source.to_owned()).or_default() += 1;
    }
    counts
}

/// Returns the index of a document in the batch, and its URL.
fn index_and_url(document: &Value) -> (usize, &str) {
    let metadata = &document["metadata"];
    let index = metadata["index"].as_u64().unwrap();
    (usize::try_from(index).unwrap(), metadata["sourceURL"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_returns_a_document_per_url_and_fetches_each_page_once() {
    let world = site_of(4, Duration::ZERO).await;
    let service = Service::for_world(&world);
    let urls = [
        "http://list.test/0",
        "list.test/1",
        "ftp://list.test/2",
        "http://list.test/0",
        "HTTP://List.test:80/0",
        "http://list.test/gone",
        "",
        "http://list.test/1",
    ];
    let body = json!({ "urls": urls, "formats": ["markdown", "links"], "origin": "test" });
    let response = service.post(START, body.to_string()).await;
    assert_eq!(response.body["invalidURLs"], json!(["ftp://list.test/2", ""]), "{}", response.body);
    let path = format!("{START}/{}", response.body["id"].as_str().unwrap());
    let status = wait_for_end(&service, &path).await;
    assert_eq!(status["status"], "completed", "{status}");
    // A repeated page costs nothing.
    assert_fields(&status, &json!({ "completed": 6, "total": 6, "creditsUsed": 3 }));
    assert!(status["next"].is_null() && status["expiresAt"].is_string() && status["duration"].is_number());
    let mut documents = status["data"].as_array().unwrap().clone();
    documents.sort_by_key(|document| document["metadata"]["index"].as_u64());
    let found = |document: &Value| {
        let (index, source) = index_and_url(document);
        assert_eq!(source, urls[index]);
        (index, document["metadata"]["creditsUsed"].as_u64().unwrap())
    };
    let found: Vec<_> = documents.iter().map(found).collect();
    assert_eq!(found, [(0, 1), (1, 1), (3, 0), (4, 0), (5, 1), (7, 0)]);
    for (document, expected) in
        [(0, "# Page 0\n\nText 0.\n"), (2, "# Page 0\n\nText 0.\n"), (5, "# Page 1\n\nText 1.\n")]
    {
        assert_eq!(documents[document]["markdown"], expected);
    }
    assert_eq!([0, 1].map(|page| world.count(&format!("http://list.test/{page}"))), [1, 1]);
    let errors = service.get(&format!("{path}/errors")).await;
    assert_eq!(errors.body, json!({ "success": true, "errors": [], "robotsBlocked": [] }));
    let again = delete(&service, &path).await;
    assert_eq!((again.status.as_u16(), &again.body["code"]), (409, &json!("JOB_ENDED")), "{}", again.body);
    assert_eq!(again.body["error"], "Batch scrape is already completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_url_fails_like_its_page_and_is_appended_without_a_fetch() {
    let world = site_of(2, Duration::from_millis(300)).await;
    let service = Service::for_world(&world);
    let forbidden = "http://192.168.0.1/secret";
    let urls = json!([forbidden, "http://list.test/0", forbidden]);
    let path = start(&service, json!({ "urls": urls })).await;
    let id = path.rsplit('/').next().unwrap();
    let added = json!({ "urls": ["http://list.test/1", "http://list.test/0"], "appendToId": id });
    let response = service.post(START, added.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let status = wait_for_end(&service, &path).await;
    assert_eq!((&status["completed"], &status["total"]), (&json!(3), &json!(5)), "{status}");
    let mut found: Vec<_> = status["data"].as_array().unwrap().iter().map(index_and_url).collect();
    found.sort_unstable();
    // The index continues with the appended URLs.
    assert_eq!(found, [(1, "http://list.test/0"), (3, "http://list.test/1"), (4, "http://list.test/0")]);
    assert_eq!(world.count("http://list.test/0"), 1);
    let errors = service.get(&format!("{path}/errors")).await.body;
    let failed: Vec<_> = errors["errors"].as_array().unwrap().iter().map(|error| &error["url"]).collect();
    assert_eq!(failed, [forbidden, forbidden], "{errors}");
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_url_fails_when_its_document_is_unreadable() {
    let world = TestWeb::builder()
        .page("http://list.test/0", Page::html("<title>0</title><p>Page 0."))
        .page("http://slow.test/", Page::unresponsive())
        .start()
        .await;
    let site = Site::new(&world);
    let service = site.serve();
    let path = start(&service, json!({ "urls": ["http://list.test/0", "http://slow.test/"] })).await;
    poll_until(&service, &path, |status| status["completed"] == 1).await;
    let store = rusqlite::Connection::open(site.data_dir().join("websvc.db")).unwrap();
    store.busy_timeout(Duration::from_secs(30)).unwrap();
    assert_eq!(store.execute("UPDATE job_documents SET document = x'00'", []).unwrap(), 1);
    let id = path.rsplit('/').next().unwrap();
    let added = json!({ "urls": ["http://list.test/0"], "appendToId": id });
    assert_eq!(service.post(START, added.to_string()).await.status, 200);
    let errors = format!("{path}/errors");
    let errors =
        poll_until(&service, &errors, |response| response["errors"].as_array().unwrap().len() == 1).await;
    let error = &errors["errors"][0];
    assert_eq!(error["url"], "http://list.test/0");
    assert!(error["error"].as_str().unwrap().contains("cannot be read"), "{error}");
    assert_eq!(world.count("http://list.test/0"), 1);
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_pages_are_listed_as_errors() {
    let world = site_of(1, Duration::ZERO).await;
    let service = Service::for_world(&world);
    let path = start(&service, json!({ "urls": ["http://list.test/0", "http://192.168.0.1/secret"] })).await;
    let status = wait_for_end(&service, &path).await;
    assert_fields(&status, &json!({ "status": "completed", "completed": 1, "total": 2 }));
    let errors = service.get(&format!("{path}/errors")).await.body;
    let error = &errors["errors"][0];
    assert_fields(error, &json!({ "url": "http://192.168.0.1/secret", "code": "SCRAPE_FORBIDDEN_URL" }));
    assert!(
        error["id"].is_string() && error["error"].is_string() && error["timestamp"].is_string(),
        "{errors}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_batch_requests_are_rejected() {
    let world = site_of(1, Duration::ZERO).await;
    let service = Service::for_world(&world);
    let check = async |body: Value, status: u16, text: &str| {
        let response = service.post(START, body.to_string()).await;
        assert_eq!(response.status.as_u16(), status, "{body}: {}", response.body);
        assert!(response.body.to_string().contains(text), "{body}: {}", response.body);
    };
    check(json!({ "urls": [] }), 400, "at least 1 item").await;
    check(json!({ "urls": ["ftp://x"] }), 400, "No valid URLs provided").await;
    check(json!({ "urls": ["http://a.test", "ftp://x"], "ignoreInvalidURLs": false }), 400, "/urls/1").await;
    check(json!({ "urls": ["http://a.test"], "webhook": "ftp://b.test" }), 400, "/webhook").await;
    check(json!({ "urls": ["http://a.test"], "maxConcurrency": 0 }), 400, "maxConcurrency").await;
    check(json!({ "urls": ["http://a.test"], "lockdown": true }), 400, "lockdown").await;
    check(
        json!({ "urls": ["http://a.test"], "zeroDataRetention": true }),
        403,
        "their URLs and documents are stored",
    )
    .await;
    check(json!({ "urls": ["http://a.test"], "appendToId": "x" }), 400, "Invalid job ID").await;
    let unknown = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";
    check(json!({ "urls": ["http://a.test"], "appendToId": unknown }), 404, "Job not found").await;
    for (path, status) in [(unknown, 404), ("x", 400)] {
        assert_eq!(service.get(&format!("{START}/{path}")).await.status.as_u16(), status);
        assert_eq!(service.get(&format!("{START}/{path}/errors")).await.status.as_u16(), status);
        assert_eq!(delete(&service, &format!("{START}/{path}")).await.status.as_u16(), status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn job_is_invisible_to_other_teams() {
    let world = site_of(1, Duration::ZERO).await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start(&service, json!({ "urls": urls(1) })).await;
    wait_for_end(&service, &path).await;
    let key = site.succeed(&["keys", "create", "--team", "others", "--scope", "batch"]);
    service.key = key.trim().to_owned();
    assert_eq!(service.get(&path).await.status, 404);
    assert_eq!(delete(&service, &path).await.status, 404);
    let job = start(&service, json!({ "urls": urls(1) })).await;
    assert_eq!(wait_for_end(&service, &job).await["status"], "completed");
    service.key = site.create_key(&["--team", "others", "--scope", "scrape"]);
    assert_eq!(service.get(&job).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_batch_keeps_its_documents() {
    let world = TestWeb::builder()
        .page("http://list.test/0", Page::html("<title>Quick</title><p>Quick."))
        .page("http://list.test/1", Page::unresponsive())
        .start()
        .await;
    let service = Service::for_world(&world);
    let path = start(&service, json!({ "urls": urls(2) })).await;
    poll_until(&service, &path, |body| body["completed"] == 1).await;
    world.wait_for_request("http://list.test/1").await;
    let cancelled = delete(&service, &path).await;
    assert_eq!(cancelled.body, json!({ "success": true, "status": "cancelled" }));
    let status = service.get(&path).await.body;
    assert_fields(&status, &json!({ "status": "cancelled", "completed": 1, "creditsUsed": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_are_appended_to_a_running_batch_and_idempotency_keys_are_unique() {
    let world = TestWeb::builder()
        .page("http://list.test/0", Page::html("<title>Slow</title><p>Slow.").delay(Duration::from_secs(2)))
        .page("http://more.test/1", Page::html("<title>More</title><p>More."))
        .start()
        .await;
    let service = Service::for_world(&world);
    let body = json!({ "urls": urls(1) }).to_string();
    let headers = [("content-type", "application/json"), ("x-idempotency-key", "once")];
    let first = service.send(Method::POST, START, &headers, body.clone()).await;
    assert_eq!(first.status, 200, "{}", first.body);
    let second = service.send(Method::POST, START, &headers, body).await;
    assert_eq!(
        (second.status.as_u16(), &second.body["error"]),
        (409, &json!("Idempotency key already used"))
    );
    let id = first.body["id"].as_str().unwrap();
    let more = json!({ "urls": ["http://more.test/1", "http://list.test/0"], "appendToId": id });
    let added = service.post(START, more.to_string()).await;
    assert_eq!((added.status.as_u16(), &added.body["id"]), (200, &json!(id)), "{}", added.body);
    let status = wait_for_end(&service, &format!("{START}/{id}")).await;
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(3), &json!(2)), "{status}");
    let late = service.post(START, more.to_string()).await;
    assert_eq!((late.status.as_u16(), &late.body["code"]), (409, &json!("JOB_ENDED")));
}

#[tokio::test(flavor = "multi_thread")]
async fn following_next_of_a_running_batch_terminates() {
    let world = TestWeb::builder()
        .page("http://list.test/0", Page::html("<title>0</title><p>Zero."))
        .page("http://list.test/1", Page::html("<title>1</title><p>One."))
        .page("http://list.test/2", Page::html("<title>2</title><p>Two."))
        .page("http://slow.test/", Page::unresponsive())
        .start()
        .await;
    let service = Service::for_world(&world);
    let mut all = urls(3);
    all.push("http://slow.test/".to_owned());
    let path = start(&service, json!({ "urls": all })).await;
    poll_until(&service, &path, |body| body["completed"] == 3).await;
    // The batch still runs: the last page never responds.
    let (documents, requests) = read_all(&service, &format!("{path}?limit=2")).await;
    assert_eq!((documents.len(), requests), (3, 2));
    let beyond = service.get(&format!("{path}?skip=3")).await.body;
    assert_eq!(
        (&beyond["data"], beyond["next"].is_null(), &beyond["status"]),
        (&json!([]), true, &json!("scraping"))
    );
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_batch_resumes_and_charges_every_page_once() {
    const PAGES: usize = 60;
    // Every URL is listed twice.
    const LISTED: usize = 2 * PAGES;
    // More than the attempts that a page has: pages that only wait lose none.
    const KILLS: u64 = 11;
    let world = site_of(PAGES, Duration::from_millis(20)).await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "1000"]);
    let mut service = site.serve();
    let list = [urls(PAGES), urls(PAGES)].concat();
    let path = start(&service, json!({ "urls": list })).await;
    for part in 1..=KILLS {
        poll_until(&service, &path, |body| body["completed"].as_u64() >= Some(part * 10)).await;
        service.kill();
        drop(service);
        service = site.serve();
    }
    let status = wait_for_end(&service, &path).await;
    assert_eq!(status["status"], "completed", "{status}");
    let (documents, _) = read_all(&service, &path).await;
    let mut found: Vec<_> = documents.iter().map(index_and_url).collect();
    found.sort_unstable();
    assert!(
        found.iter().map(|(index, source)| (*index, *source)).eq(list.iter().map(String::as_str).enumerate())
    );
    assert_fields(&status, &json!({ "completed": LISTED, "total": LISTED, "creditsUsed": PAGES }));
    let balance = service.get("/v2/team/credit-usage").await.body;
    assert_eq!(balance["data"]["remainingCredits"], json!(1000 - PAGES), "{balance}");
}

#[tokio::test(flavor = "multi_thread")]
async fn job_without_credits_fails_with_a_reason() {
    let world = site_of(3, Duration::ZERO).await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "2"]);
    let service = site.serve();
    let path = start(&service, json!({ "urls": urls(3), "maxConcurrency": 1 })).await;
    let status = wait_for_end(&service, &path).await;
    assert_eq!(status["status"], "failed", "{status}");
    assert!(status["error"].as_str().unwrap().starts_with("Insufficient credits"), "{status}");
    assert_eq!((&status["completed"], &status["success"]), (&json!(2), &json!(true)), "{status}");
    let response = service.post(START, json!({ "urls": urls(3) }).to_string()).await;
    assert_eq!(response.status, 402, "{}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_reserved_by_pages_in_flight_are_spent_before_a_job_fails() {
    const HOSTS: usize = 8;
    let mut world = TestWeb::builder();
    for number in 0..HOSTS {
        let text = "<title>Page</title><main><h1>Page</h1><p>Text.</p></main>";
        let page = Page::html(text).delay(Duration::from_millis(200));
        world = world.page(&format!("http://host-{number}.test/"), page);
    }
    let world = world.start().await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", &(HOSTS - 1).to_string()]);
    let service = site.serve();
    let urls: Vec<String> = (0..HOSTS).map(|number| format!("http://host-{number}.test/")).collect();
    let path = start(&service, json!({ "urls": urls })).await;
    let status = wait_for_end(&service, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("failed"), &json!(HOSTS - 1)), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_host_does_not_delay_pages_of_other_hosts() {
    let text = "<title>Page</title><main><h1>Page</h1><p>Text.</p></main>";
    let mut urls: Vec<String> = (0..40).map(|number| format!("http://slow.test/{number}")).collect();
    let mut world = TestWeb::builder();
    for url in &urls {
        world = world.page(url, Page::html(text).delay(Duration::from_millis(100)));
    }
    urls.push("http://quick.test/".to_owned());
    let world = world.page("http://quick.test/", Page::html(text)).start().await;
    let service = Service::for_world(&world);
    let path = start(&service, json!({ "urls": urls })).await;
    let quick = |status: &Value| {
        let documents = status["data"].as_array().unwrap();
        documents.iter().any(|document| document["metadata"]["sourceURL"] == "http://quick.test/")
    };
    let status = poll_until(&service, &path, |status| quick(status) || status["status"] != "scraping").await;
    assert_eq!(status["status"], "scraping", "the quick page completed after the slow host: {status}");
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_in_flight_at_many_restarts_is_scraped_in_the_end() {
    const URL: &str = "http://slow.test/";
    /// More than a page may be in flight when the service is killed.
    const RESTARTS: usize = 12;
    let is_fast = Arc::new(AtomicBool::new(false));
    let speed = Arc::clone(&is_fast);
    let respond = move |_: &_| match speed.load(Ordering::SeqCst) {
        true => Page::html("<title>Tea</title><main><h1>Tea</h1><p>Tea costs 5 euros.</p></main>"),
        false => Page::unresponsive(),
    };
    let world = TestWeb::builder().page_with(URL, respond).start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let id = start(&service, json!({ "urls": [URL], "formats": ["markdown"] })).await;
    for restart in 1..=RESTARTS {
        until("the page was requested", || world.count(URL) == restart).await;
        assert!(service.stop().success());
        is_fast.store(restart == RESTARTS, Ordering::SeqCst);
        service = site.serve();
    }
    let status = wait_for_end(&service, &id).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(1)), "{status}");
}

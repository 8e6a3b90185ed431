//! Tests of crawls over HTTP.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::{delete, read_all, source_counts, start_at, wait_for_end};
use crate::crawl_proof::page;
use crate::harness::{KEY, Service, Site};
use crate::monitors::tools::{call, fail};

const START: &str = "/v2/crawl";

#[tokio::test(flavor = "multi_thread")]
async fn limit_depth_and_sitemap_options_apply() {
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &["/a", "/b"]))
        .page("http://site.test/a", page("A", &["/c"]))
        .page("http://site.test/b", page("B", &[]))
        .page("http://site.test/c", page("C", &[]))
        .page("http://site.test/listed", page("Listed", &["/d"]))
        .page("http://site.test/d", page("D", &[]))
        .page("http://site.test/sitemap.xml", Page::sitemap(&["http://site.test/listed"]))
        .start()
        .await;
    let service = Service::for_world(&world);
    let crawl = async |request: Value| -> BTreeSet<String> {
        let mut body = json!({ "url": "site.test" });
        body.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
        let path = start_at(&service, START, body).await;
        let status = wait_for_end(&service, &path).await;
        assert_eq!(status["status"], "completed", "{status}");
        let documents = status["data"].as_array().unwrap();
        source_counts(documents).keys().map(|url| url["http://site.test".len()..].to_owned()).collect()
    };
    let set = |paths: &[&str]| -> BTreeSet<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    assert_eq!(crawl(json!({})).await, set(&["/", "/a", "/b", "/c", "/listed", "/d"]));
    assert_eq!(crawl(json!({ "sitemap": "skip" })).await, set(&["/", "/a", "/b", "/c"]));
    assert_eq!(crawl(json!({ "sitemap": "only" })).await, set(&["/", "/listed"]));
    assert_eq!(crawl(json!({ "sitemap": "skip", "maxDiscoveryDepth": 1 })).await, set(&["/", "/a", "/b"]));
    assert_eq!(crawl(json!({ "maxDiscoveryDepth": 0 })).await, set(&["/"]));
    assert_eq!(crawl(json!({ "limit": 3 })).await.len(), 3);
}

/// Runs a crawl, and returns its final status and the URLs of its documents without their scheme.
async fn run_crawl(service: &Service, body: Value) -> (Value, Vec<String>) {
    let path = start_at(service, START, body).await;
    let status = wait_for_end(service, &path).await;
    let (documents, _) = read_all(service, &path).await;
    (status, source_counts(&documents).keys().map(|url| url.replace("http://", "")).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn redirected_start_moves_the_crawl_within_its_site() {
    let links = |links: &[&str]| page("Page", links);
    let world = TestWeb::builder()
        .page("http://site.test/docs", Page::redirect(302, "http://docs.site.test/en/"))
        .page("http://docs.site.test/en/", links(&["/en/a", "/fr/", "http://site.test/docs/b"]))
        .page("http://docs.site.test/en/a", links(&[]))
        .page("http://docs.site.test/fr/", links(&[]))
        .page("http://site.test/docs/b", links(&[]))
        .page("http://gone.test/", Page::redirect(302, "http://new.test/"))
        .page("http://new.test/", links(&["/a"]))
        .page("http://new.test/a", links(&[]))
        .start()
        .await;
    let service = Service::for_world(&world);
    let (status, pages) =
        run_crawl(&service, json!({ "url": "http://site.test/docs", "sitemap": "skip" })).await;
    let expected = ["docs.site.test/en/a", "site.test/docs", "site.test/docs/b"];
    assert_eq!(pages, expected, "{status}");
    assert_eq!(status["warning"], Value::Null, "{status}");
    let (status, pages) = run_crawl(&service, json!({ "url": "http://gone.test/", "sitemap": "skip" })).await;
    assert_eq!(pages, ["gone.test/"], "the crawl followed the start to another site");
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("allowExternalLinks"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_bounds_sitemap_urls_and_the_total() {
    let urls: Vec<String> = (0..500).map(|number| format!("http://site.test/{number}")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut world = TestWeb::builder()
        .page("http://site.test/", page("Start", &[]))
        .page("http://site.test/sitemap.xml", Page::sitemap(&urls));
    for number in 0..20 {
        world = world.page(&format!("http://site.test/{number}"), page("Listed", &[]));
    }
    let world = world.start().await;
    let service = Service::for_world(&world);
    for limit in [1, 3] {
        let (status, pages) =
            run_crawl(&service, json!({ "url": "http://site.test/", "limit": limit })).await;
        assert_eq!((pages.len(), &status["total"]), (limit, &json!(limit)), "{status}");
    }
    assert_eq!(world.count("http://site.test/sitemap.xml"), 1, "the crawl with limit 1 fetched the sitemap");
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_to_disallowed_url_is_not_followed_and_reported() {
    let world = TestWeb::builder()
        .page("http://site.test/robots.txt", Page::text("User-agent: *\nDisallow: /private/\n"))
        .page("http://site.test/", page("Start", &["/go", "/a", "/out"]))
        .page("http://site.test/go", Page::redirect(302, "/private/1"))
        .page("http://site.test/private/1", page("Private", &[]))
        .page("http://site.test/out", Page::redirect(302, "http://other.test/x"))
        .page("http://other.test/robots.txt", Page::text("User-agent: *\nDisallow: /x\n"))
        .page("http://other.test/x", page("Forbidden on another host", &[]))
        .page("http://site.test/a", page("A", &[]))
        .start()
        .await;
    let service = Service::for_world(&world);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "allowExternalLinks": true });
    let (status, pages) = run_crawl(&service, body).await;
    assert_eq!(pages, ["site.test/", "site.test/a"], "{status}");
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("robots.txt disallows 2 of the pages"), "{status}");
    for forbidden in ["http://site.test/private/1", "http://other.test/x"] {
        assert_eq!(world.count(forbidden), 0, "{forbidden} was requested");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unfollowed_redirects_are_reported_by_reason() {
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &["/mail", "/out"]))
        .page("http://site.test/mail", Page::redirect(302, "mailto:somebody@site.test"))
        .page("http://site.test/out", Page::redirect(302, "http://other.test/x"))
        .page("http://other.test/robots.txt", Page::text("User-agent: *\nDisallow: /x\n"))
        .page("http://other.test/x", page("Forbidden on another host", &[]))
        .start()
        .await;
    let service = Service::for_world(&world);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip" });
    let path = start_at(&service, START, body).await;
    let status = wait_for_end(&service, &path).await;
    assert_eq!(status["completed"], 1, "{status}");
    let errors = service.get(&format!("{path}/errors")).await.body;
    let code = &errors["errors"][0]["code"];
    let blocked = json!(["http://site.test/out"]);
    assert_eq!((code, &errors["robotsBlocked"]), (&json!("SCRAPE_FORBIDDEN_URL"), &blocked), "{errors}");
    // A cached page from a scrape is still disallowed for crawls.
    let scraped = service.post("/v2/scrape", json!({ "url": "http://site.test/out" }).to_string()).await;
    assert_eq!(scraped.status, 200, "{}", scraped.body);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "allowExternalLinks": true });
    let (status, pages) = run_crawl(&service, body).await;
    assert_eq!(pages, ["site.test/"], "{status}");
    assert!(status["warning"].as_str().unwrap().contains("robots.txt disallows 1 of the pages"), "{status}");
    assert_eq!(world.count("http://other.test/x"), 1, "the crawl fetched a disallowed page");
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_that_cannot_start_fails_with_the_error_of_its_start() {
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &[]))
        .page("http://closed.test/robots.txt", Page::text("User-agent: *\nDisallow: /\n"))
        .start()
        .await;
    let site = Site::new(&world);
    // The listener is dropped, so the port refuses connections.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", KEY).env("WEBSVC__FETCH__ALLOW_NETWORKS", "[\"127.0.0.0/8\"]");
    let service = Service::start(&mut command);
    let gone = format!("http://127.0.0.1:{port}/");
    // A second crawl of the URL fails as fast as the first.
    for url in [&gone, &gone, "http://10.1.2.3/"] {
        let status = wait_for_end(&service, &start_at(&service, START, json!({ "url": url })).await).await;
        let scraped = service.post("/v2/scrape", json!({ "url": url }).to_string()).await.body;
        let error = format!("the crawl could not start: {}", scraped["error"].as_str().unwrap());
        assert_eq!((&status["status"], &status["error"]), (&json!("failed"), &json!(error)), "{status}");
        assert!(status["warning"].is_null() && status["data"] == json!([]), "{status}");
        assert!(status["duration"].as_f64().unwrap() < 10.0, "the crawl waited for retries: {status}");
        let mapped = service.post("/v2/map", json!({ "url": url }).to_string()).await.body;
        let (mapped, reason) = (&mapped["error"], scraped["error"].as_str().unwrap());
        assert!(mapped.as_str().unwrap().ends_with(reason), "{mapped}: {reason}");
    }

    // A crawl completes if robots.txt disallows all pages.
    let path = start_at(&service, START, json!({ "url": "http://closed.test/" })).await;
    let status = wait_for_end(&service, &path).await;
    assert_eq!(status["status"], "completed", "{status}");

    let batch = |urls: Value| start_at(&service, "/v2/batch/scrape", json!({ "urls": urls }));
    let status = wait_for_end(&service, &batch(json!([gone, "http://10.1.2.3/"])).await).await;
    assert_eq!(status["status"], "failed", "{status}");
    assert!(
        status["error"].as_str().unwrap().starts_with("none of the 2 pages could be scraped"),
        "{status}"
    );
    let status = wait_for_end(&service, &batch(json!([gone, "http://site.test/"])).await).await;
    assert_eq!(status["status"], "completed", "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_crawls_are_listed_and_cancelled() {
    let world = TestWeb::builder().page("http://slow.test/", Page::unresponsive()).start().await;
    let service = Service::for_world(&world);
    let path = start_at(&service, START, json!({ "url": "http://slow.test/", "limit": 5 })).await;
    for list in ["/v2/crawl/active", "/v2/crawl/ongoing"] {
        let active = service.get(list).await.body;
        let crawl = &active["crawls"][0];
        assert!(path.ends_with(crawl["id"].as_str().unwrap()), "{active}");
        assert_eq!((&crawl["url"], &crawl["options"]["limit"]), (&json!("http://slow.test/"), &json!(5)));
        assert_eq!((&crawl["teamId"], crawl["created_at"].is_string()), (&json!("default"), true));
    }
    assert_eq!(delete(&service, &path).await.body["status"], "cancelled");
    assert_eq!(service.get("/v2/crawl/active").await.body, json!({ "success": true, "crawls": [] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_crawl_requests_are_rejected() {
    let world = TestWeb::builder().page("http://site.test/", page("Start", &[])).start().await;
    let service = Service::for_world(&world);
    for (body, status, text) in [
        (json!({}), 400, "url is required"),
        (json!({ "url": "ftp://site.test" }), 400, "/url"),
        (json!({ "url": "site.test", "prompt": "please be kind" }), 400, "[llm]"),
        (json!({ "url": "site.test", "prompt": "x".repeat(10_001) }), 400, "/prompt"),
        (json!({ "url": "site.test", "webhook": { "url": "" } }), 400, "/webhook/url"),
        (json!({ "url": "site.test", "includePaths": ["("] }), 400, "/includePaths/0"),
        (json!({ "url": "site.test", "delay": 61 }), 400, "delay"),
        (json!({ "url": "site.test", "limit": 0 }), 400, "limit"),
        (
            json!({ "url": "site.test", "scrapeOptions": { "lockdown": true } }),
            400,
            "/scrapeOptions/lockdown",
        ),
        (json!({ "url": "site.test", "ignoreRobotsTxt": true }), 403, "ignoreRobotsTxt"),
        (json!({ "url": "site.test", "robotsUserAgent": "other" }), 403, "robotsUserAgent"),
        (json!({ "url": "site.test", "zeroDataRetention": true }), 403, "zeroDataRetention"),
    ] {
        let response = service.post(START, body.to_string()).await;
        assert_eq!(response.status.as_u16(), status, "{body}: {}", response.body);
        assert!(response.body.to_string().contains(text), "{body}: {}", response.body);
    }
    let headers = [("content-type", "application/json"), ("x-idempotency-key", "once")];
    let body = json!({ "url": "site.test" }).to_string();
    assert_eq!(service.send(Method::POST, START, &headers, body.clone()).await.status, 200);
    assert_eq!(service.send(Method::POST, START, &headers, body).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn start_page_outside_of_the_paths_is_followed_and_left_out() {
    let links = |paths: &[&str]| page("Page", paths);
    let world = TestWeb::builder()
        .page("http://site.test/", links(&["/pages/1", "/pages/2", "/imprint"]))
        .page("http://site.test/pages/1", links(&[]))
        .page("http://site.test/pages/2", links(&[]))
        .page("http://site.test/imprint", links(&[]))
        .start()
        .await;
    let site = Site::new(&world);
    let service = site.serve();
    let body =
        json!({ "url": "http://site.test/", "includePaths": ["pages/.*"], "limit": 2, "sitemap": "skip" });
    let path = start_at(&service, START, body).await;
    wait_for_end(&service, &path).await;
    let urls: BTreeSet<String> = source_counts(&read_all(&service, &path).await.0).into_keys().collect();
    assert_eq!(urls, ["http://site.test/pages/1", "http://site.test/pages/2"].map(str::to_owned).into());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_whose_canonical_url_is_the_home_page_are_kept() {
    let home = "<title>Home</title><main><h1>Home</h1><p>About all.</p><a href=/a>a</a> <a href=/b>b</a> <a href=/index.html>c</a></main>";
    let other = |name: &str| {
        Page::html(format!(
            "<title>{name}</title><link rel=canonical href=/><main><h1>{name}</h1><p>About {name}.</p></main>"
        ))
    };
    let world = TestWeb::builder()
        .page("http://site.test/", Page::html(home))
        .page("http://site.test/a", other("A"))
        .page("http://site.test/b", other("B"))
        .page("http://site.test/index.html", Page::html(format!("<link rel=canonical href=/>{home}")))
        .start()
        .await;
    let site = Site::new(&world);
    let service = site.serve();
    let path = start_at(&service, START, json!({ "url": "http://site.test/" })).await;
    wait_for_end(&service, &path).await;
    let urls: BTreeSet<String> = source_counts(&read_all(&service, &path).await.0).into_keys().collect();
    assert_eq!(
        urls,
        ["http://site.test/", "http://site.test/a", "http://site.test/b"].map(str::to_owned).into()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn model_crawls_a_site_reads_a_batch_and_converts_a_file() {
    const PAGES: usize = 12;
    let url = |number: usize| format!("http://site.test/docs/{number}");
    let mut world = TestWeb::builder();
    for number in 0..PAGES {
        let links = [number * 2 + 1, number * 2 + 2].map(|next| url(next % PAGES));
        world = world.page(&url(number), page(&format!("Page {number}"), &[&links[0], &links[1]]));
    }
    let world = world.start().await;
    let site = Site::new(&world);
    let service = site.serve();
    let crawl = json!({ "url": url(0), "crawlEntireDomain": true, "includePaths": ["^/docs/"] });
    let started = call(&service, "crawl", crawl).await;
    let id = started["id"].as_str().unwrap();
    wait_for_end(&service, &format!("{START}/{id}")).await;
    let mut urls = BTreeSet::new();
    for skip in [0, 10] {
        let part = call(&service, "check_crawl_status", json!({ "id": id, "skip": skip })).await;
        let documents = part["data"].as_array().unwrap();
        assert!(documents.len() <= 10, "{part}");
        urls.extend(documents.iter().map(|page| page["metadata"]["url"].as_str().unwrap().to_owned()));
    }
    assert_eq!(urls, (0..PAGES).map(url).collect());
    let batch = call(&service, "batch_scrape", json!({ "urls": ["http://site.test/docs/1"] })).await;
    let id = batch["id"].as_str().unwrap();
    wait_for_end(&service, &format!("/v2/batch/scrape/{id}")).await;
    let pages = call(&service, "check_batch_status", json!({ "id": id })).await;
    assert!(pages["data"][0]["markdown"].as_str().unwrap().contains("About Page 1."), "{pages}");
    assert!(fail(&service, "cancel_batch", json!({ "id": id })).await.contains("already"));
    // "<h1>Tea</h1>"
    let file =
        json!({ "fileName": "a.html", "data": "PGgxPlRlYTwvaDE+", "options": { "formats": ["markdown"] } });
    let parsed = call(&service, "parse", file).await;
    assert_eq!(parsed["data"]["markdown"], "# Tea\n", "{parsed}");
    let text = fail(&service, "parse", json!({ "fileName": "a.html", "data": "?" })).await;
    assert!(text.contains("\"data\" is not base64"), "{text}");
}

//! Crawls over HTTP: the pages of a site, each once and none outside of it.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::{ask_until, delete, ended, read_all, sources, start_at};
use crate::harness::{KEY, Service, Site};

const START: &str = "/v2/crawl";

/// Site with traps: pages to be crawled, and others that must not be.
struct Trapped {
    world: TestWeb,
    expected: BTreeSet<String>,
}

fn page(title: &str, links: &[String]) -> Page {
    let links: String = links.iter().map(|link| format!("<a href='{link}'>x</a> ")).collect();
    Page::html(format!("<title>{title}</title><main><h1>{title}</h1><p>About {title}.</p>{links}</main>"))
}

/// Makes a site of so many pages with loops, spellings, redirects, sessions, calendars without an end, forbidden and
/// foreign pages.
async fn trapped(pages: usize) -> Trapped {
    let at = |number: usize| format!("http://site.test/docs/{number}");
    let mut world = TestWeb::builder();
    for number in 0..pages {
        let mut links = vec![
            format!("/docs/{}", (number * 2 + 1) % pages),
            format!("/docs/{}", (number * 2 + 2) % pages),
            // Usual spellings of pages that are met anyway.
            format!("http://www.site.test/docs/{}/", (number + 1) % pages),
            format!("/docs/{}#part", (number + 1) % pages),
            format!("/docs/{}?utm_source=mail", (number + 1) % pages),
            // What is no page of the crawl.
            format!("/blog/{number}"),
            format!("http://other.test/{number}"),
            format!("/docs/private/{number}"),
            format!("/docs/picture-{number}.png"),
            format!("mailto:somebody@site.test?{number}"),
        ];
        if number == 3 {
            links.push("/docs/moved".to_owned());
            links.push("/docs/away".to_owned());
            links.push("/docs/copy".to_owned());
        }
        let spelling = format!("http://www.site.test/docs/{number}/");
        world = world
            .page(&at(number), page(&format!("Page {number}"), &links))
            .page(&spelling, Page::redirect(301, &at(number)));
    }
    let canonical =
        "<title>Copy</title><link rel=canonical href=/docs/0><main><h1>Copy</h1><p>About page 0.</p></main>";
    let world = world
        .page("http://site.test/robots.txt", Page::text("User-agent: *\nDisallow: /docs/private/\n"))
        .page("http://site.test/docs/moved", Page::redirect(301, "/docs/0"))
        .page("http://site.test/docs/away", Page::redirect(302, "http://other.test/"))
        .page("http://site.test/docs/copy", Page::html(canonical))
        .page("http://other.test/", page("Other", &[]))
        .page("http://site.test/blog/0", page("Blog", &[]));
    Trapped { world: world.start().await, expected: (0..pages).map(at).collect() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_gets_every_page_of_a_trapped_site_once_and_none_beside() {
    let Trapped { world, expected } = trapped(60).await;
    let service = Service::of(&world);
    let body =
        json!({ "url": "http://site.test/docs/0", "crawlEntireDomain": false, "includePaths": ["^/docs/"] });
    // The directory of a start without an extension is the start itself: the whole domain, then, and its docs.
    let body = {
        let mut body = body;
        body["crawlEntireDomain"] = json!(true);
        body
    };
    let path = start_at(&service, START, body).await;
    let status = ended(&service, &path).await;
    assert_eq!(status["status"], "completed", "{status}");
    let (documents, _) = read_all(&service, &path).await;
    let sources = sources(&documents);
    let got: BTreeSet<String> =
        sources.keys().map(|url| url.replace("www.", "").trim_end_matches('/').to_owned()).collect();
    assert_eq!(got, expected);
    assert_eq!((documents.len(), sources.len()), (60, 60), "each once: {sources:?}");
    assert_eq!((&status["completed"], &status["creditsUsed"]), (&json!(60), &json!(60)));
    let errors = service.get(&format!("{path}/errors")).await.body;
    assert_eq!(errors["errors"], json!([]), "{errors}");
    let blocked = errors["robotsBlocked"].as_array().unwrap();
    assert!(
        !blocked.is_empty() && blocked.iter().all(|url| url.as_str().unwrap().contains("/docs/private/"))
    );
    let outside = world
        .requests()
        .into_iter()
        .filter(|seen| ["/private/", "/blog/", ".png"].iter().any(|part| seen.url.contains(part)));
    assert_eq!(outside.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_depth_and_sitemaps_are_kept() {
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &["/a".to_owned(), "/b".to_owned()]))
        .page("http://site.test/a", page("A", &["/c".to_owned()]))
        .page("http://site.test/b", page("B", &[]))
        .page("http://site.test/c", page("C", &[]))
        .page("http://site.test/listed", page("Listed", &["/d".to_owned()]))
        .page("http://site.test/d", page("D", &[]))
        .page("http://site.test/sitemap.xml", Page::sitemap(&["http://site.test/listed"]))
        .start()
        .await;
    let service = Service::of(&world);
    let crawl = async |request: Value| -> BTreeSet<String> {
        let mut body = json!({ "url": "site.test" });
        body.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
        let path = start_at(&service, START, body).await;
        let status = ended(&service, &path).await;
        assert_eq!(status["status"], "completed", "{status}");
        let documents = status["data"].as_array().unwrap();
        sources(documents).keys().map(|url| url["http://site.test".len()..].to_owned()).collect()
    };
    let set = |paths: &[&str]| -> BTreeSet<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    assert_eq!(crawl(json!({})).await, set(&["/", "/a", "/b", "/c", "/listed", "/d"]));
    assert_eq!(crawl(json!({ "sitemap": "skip" })).await, set(&["/", "/a", "/b", "/c"]));
    assert_eq!(crawl(json!({ "sitemap": "only" })).await, set(&["/", "/listed"]));
    assert_eq!(crawl(json!({ "sitemap": "skip", "maxDiscoveryDepth": 1 })).await, set(&["/", "/a", "/b"]));
    assert_eq!(crawl(json!({ "maxDiscoveryDepth": 0 })).await, set(&["/"]));
    assert_eq!(crawl(json!({ "limit": 3 })).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_is_killed_ends_as_if_nothing_had_happened() {
    let Trapped { world, expected } = trapped(40).await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let body =
        json!({ "url": "http://site.test/docs/0", "crawlEntireDomain": true, "includePaths": ["^/docs/"] });
    let path = start_at(&service, START, body).await;
    for part in 1..=5 {
        ask_until(&service, &path, |body| body["completed"].as_u64() >= Some(part * 6)).await;
        service.kill();
        drop(service);
        service = site.serve();
    }
    let status = ended(&service, &path).await;
    let (documents, _) = read_all(&service, &path).await;
    assert_eq!(documents.len(), expected.len(), "{status}");
    assert_eq!(status["creditsUsed"], json!(expected.len()));
}

/// Crawls from a start, and returns the state at the end and the pages without their scheme.
async fn crawled(service: &Service, body: Value) -> (Value, Vec<String>) {
    let path = start_at(service, START, body).await;
    let status = ended(service, &path).await;
    let (documents, _) = read_all(service, &path).await;
    (status, sources(&documents).keys().map(|url| url.replace("http://", "")).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_leads_elsewhere_on_its_site_takes_the_crawl_along() {
    let links = |links: &[&str]| page("Page", &links.iter().map(|&link| link.to_owned()).collect::<Vec<_>>());
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
    let service = Service::of(&world);
    let (status, pages) =
        crawled(&service, json!({ "url": "http://site.test/docs", "sitemap": "skip" })).await;
    let expected = ["docs.site.test/en/a", "site.test/docs", "site.test/docs/b"];
    assert_eq!(pages, expected, "{status}");
    assert_eq!(status["warning"], Value::Null, "{status}");
    let (status, pages) = crawled(&service, json!({ "url": "http://gone.test/", "sitemap": "skip" })).await;
    assert_eq!(pages, ["gone.test/"], "another site");
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("allowExternalLinks"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_bounds_what_is_taken_from_sitemaps_and_the_total() {
    let urls: Vec<String> = (0..500).map(|number| format!("http://site.test/{number}")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let mut world = TestWeb::builder()
        .page("http://site.test/", page("Start", &[]))
        .page("http://site.test/sitemap.xml", Page::sitemap(&urls));
    for number in 0..20 {
        world = world.page(&format!("http://site.test/{number}"), page("Listed", &[]));
    }
    let world = world.start().await;
    let service = Service::of(&world);
    for limit in [1, 3] {
        let (status, pages) = crawled(&service, json!({ "url": "http://site.test/", "limit": limit })).await;
        assert_eq!((pages.len(), &status["total"]), (limit, &json!(limit)), "{status}");
    }
    assert_eq!(world.count("http://site.test/sitemap.xml"), 1, "one page is found without it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_robots_txt_forbids_is_not_had_by_a_redirect_and_is_told() {
    let world = TestWeb::builder()
        .page("http://site.test/robots.txt", Page::text("User-agent: *\nDisallow: /private/\n"))
        .page("http://site.test/", page("Start", &["/go", "/a", "/out"].map(str::to_owned)))
        .page("http://site.test/go", Page::redirect(302, "/private/1"))
        .page("http://site.test/private/1", page("Private", &[]))
        .page("http://site.test/out", Page::redirect(302, "http://other.test/x"))
        .page("http://other.test/robots.txt", Page::text("User-agent: *\nDisallow: /x\n"))
        .page("http://other.test/x", page("Forbidden elsewhere", &[]))
        .page("http://site.test/a", page("A", &[]))
        .start()
        .await;
    let service = Service::of(&world);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "allowExternalLinks": true });
    let (status, pages) = crawled(&service, body).await;
    assert_eq!(pages, ["site.test/", "site.test/a"], "{status}");
    let warning = status["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("robots.txt forbids 2 of the pages"), "{status}");
    for forbidden in ["http://site.test/private/1", "http://other.test/x"] {
        assert_eq!(world.count(forbidden), 0, "{forbidden} was asked for");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_told_apart_by_why_they_are_not_followed() {
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &["/mail", "/out"].map(str::to_owned)))
        .page("http://site.test/mail", Page::redirect(302, "mailto:somebody@site.test"))
        .page("http://site.test/out", Page::redirect(302, "http://other.test/x"))
        .page("http://other.test/robots.txt", Page::text("User-agent: *\nDisallow: /x\n"))
        .page("http://other.test/x", page("Forbidden elsewhere", &[]))
        .start()
        .await;
    let service = Service::of(&world);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip" });
    let path = start_at(&service, START, body).await;
    let status = ended(&service, &path).await;
    assert_eq!(status["completed"], 1, "{status}");
    let errors = service.get(&format!("{path}/errors")).await.body;
    let code = &errors["errors"][0]["code"];
    let blocked = json!(["http://site.test/out"]);
    assert_eq!((code, &errors["robotsBlocked"]), (&json!("SCRAPE_FORBIDDEN_URL"), &blocked), "{errors}");
    // What somebody else scraped is in the cache, and forbidden to crawls all the same.
    let scraped = service.post("/v2/scrape", json!({ "url": "http://site.test/out" }).to_string()).await;
    assert_eq!(scraped.status, 200, "{}", scraped.body);
    let body = json!({ "url": "http://site.test/", "sitemap": "skip", "allowExternalLinks": true });
    let (status, pages) = crawled(&service, body).await;
    assert_eq!(pages, ["site.test/"], "{status}");
    assert!(status["warning"].as_str().unwrap().contains("robots.txt forbids 1 of the pages"), "{status}");
    assert_eq!(world.count("http://other.test/x"), 1, "by the scrape alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_that_cannot_start_fails_with_the_error_of_its_start() {
    let world = TestWeb::builder()
        .page("http://site.test/", page("Start", &[]))
        .page("http://closed.test/robots.txt", Page::text("User-agent: *\nDisallow: /\n"))
        .start()
        .await;
    let site = Site::new(&world);
    // Nobody listens there any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", KEY).env("WEBSVC__FETCH__ALLOW_NETWORKS", "[\"127.0.0.0/8\"]");
    let service = Service::start(&mut command);
    let gone = format!("http://127.0.0.1:{port}/");
    // The second attempt waits no longer than the first.
    for url in [&gone, &gone, "http://10.1.2.3/"] {
        let status = ended(&service, &start_at(&service, START, json!({ "url": url })).await).await;
        let scraped = service.post("/v2/scrape", json!({ "url": url }).to_string()).await.body;
        let error = format!("the crawl could not start: {}", scraped["error"].as_str().unwrap());
        assert_eq!((&status["status"], &status["error"]), (&json!("failed"), &json!(error)), "{status}");
        assert!(status["warning"].is_null() && status["data"] == json!([]), "{status}");
        assert!(status["duration"].as_f64().unwrap() < 10.0, "no backoff: {status}");
        let mapped = service.post("/v2/map", json!({ "url": url }).to_string()).await.body;
        let (mapped, reason) = (&mapped["error"], scraped["error"].as_str().unwrap());
        assert!(mapped.as_str().unwrap().ends_with(reason), "{mapped}: {reason}");
    }

    // Where robots.txt forbids everything nothing failed.
    let path = start_at(&service, START, json!({ "url": "http://closed.test/" })).await;
    let status = ended(&service, &path).await;
    assert_eq!(status["status"], "completed", "{status}");

    let batch = |urls: Value| start_at(&service, "/v2/batch/scrape", json!({ "urls": urls }));
    let status = ended(&service, &batch(json!([gone, "http://10.1.2.3/"])).await).await;
    assert_eq!(status["status"], "failed", "{status}");
    assert!(status["error"].as_str().unwrap().starts_with("none of the 2 pages could be had"), "{status}");
    let status = ended(&service, &batch(json!([gone, "http://site.test/"])).await).await;
    assert_eq!(status["status"], "completed", "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_that_run_are_listed_and_cancelled() {
    let world = TestWeb::builder().page("http://slow.test/", Page::unresponsive()).start().await;
    let service = Service::of(&world);
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
async fn pages_come_one_after_the_other_with_a_delay() {
    let links: Vec<String> = (0..4).map(|number| format!("/{number}")).collect();
    let mut world = TestWeb::builder().page("http://site.test/", page("Start", &links));
    for number in 0..4 {
        world = world.page(&format!("http://site.test/{number}"), page("Page", &[]));
    }
    let world = world.start().await;
    let service = Service::of(&world);
    let path =
        start_at(&service, START, json!({ "url": "http://site.test/", "delay": 0.3, "sitemap": "skip" }))
            .await;
    let status = ended(&service, &path).await;
    // Five pages have four pauses between them, however quick the machine is.
    assert!(status["duration"].as_f64().unwrap() >= 1.2, "{status}");
    assert_eq!(status["completed"], json!(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_crawl_cannot_do_is_refused() {
    let world = TestWeb::builder().page("http://site.test/", page("Start", &[])).start().await;
    let service = Service::of(&world);
    for (body, status, words) in [
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
        let answer = service.post(START, body.to_string()).await;
        assert_eq!(answer.status.as_u16(), status, "{body}: {}", answer.body);
        assert!(answer.body.to_string().contains(words), "{body}: {}", answer.body);
    }
    let headers = [("content-type", "application/json"), ("x-idempotency-key", "once")];
    let body = json!({ "url": "site.test" }).to_string();
    assert_eq!(service.send(Method::POST, START, &headers, body.clone()).await.status, 200);
    assert_eq!(service.send(Method::POST, START, &headers, body).await.status, 409);
}

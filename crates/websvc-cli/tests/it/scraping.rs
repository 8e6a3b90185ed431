//! Tests of searches with scraped results, and of `websvc scrape`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Service, Site, assert_fields, tea_world};

/// Starts a service whose index contains a page that exists and one that does not.
async fn indexed(world: &TestWeb) -> Service {
    let service = Service::for_world(world);
    let page = |url: &str, body: &str| json!({"url": url, "title": "Listed", "body": body});
    let documents = json!({"documents": [
        page("http://tea.test/green.html", "listed green"),
        page("http://tea.test/missing.html", "listed missing"),
    ]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("listed").await;
    service
}

fn result<'a>(body: &'a Value, url: &str) -> &'a Value {
    body["data"]["web"].as_array().unwrap().iter().find(|hit| hit["url"] == json!(url)).unwrap()
}

#[tokio::test]
async fn results_have_the_requested_formats() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    let options = json!({"formats": ["markdown", {"type": "html"}, "rawHtml", "links", "images"]});
    let response = service.search(json!({"query": "green", "scrapeOptions": options})).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let hit = result(&response.body, "http://tea.test/green.html");
    let markdown = hit["markdown"].as_str().unwrap();
    assert!(markdown.contains("# Green tea") && markdown.contains("| Sencha"), "{markdown}");
    assert!(!markdown.contains("Home"), "the markdown contains the navigation: {markdown}");
    assert!(hit["rawHtml"].as_str().unwrap().contains("<nav>"));
    assert!(!hit["html"].as_str().unwrap().contains("<nav>"));
    assert_fields(hit, &json!({ "links": ["http://tea.test/oolong.html"], "images": [] }));
    let metadata = &hit["metadata"];
    let expected = json!({
        "title": "Green tea", "description": "How to brew green tea.", "language": "en",
        "sourceURL": "http://tea.test/green.html", "statusCode": 200, "cacheState": "miss", "creditsUsed": 1,
    });
    assert_fields(metadata, &expected);
    assert_eq!(response.body["creditsUsed"], json!(3));
}

#[tokio::test]
async fn missing_formats_fetch_no_page_and_add_no_fields() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    world.clear_requests();
    let response = service.search(json!({"query": "green", "scrapeOptions": {}})).await;
    let hit = result(&response.body, "http://tea.test/green.html");
    let mut keys: Vec<&String> = hit.as_object().unwrap().keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["description", "title", "url"]);
    assert!(world.requests().is_empty());
    assert_eq!(response.body["creditsUsed"], json!(2));
}

#[tokio::test]
async fn second_search_is_served_from_the_cache() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    let request = json!({"query": "green", "scrapeOptions": {"formats": ["markdown"]}});
    service.search(request.clone()).await;
    world.clear_requests();
    let response = service.search(request).await;
    let hit = result(&response.body, "http://tea.test/green.html");
    assert_eq!(hit["metadata"]["cacheState"], json!("hit"), "{hit}");
    assert!(hit["metadata"]["cachedAt"].is_string());
    assert_eq!(world.count("http://tea.test/green.html"), 0);
    let options = json!({"formats": ["markdown"], "maxAge": 0});
    service.search(json!({"query": "green", "scrapeOptions": options})).await;
    assert_eq!(world.count("http://tea.test/green.html"), 1);
}

#[tokio::test]
async fn failed_page_stays_in_the_results_with_its_error() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    let options = json!({"formats": ["markdown"]});
    let response = service.search(json!({"query": "listed missing", "scrapeOptions": options})).await;
    let hit = result(&response.body, "http://tea.test/missing.html");
    assert_eq!(hit["metadata"]["statusCode"], json!(404), "{hit}");
    assert_eq!(hit["title"], json!("Listed"));
}

#[tokio::test]
async fn private_addresses_are_rejected() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let documents =
        json!({"documents": [{"url": "http://127.0.0.1:9/", "title": "Inside", "body": "inside"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("inside").await;
    let options = json!({"formats": ["markdown"]});
    let response = service.search(json!({"query": "inside", "scrapeOptions": options})).await;
    let hit = result(&response.body, "http://127.0.0.1:9/");
    assert!(hit.get("markdown").is_none());
    let error = hit["metadata"]["error"].as_str().unwrap();
    assert!(error.contains("may not be fetched"), "{error}");
    assert_eq!(hit["metadata"]["statusCode"], json!(403));
    assert_eq!(hit["url"], json!("http://127.0.0.1:9/"));
    assert_eq!(response.body["creditsUsed"], json!(2));
}

#[tokio::test]
async fn slow_pages_do_not_delay_the_response() {
    let world = TestWeb::builder()
        .page("http://tea.test/slow.html", Page::html("<p>late").delay(Duration::from_secs(30)))
        .start()
        .await;
    let service = Service::for_world(&world);
    let documents =
        json!({"documents": [{"url": "http://tea.test/slow.html", "title": "Slow", "body": "slow"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("slow").await;
    let started = Instant::now();
    let request = json!({"query": "slow", "timeout": 1500, "scrapeOptions": {"formats": ["markdown"]}});
    let response = service.search(request).await;
    assert!(started.elapsed() < Duration::from_secs(20), "the response was later than the timeout");
    assert_eq!(response.status, 200, "{}", response.body);
    let hit = result(&response.body, "http://tea.test/slow.html");
    assert!(hit["metadata"]["error"].as_str().unwrap().starts_with("SCRAPE_TIMEOUT"), "{hit}");
    assert!(response.body["warning"].as_str().unwrap().contains("not scraped in time"));
}

#[tokio::test]
async fn min_age_and_lockdown_use_only_the_cache() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    world.clear_requests();
    let search = |options: Value| json!({"query": "green", "scrapeOptions": options});
    let response = service.search(search(json!({"formats": ["markdown"], "minAge": 1}))).await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (404, &json!("SCRAPE_NO_CACHED_DATA")));
    let response = service.search(search(json!({"formats": ["markdown"], "lockdown": true}))).await;
    assert_eq!(
        (response.status.as_u16(), &response.body["code"]),
        (404, &json!("SCRAPE_LOCKDOWN_CACHE_MISS"))
    );
    assert!(world.requests().is_empty());
    service.search(search(json!({"formats": ["markdown"]}))).await;
    let response = service.search(search(json!({"formats": ["markdown"], "lockdown": true}))).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(response.body["creditsUsed"], json!(7));
}

#[tokio::test]
async fn unavailable_options_are_named_in_the_warning() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    let options = json!({"formats": ["markdown", "screenshot", "summary"], "waitFor": 100});
    let response = service.search(json!({"query": "green", "scrapeOptions": options})).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let warning = response.body["warning"].as_str().unwrap();
    for word in ["screenshot", "summary", "waitFor"] {
        assert!(warning.contains(word), "{word}: {warning}");
    }
    let hit = result(&response.body, "http://tea.test/green.html");
    assert!(hit.get("markdown").is_some() && hit.get("screenshot").is_none());
}

#[tokio::test]
async fn ignore_invalid_urls_omits_unfetchable_results() {
    let world = tea_world().await;
    let service = indexed(&world).await;
    let documents =
        json!({"documents": [{"url": "file://notes/green.txt", "title": "Notes", "body": "green"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("notes").await;
    let urls = |response: &Value| {
        let results = response["data"]["web"].as_array().unwrap();
        results.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let response = service.search(json!({"query": "green"})).await;
    assert!(urls(&response.body).contains(&"file://notes/green.txt".to_owned()), "{}", response.body);
    let response = service.search(json!({"query": "green", "ignoreInvalidURLs": true})).await;
    let remaining = urls(&response.body);
    assert!(!remaining.is_empty() && remaining.iter().all(|url| url.starts_with("http")), "{remaining:?}");
}

#[tokio::test]
async fn search_without_results_has_an_empty_list_per_source() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    // A search of an empty index would have a warning.
    service.index_pages(&[("listed", "http://tea.test/listed")]).await;
    let response = service.search(json!({"query": "nothing"})).await;
    assert_fields(&response.body, &json!({ "data": {"web": []}, "creditsUsed": 0 }));
    let response = service.search(json!({"query": "nothing", "sources": ["images"]})).await;
    assert_eq!((response.status.as_u16(), &response.body["data"]), (200, &json!({"images": []})));
    let response = service.search(json!({"query": "nothing", "sources": ["web", {"type": "news"}]})).await;
    assert_fields(&response.body, &json!({ "data": {"web": [], "news": []}, "warning": null }));
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_command_prints_the_page_and_indexes_it() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let stdout = site.succeed(&["scrape", "http://tea.test/oolong.html"]);
    assert!(stdout.starts_with("# Oolong"), "{stdout}");
    let found = site.succeed(&["search", "oxidised"]);
    assert!(found.contains("http://tea.test/oolong.html"), "{found}");
    let output = site.run(&["scrape", "tea.test/oolong.html", "--format", "screenshot", "--format", "links"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("format screenshot: no browser is installed"), "{stderr}");
    let json: Value =
        serde_json::from_str(&site.succeed(&["scrape", "tea.test/oolong.html", "--json"])).unwrap();
    assert_eq!(json["metadata"]["cacheState"], json!("hit"));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_fail_for_pages_with_an_error_status() {
    let mut world = TestWeb::builder();
    for status in [404, 403, 500] {
        let page = Page::html(format!("<title>{status}</title><main><p>Nothing to see here</p></main>"));
        world = world.page(&format!("http://tea.test/{status}"), page.status(status));
    }
    let html = "<title>Tea</title><main><p>Green tea and oolong</p></main>";
    let world = world.page("http://tea.test/", Page::html(html)).start().await;
    let site = Site::new(&world);
    let run = |arguments: &[&str]| {
        let output = site.run(arguments);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for (status, reason) in
        [(404, "404 Not Found"), (403, "403 Forbidden"), (500, "500 Internal Server Error")]
    {
        let url = format!("http://tea.test/{status}");
        for format in [&["scrape", &url][..], &["scrape", &url, "--json"]] {
            let (code, stdout, stderr) = run(format);
            assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
            let expected = format!(
                "error: {url}: the page responded with {reason}; --allow-errors prints its content\n"
            );
            assert_eq!(stderr, expected);
        }
        let (code, stdout, stderr) = run(&["scrape", &url, "--allow-errors"]);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.contains("Nothing to see here"), "{stdout}");
    }
    let batch = ["batch", "http://tea.test/", "http://tea.test/404", "--json"];
    let (code, _, stderr) = run(&batch);
    assert_eq!(code, Some(1), "{stderr}");
    for line in [
        "http://tea.test/404: the page responded with 404 Not Found\n",
        "batch: 2 pages (1 responded with an error), 0 failed, ",
        "error: 1 page responded with an error; --allow-errors accepts that\n",
    ] {
        assert!(stderr.contains(line), "{line:?} is not in {stderr}");
    }
    let (code, _, stderr) = run(&[&batch[..], &["--allow-errors"]].concat());
    assert_eq!(code, Some(0), "{stderr}");
}

#[tokio::test]
async fn redact_pii_removes_personal_data_from_the_markdown() {
    let html = "<title>Jane Doe</title><main><h1>Contact Jane Doe</h1>\
        <p>Mail <a href='mailto:jane@corp.test'>jane@corp.test</a> or call +49 30 901820 in Berlin, as many people \
        have done before. <code>user@host.test</code> stays, and so does <a href='/Berlin'>this</a>.</p></main>";
    let world = TestWeb::builder().page("http://tea.test/contact.html", Page::html(html)).start().await;
    let service = Service::for_world(&world);
    let document =
        json!({"documents": [{"url": "http://tea.test/contact.html", "title": "Listed", "body": "listed"}]});
    service.post("/v2/index/documents", document.to_string()).await;
    service.search_until_found("listed").await;
    let search = async |redact: Value| {
        let options = json!({"formats": ["markdown"], "redactPII": redact});
        service.search(json!({"query": "listed", "scrapeOptions": options})).await.body
    };
    let markdown = |body: &Value| body["data"]["web"][0]["markdown"].as_str().unwrap().to_owned();
    let plain = search(json!(false)).await;
    assert!(markdown(&plain).contains("Contact Jane Doe"), "{plain}");
    assert_eq!(plain["creditsUsed"], json!(2 + 1));
    // The page is cached with personal data. The redaction applies to the cached page, too.
    let redacted = search(json!(true)).await;
    let text = markdown(&redacted);
    for expected in
        ["Contact <PERSON>", "[<EMAIL>](mailto:<EMAIL>)", "call <PHONE> in <LOCATION>", "`user@host.test`"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.contains("[this](http://tea.test/Berlin)"), "{text}");
    assert_eq!(redacted["data"]["web"][0]["metadata"]["title"], json!("<PERSON>"));
    assert!(redacted["warning"].as_str().unwrap().contains("redactPII mode accurate"), "{redacted}");
    assert_eq!(redacted["creditsUsed"], json!(2 + 1 + 4));
    let masked = search(json!({"mode": "fast", "entities": ["EMAIL"], "replaceStyle": "mask"})).await;
    assert!(markdown(&masked).contains("[**************](mailto:**************) or call +49 30"), "{masked}");
    assert!(masked.get("warning").is_none(), "{masked}");
}

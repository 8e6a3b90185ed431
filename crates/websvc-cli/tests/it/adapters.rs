//! Tests of the compatible APIs: version 1, SearXNG, Open WebUI and Jina.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde_json::{Value, json};

use crate::batch::{delete, read_all, start_at, wait_for_end};
use crate::harness::{Service, Site, assert_fields, tea_world};

const PAGE: &str = "http://tea.test/green.html";

/// Starts a service whose index contains one page, found by "listed".
async fn indexed() -> (websvc_testkit::TestWeb, Service) {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    service.index_pages(&[("listed", PAGE)]).await;
    world.clear_requests();
    (world, service)
}

#[tokio::test]
async fn version_1_scrapes_and_searches() {
    let (world, service) = indexed().await;
    let request = json!({ "query": "listed", "limit": 3, "timeout": 9, "lang": "en" });
    let found = service.post("/v1/search", request.to_string()).await;
    assert_eq!((found.status.as_u16(), &found.body["data"][0]["url"]), (200, &json!(PAGE)), "{}", found.body);
    assert_eq!((found.body["data"].as_array().unwrap().len(), world.count(PAGE)), (1, 0));
    let scraping = json!({ "query": "listed", "scrapeOptions": { "formats": ["markdown"] } });
    let found = service.post("/v1/search", scraping.to_string()).await;
    assert!(found.body["data"][0]["markdown"].as_str().unwrap().contains("Sencha"), "{}", found.body);
    let body = json!({ "url": PAGE, "formats": ["markdown", "rawHtml"], "parsePDF": true, "timeout": 7500 });
    for count in 2..=3 {
        let response = service.post("//v1/scrape/", body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        assert!(response.body["data"]["markdown"].as_str().unwrap().contains("Sencha"));
        assert_eq!(world.count(PAGE), count, "version 1 does not use the cache");
    }
    let extract = json!({ "prompt": "the tea", "systemPrompt": "be brief", "schema": null });
    let body = json!({
        "url": PAGE, "formats": ["extract", "markdown"], "extract": extract, "jsonOptions": null, "timeout": null,
        "maxAge": null,
    });
    let response = service.post("/v1/scrape", body.to_string()).await;
    assert_eq!(
        (response.status.as_u16(), world.count(PAGE)),
        (200, 4),
        "null counts as missing: {}",
        response.body
    );
    let warning = response.body["warning"].as_str().unwrap();
    assert!(warning.contains("systemPrompt") && !warning.contains("jsonOptions"), "{warning}");
    assert_eq!(service.post("/v1/search", "[]").await.status, 400);
    let response = service.post("/v1/search", json!({ "query": "tea", "limit": 101 }).to_string()).await;
    assert_eq!((response.status.as_u16(), &response.body["details"][0]["path"]), (400, &json!("/limit")));
}

#[tokio::test]
async fn searxng_and_open_webui_requests_return_results() {
    let (world, service) = indexed().await;
    let found = service.get("/search?q=listed&format=json&categories=general&language=all&pageno=1").await;
    assert_eq!(found.status, 200, "{}", found.body);
    let [result] = found.body["results"].as_array().unwrap().as_slice() else { panic!("{}", found.body) };
    assert_fields(result, &json!({ "url": PAGE, "title": "Listed", "engine": "websvc" }));
    assert!(result["content"].is_string());
    assert_eq!(service.get("/search?q=listed&format=json&pageno=2").await.body["results"], json!([]));
    assert_eq!(service.get("/search?q=listed").await.status, 400);
    assert_eq!(service.get("/search?format=json").await.status, 400);
    let list = service.post("/search", json!({ "query": "listed", "count": 2 }).to_string()).await;
    let [first] = list.body.as_array().unwrap().as_slice() else { panic!("{}", list.body) };
    assert_eq!((&first["link"], &first["title"]), (&json!(PAGE), &json!("Listed")));
    assert_eq!(service.post("/search", json!({ "query": "a", "count": 0 }).to_string()).await.status, 400);
    let other = service.post("/search", json!({ "query": "a", "max_results": 3 }).to_string()).await;
    assert_eq!((other.status.as_u16(), &other.body["details"][0]["path"]), (400, &json!("/max_results")));
    check_external_loader(&world, &service).await;
}

/// Sends the requests of the web loader "external" of Open WebUI.
async fn check_external_loader(world: &websvc_testkit::TestWeb, service: &Service) {
    let missing = "http://tea.test/missing.html";
    let body = json!({ "urls": [PAGE, "ftp://tea.test/", missing, PAGE] }).to_string();
    let pages = service.post("/load", body).await;
    let [green, invalid, gone, again] = pages.body.as_array().unwrap().as_slice() else {
        panic!("{}", pages.body)
    };
    assert!(green["page_content"].as_str().unwrap().contains("Sencha"), "{green}");
    assert_eq!((&green["metadata"]["source"], green["metadata"].get("error")), (&json!(PAGE), None));
    assert!(green["metadata"]["title"].is_string(), "{green}");
    assert_eq!((&again["page_content"], world.count(PAGE)), (&green["page_content"], 1), "the cache is used");
    assert_eq!(
        (&invalid["page_content"], &invalid["metadata"]["source"]),
        (&json!(""), &json!("ftp://tea.test/"))
    );
    assert!(invalid["metadata"]["error"].as_str().unwrap().starts_with("BAD_REQUEST: "), "{invalid}");
    assert_eq!(gone["metadata"]["source"], json!(missing));
    assert!(gone["metadata"]["error"].as_str().unwrap().contains("404"), "{gone}");
    for (body, path) in [
        (json!({}), "/urls"),
        (json!({ "urls": [] }), "/urls"),
        (json!({ "urls": vec![PAGE; 21] }), "/urls"),
        (json!({ "urls": [PAGE, 7] }), "/urls"),
        (json!({ "urls": [PAGE], "formats": ["html"] }), "/formats"),
    ] {
        let response = service.post("/load", body.to_string()).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["details"][0]["path"]),
            (400, &json!(path)),
            "{body}"
        );
    }
}

#[tokio::test]
async fn clients_of_searxng_may_post_and_send_the_key_as_a_password() {
    let (_world, service) = indexed().await;
    let search = "/search?q=listed&format=json";
    let posted = service.post(search, "").await;
    assert_eq!(
        (posted.status.as_u16(), &posted.body["results"][0]["url"]),
        (200, &json!(PAGE)),
        "{}",
        posted.body
    );
    let credentials = format!("Basic {}", STANDARD.encode(format!("me:{}", service.key)));
    let form = [("content-type", "application/x-www-form-urlencoded"), ("authorization", &credentials)];
    let by_form = service.send(Method::POST, "/search", &form, "q=listed&format=json").await;
    assert_eq!(
        (by_form.status.as_u16(), &by_form.body["query"]),
        (200, &json!("listed")),
        "{}",
        by_form.body
    );
    let by_root = service.get("/?q=listed&format=json").await;
    assert_eq!(
        (by_root.status.as_u16(), by_root.headers["location"].to_str().unwrap()),
        (307, "/search?q=listed&format=json")
    );
}

#[tokio::test]
async fn rerank_orders_documents_by_query() {
    let (_world, service) = indexed().await;
    let request = json!({
        "model": "jina-reranker-v2",
        "query": "green tea",
        "documents": ["About coffee.", { "text": "Green tea wants patience." }, "A green cup of tea"],
        "top_n": 2,
    });
    let response = service.post("/v1/rerank", request.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let results = response.body["results"].as_array().unwrap();
    assert_eq!(results.iter().map(|result| &result["index"]).collect::<Vec<&Value>>(), [1, 2]);
    assert_eq!(results[0]["document"]["text"], json!("Green tea wants patience."));
    assert_eq!(response.body["model"], json!("jina-reranker-v2"));
    let without_documents = json!({ "query": "tea", "documents": ["tea"], "return_documents": false });
    let response = service.post("/v1/rerank", without_documents.to_string()).await;
    assert_eq!(response.body["results"][0]["document"], Value::Null);
    for body in [
        json!({ "query": "tea" }),
        json!({ "query": "tea", "documents": [] }),
        json!({ "query": " ", "documents": ["a"] }),
    ] {
        assert_eq!(service.post("/v1/rerank", body.to_string()).await.status, 400, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn version_1_crawl_responses_contain_version_1_urls() {
    let (world, service) = indexed().await;
    let path = start_at(
        &service,
        "/v1/crawl",
        json!({ "url": "http://tea.test/", "limit": 9, "maxDepth": 2, "allowBackwardLinks": true, "ignoreSitemap": true,
            "scrapeOptions": { "formats": ["markdown"], "onlyMainContent": true } }),
    )
    .await;
    let status = wait_for_end(&service, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(4)), "{status}");
    assert_eq!(world.count("http://tea.test/sitemap.xml"), 0);
    let first = service.get(&format!("/{path}/?limit=1")).await.body;
    let next = first["next"].as_str().unwrap();
    assert!(next.starts_with(&format!("{}{path}?skip=1", service.address)), "{next}");
    let (documents, _) = read_all(&service, &format!("{path}?limit=2")).await;
    assert_eq!(documents.len(), 4);
    let errors = service.get(&format!("{path}/errors")).await.body;
    assert_eq!(errors["robotsBlocked"], json!(["http://tea.test/secret/plan.html"]), "{errors}");
    let again = delete(&service, &path).await;
    assert_eq!((again.status.as_u16(), &again.body["code"]), (409, &json!("JOB_ENDED")));
    assert_eq!(service.get("/v1/crawl/active").await.body, json!({ "success": true, "crawls": [] }));
    assert_eq!(service.get(&path.replace("/v1/", "/v2/")).await.status, 200, "version 2 finds the same job");
    let shallow = json!({ "url": "http://tea.test/", "maxDepth": 0 });
    let shallow = wait_for_end(&service, &start_at(&service, "/v1/crawl", shallow).await).await;
    assert_eq!(shallow["completed"], 1, "{shallow}");
    for kind in ["/v1/crawl", "/v1/batch/scrape"] {
        let unknown = format!("{kind}/019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60");
        assert_eq!(service.get(&unknown).await.status, 404);
        assert_eq!(service.get(&format!("{unknown}/errors")).await.status, 404);
        assert_eq!(delete(&service, &unknown).await.status, 404);
    }
    for (body, path) in [
        (json!({ "url": "a.test", "maxDepth": "x" }), "/maxDepth"),
        (json!({ "url": "a.test", "limit": 0 }), "/limit"),
    ] {
        let response = service.post("/v1/crawl", body.to_string()).await;
        assert_eq!((response.status.as_u16(), &response.body["details"][0]["path"]), (400, &json!(path)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn version_1_batch_scrapes_urls() {
    let (_world, service) = indexed().await;
    let body = json!({ "urls": [PAGE, "http://tea.test/oolong.html", PAGE], "formats": ["markdown"], "parsePDF": true });
    let path = start_at(&service, "/v1/batch/scrape", body).await;
    let status = wait_for_end(&service, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(3)), "{status}");
    let bad = json!({ "urls": [PAGE, "ftp://x"] }).to_string();
    assert_eq!(service.post("/v1/batch/scrape", bad).await.status, 400);
}

/// Sends the requests with which Dify checks a key (`services/auth/firecrawl`, for version 1 and version 2), with and
/// without a slash after the base URL, and the requests of its tool that is given only a URL.
#[tokio::test(flavor = "multi_thread")]
async fn dify_and_n8n_requests_succeed() {
    let world = websvc_testkit::TestWeb::builder()
        .page("https://example.com/", websvc_testkit::Page::html("<title>Example</title><p>An example."))
        .start()
        .await;
    let site = Site::new(&world);
    let service = site.serve();
    let headers = [("content-type", "application/json")];
    let check = json!({
        "url": "https://example.com",
        "includePaths": [],
        "excludePaths": [],
        "limit": 1,
        "scrapeOptions": { "onlyMainContent": true },
    });
    for path in ["/v1/crawl", "//v1/crawl", "/v2/crawl", "//v2/crawl/"] {
        let response = service.send(Method::POST, path, &headers, check.to_string()).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["success"]),
            (200, &json!(true)),
            "{}",
            response.body
        );
        let version = if path.contains("v1") { "v1" } else { "v2" };
        let status =
            wait_for_end(&service, &format!("/{version}/crawl/{}", response.body["id"].as_str().unwrap()))
                .await;
        assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(1)), "{status}");
    }
    let tool = json!({
        "url": "https://example.com",
        "limit": 5,
        "allowBackwardLinks": false,
        "allowExternalLinks": false,
        "scrapeOptions": { "onlyMainContent": false, "waitFor": 0 },
    });
    for path in ["/v2/crawl", "/v1/crawl"] {
        assert_eq!(service.post(path, tool.to_string()).await.status, 200, "{path}");
    }
    let wrong = [("authorization", "Bearer wrong"), ("content-type", "application/json")];
    let rejected = service.send(Method::POST, "/v1/crawl", &wrong, check.to_string()).await;
    assert_eq!((rejected.status.as_u16(), rejected.body["error"].is_string()), (401, true));
    // n8n fetches the credits.
    for path in ["/v2/team/credit-usage", "/v2//team/credit-usage"] {
        let credits = service.get(path).await;
        assert_eq!(
            (credits.status.as_u16(), credits.body["data"]["remainingCredits"].is_number()),
            (200, true)
        );
    }
}

//! The interfaces of others: version 1, SearXNG's, Open WebUI's, Jina's.

use serde_json::{Value, json};

use crate::batch::{delete, ended, read_all, start_at};
use crate::harness::{Service, Site, tea_world};

const PAGE: &str = "http://tea.test/green.html";

async fn filled() -> (websvc_testkit::TestWeb, Service) {
    let world = tea_world().await;
    let service = Service::of(&world);
    service.list(&[("listed", PAGE)]).await;
    world.clear_requests();
    (world, service)
}

#[tokio::test]
async fn version_1_scrapes_and_searches() {
    let (world, service) = filled().await;
    let request = json!({ "query": "listed", "limit": 3, "timeout": 9, "lang": "en" });
    let found = service.post("/v1/search", request.to_string()).await;
    assert_eq!((found.status.as_u16(), &found.body["data"][0]["url"]), (200, &json!(PAGE)), "{}", found.body);
    assert_eq!((found.body["data"].as_array().unwrap().len(), world.count(PAGE)), (1, 0));
    let scraping = json!({ "query": "listed", "scrapeOptions": { "formats": ["markdown"] } });
    let found = service.post("/v1/search", scraping.to_string()).await;
    assert!(found.body["data"][0]["markdown"].as_str().unwrap().contains("Sencha"), "{}", found.body);
    let body = json!({ "url": PAGE, "formats": ["markdown", "rawHtml"], "parsePDF": true, "timeout": 7500 });
    for times in 2..=3 {
        let answer = service.post("//v1/scrape/", body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body["data"]["markdown"].as_str().unwrap().contains("Sencha"));
        assert_eq!(world.count(PAGE), times, "a page of version 1 is from its host");
    }
    let extract = json!({ "prompt": "the tea", "systemPrompt": "be brief", "schema": null });
    let body = json!({
        "url": PAGE, "formats": ["extract", "markdown"], "extract": extract, "jsonOptions": null, "timeout": null,
        "maxAge": null,
    });
    let answer = service.post("/v1/scrape", body.to_string()).await;
    assert_eq!((answer.status.as_u16(), world.count(PAGE)), (200, 4), "null is not given: {}", answer.body);
    let warning = answer.body["warning"].as_str().unwrap();
    assert!(warning.contains("systemPrompt") && !warning.contains("jsonOptions"), "{warning}");
    assert_eq!(service.post("/v1/search", "[]").await.status, 400);
    let answer = service.post("/v1/search", json!({ "query": "tea", "limit": 101 }).to_string()).await;
    assert_eq!((answer.status.as_u16(), &answer.body["details"][0]["path"]), (400, &json!("/limit")));
}

#[tokio::test]
async fn searxng_and_open_webui_find_what_they_know_to_ask_for() {
    let (_world, service) = filled().await;
    let found = service.get("/search?q=listed&format=json&categories=general&language=all&pageno=1").await;
    assert_eq!(found.status, 200, "{}", found.body);
    let [result] = found.body["results"].as_array().unwrap().as_slice() else { panic!("{}", found.body) };
    assert_eq!(
        (&result["url"], &result["title"], &result["engine"]),
        (&json!(PAGE), &json!("Listed"), &json!("websvc"))
    );
    assert!(result["content"].is_string());
    assert_eq!(service.get("/search?q=listed&format=json&pageno=2").await.body["results"], json!([]));
    assert_eq!(service.get("/search?q=listed").await.status, 400);
    assert_eq!(service.get("/search?format=json").await.status, 400);
    let list = service.post("/search", json!({ "query": "listed", "count": 2 }).to_string()).await;
    let [first] = list.body.as_array().unwrap().as_slice() else { panic!("{}", list.body) };
    assert_eq!((&first["link"], &first["title"]), (&json!(PAGE), &json!("Listed")));
    assert_eq!(service.post("/search", json!({ "query": "a", "count": 0 }).to_string()).await.status, 400);
}

#[tokio::test]
async fn texts_are_ordered_by_a_query() {
    let (_world, service) = filled().await;
    let request = json!({
        "model": "jina-reranker-v2",
        "query": "green tea",
        "documents": ["About coffee.", { "text": "Green tea wants patience." }, "A green cup of tea"],
        "top_n": 2,
    });
    let answer = service.post("/v1/rerank", request.to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let results = answer.body["results"].as_array().unwrap();
    assert_eq!(results.iter().map(|one| &one["index"]).collect::<Vec<&Value>>(), [1, 2]);
    assert_eq!(results[0]["document"]["text"], json!("Green tea wants patience."));
    assert_eq!(answer.body["model"], json!("jina-reranker-v2"));
    let bare = json!({ "query": "tea", "documents": ["tea"], "return_documents": false });
    let answer = service.post("/v1/rerank", bare.to_string()).await;
    assert_eq!(answer.body["results"][0]["document"], Value::Null);
    for body in [
        json!({ "query": "tea" }),
        json!({ "query": "tea", "documents": [] }),
        json!({ "query": " ", "documents": ["a"] }),
    ] {
        assert_eq!(service.post("/v1/rerank", body.to_string()).await.status, 400, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn version_1_crawls_and_its_urls_stay_its_own() {
    let (world, service) = filled().await;
    let path = start_at(
        &service,
        "/v1/crawl",
        json!({ "url": "http://tea.test/", "limit": 9, "maxDepth": 2, "allowBackwardLinks": true, "ignoreSitemap": true,
            "scrapeOptions": { "formats": ["markdown"], "onlyMainContent": true } }),
    )
    .await;
    let status = ended(&service, &path).await;
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
    assert_eq!(service.get(&path.replace("/v1/", "/v2/")).await.status, 200, "it is one job");
    let shallow = json!({ "url": "http://tea.test/", "maxDepth": 0 });
    let shallow = ended(&service, &start_at(&service, "/v1/crawl", shallow).await).await;
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
        let answer = service.post("/v1/crawl", body.to_string()).await;
        assert_eq!((answer.status.as_u16(), &answer.body["details"][0]["path"]), (400, &json!(path)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn version_1_gets_lists_of_pages() {
    let (_world, service) = filled().await;
    let body = json!({ "urls": [PAGE, "http://tea.test/oolong.html", PAGE], "formats": ["markdown"], "parsePDF": true });
    let path = start_at(&service, "/v1/batch/scrape", body).await;
    let status = ended(&service, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(3)), "{status}");
    let bad = json!({ "urls": [PAGE, "ftp://x"] }).to_string();
    assert_eq!(service.post("/v1/batch/scrape", bad).await.status, 400);
}

/// Sends what Dify sends when a key is entered (`services/auth/firecrawl`, before and after it came to version 2),
/// with the base address written as people do, and what its tool sends when it gets only an address.
#[tokio::test(flavor = "multi_thread")]
async fn dify_and_n8n_accept_the_service() {
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
        let answer = service.send(http::Method::POST, path, &headers, check.to_string()).await;
        assert_eq!((answer.status.as_u16(), &answer.body["success"]), (200, &json!(true)), "{}", answer.body);
        let version = if path.contains("v1") { "v1" } else { "v2" };
        let status =
            ended(&service, &format!("/{version}/crawl/{}", answer.body["id"].as_str().unwrap())).await;
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
    let refused = service.send(http::Method::POST, "/v1/crawl", &wrong, check.to_string()).await;
    assert_eq!((refused.status.as_u16(), refused.body["error"].is_string()), (401, true));
    // n8n looks at the credits.
    for path in ["/v2/team/credit-usage", "/v2//team/credit-usage"] {
        let credits = service.get(path).await;
        assert_eq!(
            (credits.status.as_u16(), credits.body["data"]["remainingCredits"].is_number()),
            (200, true)
        );
    }
}

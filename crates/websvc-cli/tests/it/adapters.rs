//! The interfaces of others: version 1, SearXNG's, Open WebUI's, Jina's.

use serde_json::{Value, json};

use crate::harness::{Service, tea_world};

const PAGE: &str = "http://tea.test/green.html";

async fn filled() -> (websvc_testkit::World, Service) {
    let world = tea_world().await;
    let service = Service::of(&world);
    service.list(&[("listed", PAGE)]).await;
    world.forget();
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

//! Tests of `POST /v2/scrape` and `GET /v2/scrape/{id}`.

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{KEY, Response, Service, Site, assert_fields, tea_world};

const PAGE: &str = "http://tea.test/green.html";

async fn scrape(service: &Service, body: Value) -> Response {
    service.post("/v2/scrape", body.to_string()).await
}

#[tokio::test]
async fn scrape_returns_requested_formats_and_markdown_by_default() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let response = scrape(&service, json!({ "url": PAGE, "origin": "test" })).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let (data, body) = (&response.body["data"], &response.body);
    assert_eq!((&body["success"], &body["warning"]), (&json!(true), &Value::Null));
    let markdown = data["markdown"].as_str().unwrap();
    assert!(markdown.starts_with("# Green tea") && !markdown.contains("Home"), "{markdown}");
    let mut keys: Vec<&String> = data.as_object().unwrap().keys().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["markdown", "metadata"]);
    assert_fields(&data["metadata"], &json!({ "sourceURL": PAGE, "creditsUsed": 1 }));
    let all = json!({
        "url": " tea.test/green.html ",
        "formats": ["html", "rawHtml", { "type": "links" }],
        "onlyMainContent": false,
        "unknownKey": 1,
    });
    let response = scrape(&service, all).await;
    let data = &response.body["data"];
    assert!(data["rawHtml"].as_str().unwrap().contains("<nav>"));
    assert!(data["html"].as_str().unwrap().contains("Home"));
    assert_eq!(data["links"], json!(["http://tea.test/", "http://tea.test/oolong.html"]));
    assert_eq!((&data["markdown"], &data["metadata"]["sourceURL"]), (&Value::Null, &json!(PAGE)));
    assert_eq!(data["metadata"]["cacheState"], json!("hit"));
    assert!(
        response.body["warning"].as_str().unwrap().contains("unknownKey"),
        "{}",
        response.body["warning"]
    );
}

#[tokio::test]
async fn scrape_response_is_fetched_again_by_its_team_only() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let other_key = site.create_key(&["--team", "others"]);
    let mut service = site.serve();
    let first = scrape(&service, json!({ "url": PAGE })).await.body;
    let id = first["data"]["metadata"]["scrapeId"].as_str().unwrap();
    let again = service.get(&format!("/v2/scrape/{id}")).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &first));
    other_key.clone_into(&mut service.key);
    let other = service.get(&format!("/v2/scrape/{id}")).await;
    assert_eq!((other.status.as_u16(), &other.body["error"]), (404, &json!("Job not found.")));
    KEY.clone_into(&mut service.key);
    let unknown = service.get("/v2/scrape/019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60").await;
    assert_eq!((unknown.status.as_u16(), &unknown.body["code"]), (404, &json!("NOT_FOUND")));
    assert_eq!(service.get("/v2/scrape/invalid").await.status, 400);
    // Lockdown implies zero data retention: the response is not stored.
    let locked = scrape(&service, json!({ "url": PAGE, "lockdown": true })).await.body;
    let id = locked["data"]["metadata"]["scrapeId"].as_str().unwrap();
    assert_eq!(service.get(&format!("/v2/scrape/{id}")).await.status, 404);
}

#[tokio::test]
async fn scrape_failures_have_the_statuses_of_the_contract() {
    let world = TestWeb::builder()
        .page("http://tea.test/gone", Page::html("<p>Gone").status(410))
        .page("http://tea.test/image.png", Page::new("image/png", b"\x89PNG\r\n\x1a\n\0\0".as_slice()))
        .start()
        .await;
    let service = Service::for_world(&world);
    let gone = scrape(&service, json!({ "url": "http://tea.test/gone" })).await;
    assert_eq!((gone.status.as_u16(), &gone.body["data"]["metadata"]["statusCode"]), (200, &json!(410)));
    for (body, status, code) in [
        (json!({ "url": PAGE, "minAge": 1 }), 404, "SCRAPE_NO_CACHED_DATA"),
        (json!({ "url": PAGE, "lockdown": true }), 404, "SCRAPE_LOCKDOWN_CACHE_MISS"),
        (json!({ "url": "http://nowhere.invalid:81/" }), 200, "SCRAPE_DNS_RESOLUTION_ERROR"),
        (json!({ "url": "http://127.0.0.1:9/" }), 403, "SCRAPE_FORBIDDEN_URL"),
        (json!({ "url": "http://tea.test/image.png" }), 500, "SCRAPE_UNSUPPORTED_FILE_ERROR"),
        (json!({ "url": PAGE, "actions": [{ "type": "scrape" }] }), 400, "SCRAPE_ACTIONS_NOT_SUPPORTED"),
        (json!({ "url": PAGE, "zeroDataRetention": true }), 403, "FORBIDDEN"),
        (json!({ "url": "ftp://tea.test/", "timeout": 1 }), 400, "BAD_REQUEST"),
        (json!({}), 400, "BAD_REQUEST"),
    ] {
        let request = body.to_string();
        let response = scrape(&service, body).await;
        assert_eq!(response.status, status, "{request}: {}", response.body);
        assert_eq!(
            (&response.body["success"], &response.body["code"]),
            (&json!(false), &json!(code)),
            "{request}"
        );
    }
    let response = scrape(&service, json!({ "url": "ftp://tea.test/", "timeout": 1 })).await;
    let paths: Vec<&Value> =
        response.body["details"].as_array().unwrap().iter().map(|detail| &detail["path"]).collect();
    assert_eq!(paths, ["/timeout", "/url"]);
}

#[tokio::test]
async fn key_without_the_scrape_scope_is_rejected() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let key = site.succeed(&["keys", "create", "--team", "default", "--scope", "search"]);
    let mut service = site.serve();
    key.trim().clone_into(&mut service.key);
    for path in ["/v2/scrape", "/v1/scrape", "/v2/parse"] {
        let response = service.post(path, json!({ "url": PAGE }).to_string()).await;
        assert_eq!(response.status, 403, "{path}: {}", response.body);
    }
    assert_eq!(world.count(PAGE), 0);
}

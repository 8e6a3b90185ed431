//! Tests of the service process: start, health, TLS, disabled authentication and shutdown.

use std::time::Duration;

use http::Method;
use serde_json::json;
use websvc_testkit::{Authority, Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::harness::{Service, Site, tea_world};

#[tokio::test]
async fn health_and_readiness_need_no_key() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let none = [("authorization", "")];
    let response = service.send(Method::GET, "/health", &none, String::new()).await;
    assert_eq!((response.status.as_u16(), &response.body["status"]), (200, &json!("ok")));
    let response = service.send(Method::GET, "/ready", &none, String::new()).await;
    assert_eq!((response.status.as_u16(), &response.body["status"]), (200, &json!("ready")));
    let response = service.send(Method::GET, "/openapi.json", &none, String::new()).await;
    assert_eq!(response.body["openapi"], json!("3.1.0"));
    let response = service.send(Method::GET, "//health/", &none, String::new()).await;
    assert_eq!(response.status, 200);
}

#[tokio::test]
async fn empty_index_is_a_warning_until_a_page_is_added() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let is_warning =
        |text: &serde_json::Value| text.as_str().is_some_and(|text| text.contains("the index is empty"));
    let found = service.search(json!({"query": "tea"})).await.body;
    assert!(found["success"] == json!(true) && is_warning(&found["warning"]), "{found}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "tea"}}});
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    let result = service.send(Method::POST, "/mcp", &headers, call.to_string()).await.body;
    assert!(result.to_string().contains("the index is empty"), "{result}");
    let ready = service.get("/ready").await.body;
    assert!(is_warning(&ready["sources"][0]["warning"]), "{ready}");
    let documents = json!({"documents": [{"url": "http://tea.test/", "title": "Tea", "body": "tea"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    let found = service.search_until_found("tea").await;
    assert!(found["warning"].is_null(), "{found}");
    let ready = service.get("/ready").await.body;
    assert!(ready["sources"][0]["warning"].is_null(), "{ready}");
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_completes_requests_in_flight() {
    let slow = Page::html("<h1>Late</h1><p>A slow page.").delay(Duration::from_millis(1500));
    let world = TestWeb::builder().page("http://slow.test/", slow).start().await;
    let site = Site::new(&world);
    let service = site.serve();
    let documents = json!({"documents": [{"url": "http://slow.test/", "title": "Slow", "body": "slow"}]});
    service.post("/v2/index/documents", documents.to_string()).await;
    service.search_until_found("slow").await;
    let request = json!({"query": "slow", "scrapeOptions": {"formats": ["markdown"]}});
    let stop = async {
        while world.count("http://slow.test/") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.terminate();
    };
    let (response, ()) = tokio::join!(service.search(request), stop);
    assert_eq!(response.status, 200);
    assert!(response.body["data"]["web"][0]["markdown"].as_str().unwrap().contains("Late"));
    assert!(service.stop().success());
    let found = site.succeed(&["search", "slow", "--json"]);
    assert!(found.contains("http://slow.test/"), "the page is not in the index: {found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_uses_the_configured_certificate() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let authority = Authority::new();
    let (cert, key) = authority.issue(&["127.0.0.1".to_owned(), "localhost".to_owned()]);
    let path = |name: &str| site.data_dir().join(name);
    std::fs::write(path("cert.pem"), cert).unwrap();
    std::fs::write(path("key.pem"), key).unwrap();
    std::fs::write(path("ca.pem"), authority.pem()).unwrap();
    let mut command = site.serve_command();
    let service = Service::start(
        command
            .env("WEBSVC__SERVER__TLS__CERT", path("cert.pem"))
            .env("WEBSVC__SERVER__TLS__KEY", path("key.pem")),
    );
    assert!(service.address.starts_with("https://"), "{}", service.address);
    let mut config = ClientConfig::new(AddressGuard::open());
    config.ca_file = Some(path("ca.pem"));
    let url = service.address.replace("127.0.0.1", "localhost") + "/health";
    let response = Client::new(config).unwrap().fetch(FetchRequest::get(url.parse().unwrap())).await.unwrap();
    assert_eq!(response.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn disabled_authentication_is_rejected_beyond_loopback() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let serve_without_auth = |listen: &str| {
        let mut command = site.command(&["serve", "--listen", listen]);
        command.env("WEBSVC__AUTH__REQUIRED", "false");
        command
    };
    let output = serve_without_auth("0.0.0.0:0").output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--insecure"));
    let service = Service::start(&mut serve_without_auth("127.0.0.1:0"));
    for value in ["", "Bearer ", "Bearer undefined", "Bearer fc-anything"] {
        let headers = [("authorization", value), ("content-type", "application/json")];
        let response =
            service.send(Method::POST, "/v2/search", &headers, r#"{"query":"tea"}"#.to_owned()).await;
        assert_eq!(response.status, 200, "{value:?}");
        assert!(!response.headers.contains_key("access-control-allow-origin"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn misspelt_configuration_key_ends_the_start() {
    let world = tea_world().await;
    let site = Site::new(&world);
    let file = site.data_dir().join("websvc.toml");
    std::fs::write(&file, "[server]\nlisen = \"127.0.0.1:0\"\n").unwrap();
    let output = site.run(&["serve", "--config", file.to_str().unwrap()]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("`server.lisen`, did you mean `listen`?"), "{error}");
}

//! Tests of the format `attributes`, which official clients send.

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::harness::Service;

const URL: &str = "http://files.test/";

async fn service() -> (TestWeb, Service) {
    let html = "<title>Files</title><nav><a class=file href=/a.pdf>A</a></nav><main><p>All files of the year.</p>\
                <a class=file HREF='b.pdf?x=1&amp;y=2' Download>B</a> <a class=file>none</a></main>\
                <svg viewBox='0 0 9 9'></svg>";
    let world = TestWeb::builder().page(URL, Page::html(html)).start().await;
    let service = Service::for_world(&world);
    (world, service)
}

async fn scrape(service: &Service, formats: Value) -> (StatusCode, Value) {
    let body = json!({ "url": URL, "formats": formats });
    let response = service.post("/v2/scrape", body.to_string()).await;
    (response.status, response.body)
}

#[tokio::test]
async fn values_are_those_of_the_whole_page_in_order() {
    let (_world, service) = service().await;
    let pair = |selector: &str, attribute: &str| json!({ "selector": selector, "attribute": attribute });
    let selectors =
        json!([pair("a.file", "href"), pair("a", "DOWNLOAD"), pair("svg", "viewBox"), pair("h1", "id")]);
    let (_, body) =
        scrape(&service, json!(["markdown", { "type": "attributes", "selectors": selectors }])).await;
    let expected = json!([
        { "selector": "a.file", "attribute": "href", "values": ["/a.pdf", "b.pdf?x=1&y=2"] },
        { "selector": "a", "attribute": "DOWNLOAD", "values": [""] },
        { "selector": "svg", "attribute": "viewBox", "values": ["0 0 9 9"] },
        { "selector": "h1", "attribute": "id", "values": [] },
    ]);
    assert_eq!(body["data"]["attributes"], expected, "{body}");
    assert!(body["data"]["markdown"].is_string() && body.get("warning").is_none(), "{body}");
    assert_eq!(body["data"]["metadata"]["creditsUsed"], 1);
}

#[tokio::test]
async fn bare_name_is_reported() {
    let (_world, service) = service().await;
    let (_, body) = scrape(&service, json!(["markdown", "attributes"])).await;
    assert!(body["warning"].as_str().unwrap().contains("formats[1]: attributes"), "{body}");
}

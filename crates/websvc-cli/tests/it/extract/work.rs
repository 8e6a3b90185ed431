//! The work of extractions: sites, searches, schemas, budgets, webhooks and restarts.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Canary, FakeModel, Page, until};

use super::{
    COFFEE, EXTRACT, ExtractTest, GONE, HOOK, OOLONG, SHOP, STALL, STALLS, TEA, drinks, reading, serve,
};
use crate::harness::assert_fields;

#[tokio::test(flavor = "multi_thread")]
async fn site_is_mapped_and_its_pages_are_merged() {
    let test = ExtractTest::new().await;
    let (_, status) = test.run(json!({ "urls": ["http://shop.test/*"], "urlTrace": true })).await;
    assert_eq!(
        (&status["status"], &status["data"]["shop"]),
        (&json!("completed"), &json!("Leaf")),
        "{status}"
    );
    assert_eq!(status["data"]["drinks"].as_array().unwrap().len(), 2, "{status}");
    let mut read: Vec<&str> =
        status["urlTrace"].as_array().unwrap().iter().map(|page| page["url"].as_str().unwrap()).collect();
    read.sort_unstable();
    assert_eq!(read, [SHOP, COFFEE, TEA], "{status}");
    // A map, three pages, and their data.
    assert_eq!(status["creditsUsed"], 16, "{status}");
    let (_, status) = test.run(json!({ "urls": ["http://shop.test/*"], "urlTrace": true, "limit": 1 })).await;
    assert_eq!(status["urlTrace"].as_array().unwrap().len(), 1, "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_searched_for_without_urls() {
    let test = ExtractTest::new().await;
    test.service.index_pages(&[("sencha", TEA)]).await;
    let (_, status) = test.run(json!({ "urls": null, "prompt": "sencha", "showSources": true })).await;
    assert_eq!(status["data"]["drinks"], json!([{ "name": "sencha", "euros": 12 }]), "{status}");
    assert_eq!(status["sources"]["drinks[0]"], json!([TEA]), "{status}");
    let (_, both) = test.run(json!({ "urls": [COFFEE], "prompt": "sencha", "enableWebSearch": true })).await;
    assert_eq!(both["data"]["drinks"].as_array().unwrap().len(), 2, "{both}");
    let (_, nothing) = test.run(json!({ "urls": [], "prompt": "zzyzx" })).await;
    assert_fields(&nothing, &json!({ "status": "failed", "creditsUsed": 0, "error": "no page was found" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_not_sent_to_hosts_that_a_search_found() {
    let test = ExtractTest::new().await;
    test.service.index_pages(&[("oolong sencha", OOLONG), ("sencha", TEA)]).await;
    let headers = json!({ "Authorization": "Bearer hunter2", "X-Token": "hunter3" });
    let options = json!({ "headers": headers, "maxAge": 0 });
    let (_, status) = test
        .run(json!({
            "urls": [COFFEE], "prompt": "sencha", "enableWebSearch": true, "scrapeOptions": options,
        }))
        .await;
    assert_eq!(status["status"], "completed", "{status}");
    let warning = "scrapeOptions.headers are only sent to the hosts of urls, not to http://other.test";
    assert!(status["warning"].as_str().unwrap().contains(warning), "{status}");
    let requests = test.world.requests();
    for (url, expected) in [(COFFEE, true), (TEA, true), (OOLONG, false)] {
        let of_page: Vec<_> = requests.iter().filter(|request| request.url == url).collect();
        assert!(!of_page.is_empty(), "{url} was read");
        for request in of_page {
            let sent = (request.header("authorization"), request.header("x-token"));
            assert_eq!(
                sent,
                if expected { (Some("Bearer hunter2"), Some("hunter3")) } else { (None, None) },
                "{url}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_not_sent_to_another_port_of_a_site() {
    let test = ExtractTest::new().await;
    let options = json!({ "headers": { "Authorization": "Bearer hunter2" }, "maxAge": 0 });
    let request =
        json!({ "urls": ["http://stalls.test/*"], "allowExternalLinks": true, "scrapeOptions": options });
    let (_, status) = test.run(request).await;
    assert_eq!(status["status"], "completed", "{status}");
    let warning = "scrapeOptions.headers are only sent to the hosts of urls, not to http://stalls.test:8081";
    assert!(status["warning"].as_str().unwrap().contains(warning), "{status}");
    let requests = test.world.requests();
    for (url, expected) in [(STALLS, Some("Bearer hunter2")), (STALL, None)] {
        let of_page: Vec<_> = requests.iter().filter(|request| request.url == url).collect();
        assert!(!of_page.is_empty(), "{url} was read");
        for request in of_page {
            assert_eq!(request.header("authorization"), expected, "{url}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_without_readable_page_fails_and_costs_nothing() {
    let test = ExtractTest::new().await;
    let (_, status) = test.run(json!({ "urls": [GONE] })).await;
    let expected = json!({
        "success": false, "status": "failed", "creditsUsed": 0, "data": null,
        "error": format!("no page could be read: {GONE}: the page has status 404"),
    });
    assert_fields(&status, &expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_of_the_model_is_the_reason_and_not_that_of_the_page() {
    let test = ExtractTest::with(|_| Page::text("who?").status(401)).await;
    let (_, status) = test.run(json!({ "urls": [TEA] })).await;
    let reason = "the language model failed: responded with status 401 (check llm.api_key)";
    assert_eq!(status["error"], format!("no page has data: {TEA}: {reason}"));
    let test = ExtractTest::with(|_| FakeModel::text("I cannot do that.")).await;
    let (_, status) = test.run(json!({ "urls": [TEA] })).await;
    let reason = "the language model gave no usable answer: it contains no JSON";
    assert_eq!(status["error"], format!("no page has data: {TEA}: {reason}"));
}

/// Returns a text for a list, and the correction if it is asked for one.
fn correcting(body: &Value) -> Page {
    if FakeModel::prompt_text(body).contains("it violates the schema") {
        return FakeModel::json(&drinks());
    }
    FakeModel::json(&json!({ "drinks": "sencha and arabica" }))
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_violates_the_schema_is_corrected_once_or_fails() {
    let test = ExtractTest::with(correcting).await;
    let (_, status) = test.run(json!({ "urls": [TEA] })).await;
    assert_eq!((&status["status"], &status["data"]), (&json!("completed"), &drinks()), "{status}");
    let test = ExtractTest::with(|_| FakeModel::json(&json!({ "drinks": "sencha" }))).await;
    let (_, status) = test.run(json!({ "urls": [TEA] })).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    assert!(status["error"].as_str().unwrap().contains("does not follow the schema"), "{status}");
    let requests = test.world.requests();
    let asked = requests.iter().filter(|request| request.url.starts_with("http://model.test/"));
    assert_eq!(asked.count(), 2, "the page, and one correction");
}

#[tokio::test(flavor = "multi_thread")]
async fn required_values_that_no_page_states_are_named_not_invented() {
    let test = ExtractTest::new().await;
    let schema = json!({
        "type": "object",
        "properties": { "shop": { "type": "string" }, "drinks": { "type": "array" } },
        "required": ["shop"],
    });
    let (_, status) = test.run(json!({ "urls": [TEA], "schema": schema })).await;
    assert_eq!((&status["status"], &status["data"]["shop"]), (&json!("completed"), &Value::Null), "{status}");
    assert!(status["warning"].as_str().unwrap().contains("do not state all values"), "{status}");
    let (_, status) = test.run(json!({ "urls": [TEA] })).await;
    assert_eq!((status["data"].get("shop"), status.get("warning")), (None, None), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_of_the_caller_reach_the_model_next_to_the_page() {
    let test = ExtractTest::new().await;
    let (_, status) = test.run(json!({ "urls": [TEA], "systemPrompt": "Prices are in euros." })).await;
    assert_eq!(status["status"], "completed", "{status}");
    let requests = test.world.requests();
    let request = requests.iter().find(|request| request.url.starts_with("http://model.test/")).unwrap();
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let text = FakeModel::prompt_text(&body);
    let task = text.find("Prices are in euros.\n\nThe drinks").unwrap_or_else(|| panic!("{text}"));
    let page = text.find("A tin of sencha").unwrap_or_else(|| panic!("{text}"));
    let end = text.find("\n</web-content>\n").unwrap_or_else(|| panic!("{text}"));
    assert!(page < end && end < task, "{text}");
    assert!(!text[end..].contains("costs 12"), "the page is only in the content: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_gets_the_events_in_order() {
    let test = ExtractTest::new().await;
    let webhook = json!({ "url": HOOK, "metadata": { "for": "tea" } });
    let (started, status) = test.run(json!({ "webhook": webhook, "showSources": true })).await;
    let events = received(&test, 2).await;
    assert_eq!(
        (&events[0]["type"], &events[1]["type"]),
        (&json!("extract.started"), &json!("extract.completed"))
    );
    for event in &events {
        assert_eq!((&event["success"], &event["id"]), (&json!(true), &started["id"]), "{event}");
        assert_eq!(event["metadata"]["for"], "tea", "{event}");
    }
    assert_eq!(events[0]["data"], json!([]));
    let completed = json!([{
        "success": true,
        "data": drinks(),
        "extractId": started["id"],
        "totalUrlsScraped": 2,
        "creditsUsed": status["creditsUsed"],
        "sources": status["sources"],
    }]);
    assert_eq!(events[1]["data"], completed);
    let webhook = json!({ "url": HOOK, "events": ["failed"] });
    let (_, status) = test.run(json!({ "urls": [GONE], "webhook": webhook })).await;
    let failed = received(&test, 3).await.pop().unwrap();
    let expected = json!({
        "type": "extract.failed", "success": false, "data": [], "error": status["error"],
    });
    assert_fields(&failed, &expected);
}

/// Waits for this number of events, and returns those that the receiver got.
pub(super) async fn received(test: &ExtractTest, count: usize) -> Vec<Value> {
    let events = || -> Vec<Value> {
        let requests = test.world.requests().into_iter().filter(|request| request.url == HOOK);
        requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    };
    until("the events have arrived", || events().len() >= count).await;
    events()
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_interrupted_by_the_end_of_the_process_fails_and_costs_nothing() {
    let mut test = ExtractTest::with(|body| reading(body).delay(Duration::from_secs(600))).await;
    let started = test.try_start(EXTRACT, json!({ "urls": [TEA] })).await.body;
    let is_asked =
        || test.world.requests().iter().any(|request| request.url.starts_with("http://model.test/"));
    until("the model is asked", is_asked).await;
    let path = format!("{EXTRACT}/{}", started["id"].as_str().unwrap());
    let working = test.service.get(&path).await.body;
    let expected = json!({
        "success": true, "status": "processing", "data": null, "creditsUsed": null,
    });
    assert_fields(&working, &expected);
    test.service.kill();
    test.service.end();
    test.service = serve(&test.site);
    let status = test.wait_for_end(EXTRACT, &started).await;
    assert_eq!((&status["status"], &status["creditsUsed"]), (&json!("failed"), &json!(0)), "{status}");
    assert!(status["error"].as_str().unwrap().contains("restarted"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_does_not_connect_to_internal_addresses() {
    let canary = Canary::start().await;
    let internal = format!("http://{}/", canary.addr());
    let test = ExtractTest::new().await;
    for urls in [json!([internal]), json!([format!("{internal}*")])] {
        let (_, status) = test.run(json!({ "urls": urls })).await;
        assert_eq!((&status["status"], canary.connections()), (&json!("failed"), 0), "{status}");
    }
}

//! Requests about agent runs: start, status, list, threads and errors.

use http::StatusCode;
use serde_json::{Value, json};

use super::{AGENT, AgentTest, COFFEE, TEA, collecting, price, wait_for_end};
use crate::harness::{Response, assert_fields};

#[tokio::test(flavor = "multi_thread")]
async fn run_has_data_of_its_schema_and_its_cost() {
    let test = AgentTest::new().await;
    let fields = json!({ "model": "spark-2", "effort": "low", "maxCredits": 50, "origin": "test" });
    let (_, status) = test.run(fields).await;
    let expected = json!({
        "status": "completed", "data": price(), "stopReason": "succeeded", "mode": "extract",
        "model": "spark-2", "effort": "low",
    });
    assert_fields(&status, &expected);
    // Two steps and a page.
    assert_fields(&status, &json!({ "creditsUsed": 3, "threadTurn": 1, "error": null }));
    let expires: jiff::Timestamp = status["expiresAt"].as_str().unwrap().parse().unwrap();
    assert!(expires > jiff::Timestamp::now());
    assert_eq!(test.requested("http://shop.test/"), [TEA]);
    // The log of requests is written about once a second.
    let path = "/v2/team/activity?endpoint=agent";
    let activity = super::wait_until(&test.service, path, |body| body["data"][0].is_object()).await;
    assert_fields(&activity["data"][0], &json!({ "endpoint": "agent", "target": TEA }));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_runs_are_rejected_with_field_and_rule() {
    let test = AgentTest::new().await;
    for (fields, path) in [
        (json!({ "prompt": "" }), "/prompt"),
        (json!({ "effort": "huge" }), "/effort"),
        (json!({ "mode": "poem" }), "/mode"),
        (json!({ "webhook": "http://127.0.0.1/in" }), "/webhook"),
    ] {
        let Response { status, body, .. } = test.try_start(fields.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {body}");
        let details = body["details"].as_array().unwrap();
        assert!(details.iter().any(|detail| detail["path"] == path), "{path}: {body}");
    }
    let broken = test.try_start(json!({ "schema": { "type": "objekt" } })).await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST, "{}", broken.body);
    assert!(broken.body["error"].as_str().unwrap().contains("Invalid JSON schema"), "{}", broken.body);
    assert!(test.world.requests().is_empty(), "nothing is requested for a rejected run");
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_options_are_reported() {
    let test = AgentTest::new().await;
    let exchange = json!({ "exchange": { "enabled": true }, "allowInteract": true });
    let Response { status, body, .. } = test.try_start(exchange).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let warning = body["warning"].as_str().unwrap();
    assert!(warning.contains("exchange") && warning.contains("allowInteract"), "{warning}");
    let status = wait_for_end(&test.service, &format!("{AGENT}/{}", body["id"].as_str().unwrap())).await;
    assert_eq!(status["warning"], body["warning"], "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn list_has_twenty_runs_per_page() {
    let test = AgentTest::with(collecting, &[("WEBSVC__AGENT__CONCURRENCY", "1")]).await;
    for number in 0..21 {
        let prompt = format!("What does sencha cost? {number}");
        test.start(json!({ "prompt": prompt, "urls": if number == 0 { json!([TEA]) } else { Value::Null } }))
            .await;
    }
    let first = test.service.get(AGENT).await.body;
    let agents = first["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 20, "{first}");
    assert_eq!(agents[0]["targetHint"], "What does sencha cost? 20");
    assert_eq!((&agents[0]["origin"], &agents[0]["settings"]["hidden"]), (&json!("api"), &json!(false)));
    let next = first["next"].as_str().unwrap().strip_prefix(&test.service.address).unwrap();
    let second = test.service.get(next).await.body;
    assert_eq!(second["agents"].as_array().unwrap().len(), 1, "{second}");
    assert_eq!((&second["agents"][0]["targetHint"], second.get("next")), (&json!(TEA), None), "{second}");
    assert_eq!(second["agents"][0]["options"]["schema"], super::price_schema());
    assert_eq!(second["agents"][0]["options"]["model"], "spark-1-pro", "official clients require a name");
    let wrong = test.service.get(&format!("{AGENT}?before=abc")).await;
    let text = "Invalid query parameter: /before: before must be a time in milliseconds since the Unix epoch, not \"abc\"";
    assert_eq!((wrong.status, &wrong.body["error"]), (StatusCode::BAD_REQUEST, &json!(text)));
    let far = test.service.get("/v2/agent?before=83835057023941540461707110436531339264").await;
    let all = far.body["agents"].as_array().unwrap();
    assert_eq!(all.len(), 20, "all runs are before a time of any size: {}", far.body);
    let wrong = test.service.get("/v2/agent?before=yesterday").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{}", wrong.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn thread_continues_with_the_options_of_its_last_turn() {
    let test = AgentTest::new().await;
    let (_, first) = test.run(json!({})).await;
    let thread = first["threadId"].as_str().unwrap();
    let second =
        test.service.post(AGENT, json!({ "prompt": "And now?", "threadId": thread }).to_string()).await.body;
    assert_eq!((&second["threadId"], &second["threadTurn"]), (&json!(thread), &json!(2)), "{second}");
    let path = format!("{AGENT}/{}", second["id"].as_str().unwrap());
    let status = wait_for_end(&test.service, &path).await;
    assert_eq!(status["data"], price(), "{status}");
    let requests = test.world.requests();
    let prompts = requests.iter().filter(|request| request.url.starts_with("http://model.test/"));
    let bodies: Vec<String> =
        prompts.map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
    assert!(bodies.last().unwrap().contains("What does sencha cost?"), "the run knows the earlier task");
    let body = test.service.get(&format!("{AGENT}/threads/{thread}?includeData=true")).await.body;
    let runs = body["thread"]["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &body["thread"]["status"]), (2, &json!("idle")), "{body}");
    assert_eq!(
        (&runs[0]["prompt"], &runs[1]["prompt"]),
        (&json!("What does sencha cost?"), &json!("And now?"))
    );
    assert_eq!(
        (&runs[1]["urls"], &runs[1]["schema"]),
        (&json!([TEA]), &super::price_schema()),
        "they are inherited"
    );
    assert_eq!((&runs[0]["data"], &runs[0]["status"]), (&price(), &json!("succeeded")));
    let without = test.service.get(&format!("{AGENT}/threads/{thread}")).await.body;
    let without = &without["thread"]["runs"][0];
    assert_eq!((without.get("data"), &without["message"]), (None, &runs[0]["message"]));
    assert_eq!(without["message"], first["message"]);
    let unknown = json!({ "prompt": "x", "threadId": "0b1f8c1e-6f0f-4f0a-9a53-6f1b2c3d4e5f" });
    assert_eq!(test.service.post(AGENT, unknown.to_string()).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_runs_and_threads_are_not_found() {
    let test = AgentTest::new().await;
    let id = "0b1f8c1e-6f0f-4f0a-9a53-6f1b2c3d4e5f";
    for (path, text) in [
        (format!("{AGENT}/{id}"), "Agent job not found"),
        (format!("{AGENT}/{id}/trace"), "Agent job not found"),
        (format!("{AGENT}/{id}/snapshots/data-1"), "Agent job not found"),
        (format!("{AGENT}/threads/{id}"), "Agent thread not found"),
    ] {
        let Response { status, body, .. } = test.service.get(&path).await;
        assert_eq!((status.as_u16(), &body["error"]), (404, &json!(text)), "{path}: {body}");
    }
    assert_eq!(test.cancel(&format!("{AGENT}/{id}")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(test.service.get(&format!("{AGENT}/x")).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread")]
async fn strict_run_requests_only_its_urls() {
    let model = |body: &Value| match super::step(body) {
        Some(1) => super::decision("open", COFFEE, ""),
        Some(2) => super::decision("search", "", "coffee"),
        Some(_) => super::decision("done", "", ""),
        None => websvc_testkit::FakeModel::json(&price()),
    };
    let test = AgentTest::with(model, &[]).await;
    let (_, status) = test.run(json!({ "strictConstrainToURLs": true })).await;
    assert_eq!(status["status"], "completed", "{status}");
    assert_eq!(test.requested("http://shop.test/"), [TEA]);
    // The positive control: without the option, the same model opens the other page.
    let (_, status) = test.run(json!({})).await;
    assert_eq!(status["status"], "completed", "{status}");
    assert!(test.requested("http://shop.test/").contains(&COFFEE.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_that_cannot_be_compiled_is_rejected_before_any_work() {
    let test = AgentTest::new().await;
    let schema = |pattern: &str| json!({ "properties": { "a": { "type": "string", "pattern": pattern } } });
    let formats = |schema: &Value| json!([{ "type": "json", "schema": schema }]);
    let target = |schema: &Value| json!([{ "type": "scrape", "urls": [TEA], "scrapeOptions": { "formats": formats(schema) } }]);
    for pattern in ["(", "(?=a)"] {
        let schema = schema(pattern);
        let options = json!({ "formats": formats(&schema) });
        for (path, body, place) in [
            (AGENT, json!({ "prompt": "x", "schema": schema }), "/schema"),
            ("/v2/extract", json!({ "urls": [TEA], "schema": schema }), "/schema"),
            ("/v1/extract", json!({ "urls": [TEA], "schema": schema }), "/schema"),
            ("/v2/scrape", json!({ "url": TEA, "formats": formats(&schema) }), "/formats/0/schema"),
            ("/v2/batch/scrape", json!({ "urls": [TEA], "formats": formats(&schema) }), "/formats/0/schema"),
            (
                "/v2/search",
                json!({ "query": "x", "scrapeOptions": options }),
                "/scrapeOptions/formats/0/schema",
            ),
            ("/v2/crawl", json!({ "url": TEA, "scrapeOptions": options }), "/scrapeOptions/formats/0/schema"),
            (
                "/v2/monitor",
                json!({ "name": "x", "schedule": { "text": "daily" }, "targets": target(&schema) }),
                "/targets/0/scrapeOptions/formats/0/schema",
            ),
        ] {
            let Response { status, body, .. } = test.service.post(path, body.to_string()).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {body}");
            let details = body["details"].as_array().unwrap();
            let expected = format!("{place}/properties/a/pattern");
            assert!(details.iter().any(|detail| detail["path"] == json!(expected)), "{path}: {body}");
        }
    }
    assert!(test.requested("http://").is_empty(), "no page and no model was requested");
}

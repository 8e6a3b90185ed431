//! Tests of the MCP tools for browser sessions: a language model controls a browser.

use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use super::SessionTest;
use crate::harness::Service;
use crate::monitors::tools::{call, fail, send};

/// Returns the names of the tools that a service lists.
async fn tools(service: &Service) -> Vec<String> {
    let tools = send(service, "tools/list", json!({})).await["tools"].clone();
    let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    names.collect()
}

const TOOLS: [&str; 6] =
    ["interact", "interact_stop", "browser_create", "browser_list", "browser_execute", "browser_delete"];

#[tokio::test(flavor = "multi_thread")]
async fn model_starts_uses_and_ends_a_session() {
    let Some(test) = SessionTest::start().await else { return };
    let service = &test.service;
    assert_eq!(tools(service).await.split_off(18), TOOLS);
    let settings = json!({ "ttl": 120, "profile": { "name": "shop", "saveChanges": false } });
    let session = call(service, "browser_create", settings).await;
    let id = &session["id"];
    assert!(session["liveViewUrl"].as_str().unwrap().starts_with(&service.address), "{session}");
    let execute = async |language: &str, code: &str| {
        let arguments = json!({ "sessionId": id, "language": language, "code": code });
        call(service, "browser_execute", arguments).await
    };
    execute("bash", "open http://click.test/ && snapshot -i && click @e1").await;
    assert_eq!(execute("node", "await page.title()").await["result"], "1");
    let failed = execute("node", "throw new Error('no tea')").await;
    assert_eq!((&failed["success"], &failed["exitCode"]), (&json!(true), &json!(1)), "{failed}");
    assert!(failed["error"].as_str().unwrap().contains("no tea"), "{failed}");
    let active = call(service, "browser_list", json!({ "status": "active" })).await;
    assert_eq!(active["sessions"][0]["cdpUrl"], session["cdpUrl"], "{active}");
    let ended = call(service, "browser_delete", json!({ "sessionId": id })).await;
    assert_eq!(ended["creditsBilled"], 2, "{ended}");
    let list = call(service, "browser_list", json!({})).await;
    assert_eq!(list["sessions"][0]["status"], "destroyed", "{list}");
    let late = fail(service, "browser_execute", json!({ "sessionId": id, "code": "1" })).await;
    assert_eq!(late, "Browser session has been destroyed.");
}

#[tokio::test(flavor = "multi_thread")]
async fn model_interacts_with_a_page_until_it_stops() {
    let Some(test) = SessionTest::start().await else { return };
    let service = &test.service;
    let scraped = call(service, "scrape", json!({ "url": "http://click.test/", "formats": ["html"] })).await;
    let scrape = &scraped["data"]["metadata"]["scrapeId"];
    let click = "await page.getByRole('button').click(); await page.title()";
    let clicked = call(service, "interact", json!({ "scrapeId": scrape, "code": click })).await;
    assert_eq!(clicked["result"], "1", "{clicked}");
    let read = json!({ "scrapeId": scrape, "code": "get title", "language": "bash", "timeout": 20 });
    assert_eq!(call(service, "interact", read).await["stdout"], "1\n");
    // The model reads the outputs of code that fails, so the call succeeds.
    let failing = json!({ "scrapeId": scrape, "code": "console.log('before'); throw new Error('no tea')" });
    let failed = call(service, "interact", failing).await;
    assert_eq!((&failed["success"], &failed["stdout"]), (&json!(false), &json!("before\n")), "{failed}");
    let task = fail(service, "interact", json!({ "scrapeId": scrape, "prompt": "Click the button" })).await;
    assert!(task.contains("no language model is configured"), "{task}");
    let stopped = call(service, "interact_stop", json!({ "scrapeId": scrape })).await;
    assert_eq!(stopped["creditsBilled"], 2, "{stopped}");
    let late = fail(service, "interact", json!({ "scrapeId": scrape, "code": "1" })).await;
    assert_eq!(late, "Browser session has been destroyed.");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_scraped_before_the_first_interaction() {
    let Some(test) = SessionTest::start().await else { return };
    let service = &test.service;
    let options = json!({ "actions": [{ "type": "click", "selector": "button" }] });
    let arguments =
        json!({ "url": "http://click.test/", "scrapeOptions": options, "code": "await page.title()" });
    let first = call(service, "interact", arguments).await;
    assert_eq!(first["result"], "1", "the actions of the scrape are repeated: {first}");
    let scrape = &first["scrapeId"];
    let second = json!({ "scrapeId": scrape, "code": "page.url()" });
    assert_eq!(call(service, "interact", second).await["result"], "http://click.test/");
    call(service, "interact_stop", json!({ "scrapeId": scrape })).await;
    let refused = json!({ "url": "http://169.254.169.254/", "code": "1" });
    let text = fail(service, "interact", refused).await;
    assert!(text.contains("only public addresses are allowed"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_for_sessions_need_their_scope_and_see_only_their_team() {
    let Some(mut test) = SessionTest::start().await else { return };
    let session = call(&test.service, "browser_create", json!({})).await;
    let id = json!({ "sessionId": session["id"] });
    let code = json!({ "sessionId": session["id"], "code": "1" });
    test.site.succeed(&["teams", "set", "others"]);
    for (options, expected) in [
        (["keys", "create", "--scope", "search"], "scope \"interact\""),
        (["keys", "create", "--team", "others"], "Browser session not found."),
    ] {
        test.service.key = test.site.succeed(&options).trim().to_owned();
        for (name, arguments) in [("browser_execute", &code), ("browser_delete", &id)] {
            let text = fail(&test.service, name, arguments.clone()).await;
            assert!(text.contains(expected), "{name}: {text}");
        }
    }
    let list = call(&test.service, "browser_list", json!({})).await;
    assert_eq!(list["sessions"], json!([]), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn service_without_sessions_lists_no_tools_for_them() {
    let world = TestWeb::builder().start().await;
    let service = Service::for_world(&world);
    let names = tools(&service).await;
    assert!(names.len() == 18 && !names.iter().any(|name| TOOLS.contains(&name.as_str())), "{names:?}");
    let text = fail(&service, "browser_create", Value::Object(serde_json::Map::new())).await;
    assert!(text.contains("Browser sessions are not available"), "{text}");
}

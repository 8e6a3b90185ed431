//! Results of checks: statuses, diffs, removed pages and search results.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, until};

use super::slack::WEBHOOK;
use super::{MonitorTest, TEA, check_summary, statuses, wait_for_notifications, with_model};
use crate::harness::assert_fields;

#[tokio::test(flavor = "multi_thread")]
async fn page_is_new_then_same_then_changed_with_its_diff() {
    let test = MonitorTest::new().await;
    let monitor = test.create(json!({})).await;
    let first = test.run(&monitor).await;
    assert_eq!(first["status"], "completed", "{first}");
    check_summary(&first, &json!({ "totalPages": 1, "new": 1 }));
    assert_eq!((&first["actualCredits"], &first["billingStatus"]), (&json!(1), &json!("confirmed")));
    let second = test.run(&monitor).await;
    check_summary(&second, &json!({ "totalPages": 1, "same": 1 }));
    let page = &second["pages"][0];
    assert_eq!(page["previousScrapeId"], first["pages"][0]["currentScrapeId"]);
    assert_eq!(
        (&page["diff"], &page["error"], &page["judgment"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    test.shop.set_tea(&["Sencha costs 14 euros.", "Rooibos costs 5 euros."]);
    let third = test.run(&monitor).await;
    check_summary(&third, &json!({ "totalPages": 1, "changed": 1 }));
    let diff = &third["pages"][0]["diff"];
    let text = diff["text"].as_str().unwrap();
    assert!(text.contains("\n-Sencha costs 12 euros.\n+Sencha costs 14 euros.\n"), "{text}");
    assert_eq!(diff["json"]["files"][0]["to"], "current.md");
    assert_eq!(third["pages"][0]["metadata"]["title"], "Tea");
    let stored = test.service.get(&monitor).await.body;
    assert_eq!(stored["data"]["lastCheckSummary"]["changed"], 1, "{stored}");
    assert_eq!(
        (&stored["data"]["currentCheckId"], &stored["data"]["status"]),
        (&Value::Null, &json!("active"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_page_makes_the_check_partial_and_keeps_the_last_good_version() {
    let test = MonitorTest::new().await;
    let monitor = test.create(json!({})).await;
    test.run(&monitor).await;
    test.shop.respond(Some(Page::html("<p>Down</p>").status(500)));
    let down = test.run(&monitor).await;
    assert_eq!(down["status"], "partial", "{down}");
    check_summary(&down, &json!({ "totalPages": 1, "error": 1 }));
    assert!(down["pages"][0]["error"].as_str().unwrap().contains("500"), "{down}");
    test.shop.set_tea(&["Sencha costs 12 euros.", "Rooibos costs 5 euros."]);
    check_summary(&test.run(&monitor).await, &json!({ "totalPages": 1, "same": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_crawl_are_new_removed_and_new_again() {
    let test = MonitorTest::new().await;
    let monitor =
        test.create(json!({ "targets": [{ "type": "crawl", "url": "http://shop.test/", "crawlOptions": { "limit": 10 } }] })).await;
    let status = |check: &Value, name: &str| {
        let url = format!("http://shop.test/{name}");
        statuses(check).into_iter().find(|(found, _)| *found == url).map(|(_, status)| status)
    };
    test.shop.link(&["one"]);
    let first = test.run(&monitor).await;
    check_summary(&first, &json!({ "totalPages": 2, "new": 2 }));
    assert!(first["targetResults"][0]["crawlId"].is_string(), "{first}");
    test.shop.link(&["one", "two"]);
    let second = test.run(&monitor).await;
    assert_eq!(
        (status(&second, "one").as_deref(), status(&second, "two").as_deref()),
        (Some("same"), Some("new"))
    );
    assert_eq!(status(&second, "").as_deref(), Some("changed"));
    test.shop.link(&["two"]);
    let third = test.run(&monitor).await;
    assert_eq!(status(&third, "one").as_deref(), Some("removed"), "{third}");
    test.shop.link(&["one", "two"]);
    let fourth = test.run(&monitor).await;
    assert_eq!(status(&fourth, "one").as_deref(), Some("new"), "{fourth}");
}

#[tokio::test(flavor = "multi_thread")]
async fn search_results_alert_once_without_a_judge() {
    let test = MonitorTest::new().await;
    let documents = json!({ "documents": [
        { "url": "http://news.test/1", "title": "Tea harvest", "content": "The tea harvest of the year." },
        { "url": "http://news.test/2", "title": "Tea prices", "content": "The tea prices of the year." },
    ] });
    let upload = test.service.post("/v2/index/documents", documents.to_string()).await;
    assert_eq!(upload.status, 200, "{}", upload.body);
    test.service.search_until_found("tea").await;
    let monitor = test
        .create(json!({
            "judgeEnabled": false,
            "targets": [{ "type": "search", "queries": ["tea harvest", "tea prices"], "searchWindow": "7d" }],
        }))
        .await;
    let first = test.run(&monitor).await;
    assert_eq!(first["status"], "completed", "{first}");
    check_summary(&first, &json!({ "totalPages": 2, "new": 2 }));
    let page = &first["pages"][0];
    assert_eq!(page["metadata"]["searchStatus"], "alert", "{page}");
    let result = &first["targetResults"][0];
    assert_fields(result, &json!({ "searchCompleted": true, "resultCount": 2, "matches": 2 }));
    let second = test.run(&monitor).await;
    check_summary(&second, &json!({ "totalPages": 2, "same": 2 }));
    assert_eq!(second["pages"][0]["metadata"]["searchStatus"], "already_seen");
    // Another purpose starts again.
    let renamed = test.patch(&monitor, json!({ "name": "Other" })).await;
    assert_eq!(renamed.status, 200, "{}", renamed.body);
    check_summary(&test.run(&monitor).await, &json!({ "totalPages": 2, "new": 2 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn judged_search_result_costs_its_judgment_with_the_scrape() {
    let answer = json!({ "decision": "alert", "concept": "tea", "rationale": "a price", "eventKey": "tea" });
    let test = MonitorTest::with(move |_| FakeModel::json(&answer), &with_model()).await;
    let documents =
        json!({ "documents": [{ "url": TEA, "title": "Tea prices", "content": "The tea prices." }] });
    let upload = test.service.post("/v2/index/documents", documents.to_string()).await;
    assert_eq!(upload.status, 200, "{}", upload.body);
    test.service.search_until_found("tea").await;
    let target = json!({ "type": "search", "queries": ["tea prices"], "searchWindow": "7d" });
    let monitor = test.create(json!({ "goal": "Prices of teas", "targets": [target] })).await;
    let first = test.run(&monitor).await;
    check_summary(&first, &json!({ "totalPages": 1, "new": 1 }));
    // 2 for the search, 1 for the judgment with its scrape.
    assert_eq!(first["actualCredits"], 3, "{first}");
    assert_eq!(first["targetResults"][0]["judgeCredits"], 1, "{first}");
    assert_eq!(first["pages"][0]["metadata"]["rationale"], "a price");
    let second = test.run(&monitor).await;
    check_summary(&second, &json!({ "totalPages": 1, "same": 1 }));
    assert_eq!(second["actualCredits"], 2, "{second}");
    assert_eq!(test.world.count(TEA), 1, "the result was not scraped once for its judgment");
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_of_a_search_target_are_charged_together() {
    let test = MonitorTest::new().await;
    let words = [
        "green", "black", "white", "red", "yellow", "oolong", "iced", "herbal", "sweet", "milk", "mint",
        "ginger",
    ];
    let documents: Vec<Value> = words
        .iter()
        .map(|word| {
            let content = format!("The {word} tea of the year.");
            json!({ "url": format!("http://news.test/{word}"), "title": format!("The {word} tea"), "content": content })
        })
        .collect();
    let upload =
        test.service.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
    assert_eq!(upload.status, 200, "{}", upload.body);
    test.service.search_until_found("ginger").await;
    let target = json!({ "type": "search", "queries": words, "searchWindow": "7d", "maxResults": 1 });
    let monitor = test.create(json!({ "judgeEnabled": false, "targets": [target] })).await;
    let check = test.run(&monitor).await;
    check_summary(&check, &json!({ "totalPages": 1, "new": 1 }));
    // Twelve raw results are two started tens.
    for name in ["estimatedCredits", "reservedCredits", "actualCredits"] {
        assert_eq!(check[name], 4, "{name}: {check}");
    }
    assert_eq!(check["targetResults"][0]["searchCredits"], 4, "{check}");
}

#[tokio::test(flavor = "multi_thread")]
async fn watched_result_never_costs_more_than_the_estimate() {
    let answer = json!({ "decision": "watch", "concept": "tea", "rationale": "later", "eventKey": "tea" });
    let test = MonitorTest::with(move |_| FakeModel::json(&answer), &with_model()).await;
    let documents =
        json!({ "documents": [{ "url": TEA, "title": "Tea prices", "content": "The tea prices." }] });
    let upload = test.service.post("/v2/index/documents", documents.to_string()).await;
    assert_eq!(upload.status, 200, "{}", upload.body);
    test.service.search_until_found("tea").await;
    let target =
        json!({ "type": "search", "queries": ["tea prices"], "searchWindow": "7d", "maxResults": 1 });
    let monitor = test.create(json!({ "goal": "Prices of teas", "targets": [target] })).await;
    for _ in 0..2 {
        let check = test.run(&monitor).await;
        assert_eq!(check["pages"][0]["metadata"]["searchStatus"], "watching", "{check}");
        assert_eq!((&check["estimatedCredits"], &check["actualCredits"]), (&json!(3), &json!(3)), "{check}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn judged_changes_carry_the_judgment_and_cost_a_credit() {
    let answer =
        json!({ "meaningful": false, "confidence": "high", "reason": "a typo", "meaningfulChanges": [] });
    let test = MonitorTest::with(move |_| FakeModel::json(&answer), &with_model()).await;
    let notification = json!({ "slack": { "enabled": true, "webhookUrl": WEBHOOK } });
    let goal = "Tell me when prices change";
    let monitor = test.create(json!({ "goal": goal, "notification": notification })).await;
    test.run(&monitor).await;
    let posts = || test.world.requests().into_iter().filter(|request| request.url == WEBHOOK).count();
    until("the new page is posted", || posts() == 1).await;
    test.shop.set_tea(&["Sencha costs 12 euros!", "Rooibos costs 5 euros."]);
    let check = test.run(&monitor).await;
    check_summary(&check, &json!({ "totalPages": 1, "changed": 1 }));
    let judgment = &check["pages"][0]["judgment"];
    let expected = json!({ "meaningful": false, "confidence": "high", "reason": "a typo", "meaningfulChanges": [], "fields": [] });
    assert_eq!(*judgment, expected);
    assert_eq!(check["actualCredits"], 2);
    // People are not notified about changes that do not matter.
    let quiet = wait_for_notifications(&test.service, &monitor, &check, |status| {
        status["slack"]["error"].is_string()
    })
    .await;
    assert_eq!((&quiet["slack"]["attempted"], posts()), (&json!(false), 1), "{quiet}");
}

#[tokio::test(flavor = "multi_thread")]
async fn extracted_data_is_compared_by_field() {
    let price = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(12));
    let current = std::sync::Arc::clone(&price);
    let model = move |_: &Value| {
        let price = current.load(std::sync::atomic::Ordering::SeqCst);
        FakeModel::json(&json!({ "plans": [{ "price": price }] }))
    };
    let test = MonitorTest::with(model, &with_model()).await;
    let format = json!({ "type": "json", "prompt": "prices" });
    let monitor = test
        .create(json!({ "targets": [{ "type": "scrape", "urls": [TEA], "scrapeOptions": { "formats": [format] } }] }))
        .await;
    test.run(&monitor).await;
    test.shop.set_tea(&["The text alone changed."]);
    let same = test.run(&monitor).await;
    check_summary(&same, &json!({ "totalPages": 1, "same": 1 }));
    assert_eq!(same["pages"][0]["snapshot"]["json"], json!({ "plans": [{ "price": 12 }] }));
    price.store(14, std::sync::atomic::Ordering::SeqCst);
    let changed = test.run(&monitor).await;
    let diff = json!({ "json": { "plans[0].price": { "previous": 12, "current": 14 } } });
    assert_eq!(changed["pages"][0]["diff"], diff, "{changed}");
}

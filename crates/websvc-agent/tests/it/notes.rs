//! Notes for the user about what an answer lacks, and about URLs that could not be read.

use serde_json::json;
use websvc_agent::{AgentEffort, AgentTask, RunOutcome, TaskLimits, run_task};

use crate::fixture::{FakeWeb, Kind, ScriptedModel, decide, done, object, run, task};
use crate::tasks::{list_page, nothing, teas_of};

#[tokio::test(start_paused = true)]
async fn collected_items_that_the_answer_lacks_are_named() {
    let page = list_page(1, 15, "");
    let web = FakeWeb::new([("http://shop.test/1", "Teas", page.as_str())]);
    let tea = json!({ "type": "object", "properties": { "name": { "type": "string" }, "price": { "type": "number" } } });
    let schema = object(&json!({ "teas": { "type": "array", "items": tea } }));
    for (count, expected) in [(1, Some("The data has 1 of 15 collected items of teas.")), (15, None)] {
        let model = ScriptedModel::deciding([decide("collect", "p1", "")], teas_of, move |request| {
            let mut answer = teas_of(request);
            answer["teas"].as_array_mut().unwrap().truncate(count);
            answer
        });
        let report = run(&web, &model, "All teas and prices", &schema, &["http://shop.test/1"]).await;
        assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        assert_eq!(report.data.unwrap()["teas"].as_array().unwrap().len(), count);
        assert_eq!(report.message.as_deref(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn parts_of_pages_that_were_not_collected_are_named() {
    let page = list_page(1, 1_200, "");
    let web = FakeWeb::new([("http://shop.test/1", "Teas", page.as_str())]);
    let tea = json!({ "type": "object", "properties": { "name": { "type": "string" }, "price": { "type": "number" } } });
    let list = object(&json!({ "teas": { "type": "array", "items": tea } }));
    let fact = object(&json!({ "name": { "type": "string" } }));
    // With one part, with all parts, and for data that does not need all.
    for (schema, collects, is_named) in [(&list, 1, true), (&list, 9, false), (&fact, 1, false)] {
        let model = ScriptedModel::new(move |request| {
            let has_rest = request.content.contains(" left, collect again");
            let is_first = request.content.contains("0 collected");
            Ok(match request.kind {
                Kind::Step
                    if is_first
                        || (has_rest
                            && collects > 1
                            && !request.content.contains("been collected already")) =>
                {
                    decide("collect", "p1", "")
                }
                Kind::Step => done(),
                Kind::Collect if collects == 1 && request.schema["properties"]["name"].is_object() => {
                    json!({ "name": "Tea 1" })
                }
                Kind::Collect => teas_of(request),
                Kind::Answer => json!({}),
            })
        });
        let report = run(&web, &model, "All teas and prices", schema, &["http://shop.test/1"]).await;
        assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        let message = report.message.unwrap_or_default();
        let note = " passages of http://shop.test/1 were not collected.";
        assert_eq!(message.contains(note), is_named, "{message}");
        let count = report.data.unwrap()["teas"].as_array().map_or(0, Vec::len);
        assert_eq!(count == 1_200, schema == &list && !is_named, "{count}");
    }
}

#[tokio::test(start_paused = true)]
async fn urls_that_cannot_be_read_are_named_with_the_reasons() {
    let mut web = FakeWeb::new([("http://tea.test/", "Tea", "Assam costs 5 euros.")]);
    web.allowed = vec!["http://tea.test/".to_owned(), "http://tea.test/none".to_owned()];
    let reasons = "http://tea.test/none: the page has status 404; http://coffee.test/: the URL is not one of the given ones";
    let urls = ["http://ann:hunter2@tea.test/none", "http://coffee.test/"].map(ToOwned::to_owned);
    web.allowed.push(urls[0].clone());
    for decision in [done(), decide("impossible", "", "No tea."), decide("find", "", "tea")] {
        let model = ScriptedModel::new(move |_| Ok(decision.clone()));
        let report = run_task(&web, &model, AgentTask { urls: &urls, ..task("What does Assam cost?") }).await;
        assert!(!matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        assert_eq!(report.nothing_read, Some(format!("no page could be read: {reasons}")));
        assert_eq!(report.data, None);
    }
    // Another page has the answer.
    let decisions = [decide("open", "http://tea.test/", "")];
    let model = ScriptedModel::deciding(decisions, nothing, |_| json!({ "price": 5 }));
    let report = run_task(&web, &model, AgentTask { urls: &urls, ..task("What does Assam cost?") }).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.nothing_read, None);
    assert_eq!(report.message, Some(format!("2 given URLs could not be read: {reasons}.")));
    // The number of those that are named is limited.
    let urls: Vec<String> = (0..8).map(|number| format!("http://coffee.test/{number}")).collect();
    let mut limits = TaskLimits::for_effort(AgentEffort::High);
    limits.max_start_pages = 8;
    let model = ScriptedModel::deciding([], nothing, nothing);
    let report = run_task(&web, &model, AgentTask { urls: &urls, limits, ..task("Coffee?") }).await;
    let reasons = report.nothing_read.unwrap();
    assert!(reasons.contains("coffee.test/4: ") && reasons.ends_with("ones; and 3 more"), "{reasons}");
}

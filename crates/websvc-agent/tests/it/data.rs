//! The data of a run: schema, correction, drafts and partial results.

use serde_json::{Value, json};
use websvc_agent::{Event, RunOutcome, run_task};

use crate::fixture::{FakeWeb, Kind, Received, ScriptedModel, decide, object, run, task};

const URL: &str = "http://tea.test/";

fn web() -> FakeWeb {
    FakeWeb::new([(URL, "Tea", "# Assam\n\nIt costs 5 euros.")])
}

fn schema() -> Value {
    object(&json!({ "name": { "type": "string" }, "price": { "type": "number" } }))
}

fn assam(_: &Received) -> Value {
    json!({ "name": "Assam", "price": 5 })
}

#[tokio::test(start_paused = true)]
async fn violation_is_corrected_once() {
    let model = ScriptedModel::deciding([], assam, |request| {
        if request.prompt.contains("violates the schema") {
            assert!(
                request.content.contains("## Violation\nprice is required\n{\"name\":\"Assam\"}"),
                "{}",
                request.content
            );
            return json!({ "name": "Assam", "price": 5 });
        }
        json!({ "name": "Assam" })
    });
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.data, Some(json!({ "name": "Assam", "price": 5 })));
    assert_eq!(model.count(Kind::Answer), 2);
}

#[tokio::test(start_paused = true)]
async fn data_that_stays_invalid_fails_with_what_there_is() {
    let model = ScriptedModel::deciding([], assam, |_| json!({ "name": "Assam", "price": "five" }));
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    let RunOutcome::InvalidData(violation) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(violation, "the type must be \"number\"");
    assert_eq!(
        (report.data, report.is_schema_valid),
        (Some(json!({ "name": "Assam", "price": "five" })), false)
    );
    assert_eq!(model.count(Kind::Answer), 2, "the answer is corrected once");
}

#[tokio::test(start_paused = true)]
async fn valid_draft_is_the_answer_if_the_answer_is_invalid() {
    let model = ScriptedModel::deciding([decide("collect", "p1", "")], assam, |_| json!([1]));
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.data, Some(json!({ "name": "Assam", "price": 5 })));
}

#[tokio::test(start_paused = true)]
async fn collected_values_fill_and_correct_the_answer() {
    let model = ScriptedModel::deciding(
        [decide("collect", "p1", "")],
        assam,
        |_| json!({ "name": "Darjeeling", "price": null }),
    );
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    assert_eq!(report.data, Some(json!({ "name": "Assam", "price": 5 })), "no page states Darjeeling");
    assert_eq!(report.sources.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn sourced_value_is_not_overwritten_by_one_without_source() {
    let web = FakeWeb::new([
        ("http://a.test/", "A", "The price is 7."),
        ("http://b.test/", "B", "The name is Assam."),
        ("http://c.test/", "C", "The price is 9."),
    ]);
    let model = ScriptedModel::deciding(
        ["p1", "p2", "p3"].map(|page| decide("collect", page, "")),
        |request| match request.content.contains("p1 ") {
            // The first page states neither.
            true => json!({ "name": "Sencha", "price": 7 }),
            false if request.content.contains("p2 ") => json!({ "name": "Assam", "price": 8 }),
            false => json!({ "name": null, "price": 9 }),
        },
        |_| Value::Null,
    );
    let urls = ["http://a.test/", "http://b.test/", "http://c.test/"];
    let schema = json!({ "type": "object", "properties": schema()["properties"] });
    let report = run(&web, &model, "Name and price", &schema, &urls).await;
    let data = report.data.unwrap();
    assert_eq!(data["name"], "Assam", "it replaces a name that the first page does not state");
    assert_eq!(data["price"], 7, "of two sourced values, the first stays");
}

#[tokio::test(start_paused = true)]
async fn changes_of_the_draft_are_events() {
    let web = web();
    let model =
        ScriptedModel::deciding([decide("collect", "p1", ""), decide("collect", "p1", "")], assam, assam);
    run(&web, &model, "Name and price", &schema(), &[URL]).await;
    let events = web.events.lock().clone();
    let data: Vec<&Event> =
        events.iter().filter(|event| matches!(event, Event::DataChanged { .. })).collect();
    assert_eq!(data, [&Event::DataChanged { data: json!({ "name": "Assam", "price": 5 }), number: Some(1) }]);
    assert!(matches!(events[0], Event::Progress { phase: "planning", .. }));
    assert!(matches!(events[1], Event::ToolStarted { number: 1, .. }));
    assert!(matches!(events[2], Event::ToolFinished { number: 1, is_success: true, .. }));
    assert!(events.contains(&Event::Reasoning("It helps.".into())));
    assert!(events.iter().any(|event| matches!(event, Event::Progress { phase: "finalizing", .. })));
    assert_eq!(model.count(Kind::Collect), 1, "the second collect has nothing to read");
}

#[tokio::test(start_paused = true)]
async fn schema_of_a_page_requires_nothing() {
    let model = ScriptedModel::deciding([decide("collect", "p1", "")], assam, assam);
    run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    let requests = model.requests();
    let collect = requests.iter().find(|request| request.kind == Kind::Collect).unwrap();
    assert_eq!(collect.schema["properties"]["price"]["type"], json!(["number", "null"]));
    assert_eq!(collect.schema["required"], Value::Null);
    assert!(collect.content.starts_with("## Page\np1 Tea | http://tea.test/\n\n## Passages\n[p1.1] # Assam"));
    assert!(collect.instructions.contains("You extract data"));
}

#[tokio::test(start_paused = true)]
async fn free_answer_is_an_object() {
    let model = ScriptedModel::deciding([], assam, |_| json!(["Assam"]));
    let urls = [URL.to_owned()];
    let task = websvc_agent::AgentTask { urls: &urls, ..task("Which tea?") };
    let report = run_task(&web(), &model, task).await;
    assert_eq!((report.data, report.is_schema_valid), (Some(json!({ "answer": ["Assam"] })), true));
    assert_eq!(model.requests().last().unwrap().schema, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn free_data_of_several_pages_keeps_its_names() {
    let web =
        FakeWeb::new([("http://a.test/", "A", "Assam costs 5."), ("http://b.test/", "B", "Sencha costs 6.")]);
    let model = ScriptedModel::deciding(
        [decide("collect", "p1", ""), decide("collect", "p2", "")],
        |request| {
            if request.content.contains("p1 ") {
                return json!({ "assam_price": 5 });
            }
            assert!(request.content.contains("## Draft\n{\"assam_price\":5}"), "{}", request.content);
            json!({ "sencha_price": 6 })
        },
        |request| {
            let draft = request.after("## Draft\n").unwrap();
            serde_json::from_str(&draft).unwrap()
        },
    );
    let urls = ["http://a.test/".to_owned(), "http://b.test/".to_owned()];
    let report = run_task(&web, &model, websvc_agent::AgentTask { urls: &urls, ..task("Prices?") }).await;
    assert_eq!(report.data, Some(json!({ "assam_price": 5, "sencha_price": 6 })));
}

/// Runs a task about a page with two teas, of which one is collected, and returns the report.
async fn run_with(schema: &Value, collected: &Value, answer: &Value) -> websvc_agent::RunReport {
    let web = FakeWeb::new([(URL, "Tea", "# Assam\n\nIt costs 5 euros.\n\n# Rooibos")]);
    let (collected, answer) = (collected.clone(), answer.clone());
    let model = ScriptedModel::deciding(
        [decide("collect", "p1", "")],
        move |_| collected.clone(),
        move |_| answer.clone(),
    );
    run(&web, &model, "Names and prices", schema, &[URL]).await
}

fn teas_schema() -> Value {
    let tea = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "price": { "type": "number" } },
        "required": ["name"],
    });
    object(&json!({ "teas": { "type": "array", "items": tea } }))
}

#[tokio::test(start_paused = true)]
async fn null_of_an_optional_value_is_left_out() {
    let answer = json!({ "teas": [{ "name": "Assam", "price": 5 }, { "name": "Rooibos", "price": null }] });
    for collected in [&answer, &json!({})] {
        let report = run_with(&teas_schema(), collected, &answer).await;
        assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        let expected = json!({ "teas": [{ "name": "Assam", "price": 5 }, { "name": "Rooibos" }] });
        assert_eq!((report.data, report.is_schema_valid), (Some(expected), true));
    }
}

#[tokio::test(start_paused = true)]
async fn wrapped_answers_and_bare_lists_are_the_data() {
    let teas = json!([{ "name": "Assam", "price": 5 }]);
    let data = json!({ "teas": teas });
    for answer in [json!({ "data": data }), teas, json!([data])] {
        let collected = json!({ "result": answer });
        for (collected, answer) in [(&json!({}), &answer), (&collected, &json!(null))] {
            let report = run_with(&teas_schema(), collected, answer).await;
            assert!(matches!(report.outcome, RunOutcome::Succeeded), "{collected} {answer}: {report:?}");
            assert_eq!(report.data.as_ref(), Some(&data), "{collected} {answer}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn answer_without_properties_of_the_schema_is_corrected_once() {
    let schema = json!({ "type": "object", "properties": schema()["properties"] });
    let model = ScriptedModel::deciding([], assam, |request| {
        if request.content.contains("## Violation\nit has none of the properties of the schema") {
            return json!({ "name": "Assam", "price": "5" });
        }
        json!({ "tea": "Assam" })
    });
    let report = run(&web(), &model, "Name and price", &schema, &[URL]).await;
    assert_eq!(report.data, Some(json!({ "name": "Assam", "price": 5 })));
    assert_eq!(model.count(Kind::Answer), 2);
}

#[tokio::test(start_paused = true)]
async fn message_names_a_single_value_as_the_data() {
    let schema = json!({ "type": "string" });
    let report = run_with(&schema, &json!("Oolong"), &json!("Oolong")).await;
    assert_eq!(report.message.unwrap(), "No page that was read states the values of the data.");
}

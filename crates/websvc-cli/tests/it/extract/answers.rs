//! Answers of weak models: wrappers, echoes of the schema, data without values, texts for numbers, and corrections that
//! lose values.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::{COFFEE, ExtractTest, SHOP, TEA};
use crate::harness::assert_fields;

/// A model whose answers are in the task: after `Tea: ` and `Coffee: ` for these pages, and after `Again: ` if its last
/// answer was refused and there is such a line.
fn instructed(body: &Value) -> Page {
    let text = FakeModel::prompt_text(body);
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let again = line("Again: ").filter(|_| text.contains("Your last answer was refused"));
    let of_page = if text.contains("A tin of arabica") { line("Coffee: ") } else { line("Tea: ") };
    FakeModel::text(again.or(of_page).expect("the task has the answer"))
}

/// Runs an extraction with the answers of the model, and returns its status and the number of requests to the model.
async fn extract(test: &ExtractTest, answers: &[(&str, Value)], fields: Value) -> (Value, usize) {
    let asked = || {
        let requests = test.world.requests();
        requests.iter().filter(|request| request.url.starts_with("http://model.test/")).count()
    };
    let before = asked();
    let answers: Vec<String> = answers.iter().map(|(name, answer)| format!("{name}: {answer}")).collect();
    let mut request = json!({ "urls": [TEA], "prompt": format!("The drinks.\n{}", answers.join("\n")) });
    for (name, value) in fields.as_object().unwrap() {
        request[name] = value.clone();
    }
    let (_, status) = test.run(request).await;
    (status, asked() - before)
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_without_values_fails_and_costs_nothing() {
    let test = ExtractTest::with(instructed).await;
    for answer in [
        json!({}),
        json!({ "drinks": [] }),
        json!({ "drinks": null, "shop": "" }),
        json!({ "drinks": [{ "name": null, "euros": null }] }),
    ] {
        let (status, _) = extract(&test, &[("Tea", answer.clone())], json!({})).await;
        assert_eq!(
            (&status["status"], &status["creditsUsed"], status.get("data")),
            (&json!("failed"), &json!(0), None),
            "{answer}: {status}"
        );
        let expected = json!({
            "error": format!("no page has data: {TEA}: it states none of the values"),
        });
        assert_fields(&status, &expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_a_correction_loses_are_named_and_have_no_sources() {
    let test = ExtractTest::with(instructed).await;
    let drink = |name: &str, euros: Value| json!({ "drinks": [{ "name": name, "euros": euros }] });
    let answers = |again: Value| {
        let tea = json!({ "shop": "Leaf", "drinks": [{ "name": "sencha", "euros": "12 euros" }] });
        [("Tea", tea), ("Coffee", drink("arabica", json!("7 euros"))), ("Again", again)]
    };
    let fields = json!({ "urls": [TEA, COFFEE], "showSources": true });
    let again = drink("arabica", json!(7));
    let (status, asked) = extract(&test, &answers(again.clone()), fields.clone()).await;
    assert_eq!((&status["status"], &status["data"], asked), (&json!("completed"), &again, 3), "{status}");
    assert_eq!(status["sources"], json!({ "drinks[0]": [COFFEE] }), "{status}");
    let warning =
        "the correction of the data by the language model left out values: shop, drinks (1 of 2 items)";
    assert_eq!(status["warning"], warning, "{status}");
    for (again, reason) in
        [(json!({ "drinks": [] }), "no values"), (json!({ "x": 1 }), "none of the properties")]
    {
        let (status, asked) = extract(&test, &answers(again), fields.clone()).await;
        assert_eq!(
            (&status["status"], &status["creditsUsed"], asked),
            (&json!("failed"), &json!(0), 3),
            "{status}"
        );
        let error = status["error"].as_str().unwrap();
        assert!(error.contains("does not follow the schema") && error.contains(reason), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn page_without_values_is_not_used_in_the_completion() {
    let test = ExtractTest::new().await;
    let (_, status) = test.run(json!({ "urls": [SHOP, TEA], "urlTrace": true })).await;
    let used: Vec<&Value> =
        status["urlTrace"].as_array().unwrap().iter().map(|page| &page["usedInCompletion"]).collect();
    assert_eq!(used, [&json!(false), &json!(true)], "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_of_data_without_a_schema_are_paths_of_the_data() {
    let test = ExtractTest::with(instructed).await;
    let fields = json!({ "schema": null, "showSources": true });
    for (answer, sources) in
        [(json!("sencha"), json!({ "value": [TEA] })), (json!(["sencha"]), json!({ "value[0]": [TEA] }))]
    {
        let (status, _) = extract(&test, &[("Tea", answer.clone())], fields.clone()).await;
        assert_fields(&status, &json!({ "data": { "value": answer }, "sources": sources }));
    }
}

//! Answers of weak models: wrappers, echoes of the schema, data without values, texts for numbers, and corrections that
//! lose values.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::{COFFEE, ExtractTest, SHOP, TEA};

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

fn sencha() -> Value {
    json!({ "drinks": [{ "name": "sencha", "euros": 12 }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn wrapped_data_and_bare_lists_are_the_data() {
    let test = ExtractTest::with(instructed).await;
    for answer in [
        json!({ "data": sencha() }),
        json!({ "result": { "output": sencha() } }),
        sencha()["drinks"].clone(),
        json!({ "answer": sencha()["drinks"] }),
        json!([sencha()]),
    ] {
        let (status, asked) = extract(&test, &[("Tea", answer.clone())], json!({})).await;
        assert_eq!(
            (&status["status"], &status["data"], status.get("warning"), asked),
            (&json!("completed"), &sencha(), None, 1),
            "{answer}: {status}"
        );
        assert_eq!(status["creditsUsed"], 5, "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_without_properties_of_the_schema_are_asked_for_again_once() {
    let test = ExtractTest::with(instructed).await;
    let unusable = "the language model gave no usable answer: it has none of the properties of the schema";
    for answer in [
        json!({ "type": "object", "properties": { "drinks": { "type": "array" } } }),
        json!({ "properties": { "drinks": [{ "name": "sencha", "euros": 12 }] } }),
        json!({ "tea": "sencha" }),
        json!("sencha"),
    ] {
        let (status, asked) = extract(&test, &[("Tea", answer.clone())], json!({})).await;
        assert_eq!(
            (&status["status"], &status["creditsUsed"], status.get("data"), asked),
            (&json!("failed"), &json!(0), None, 2),
            "{answer}: {status}"
        );
        assert_eq!(status["error"], format!("no page has data: {TEA}: {unusable}"), "{status}");
        let (status, asked) = extract(&test, &[("Tea", answer), ("Again", sencha())], json!({})).await;
        assert_eq!(
            (&status["status"], &status["data"], asked),
            (&json!("completed"), &sencha(), 2),
            "{status}"
        );
    }
    let answers = [("Tea", sencha()), ("Coffee", json!({ "coffee": "arabica" }))];
    let (status, _) = extract(&test, &answers, json!({ "urls": [TEA, COFFEE] })).await;
    assert_eq!((&status["status"], &status["data"]), (&json!("completed"), &sencha()), "{status}");
    assert_eq!(status["warning"], format!("1 page is missing: {COFFEE}: {unusable}"), "{status}");
    assert_eq!(status["creditsUsed"], 6, "the data of the coffee is not charged: {status}");
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
        assert_eq!(
            status["error"],
            format!("no page has data: {TEA}: it states none of the values"),
            "{status}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn null_for_a_list_or_an_object_is_left_out() {
    let test = ExtractTest::with(instructed).await;
    let tags = json!({ "type": "array", "items": { "type": "string" } });
    let maker = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "tags": tags, "maker": maker },
        "required": ["tags"],
    });
    let answer = json!({ "name": "Sencha", "tags": null, "maker": null });
    let (status, asked) = extract(&test, &[("Tea", answer)], json!({ "schema": schema })).await;
    assert_eq!(
        (&status["status"], &status["data"], asked),
        (&json!("completed"), &json!({ "name": "Sencha" }), 1),
        "{status}"
    );
    assert!(status["warning"].as_str().unwrap().contains("do not state all values"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_numbers_are_numbers_without_a_correction() {
    let test = ExtractTest::with(instructed).await;
    let answer = json!({ "drinks": [{ "name": "12", "euros": "12" }] });
    let (status, asked) = extract(&test, &[("Tea", answer)], json!({})).await;
    let expected = json!({ "drinks": [{ "name": "12", "euros": 12 }] });
    assert_eq!((&status["data"], asked), (&expected, 1), "{status}");
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
        assert_eq!(
            (&status["data"], &status["sources"]),
            (&json!({ "value": answer }), &sources),
            "{status}"
        );
    }
}

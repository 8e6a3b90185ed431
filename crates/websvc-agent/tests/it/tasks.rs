//! Kinds of tasks from the decision to the answer.

use serde_json::{Value, json};
use websvc_agent::{AgentMode, AgentTask, EarlierTurn, RunOutcome, ToolCall, run_task};

use crate::fixture::{FakeWeb, Kind, ScriptedModel, decide, done, object, run, task};

pub(crate) fn nothing(_: &crate::fixture::Received) -> Value {
    Value::Null
}

#[tokio::test(start_paused = true)]
async fn single_fact_is_searched_read_and_answered() {
    let web = FakeWeb::new([
        ("http://tea.test/assam", "Assam tea", "# Assam\n\nA black tea.\n\nA bag costs 4.50 euros."),
        ("http://tea.test/sencha", "Sencha tea", "# Sencha\n\nA bag costs 9 euros."),
    ]);
    let decisions = [decide("search", "", "Assam"), decide("open", "r1", "")];
    let model = ScriptedModel::deciding(decisions, nothing, |request| {
        let price = request.after("A bag costs ").unwrap();
        json!({ "price": price.trim_end_matches(" euros.").parse::<f64>().unwrap() })
    });
    let schema = object(&json!({ "price": { "type": "number" } }));
    let report = run(&web, &model, "What does a bag of Assam cost?", &schema, &[]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!((report.data, report.steps), (Some(json!({ "price": 4.5 })), 3));
    let [source] = report.sources.as_slice() else { panic!("{:?}", report.sources) };
    assert_eq!((source.pointer.as_str(), source.url.as_str()), ("/price", "http://tea.test/assam"));
    assert_eq!(source.passage, "A bag costs 4.50 euros.");
    assert_eq!(report.message, None);
    let [first, second, last, answer] = &model.requests()[..] else { panic!() };
    assert!(
        first.prompt.starts_with("## Task\nWhat does a bag of Assam cost?\n\n## Fields\n- price: number\n")
    );
    assert!(first.prompt.contains("## Step\nStep 1 of 25. Today is 2026-11-26."), "{}", first.prompt);
    assert!(first.instructions.contains("- search:") && first.instructions.contains("- interact:"));
    assert!(
        second.content.contains("## Results\nr1 Assam tea | http://tea.test/assam\n"),
        "{}",
        second.content
    );
    assert!(last.content.contains("r1 [read as p1] Assam tea"), "{}", last.content);
    assert!(last.content.contains("[p1.1] # Assam\n\nA black tea."), "{}", last.content);
    assert!(
        last.content
            .contains("## Steps\n1. search \"Assam\": 1 result, the first is r1\n2. open r1: read as p1")
    );
    assert_eq!(answer.kind, Kind::Answer);
    assert_eq!(answer.schema, schema);
}

/// Returns a page of a list of teas, with a link to the next one.
pub(crate) fn list_page(first: u32, count: u32, next: &str) -> String {
    let items: Vec<String> =
        (first..first + count).map(|number| format!("- Tea {number} costs {number}.25 euros")).collect();
    format!("# Teas\n\n{}\n\n{next}", items.join("\n"))
}

pub(crate) fn teas_of(request: &crate::fixture::Received) -> Value {
    let lines = request.content.lines().filter_map(|line| {
        let (name, price) = line.split_once("- Tea ")?.1.split_once(" costs ")?;
        let price: f64 = price.split(' ').next()?.parse().ok()?;
        Some(json!({ "name": format!("Tea {name}"), "price": price }))
    });
    json!({ "teas": lines.collect::<Vec<_>>() })
}

#[tokio::test(start_paused = true)]
async fn list_is_collected_across_pages() {
    let (first, second) = (
        list_page(1, 120, "[Next](http://shop.test/2)"),
        list_page(121, 30, "[Previous](http://shop.test/1)"),
    );
    let web = FakeWeb::new([
        ("http://shop.test/1", "Teas", first.as_str()),
        ("http://shop.test/2", "Teas, page 2", second.as_str()),
    ]);
    let model = ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Collect => teas_of(request),
            // The answer of a small model lacks items.
            Kind::Answer => json!({ "teas": [] }),
            Kind::Step if request.content.contains("teas: 150 items") => done(),
            Kind::Step if request.content.contains("teas: 120 items") && request.content.contains("p2 ") => {
                decide("collect", "p2", "")
            }
            Kind::Step if request.content.contains("teas: 120 items") => {
                let next = request.content.lines().find(|line| line.contains(" Next | ")).unwrap();
                decide("open", next.split(' ').next().unwrap(), "")
            }
            Kind::Step => decide("collect", "p1", ""),
        })
    });
    let tea = json!({ "type": "object", "properties": { "name": { "type": "string" }, "price": { "type": "number" } } });
    let schema = object(&json!({ "teas": { "type": "array", "items": tea } }));
    let report = run(&web, &model, "All teas and prices", &schema, &["http://shop.test/1"]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    let data = report.data.unwrap();
    let teas = data["teas"].as_array().unwrap();
    assert_eq!(teas.len(), 150);
    assert_eq!(teas[149], json!({ "name": "Tea 150", "price": 150.25 }));
    assert_eq!(web.reads(), ["http://shop.test/1", "http://shop.test/2"]);
    let source = report.sources.iter().find(|source| source.pointer == "/teas/149/price").unwrap();
    assert_eq!(
        (source.url.as_str(), source.passage.as_str()),
        ("http://shop.test/2", "- Tea 150 costs 150.25 euros")
    );
    assert_eq!(report.message, None);
}

#[tokio::test(start_paused = true)]
async fn links_in_passages_can_be_followed() {
    let web = FakeWeb::new([
        ("http://maker.test/", "Maker", "Welcome. See [About us](http://maker.test/about?ref=home)."),
        ("http://maker.test/about?ref=home", "About", "The company was founded in 1911."),
    ]);
    let model = ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Step if request.content.contains("founded in") => done(),
            Kind::Step => decide("open", &request.link("About us"), ""),
            Kind::Collect | Kind::Answer => {
                json!({ "founded": request.after("founded in ").unwrap()[..4].parse::<u32>().unwrap() })
            }
        })
    });
    let schema = object(&json!({ "founded": { "type": "number" } }));
    let report = run(&web, &model, "When was it founded?", &schema, &["http://maker.test/"]).await;
    assert_eq!(report.data, Some(json!({ "founded": 1911 })));
    assert_eq!(web.reads(), ["http://maker.test/", "http://maker.test/about?ref=home"]);
    // The model sees a reference in place of the URL.
    let first = &model.requests()[0].content;
    let passages = first.split("## Passages").nth(1).unwrap();
    assert!(passages.contains("[About us](l1)") && !passages.contains("ref=home"), "{first}");
}

#[tokio::test(start_paused = true)]
async fn value_that_no_page_states_stays_empty_and_is_named() {
    let web = FakeWeb::new([("http://tea.test/", "Tea", "A black tea.")]);
    let model = ScriptedModel::deciding([], nothing, |_| json!({ "name": "black tea", "price": null }));
    let schema = object(&json!({ "name": { "type": "string" }, "price": { "type": ["number", "null"] } }));
    let report = run(&web, &model, "Name and price?", &schema, &["http://tea.test/"]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded));
    assert_eq!(report.data, Some(json!({ "name": "black tea", "price": null })));
    assert_eq!(report.message.as_deref(), Some("No value was found for price."));
}

#[tokio::test(start_paused = true)]
async fn invented_value_is_named() {
    let web = FakeWeb::new([("http://tea.test/", "Tea", "A black tea.")]);
    let model = ScriptedModel::deciding([], nothing, |_| json!({ "name": "black tea", "price": 12 }));
    let schema = object(&json!({ "name": { "type": "string" }, "price": { "type": "number" } }));
    let report = run(&web, &model, "Name and price?", &schema, &["http://tea.test/"]).await;
    assert_eq!(report.message.as_deref(), Some("No page that was read states the values of /price."));
    assert_eq!(report.sources.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn task_without_an_answer_is_refused_with_the_reason() {
    let web = FakeWeb::new([]);
    let model = ScriptedModel::deciding(
        [decide("search", "", "unicorn"), decide("impossible", "", "There are no results.")],
        nothing,
        nothing,
    );
    let report = run(&web, &model, "Where are unicorns sold?", &object(&json!({})), &[]).await;
    let RunOutcome::Refused(reason) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(reason, "There are no results.");
    assert_eq!((report.data, report.steps), (None, 2));
    assert!(model.requests()[1].content.contains("1. search \"unicorn\": no results"));
}

#[tokio::test(start_paused = true)]
async fn two_sites_are_compared() {
    let web = FakeWeb::new([
        ("http://a.test/", "Shop A", "Assam costs 7 euros."),
        ("http://b.test/", "Shop B", "Assam costs 5 euros."),
    ]);
    let model = ScriptedModel::deciding([decide("open", "http://b.test/", "")], nothing, |request| {
        let price = |page: &str| {
            let passage = request.after(&format!("[{page}.1] Assam costs ")).unwrap();
            passage[..1].parse::<u32>().unwrap()
        };
        json!({ "cheaper": if price("p1") < price("p2") { "Shop A" } else { "Shop B" }, "price": price("p1").min(price("p2")) })
    });
    let prompt = "Who sells Assam cheaper, http://a.test/ or http://b.test/?";
    let report = run_task(&web, &model, task(prompt)).await;
    assert_eq!(report.data, Some(json!({ "cheaper": "Shop B", "price": 5 })));
    assert_eq!(
        web.reads(),
        ["http://a.test/", "http://b.test/"],
        "the URLs of the prompt are read at the start"
    );
    assert!(report.is_schema_valid);
    let first = &model.requests()[0].content;
    assert!(first.contains("p2 Shop B | http://b.test/ | 1 passages, first 1 shown, 0 collected"), "{first}");
}

#[tokio::test(start_paused = true)]
async fn value_deep_in_a_long_document_is_found() {
    let filler: Vec<String> =
        (0..600).map(|n| format!("Section {n}. {}", "Lorem ipsum dolor. ".repeat(20))).collect();
    let mut document = filler.clone();
    document.insert(450, "The warranty period is 37 months.".to_owned());
    let document = document.join("\n\n");
    let web = FakeWeb::new([("http://maker.test/manual.pdf", "Manual", document.as_str())]);
    let model = ScriptedModel::deciding([], nothing, |request| {
        let months = request.after("The warranty period is ").unwrap();
        json!({ "months": months[..2].parse::<u32>().unwrap() })
    });
    let schema = object(&json!({ "months": { "type": "number" } }));
    let report =
        run(&web, &model, "How long is the warranty period?", &schema, &["http://maker.test/manual.pdf"])
            .await;
    assert_eq!(report.data, Some(json!({ "months": 37 })));
    assert!(
        model.requests()[0].content.contains("warranty period is 37"),
        "the first decision sees the passage"
    );
}

#[tokio::test(start_paused = true)]
async fn tools_map_crawl_and_interact() {
    let web = FakeWeb::new([
        ("http://a.test/", "Home", "[One](http://a.test/1) [Two](http://a.test/2)"),
        ("http://a.test/1", "One", "First."),
        ("http://a.test/2", "Two", "Second."),
    ]);
    let decisions = [
        decide("map", "http://a.test/", "one"),
        decide("crawl", "r1", ""),
        decide("interact", "p1", "press Buy"),
        decide("find", "", "second"),
        decide("links", "p1", ""),
    ];
    let model = ScriptedModel::deciding(decisions, nothing, |_| json!({ "ok": true }));
    let report = run_task(&web, &model, task("Try everything")).await;
    let (home, task) = ("http://a.test/".to_owned(), "press Buy".to_owned());
    assert_eq!(
        web.calls(),
        [
            ToolCall::Map { url: home.clone(), query: "one".into() },
            ToolCall::Crawl { url: home.clone(), max_pages: 8 },
            ToolCall::Interact { url: home, task },
        ]
    );
    let requests = model.requests();
    assert!(requests[2].content.contains("crawl r1: read as p1, p2, p3"), "{}", requests[2].content);
    assert!(requests[3].content.contains("the answer on the page: did press Buy"));
    assert!(
        requests[5].content.contains("## Links\nr2 [read as p2] One | http://a.test/1"),
        "{}",
        requests[5].content
    );
    assert_eq!(report.steps, 6);
}

#[tokio::test(start_paused = true)]
async fn chat_answers_with_a_text_and_knows_earlier_turns() {
    let web = FakeWeb::new([]);
    let turns = [EarlierTurn { prompt: "What does Assam cost?".into(), data: Some(json!({ "price": 5 })) }];
    let model = ScriptedModel::deciding([], nothing, |request| {
        assert!(request.content.contains("## Earlier results\n{\"price\":5}"), "{}", request.content);
        json!({ "answer": "Two bags cost 10 euros." })
    });
    let task = AgentTask { mode: AgentMode::Chat, turns: &turns, ..task("And two bags?") };
    let report = run_task(&web, &model, task).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.data, Some(json!({ "answer": "Two bags cost 10 euros." })));
    assert_eq!(report.message.as_deref(), Some("Two bags cost 10 euros."));
    assert!(model.requests()[0].prompt.contains("## Earlier tasks\n1. What does Assam cost?\n"));
}

#[tokio::test(start_paused = true)]
async fn answer_without_any_page_is_refused() {
    let web = FakeWeb::new([("http://tea.test/", "Tea", "A tea.")]);
    let model = ScriptedModel::deciding(
        [done(), decide("open", "http://tea.test/", "")],
        nothing,
        |_| json!({ "a": "tea" }),
    );
    let report = run_task(&web, &model, task("What is it?")).await;
    assert!(model.requests()[1].prompt.contains("Your last answer was refused: no page has been read yet."));
    assert_eq!((report.data, report.steps), (Some(json!({ "a": "tea" })), 3));
}

//! The steps of tasks: actions, outlines, memory and answers.

use serde_json::json;
use websvc_session::page_agent::TaskOutcome;

use crate::page_agent::fixture::{FakePage, Gone, ScriptedModel, answer, done, failed, printed, run};

const FORM: &str =
    "- heading \"Teas\" [ref=e1] [level=1]\n- searchbox \"Search\" [ref=e2]\n- button \"Go\" [ref=e3]";

/// A page with a form, which shows a price after its button.
fn shop() -> FakePage {
    FakePage::new(FORM, |page, command| {
        match command {
            "fill @e2 'green tea'" => page.snapshot = FORM.replace("[ref=e2]", "[ref=e2]: green tea"),
            "click @e3" => {
                page.url = "http://shop.test/search?q=green+tea".to_owned();
                page.title = "Results".to_owned();
                page.snapshot = "- listitem \"Sencha\" [ref=e1]: 12 euros".to_owned();
            }
            "get text @e1" => return Ok(printed("Sencha\n 12 euros\n")),
            _ => return Ok(failed("✗ line 1: Unknown ref: e9\n")),
        }
        Ok(printed("✓ Done\n"))
    })
}

#[tokio::test(start_paused = true)]
async fn task_fills_clicks_reads_and_answers() {
    let page = shop();
    let mut read = answer("read", "e1", "");
    read["note"] = json!("sencha is a green tea");
    let model = ScriptedModel::answering([
        answer("fill", "e2", "green tea"),
        answer("click", "e3", ""),
        read,
        done("Sencha costs 12 euros."),
    ]);
    let report = run(&page, &model, "What does green tea cost?").await.unwrap();
    assert_eq!(page.commands(), ["fill @e2 'green tea'", "click @e3", "get text @e1"]);
    assert_eq!((&report.outcome, report.output.as_str()), (&TaskOutcome::Done, "Sencha costs 12 euros."));
    assert_eq!(report.snapshot, "- listitem \"Sencha\" [ref=e1]: 12 euros");
    assert_eq!(report.steps, 4);
    let log: Vec<&str> = report.log.lines().collect();
    assert_eq!(
        log,
        [
            "1. fill @e2 (searchbox \"Search\") \"green tea\": done",
            "2. click @e3 (button \"Go\"): done",
            "3. read @e1 (listitem \"Sencha\"): the text is Sencha 12 euros | note: sencha is a green tea",
        ]
    );
    let requests = model.requests();
    assert!(
        requests[0].prompt.starts_with("Task: What does green tea cost?\n\nStep 1 of 25."),
        "{:?}",
        requests[0]
    );
    assert_eq!(requests[0].content, format!("Address: http://shop.test/\nTitle: Shop\n\nOutline:\n{FORM}"));
    let last = &requests[3].content;
    for part in ["Address: http://shop.test/search?q=green+tea\nTitle: Results", log[0], log[2], "12 euros"] {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert!(!last.contains("[ref=e3]"), "the outline is the current one: {last}");
}

#[tokio::test(start_paused = true)]
async fn failed_and_useless_actions_are_reported() {
    let page = FakePage::new(FORM, |_, command| match command {
        "click @e3" => Ok(printed("✓ Done\n")),
        _ => Ok(failed("✗ line 1: element is not\n visible\n")),
    });
    let model = ScriptedModel::answering([
        answer("click", "e3", ""),
        answer("hover", "e3", ""),
        answer("click", "e9", ""),
    ]);
    let report = run(&page, &model, "Click").await.unwrap();
    let log: Vec<&str> = report.log.lines().collect();
    assert_eq!(log[0], "1. click @e3 (button \"Go\"): done, but the page did not change");
    assert_eq!(log[1], "2. hover @e3 (button \"Go\"): failed, element is not");
    assert!(log[2].contains("refused, ref is not in the current outline"), "{}", log[2]);
    assert_eq!(page.commands(), ["click @e3", "hover @e3"]);
    let requests = model.requests();
    assert!(requests[1].content.contains(log[0]) && !requests[2].prompt.contains("refused"));
    assert!(
        requests[3].prompt.contains("Your last answer was refused: ref is not in"),
        "{}",
        requests[3].prompt
    );
}

#[tokio::test(start_paused = true)]
async fn long_outline_is_shown_in_parts() {
    let lines: Vec<String> = (1..=600).map(|n| format!("- button \"Number {n}\" [ref=e{n}]")).collect();
    let page = FakePage::fixed(&lines.join("\n"));
    let model = ScriptedModel::answering([
        answer("scroll", "", "down"),
        answer("scroll", "", "down"),
        answer("scroll", "", "down"),
        answer("scroll", "", "up"),
        answer("click", "e1", ""),
    ]);
    let report = run(&page, &model, "Look").await.unwrap();
    let parts: Vec<String> = model
        .requests()
        .iter()
        .map(|request| {
            assert!(request.content.len() < 8_000, "{}", request.content.len());
            let line = request.content.lines().find(|line| line.starts_with("Outline")).unwrap();
            line.to_owned()
        })
        .collect();
    let part = |n: usize| format!("Outline, part {n} of 4:");
    assert_eq!(parts, [part(1), part(2), part(3), part(4), part(3), part(3)]);
    assert_eq!(page.commands().last().unwrap(), "click @e1", "elements of all parts can be used");
    assert_eq!(report.snapshot, lines.join("\n"), "the result is the whole outline");
}

#[tokio::test(start_paused = true)]
async fn end_of_the_browser_is_an_error_of_the_page() {
    let page = FakePage::new(FORM, |_, _| Err(Gone));
    let model = ScriptedModel::answering([answer("click", "e3", "")]);
    assert_eq!(run(&page, &model, "Click").await, Err(Gone));
}

#[tokio::test(start_paused = true)]
async fn page_that_cannot_be_read_ends_the_task() {
    let page = FakePage::new(FORM, |page, _| {
        page.url.clear();
        Ok(printed("✓ Done\n"))
    });
    let model = ScriptedModel::answering([answer("click", "e3", "")]);
    let report = run(&page, &model, "Click").await.unwrap();
    assert_eq!(report.outcome, TaskOutcome::Page("✗ line 3: the page does not respond".to_owned()));
    assert_eq!((report.snapshot.as_str(), page.state.lock().readings), (FORM, 1 + 3));
}

//! The memory of a run: no repeated call, and no more pages than it can keep.

use serde_json::{Value, json};
use websvc_agent::{AgentTask, ToolCall, run_task};

use crate::fixture::{FakeWeb, Kind, ScriptedModel, decide, task};

fn deciding(decisions: impl IntoIterator<Item = Value>) -> ScriptedModel {
    ScriptedModel::deciding(decisions, |_| Value::Null, |_| json!({}))
}

#[tokio::test(start_paused = true)]
async fn equal_calls_are_not_repeated() {
    let web = FakeWeb::new([("http://a.test/", "Home", "Tea.")]);
    let model = deciding([
        decide("search", "", "Home"),
        decide("search", "", "Home"),
        decide("open", "r1", ""),
        decide("open", "http://a.test/#top", ""),
        decide("open", "http://a.test/missing", ""),
        decide("open", "http://a.test/missing", ""),
    ]);
    run_task(&web, &model, task("What is sold?")).await;
    assert_eq!(
        web.calls(),
        [
            ToolCall::Search { query: "Home".into() },
            ToolCall::Scrape { url: "http://a.test/".into() },
            ToolCall::Scrape { url: "http://a.test/missing".into() },
        ]
    );
    let requests = model.requests();
    assert!(
        requests.iter().any(|request| request.kind == Kind::Collect),
        "the page is opened to take its values"
    );
    let last = &requests.iter().rfind(|request| request.kind == Kind::Step).unwrap().content;
    assert!(
        last.contains("2. search \"Home\": not repeated, the outcome was: 1 result, the first is r1"),
        "{last}"
    );
    assert!(
        last.contains("4. open http://a.test/#top: it has been read already, as p1; collected: "),
        "{last}"
    );
    assert!(last.contains(
        "6. open http://a.test/missing: not repeated, the outcome was: failed, the page has status 404"
    ));
}

#[tokio::test(start_paused = true)]
async fn long_page_is_shown_in_parts() {
    let lines: Vec<String> = (0..200).map(|n| format!("Line {n}. {}", "word ".repeat(100))).collect();
    let page = lines.join("\n\n");
    let web = FakeWeb::new([("http://a.test/", "Long", page.as_str())]);
    let urls = ["http://a.test/".to_owned()];
    let model = deciding(std::iter::repeat_n(decide("more", "p1", ""), 3));
    run_task(&web, &model, AgentTask { urls: &urls, ..task("zzz") }).await;
    let mut next = 0;
    for request in model.requests().iter().filter(|request| request.kind == Kind::Step) {
        assert!(request.content.contains(&format!("Line {next}. ")), "line {next}: {}", request.content);
        let mut shown = request.content.lines().filter(|line| line.contains("Line "));
        let last = shown.next_back().unwrap().split("Line ").nth(1).unwrap().split('.').next().unwrap();
        next = last.parse::<usize>().unwrap() + 1;
    }
    assert!(next > 20, "{next}");
}

#[tokio::test(start_paused = true)]
async fn oldest_pages_are_dropped_and_can_be_read_again() {
    let pages: Vec<(String, String)> =
        (0..60).map(|n| (format!("http://a.test/{n}"), format!("This is page number {n}."))).collect();
    let web = FakeWeb::new(pages.iter().map(|(url, text)| (url.as_str(), "Page", text.as_str())));
    let urls: Vec<String> = pages.iter().map(|(url, _)| url.clone()).collect();
    let mut limits = websvc_agent::TaskLimits::for_effort(websvc_agent::AgentEffort::High);
    limits.max_start_pages = 50;
    let model = deciding([
        decide("more", "p1", ""),
        decide("open", "http://a.test/0", ""),
        decide("collect", "p1", ""),
    ]);
    run_task(&web, &model, AgentTask { urls: &urls, limits, ..task("Which page number?") }).await;
    let requests = model.requests();
    assert!(requests[0].content.contains("p50 "), "{}", requests[0].content);
    assert!(requests[1].prompt.contains("no longer in memory"), "{}", requests[1].prompt);
    assert_eq!(web.reads().len(), 51);
    assert_eq!(web.reads()[50], "http://a.test/0");
    assert!(requests[2].content.contains("2. open http://a.test/0: read as p1"), "{}", requests[2].content);
    let collect = requests.iter().find(|request| request.kind == Kind::Collect).unwrap();
    assert!(collect.content.contains("[p1.1] This is page number 0."), "{}", collect.content);
}

#[tokio::test(start_paused = true)]
async fn huge_pages_are_cut_and_bounded_together() {
    let huge = "word ".repeat(1_000_000);
    let pages: Vec<String> = (0..20).map(|n| format!("http://a.test/{n}")).collect();
    let web = FakeWeb::new(pages.iter().map(|url| (url.as_str(), "Huge", huge.as_str())));
    let mut limits = websvc_agent::TaskLimits::for_effort(websvc_agent::AgentEffort::High);
    limits.max_start_pages = 20;
    let model = deciding([]);
    run_task(&web, &model, AgentTask { urls: &pages, limits, ..task("word") }).await;
    let content = &model.requests()[0].content;
    assert!(content.contains("passages of a longer page"), "{content}");
    assert!(
        content.contains("p20 ") && content.contains("p1 Huge | http://a.test/0 | no longer in memory"),
        "{content}"
    );
}

#[tokio::test(start_paused = true)]
async fn sources_outlast_their_pages() {
    let pages: Vec<(String, String)> =
        (0..60).map(|n| (format!("http://a.test/{n}"), format!("Size {n}."))).collect();
    let web = FakeWeb::new(pages.iter().map(|(url, text)| (url.as_str(), "Page", text.as_str())));
    let urls: Vec<String> = pages.iter().map(|(url, _)| url.clone()).take(1).collect();
    let opens = pages[1..].iter().map(|(url, _)| decide("open", url, ""));
    let model = ScriptedModel::deciding(
        [decide("collect", "p1", "")].into_iter().chain(opens),
        |_| json!({ "size": "Size 0" }),
        |_| json!({ "size": "Size 0" }),
    );
    let mut limits = websvc_agent::TaskLimits::for_effort(websvc_agent::AgentEffort::High);
    limits.max_steps = 100;
    let report = run_task(&web, &model, AgentTask { urls: &urls, limits, ..task("Size?") }).await;
    assert_eq!(report.message, None);
    let [source] = report.sources.as_slice() else { panic!("{:?}", report.sources) };
    assert_eq!((source.url.as_str(), source.passage.as_str()), ("http://a.test/0", "Size 0."));
}

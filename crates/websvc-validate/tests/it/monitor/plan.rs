//! Plans of checks.

use std::time::Duration;

use serde_json::json;
use websvc_types::monitor::MonitorEventKind;
use websvc_types::{Format, ViolationCode};
use websvc_validate::{MonitorDefinition, MonitorPlan, MonitorTargetPlan, Policy};

use super::{ID, accepted, body, rejected, with_target};

fn plan_of(definition: &MonitorDefinition) -> MonitorPlan {
    definition.plan(&Policy::default()).expect("the definition is valid").plan
}

fn names(formats: &[Format]) -> Vec<&'static str> {
    formats.iter().map(Format::name).collect()
}

#[test]
fn pages_are_fetched_as_markdown_by_default() {
    for (options, formats, max_age) in [
        (json!({}), vec!["markdown"], 0),
        (json!({ "formats": ["links", "html"] }), vec!["links", "html", "markdown"], 0),
        (json!({ "formats": ["markdown", "links"] }), vec!["markdown", "links"], 0),
        // Sent by the official Python client with all options.
        (json!({ "maxAge": 14_400_000 }), vec!["markdown"], 0),
        (json!({ "maxAge": 60_000 }), vec!["markdown"], 60_000),
    ] {
        let scrape = with_target(
            &json!({ "type": "scrape", "id": ID, "urls": ["tea.test"], "scrapeOptions": options }),
        );
        let plan = plan_of(&accepted(&scrape));
        let [MonitorTargetPlan::Scrape(target)] = plan.targets.as_slice() else { panic!("{plan:?}") };
        assert_eq!((target.id.as_str(), target.pages[0].url.as_str()), (ID, "http://tea.test/"));
        assert_eq!(names(&target.scrape.formats), formats, "{options}");
        assert_eq!(target.scrape.max_age, Duration::from_millis(max_age), "{options}");

        let crawl = with_target(&json!({ "type": "crawl", "url": "tea.test", "scrapeOptions": options }));
        let plan = plan_of(&accepted(&crawl));
        let [MonitorTargetPlan::Crawl(target)] = plan.targets.as_slice() else { panic!("{plan:?}") };
        assert_eq!(names(&target.crawl.scrape.formats), formats, "{options}");
        assert_eq!(target.request.scrape_options.as_ref().unwrap().max_age, Some(max_age), "{options}");
    }
}

#[test]
fn search_target_has_a_search_for_each_query() {
    for (window, tbs) in [
        ("5m", "qdr:h"),
        ("15m", "qdr:h"),
        ("1h", "qdr:h"),
        ("6h", "qdr:d"),
        ("24h", "qdr:d"),
        ("7d", "qdr:w"),
    ] {
        let definition = accepted(&body(&json!({
            "goal": "new teas",
            "targets": [{
                "type": "search", "queries": ["tea", "oolong"], "searchWindow": window, "maxResults": 20,
                "excludeDomains": ["spam.test"],
            }],
        })));
        assert!(definition.has_only_search_targets());
        let plan = plan_of(&definition);
        let [MonitorTargetPlan::Search(target)] = plan.targets.as_slice() else { panic!("{plan:?}") };
        assert_eq!(target.max_results, 20);
        for (search, query) in target.searches.iter().zip(["tea", "oolong"]) {
            assert_eq!(
                (search.query.as_str(), search.tbs.as_deref(), search.limit),
                (query, Some(tbs), Some(20))
            );
            assert_eq!(search.exclude_domains.as_deref(), Some(&["spam.test".to_owned()][..]));
            websvc_validate::check_request(search, &Policy::default()).unwrap();
        }
        assert_eq!(target.searches.len(), 2);
    }
}

#[test]
fn webhook_has_its_headers_in_lower_case() {
    let plan = plan_of(&accepted(&body(&json!({
        "webhook": { "url": "https://u:p@hooks.test/", "headers": { "X-Key": "k" }, "metadata": { "a": "b" } },
    }))));
    let webhook = plan.webhook.as_ref().unwrap();
    assert_eq!(webhook.url.as_str(), "https://u:p@hooks.test/");
    assert_eq!(webhook.headers.get("x-key").map(String::as_str), Some("k"));
    assert_eq!(webhook.metadata["a"], "b");
    assert_eq!(webhook.events, MonitorEventKind::ALL);
}

#[test]
fn schedule_has_the_next_runs() {
    let definition = accepted(&body(&json!({
        "schedule": { "text": "every day at 9:00", "timezone": "Europe/Berlin" },
    })));
    let schedule = definition.schedule().unwrap();
    let runs: Vec<String> = schedule
        .runs_after("2026-03-28T00:00:00Z".parse().unwrap())
        .take(2)
        .map(|run| run.to_string())
        .collect();
    assert_eq!(runs, ["2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z"]);
}

#[test]
fn stored_definition_that_breaks_a_rule_is_rejected() {
    let mut stored = serde_json::to_value(accepted(&body(&json!({})))).unwrap();
    stored["targets"][0]["scrapeOptions"] = json!({ "timeout": 1 });
    stored["timezone"] = json!("Mars/Base");
    let definition: MonitorDefinition = serde_json::from_value(stored).unwrap();
    rejected(
        definition.plan(&Policy::default()),
        &[("/targets/0/scrapeOptions/timeout", ViolationCode::TooSmall)],
    );
    rejected(definition.schedule(), &[("/schedule", ViolationCode::InvalidFormat)]);
}

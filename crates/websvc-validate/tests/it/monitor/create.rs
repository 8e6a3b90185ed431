//! New monitors: definitions of accepted bodies, and violations of others.

use serde_json::{Value, json};
use websvc_types::ViolationCode::{
    Conflict, InvalidFormat, InvalidType, Missing, NotSupported, TooBig, TooLong, TooShort, TooSmall,
    UnknownField, UnknownValue,
};
use websvc_types::monitor::MonitorTarget;
use websvc_validate::MonitorDefinition;

use super::{CREATE, ID, accepted, accepted_beyond_the_schema, body, create, rejected, with_target};
use crate::support::Expected;

/// Checks that a body with these changes has exactly these violations, and returns their messages.
#[track_caller]
pub(super) fn reject(changes: &Value, expected: Expected<'_>) -> Vec<String> {
    rejected(create(&body(changes)), expected)
}

/// Checks a target. Paths are relative to it.
#[track_caller]
fn reject_target(target: &Value, expected: Expected<'_>) {
    let expected: Vec<_> = expected.iter().map(|(path, code)| (format!("/targets/0{path}"), *code)).collect();
    let expected: Vec<_> = expected.iter().map(|(path, code)| (path.as_str(), *code)).collect();
    rejected(create(&with_target(target)), &expected);
}

#[test]
fn smallest_body_gets_the_defaults() {
    let definition = accepted(&body(&json!({})));
    assert_eq!(definition.name, "Tea");
    assert_eq!(definition.wire_schedule().cron, "0 9 * * *");
    assert_eq!(definition.wire_schedule().timezone, "UTC");
    assert_eq!(definition.retention_days, 30);
    assert_eq!((definition.goal.as_deref(), definition.judge_enabled()), (None, false));
    assert_eq!((definition.webhook.as_ref(), definition.notification.as_ref()), (None, None));
    assert_eq!(
        serde_json::to_value(&definition.targets).unwrap(),
        json!([{ "type": "scrape", "id": "00000000-0000-7000-8000-000000000001", "urls": ["https://tea.test/"] }])
    );
}

#[test]
fn definition_is_stored_and_read_again() {
    let definition = accepted(&body(&json!({
        "webhook": { "url": "https://hooks.test/", "headers": { "X-Key": "k" }, "metadata": { "a": "b" } },
        "notification": { "email": { "enabled": true, "recipients": ["a@tea.test"] } },
        "goal": "prices", "judgeEnabled": false,
        "targets": [
            { "type": "scrape", "urls": ["https://tea.test/"], "scrapeOptions": { "formats": ["links"] } },
            { "type": "crawl", "url": "https://tea.test/", "crawlOptions": { "limit": 5 } },
            { "type": "search", "queries": ["tea"], "includeDomains": ["tea.test"] },
        ],
    })));
    let stored = serde_json::to_string(&definition).unwrap();
    assert_eq!(serde_json::from_str::<MonitorDefinition>(&stored).unwrap(), definition);
}

#[test]
fn each_form_of_schedule_becomes_a_cron_expression() {
    for (schedule, cron, zone) in [
        (json!({ "cron": " 0  9 * * mon-fri " }), "0 9 * * mon-fri", "UTC"),
        (json!({ "cron": "0 9 * * *", "timezone": "europe/berlin" }), "0 9 * * *", "Europe/Berlin"),
        (json!({ "text": "every 30 minutes", "timezone": "UTC" }), "*/30 * * * *", "UTC"),
        (json!({ "text": "every 15 mins starting at :05" }), "5-59/15 * * * *", "UTC"),
        (json!({ "text": "Hourly" }), "0 * * * *", "UTC"),
        (json!({ "text": "every hour at :15" }), "15 * * * *", "UTC"),
        (json!({ "text": "every 6 hours" }), "0 */6 * * *", "UTC"),
        (json!({ "text": "daily" }), "0 0 * * *", "UTC"),
        (
            json!({ "text": "every day at 5:30 pm", "timezone": "America/New_York" }),
            "30 17 * * *",
            "America/New_York",
        ),
        (json!({ "text": "every monday at 9:00" }), "0 9 * * 1", "UTC"),
        (json!({ "text": "every weekday at 8am" }), "0 8 * * 1-5", "UTC"),
        (json!({ "text": "weekly" }), "0 0 * * 0", "UTC"),
        (json!({ "text": "monthly" }), "0 0 1 * *", "UTC"),
    ] {
        let definition = accepted(&body(&json!({ "schedule": schedule })));
        let found = definition.wire_schedule();
        assert_eq!((found.cron.as_str(), found.timezone.as_str()), (cron, zone), "{schedule}");
    }
}

#[test]
fn wrong_schedules_are_rejected() {
    for (schedule, path, code, text) in [
        (
            json!({ "cron": "0 9 * * *", "text": "daily" }),
            "/schedule/text",
            Conflict,
            "cannot be combined with cron",
        ),
        (
            json!({}),
            "/schedule",
            Missing,
            "such as {\"cron\": \"0 9 * * 1-5\"} or {\"text\": \"every day at 9:00\"}",
        ),
        (json!({ "timezone": "UTC" }), "/schedule", Missing, "must have cron or text"),
        (
            json!({ "text": "every full moon" }),
            "/schedule/text",
            InvalidFormat,
            "use for example \"every 30 minutes\"",
        ),
        (
            json!({ "cron": "0 25 * * *" }),
            "/schedule/cron",
            InvalidFormat,
            "hour must be between 0 and 23, not \"25\"; for example",
        ),
        (json!({ "cron": "daily" }), "/schedule/cron", InvalidFormat, "for example"),
        (json!({ "cron": "" }), "/schedule/cron", TooShort, "must not be empty"),
        (json!({ "cron": "0 ".repeat(65) }), "/schedule/cron", TooLong, "at most 128 characters"),
        (
            json!({ "cron": "*/4 * * * *" }),
            "/schedule",
            TooSmall,
            "at least 5 minutes apart; \"*/4 * * * *\" has runs that are 4 minutes apart",
        ),
        (json!({ "text": "every 1 minute" }), "/schedule", TooSmall, "at least 5 minutes apart"),
        (json!({ "cron": "0 0 30 2 *" }), "/schedule", InvalidFormat, "must run within a year"),
        (
            json!({ "cron": "0 9 * * *", "timezone": "Mars/Base" }),
            "/schedule/timezone",
            InvalidFormat,
            "such as UTC or Europe/Berlin, not \"Mars/Base\"",
        ),
        (
            json!({ "cron": "0 9 * * *", "timezone": "+02:00" }),
            "/schedule/timezone",
            InvalidFormat,
            "not \"+02:00\"",
        ),
        (json!({ "cron": 5 }), "/schedule/cron", InvalidType, "must be a string"),
        (
            json!({ "cron": "0 9 * * *", "every": "day" }),
            "/schedule/every",
            UnknownField,
            "known fields are cron, text, timezone",
        ),
        (json!("daily"), "/schedule", InvalidType, "must be an object"),
    ] {
        let messages = reject(&json!({ "schedule": schedule }), &[(path, code)]);
        assert!(messages[0].contains(text), "{messages:?}");
    }
}

#[test]
fn missing_fields_are_all_reported() {
    rejected(create(&json!({})), &[("/name", Missing), ("/schedule", Missing), ("/targets", Missing)]);
}

#[test]
fn unknown_fields_are_rejected_and_those_of_clients_accepted() {
    accepted(&body(&json!({ "origin": "mcp-fastmcp", "integration": "x" })));
    reject(&json!({ "targt": [] }), &[("/targt", UnknownField)]);
    reject(&json!({ "status": "paused" }), &[("/status", UnknownField)]);
    reject_target(&json!({ "type": "scrape", "urls": ["tea.test"], "url": "x" }), &[("/url", UnknownField)]);
    reject(&json!({ "notification": { "sms": {} } }), &[("/notification/sms", UnknownField)]);
    reject(&json!({ "webhook": { "url": "tea.test", "secret": "x" } }), &[("/webhook/secret", UnknownField)]);
}

#[test]
fn lengths_and_ranges_are_checked() {
    accepted(&body(&json!({ "name": "n".repeat(256), "goal": "g".repeat(2000), "retentionDays": 365 })));
    reject(&json!({ "name": "" }), &[("/name", TooShort)]);
    reject(&json!({ "name": "  " }), &[("/name", TooShort)]);
    reject(&json!({ "name": "n".repeat(257) }), &[("/name", TooLong)]);
    reject(&json!({ "goal": "g".repeat(2001) }), &[("/goal", TooLong)]);
    reject(&json!({ "retentionDays": 0 }), &[("/retentionDays", TooSmall)]);
    reject(&json!({ "retentionDays": 366 }), &[("/retentionDays", TooBig)]);
    reject(&json!({ "retentionDays": 1.5 }), &[("/retentionDays", InvalidType)]);
    let target = json!({ "type": "scrape", "urls": ["https://tea.test/"] });
    accepted(&body(&json!({ "targets": vec![&target; 50] })));
    reject(&json!({ "targets": vec![&target; 51] }), &[("/targets", TooLong)]);
    reject(&json!({ "targets": [] }), &[("/targets", TooShort)]);
}

#[test]
fn judge_runs_by_default_if_there_is_a_goal() {
    for (changes, goal, enabled, judges) in [
        (json!({}), None, false, false),
        (json!({ "goal": "prices" }), Some("prices"), true, true),
        (json!({ "goal": " \n" }), None, false, false),
        (json!({ "goal": "prices", "judgeEnabled": false }), Some("prices"), false, false),
        (json!({ "judgeEnabled": true }), None, true, false),
    ] {
        let definition = accepted(&body(&changes));
        assert_eq!((definition.goal.as_deref(), definition.judge_enabled()), (goal, enabled), "{changes}");
        assert_eq!(definition.judges().is_some(), judges, "{changes}");
    }
}

#[test]
fn scrape_targets_are_checked_and_normalized() {
    let definition = accepted(&with_target(&json!({
        "type": "scrape", "id": ID.to_uppercase(), "urls": [" tea.test/a ", "http://tea.test/a", "https://tea.test/b"],
        "scrapeOptions": { "formats": ["markdown", { "type": "json", "prompt": "price" }], "maxAge": 14_400_000 },
    })));
    let MonitorTarget::Scrape(target) = &definition.targets[0] else { panic!("{definition:?}") };
    assert_eq!(target.id.as_deref(), Some(ID));
    assert_eq!(target.urls, ["http://tea.test/a", "https://tea.test/b"]);
    // The options are as sent.
    assert_eq!(target.scrape_options.as_ref().unwrap().max_age, Some(14_400_000));

    let options =
        |options: Value| json!({ "type": "scrape", "urls": ["tea.test"], "scrapeOptions": options });
    reject_target(&json!({ "type": "scrape" }), &[("/urls", Missing)]);
    reject_target(&json!({ "type": "scrape", "urls": [] }), &[("/urls", TooShort)]);
    reject_target(&json!({ "type": "scrape", "urls": vec!["tea.test"; 10_001] }), &[("/urls", TooLong)]);
    reject_target(
        &json!({ "type": "scrape", "urls": ["tea.test", 5, "ftp://tea.test", ""] }),
        &[("/urls/1", InvalidType), ("/urls/2", InvalidFormat), ("/urls/3", TooShort)],
    );
    reject_target(&options(json!({ "timeout": 1 })), &[("/scrapeOptions/timeout", TooSmall)]);
    reject_target(&options(json!({ "formats": ["pdf"] })), &[("/scrapeOptions/formats/0", UnknownValue)]);
    reject_target(&options(json!({ "lockdown": true })), &[("/scrapeOptions/lockdown", NotSupported)]);
    let half = json!({ "type": "scrape", "urls": vec!["tea.test"; 5_001] });
    reject(&json!({ "targets": [half, half] }), &[("/targets", TooLong)]);
}

#[test]
fn crawl_targets_are_checked_at_their_places() {
    accepted(&with_target(&json!({
        "type": "crawl", "url": "tea.test",
        "crawlOptions": { "limit": 10, "includePaths": ["^/docs/"], "sitemap": "only", "delay": 1.5 },
        "scrapeOptions": { "onlyMainContent": false },
    })));
    reject_target(
        &json!({
            "type": "crawl", "url": "ftp://tea.test",
            "crawlOptions": { "limit": 0, "includePaths": [5, "("], "delay": 61 },
            "scrapeOptions": { "timeout": 1 },
        }),
        &[
            ("/crawlOptions/delay", TooBig),
            ("/crawlOptions/includePaths/0", InvalidType),
            ("/crawlOptions/includePaths/1", InvalidFormat),
            ("/crawlOptions/limit", TooSmall),
            ("/scrapeOptions/timeout", TooSmall),
            ("/url", InvalidFormat),
        ],
    );
    reject_target(&json!({ "type": "crawl" }), &[("/url", Missing)]);
    // Unknown options of a crawl are ignored, as the official service does.
    let checked =
        create(&with_target(&json!({ "type": "crawl", "url": "tea.test", "crawlOptions": { "deep": 1 } })));
    assert_eq!(checked.unwrap().warnings, ["crawlOptions: the unknown field \"deep\" was ignored"]);
    let robots = create(&with_target(
        &json!({ "type": "crawl", "url": "tea.test", "crawlOptions": { "ignoreRobotsTxt": true } }),
    ));
    assert!(matches!(robots, Err(websvc_validate::Rejection::Forbidden { .. })), "{robots:?}");
}

#[test]
fn search_targets_are_checked_and_normalized() {
    let search = |fields: Value| {
        let mut target = json!({ "type": "search", "queries": ["green tea"] });
        target.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body(&json!({ "goal": "new teas", "targets": [target] }))
    };
    let definition = accepted(&search(json!({
        "queries": [" green tea ", "green tea", "oolong"], "includeDomains": ["TEA.test", "tea.test."],
        "excludeDomains": [],
        // Fields of older clients are dropped.
        "depth": 2, "alertMode": "all", "recheckAfter": { "days": 1 }, "scrapeOptions": 5,
    })));
    assert_eq!(
        serde_json::to_value(&definition.targets).unwrap(),
        json!([{
            "type": "search", "id": "00000000-0000-7000-8000-000000000001", "queries": ["green tea", "oolong"],
            "searchWindow": "24h", "includeDomains": ["tea.test"], "maxResults": 10,
        }])
    );
    for window in ["5m", "15m", "1h", "6h", "24h", "7d"] {
        accepted(&search(json!({ "searchWindow": window })));
    }
    let many = |count: usize| (0..count).map(|index| format!("q{index}")).collect::<Vec<_>>();
    let hosts = |count: usize| (0..count).map(|index| format!("h{index}.test")).collect::<Vec<_>>();
    accepted(&search(json!({ "queries": many(12), "excludeDomains": hosts(50), "maxResults": 50 })));
    for (fields, path, code) in [
        (json!({ "queries": [] }), "/queries", TooShort),
        (json!({ "queries": many(13) }), "/queries", TooLong),
        (json!({ "queries": ["q", " "] }), "/queries/1", TooShort),
        (json!({ "queries": ["q".repeat(257)] }), "/queries/0", TooLong),
        (json!({ "searchWindow": "2h" }), "/searchWindow", UnknownValue),
        (json!({ "maxResults": 0 }), "/maxResults", TooSmall),
        (json!({ "maxResults": 51 }), "/maxResults", TooBig),
        (json!({ "includeDomains": hosts(51) }), "/includeDomains", TooLong),
        (json!({ "includeDomains": ["https://tea.test/"] }), "/includeDomains/0", InvalidFormat),
        (json!({ "includeDomains": ["a.test"], "excludeDomains": ["b.test"] }), "/excludeDomains", Conflict),
        (json!({ "query": "tea" }), "/query", UnknownField),
    ] {
        rejected(create(&search(fields)), &[(&format!("/targets/0{path}"), code)]);
    }
}

#[test]
fn search_target_needs_a_goal_unless_it_is_not_judged() {
    let targets = json!([{ "type": "search", "queries": ["tea"] }]);
    reject(&json!({ "targets": targets }), &[("/goal", Missing)]);
    reject(&json!({ "targets": targets, "goal": " " }), &[("/goal", Missing)]);
    reject(&json!({ "targets": targets, "judgeEnabled": true }), &[("/goal", Missing)]);
    accepted(&body(&json!({ "targets": targets, "judgeEnabled": false })));
    accepted(&body(&json!({ "targets": targets, "goal": "new teas" })));
}

#[test]
fn target_types_and_ids_are_checked() {
    reject_target(&json!({ "type": "page" }), &[("/type", UnknownValue)]);
    reject_target(&json!({ "urls": ["tea.test"] }), &[("/type", Missing)]);
    reject(&json!({ "targets": ["tea.test"] }), &[("/targets/0", InvalidType)]);
    let target = |id: &str| json!({ "type": "scrape", "id": id, "urls": ["tea.test"] });
    for id in ["", "x", &ID[1..], &ID.replace('-', "0"), &format!("{{{ID}}}"), &ID.replace('0', "g")] {
        reject(&json!({ "targets": [target(id)] }), &[("/targets/0/id", InvalidFormat)]);
    }
    reject(&json!({ "targets": [target(ID), target(&ID.to_uppercase())] }), &[("/targets/1/id", Conflict)]);
}

#[test]
fn webhook_is_expanded_and_checked() {
    let webhook = |webhook: Value| {
        let definition = accepted(&body(&json!({ "webhook": webhook })));
        serde_json::to_value(definition.webhook.as_ref()).unwrap()
    };
    let all = json!(["monitor.page", "monitor.check.completed"]);
    assert_eq!(
        webhook(json!("https://hooks.test/a")),
        json!({ "url": "https://hooks.test/a", "events": all })
    );
    assert_eq!(webhook(json!({ "url": "hooks.test" })), json!({ "url": "http://hooks.test", "events": all }));
    let full = json!({
        "url": "https://hooks.test/", "headers": { "X-Key": "k" }, "metadata": { "a": "b" },
        "events": ["monitor.check.completed"],
    });
    assert_eq!(webhook(full.clone()), full);
    let url = "https://hooks.test/";
    for (webhook, path, code) in [
        (json!("ftp://hooks.test"), "/webhook", InvalidFormat),
        (json!(5), "/webhook", InvalidType),
        (json!({}), "/webhook/url", Missing),
        (json!({ "url": "" }), "/webhook/url", TooShort),
        (
            json!({ "url": url, "headers": { "X-Firecrawl-Signature": "s" } }),
            "/webhook/headers/x-firecrawl-signature",
            NotSupported,
        ),
        (json!({ "url": url, "headers": { "Host": "s" } }), "/webhook/headers/Host", NotSupported),
        (json!({ "url": url, "metadata": { "a": 5 } }), "/webhook/metadata/a", InvalidType),
        (json!({ "url": url, "metadata": { "a": "b".repeat(16_384) } }), "/webhook/metadata", TooLong),
        (json!({ "url": url, "events": [] }), "/webhook/events", TooShort),
        (json!({ "url": url, "events": ["page"] }), "/webhook/events/0", UnknownValue),
    ] {
        reject(&json!({ "webhook": webhook }), &[(path, code)]);
    }
}

/// Rules about the form of a body are in the schema, so that clients can check them.
#[test]
fn schema_rejects_bodies_of_the_wrong_form() {
    for changes in [
        json!({ "name": "" }),
        json!({ "name": null }),
        json!({ "schedule": { "every": "day" } }),
        json!({ "targets": [] }),
        json!({ "targets": [{ "type": "scrape" }] }),
        json!({ "targets": [{ "type": "search", "queries": ["a"], "query": "a" }] }),
        json!({ "targets": [{ "type": "search", "queries": ["a"], "maxResults": 51 }] }),
        json!({ "retentionDays": 366 }),
        json!({ "webhook": { "url": "https://hooks.test/", "events": ["page"] } }),
        json!({ "notification": { "sms": {} } }),
        json!({ "notification": { "slack": { "webhookUrl": "" } } }),
        json!({ "notification": { "slack": { "webhookUrl": " " } } }),
        json!({ "unknown": true }),
    ] {
        let body = body(&changes);
        assert!(!CREATE.is_valid(&body), "the schema accepts {body}");
        assert!(create(&body).is_err(), "{body}");
    }
}

#[test]
fn client_requests_are_accepted_without_warnings() {
    for body in [
        // MCP.
        json!({
            "name": "Monitor https://tea.test", "schedule": { "text": "every 30 minutes", "timezone": "UTC" },
            "goal": "price changes",
            "targets": [{ "type": "scrape", "urls": ["https://tea.test"] }],
            "notification": { "email": { "enabled": true, "recipients": ["a@tea.test"], "includeDiffs": true } },
            "webhook": { "url": "https://hooks.test/", "events": ["monitor.page", "monitor.check.completed"] },
            "origin": "mcp-fastmcp",
        }),
        // Python.
        json!({
            "name": "Tea", "schedule": { "cron": "0 * * * *", "timezone": "UTC" }, "webhook": { "url": "https://hooks.test" },
            "notification": { "email": { "enabled": true, "recipients": [], "includeDiffs": false } },
            "targets": [{
                "type": "scrape", "urls": ["https://tea.test"],
                "scrapeOptions": { "formats": ["markdown"], "onlyMainContent": true, "maxAge": 14_400_000 },
            }],
            "origin": "python-sdk@4.55.0",
        }),
        // JavaScript: absent values may be null.
        json!({
            "name": "Tea", "schedule": { "cron": "0 * * * *", "text": null, "timezone": "UTC" }, "webhook": null,
            "goal": null, "targets": [{ "type": "crawl", "url": "https://tea.test", "crawlOptions": null }],
            "origin": "js-sdk@4.42.0",
        }),
    ] {
        accepted(&body);
    }
}

#[test]
fn options_in_the_spelling_of_the_python_client_are_read() {
    let definition = accepted_beyond_the_schema(&body(&json!({
        "targets": [
            {
                "type": "scrape", "urls": ["https://tea.test"],
                "scrapeOptions": {
                    "formats": [
                        "markdown", "raw_html", { "type": "change_tracking", "modes": ["git-diff"] },
                        { "type": "screenshot", "full_page": true },
                        { "type": "json", "schema": { "type": "object", "properties": { "unit_price": {} } } },
                    ],
                    "only_main_content": false, "remove_base64_images": false, "redact_pii": true,
                    "headers": { "x_key": "k" }, "parsers": [{ "type": "pdf", "max_pages": 3 }],
                },
            },
            {
                "type": "crawl", "url": "https://tea.test",
                "crawlOptions": { "max_discovery_depth": 1, "deduplicate_similar_urls": false },
            },
        ],
    })));
    let targets = serde_json::to_value(&definition.targets).unwrap();
    let options = &targets[0]["scrapeOptions"];
    assert_eq!(options["formats"][1]["type"], "rawHtml");
    assert_eq!(options["formats"][2]["type"], "changeTracking");
    assert_eq!(options["formats"][3]["fullPage"], true);
    assert_eq!(options["formats"][4]["schema"]["properties"], json!({ "unit_price": {} }));
    assert_eq!((&options["onlyMainContent"], &options["removeBase64Images"]), (&json!(false), &json!(false)));
    assert_eq!(
        (&options["headers"], &options["parsers"][0]["maxPages"]),
        (&json!({ "x_key": "k" }), &json!(3))
    );
    assert!(options["redactPII"].is_boolean() || options["redactPII"].is_object());
    assert_eq!(
        targets[1]["crawlOptions"],
        json!({ "maxDiscoveryDepth": 1, "deduplicateSimilarURLs": false })
    );
    // A violation has the name of the interface.
    reject_target(
        &json!({ "type": "scrape", "urls": ["tea.test"], "scrapeOptions": { "wait_for": 90_000 } }),
        &[("/scrapeOptions/waitFor", TooBig)],
    );
}

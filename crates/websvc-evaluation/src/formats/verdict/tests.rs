//! Tests of the verdicts: each right result counts as right, and each wrong one as wrong.

use serde_json::json;

use super::*;
use crate::formats::page::{PageTasks, crawl_prompts, pages};

#[track_caller]
fn check(checks: &[Check], expected: &[bool]) {
    let found: Vec<bool> = checks.iter().map(|check| check.is_right).collect();
    assert_eq!(found, expected, "{checks:?}");
}

/// Returns the data with the first value of it changed.
fn spoiled(data: &Value) -> Value {
    match data {
        Value::Object(fields) => {
            let mut fields = fields.clone();
            if let Some(field) = fields.values_mut().next() {
                *field = spoiled(field);
            }
            Value::Object(fields)
        }
        Value::Array(items) => json!(items[..items.len() - 1]),
        Value::String(text) => json!(format!("not {text}")),
        Value::Bool(value) => json!(!value),
        other => json!(other.as_f64().unwrap_or_default() + 1.0),
    }
}

#[test]
fn data_must_have_all_expected_values_and_no_others() {
    for FormatPage { tasks, .. } in pages() {
        for task in [&tasks.json, &tasks.extract].into_iter().chain(&tasks.agent) {
            let right = chosen(&task.expected, &Value::Null);
            check(&data(task, &right), &[true]);
            for wrong in [spoiled(&right), Value::Null, json!({}), json!([1, 2, 3])] {
                check(&data(task, &wrong), &[false]);
            }
        }
    }
}

#[test]
fn any_alternative_of_a_value_is_right() {
    let expected = json!({ "time": { "oneOf": ["20:00", "20:00:00"] } });
    assert_eq!(chosen(&expected, &json!({ "time": "20:00:00" })), json!({ "time": "20:00:00" }));
    assert_eq!(chosen(&expected, &json!({ "time": "19:15" })), json!({ "time": "20:00" }));
}

#[test]
fn answers_have_the_value_and_no_other() {
    for FormatPage { tasks, .. } in pages() {
        let Question { accepted, refused, .. } = &tasks.question;
        check(&answer(&tasks.question, &format!("It is {}.", accepted[0].to_uppercase())), &[true]);
        check(&answer(&tasks.question, "The page does not say."), &[false]);
        check(&answer(&tasks.question, &format!("{} or {}", accepted[0], refused[0])), &[false]);
    }
}

#[test]
fn summaries_have_the_subject_and_no_invented_number() {
    for page in pages() {
        let words: Vec<&str> = page.tasks.summary.iter().map(|words| words[0].as_str()).collect();
        let text = words.join(" ");
        check(&summary(&page, &text), &[true]);
        check(&summary(&page, &format!("{text} 987654")), &[false]);
        check(&summary(&page, words[0].split_at(1).1), &[false]);
        check(&summary(&page, &format!("{text} {}", "word ".repeat(200))), &[false]);
    }
}

#[test]
fn highlights_are_the_passage_and_not_the_page() {
    for page in pages() {
        let expected = &page.tasks.highlights.expected;
        check(&highlights(expected, &format!("- **{expected}**"), page.html), &[true]);
        check(&highlights(expected, page.html, page.html), &[false]);
        check(&highlights(expected, "Another passage.", page.html), &[false]);
        check(&highlights(expected, "", page.html), &[false]);
    }
}

#[test]
fn lost_text_is_wrong_and_remaining_boilerplate_too() {
    for page in pages() {
        let PageTasks { clean, .. } = &page.tasks;
        let kept = clean.kept.join("\n\n");
        check(&cleaned(&page, &kept, false), &[true, true, true]);
        check(&cleaned(&page, page.html, false), &[true, true, false]);
        let lost = clean.kept[1..].join("\n\n");
        check(&cleaned(&page, &lost, false), &[false, false, true]);
        check(&cleaned(&page, &lost, true), &[true, false, true]);
    }
}

#[test]
fn remaining_personal_data_and_lost_harmless_text_are_wrong() {
    let mut count = 0;
    for page in pages() {
        let harmless = page.tasks.harmless.join("\n");
        let is_personal = !page.tasks.personal.is_empty();
        count += usize::from(is_personal);
        let found = redacted(&page, &harmless);
        check(&found, if is_personal { &[true, true] } else { &[true] });
        check(&redacted(&page, page.html), if is_personal { &[false, true] } else { &[true] });
        check(&redacted(&page, "<PERSON>"), if is_personal { &[true, false] } else { &[false] });
    }
    assert_eq!(count, 6);
}

#[test]
fn judgments_must_be_made_and_right() {
    for page in pages() {
        let matters = page.tasks.change.matters;
        let judged = |meaningful: bool| json!({ "meaningful": meaningful, "reason": "A value." });
        check(&judgment(&page, &judged(matters)), &[true, true]);
        check(&judgment(&page, &judged(!matters)), &[true, false]);
        let none = json!({ "meaningful": true, "reason": "The changes were not judged: busy" });
        check(&judgment(&page, &none), &[false, matters]);
        check(&judgment(&page, &Value::Null), &[false, false]);
    }
}

#[test]
fn options_of_crawls_select_what_the_prompt_says_and_nothing_wider() {
    for task in crawl_prompts() {
        let right = Value::Object(task.options.clone());
        check(&crawl_options(&task, &right), &[true, true]);
        for (name, value) in [("limit", json!(1_000_000)), ("allowSubdomains", json!(true))] {
            if task.options.contains_key(name) && name != "limit" {
                continue;
            }
            let mut wide = right.clone();
            wide[name] = value;
            check(&crawl_options(&task, &wide), &[false, false]);
        }
        let mut narrow = right.clone();
        narrow["includePaths"] = json!(["nothing-like-this"]);
        check(&crawl_options(&task, &narrow), &[false, true]);
        narrow["includePaths"] = json!(["(unreadable"]);
        check(&crawl_options(&task, &narrow), &[false, true]);
    }
}

#[test]
fn tasks_without_a_result_are_wrong() {
    let page = &pages()[3];
    check(&none(Feature::RedactAccurate, Some(page)), &[false, false]);
    check(&none(Feature::Clean, Some(page)), &[false, false, false]);
    check(&none(Feature::Json, Some(page)), &[false]);
    check(&none(Feature::CrawlPrompt, None), &[false, true]);
}

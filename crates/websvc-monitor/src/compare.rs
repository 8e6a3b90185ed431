//! Compares a page with its baseline (operations.md, section 3.5).

use std::borrow::Cow;

use serde_json::{Map, Value};
use websvc_diff::{changed_paths, is_same_markdown};
use websvc_engine::page_diff;
use websvc_types::monitor::{MonitorPageDiff, MonitorPageEventDiff};
use websvc_validate::PageRules;

use crate::baseline::PageBaseline;
use crate::options::ComparisonMode;

/// The changes of a page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PageChange {
    /// The changes in the result of the check.
    pub(crate) diff: MonitorPageDiff,
    /// The changes in the event, which has the fields alone as JSON.
    pub(crate) event_diff: MonitorPageEventDiff,
}

/// Returns the changes of a page; `None` if it is the same. Takes time in proportion to the size of both.
pub(crate) fn compare(
    mode: ComparisonMode,
    rules: &PageRules,
    previous: &PageBaseline,
    current: &PageBaseline,
) -> Option<PageChange> {
    let fields = if mode.has_fields() { changed_data(previous, current) } else { Map::new() };
    let texts = (compared_text(rules, &previous.markdown), compared_text(rules, &current.markdown));
    let has_text_change = mode.has_markdown() && !is_same_markdown(&texts.0, &texts.1);
    if fields.is_empty() && !has_text_change {
        return None;
    }
    let markdown = has_text_change.then(|| page_diff(&texts.0, &texts.1).0);
    let text = markdown.as_ref().map(|diff| diff.text.clone());
    let event_fields = mode.has_fields().then(|| fields.clone());
    let json = match mode {
        ComparisonMode::Markdown => markdown.and_then(|diff| match serde_json::to_value(diff.json) {
            Ok(Value::Object(tree)) => Some(tree),
            Ok(_) | Err(_) => None,
        }),
        ComparisonMode::Fields | ComparisonMode::Both => Some(fields),
    };
    Some(PageChange {
        diff: MonitorPageDiff { text: text.clone(), json },
        event_diff: MonitorPageEventDiff { text, json: event_fields },
    })
}

/// Returns a text without the lines that are not compared.
fn compared_text<'t>(rules: &PageRules, text: &'t str) -> Cow<'t, str> {
    if rules.ignored_lines.is_empty() {
        return Cow::Borrowed(text);
    }
    let is_compared = |line: &&str| rules.ignored_lines.iter().all(|pattern| pattern.find(line).is_none());
    Cow::Owned(text.split_inclusive('\n').filter(is_compared).collect())
}

/// Returns the changed paths of the extracted data, each with `previous` and `current`. Without earlier data there are
/// none.
fn changed_data(previous: &PageBaseline, current: &PageBaseline) -> Map<String, Value> {
    let (Some(previous), Some(current)) = (&previous.json, &current.json) else { return Map::new() };
    let changes = changed_paths(previous, current).into_iter().map(|(path, change)| {
        let entry = serde_json::json!({ "previous": change.previous, "current": change.current });
        (path, entry)
    });
    changes.collect()
}

/// Returns extracted data as an object: official clients accept no other value.
pub(crate) fn data_object(data: &Value) -> Map<String, Value> {
    match data {
        Value::Object(object) => object.clone(),
        other => Map::from_iter([("value".to_owned(), other.clone())]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn baseline(markdown: &str, data: Value) -> PageBaseline {
        PageBaseline { scrape_id: None, markdown: markdown.to_owned(), json: Some(data) }
    }

    #[test]
    fn markdown_changes_have_a_diff_and_its_tree() {
        let (previous, current) =
            (baseline("# Tea\n\n5 EUR\n", json!(1)), baseline("# Tea\n\n6 EUR\n", json!(2)));
        let change = compare(ComparisonMode::Markdown, &PageRules::default(), &previous, &current).unwrap();
        let text = change.diff.text.unwrap();
        assert!(text.contains("\n-5 EUR\n+6 EUR\n"), "{text}");
        assert_eq!(change.diff.json.unwrap()["files"][0]["chunks"].as_array().unwrap().len(), 1);
        assert_eq!(change.event_diff, MonitorPageEventDiff { text: Some(text), json: None });
        assert_eq!(
            compare(
                ComparisonMode::Markdown,
                &PageRules::default(),
                &previous,
                &baseline("# Tea 5  EUR", json!(1))
            ),
            None
        );
    }

    #[test]
    fn with_data_alone_a_changed_text_is_the_same_page() {
        let previous = baseline("a", json!({ "plans": [{ "price": 5 }] }));
        let same = baseline("b", json!({ "plans": [{ "price": 5 }] }));
        assert_eq!(compare(ComparisonMode::Fields, &PageRules::default(), &previous, &same), None);
        let changed = baseline("b", json!({ "plans": [{ "price": 6 }] }));
        let change = compare(ComparisonMode::Fields, &PageRules::default(), &previous, &changed).unwrap();
        let fields = json!({ "plans[0].price": { "previous": 5, "current": 6 } });
        assert_eq!(change.diff.text, None);
        assert_eq!(change.diff.json.as_ref(), fields.as_object());
        assert_eq!(change.event_diff.json.as_ref(), fields.as_object());
    }

    #[test]
    fn both_modes_together_find_either_change() {
        let previous = baseline("a", json!({ "x": 1 }));
        let change = compare(
            ComparisonMode::Both,
            &PageRules::default(),
            &previous,
            &baseline("b", json!({ "x": 1 })),
        )
        .unwrap();
        assert_eq!(change.diff.json, Some(Map::new()));
        assert!(change.diff.text.unwrap().contains("-a"));
        let change = compare(
            ComparisonMode::Both,
            &PageRules::default(),
            &previous,
            &baseline("a", json!({ "x": 2 })),
        )
        .unwrap();
        assert_eq!(change.diff.text, None);
        assert!(change.diff.json.unwrap().contains_key("x"));
    }

    #[test]
    fn data_that_is_not_an_object_is_wrapped() {
        assert_eq!(Value::Object(data_object(&json!([1]))), json!({ "value": [1] }));
        assert_eq!(Value::Object(data_object(&json!({ "a": 1 }))), json!({ "a": 1 }));
    }
}

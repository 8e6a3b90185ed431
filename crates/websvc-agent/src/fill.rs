//! Fills the final answer with the values of the draft.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::filled::is_empty;
use crate::page::Page;
use crate::sources::is_stated;

/// Fills null, missing and empty values of an answer from a draft. A value of the answer that no page states is replaced by
/// the value of the draft if a page stated that one. Lists with items stay: the answer may be a choice from the draft.
pub(crate) fn fill(answer: Value, draft: &Value, pages: &[Arc<Page>], evidence: &HashSet<String>) -> Value {
    let is_sourced = |value: &Value| evidence.contains(&value.to_string());
    match (answer, draft) {
        (answer, draft) if is_empty(draft) => answer,
        (answer, draft) if is_empty(&answer) => draft.clone(),
        (Value::Object(mut answer), Value::Object(draft)) => {
            for (name, value) in draft {
                // In place, so that the fields keep the order of the answer.
                let own = answer.entry(name.as_str()).or_insert(Value::Null);
                *own = fill(own.take(), value, pages, evidence);
            }
            Value::Object(answer)
        }
        (Value::Array(answer), Value::Array(draft)) if answer.is_empty() => Value::Array(draft.clone()),
        (answer @ (Value::Array(_) | Value::Object(_)), _) => answer,
        (answer, draft) => {
            let is_replaced = answer != *draft
                && is_sourced(draft)
                && !is_sourced(&answer)
                && !answer.is_boolean()
                && !pages.iter().any(|page| is_stated(&answer, page));
            if is_replaced { draft.clone() } else { answer }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::ReadPage;

    #[track_caller]
    fn check(answer: Value, draft: &Value, expected: &Value) {
        let page = Page::new(ReadPage {
            url: "http://a.test/".into(),
            title: String::new(),
            markdown: "Assam costs 5.".into(),
            links: Vec::new(),
        });
        let evidence = HashSet::from([json!("Assam").to_string(), json!(7).to_string()]);
        assert_eq!(&fill(answer, draft, &[Arc::new(page)], &evidence), expected);
    }

    #[test]
    fn missing_values_are_filled() {
        let draft = json!({ "name": "Assam", "price": 7, "tags": ["a"], "maker": { "city": "x" } });
        check(json!({ "name": null, "tags": [] }), &draft, &draft);
        check(Value::Null, &draft, &draft);
        check(json!({ "name": "Assam" }), &Value::Null, &json!({ "name": "Assam" }));
    }

    #[test]
    fn values_without_source_are_replaced_by_sourced_ones() {
        check(json!({ "price": 9 }), &json!({ "price": 7 }), &json!({ "price": 7 }));
        // A page states the value of the answer.
        check(json!({ "price": 5 }), &json!({ "price": 7 }), &json!({ "price": 5 }));
        // Neither has a source.
        check(json!({ "price": 9 }), &json!({ "price": 8 }), &json!({ "price": 9 }));
        check(json!({ "in_stock": false }), &json!({ "in_stock": true }), &json!({ "in_stock": false }));
    }

    #[test]
    fn fields_keep_the_order_of_the_answer() {
        let answer = json!({ "why": "x", "price": null, "name": null, "note": "y" });
        let draft = json!({ "name": "Assam", "price": 7, "maker": "z" });
        let filled = fill(answer, &draft, &[], &HashSet::new()).to_string();
        assert_eq!(filled, r#"{"why":"x","price":7,"name":"Assam","note":"y","maker":"z"}"#);
    }

    #[test]
    fn lists_of_the_answer_stay() {
        check(json!({ "names": ["b"] }), &json!({ "names": ["a", "b"] }), &json!({ "names": ["b"] }));
    }
}

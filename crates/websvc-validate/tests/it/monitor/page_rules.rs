//! Rules for the changes of pages: ignored lines and conditions.

use serde_json::{Value, json};
use websvc_types::ViolationCode::{Conflict, InvalidFormat, TooLong, TooShort};
use websvc_types::monitor::MonitorTarget;

use super::create::reject;
use super::{body, create};

#[test]
fn rules_for_changes_are_checked() {
    let target = |fields: Value| {
        let mut target = json!({ "type": "scrape", "urls": ["https://tea.test/"] });
        target.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        target
    };
    let rules = json!({
        "ignoreLines": ["^Views: \\d+"],
        "conditions": [
            { "contains": "in stock" },
            { "matches": "(?i)sencha", "within": "added" },
            { "number": "Price: [\\d.,]+", "below": 10.5, "changedByPercent": 5.5 },
            { "field": "plans[0].price" },
        ],
    });
    let definition = create(&body(&json!({ "targets": [target(rules.clone())] }))).unwrap().plan;
    let MonitorTarget::Scrape(stored) = &definition.targets[0] else { panic!("{definition:?}") };
    assert_eq!(serde_json::to_value(&stored.conditions).unwrap(), rules["conditions"]);
    assert_eq!(serde_json::to_value(&stored.ignore_lines).unwrap(), rules["ignoreLines"]);
    for (fields, path, code) in [
        (json!({ "ignoreLines": ["("] }), "/ignoreLines/0", InvalidFormat),
        (json!({ "ignoreLines": [" "] }), "/ignoreLines/0", TooShort),
        (json!({ "ignoreLines": vec!["a"; 21] }), "/ignoreLines", TooLong),
        (json!({ "conditions": [{}] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "contains": "a", "lacks": "b" }] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "contains": "a", "below": 1 }] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "number": "a" }] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "field": "a", "within": "added" }] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "field": "a", "changedByPercent": 0 }] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "field": "a", "above": 2, "below": 1 }] }), "/conditions/0", Conflict),
        (json!({ "conditions": [{ "matches": "(\\w{50}){50}" }] }), "/conditions/0/matches", InvalidFormat),
        (json!({ "conditions": [{ "contains": "a".repeat(501) }] }), "/conditions/0/contains", TooLong),
        (json!({ "conditions": vec![json!({ "field": "a" }); 11] }), "/conditions", TooLong),
    ] {
        reject(&json!({ "targets": [target(fields)] }), &[(&format!("/targets/0{path}"), code)]);
    }
}

//! Conditions for changes, and lines that are not compared.

use serde_json::{Value, json};

use super::{MonitorTest, TEA};

impl MonitorTest {
    /// Sets the lines of the page, runs a check, and returns its only page.
    async fn page_with(&self, monitor: &str, lines: &[&str]) -> Value {
        self.shop.set_tea(lines);
        let check = self.run(monitor).await;
        check["pages"][0].clone()
    }

    async fn create_with_rules(&self, rules: Value) -> String {
        let mut target = json!({ "type": "scrape", "urls": [TEA] });
        target.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        self.create(json!({ "targets": [target] })).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_add_up_until_the_conditions_hold() {
    let test = MonitorTest::new().await;
    let conditions = json!([{ "number": "Sencha costs [\\d.,]+", "below": 10 }, { "lacks": "sold out" }]);
    let monitor = test.create_with_rules(json!({ "conditions": conditions })).await;
    let first = test.page_with(&monitor, &["Sencha costs 12,50 euros."]).await;
    assert_eq!(first["status"], "new", "conditions are about changes");
    let unmet = test.page_with(&monitor, &["Sencha costs 11,00 euros."]).await;
    assert_eq!((&unmet["status"], &unmet["metadata"]["conditionsMet"]), (&json!("same"), &json!(false)));
    let sold_out = test.page_with(&monitor, &["Sencha costs 9,90 euros.", "Sold out"]).await;
    assert_eq!(sold_out["status"], "same", "all conditions must hold");
    let met = test.page_with(&monitor, &["Sencha costs 9,90 euros."]).await;
    assert_eq!((&met["status"], &met["metadata"]["conditionsMet"]), (&json!("changed"), &Value::Null));
    let diff = met["diff"]["text"].as_str().unwrap();
    assert!(diff.contains("-Sencha costs 12,50") && diff.contains("+Sencha costs 9,90"), "{diff}");
    let same = test.page_with(&monitor, &["Sencha costs 9,90 euros."]).await;
    assert_eq!((&same["status"], &same["metadata"]["conditionsMet"]), (&json!("same"), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_lines_are_neither_compared_nor_shown() {
    let test = MonitorTest::new().await;
    let monitor = test.create_with_rules(json!({ "ignoreLines": ["^Views: \\d+"] })).await;
    test.page_with(&monitor, &["Sencha costs 12 euros.", "Views: 17"]).await;
    let same = test.page_with(&monitor, &["Sencha costs 12 euros.", "Views: 18"]).await;
    assert_eq!(same["status"], "same");
    let changed = test.page_with(&monitor, &["Sencha costs 14 euros.", "Views: 19"]).await;
    assert_eq!(changed["status"], "changed");
    assert!(!changed["diff"]["text"].as_str().unwrap().contains("Views"), "{changed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn added_and_removed_lines_are_searched_apart() {
    let test = MonitorTest::new().await;
    let added = json!([{ "contains": "harvest", "within": "added" }]);
    let monitor = test.create_with_rules(json!({ "conditions": added })).await;
    test.page_with(&monitor, &["The harvest of 2025.", "Prices fall."]).await;
    let other = test.page_with(&monitor, &["The harvest of 2025.", "Prices rise."]).await;
    assert_eq!(other["status"], "same");
    let found = test.page_with(&monitor, &["The harvest of 2025.", "The HARVEST of 2026."]).await;
    assert_eq!(found["status"], "changed");
}

//! Answers in which all lists are empty. Small models end a list before its first entry although the page has entries, so
//! they are asked once more for at least one. What they answer then is used only if the page states it.

use serde_json::{Value, json};

/// Returns a schema that demands an entry in each list, if an answer has lists, all of them empty, and nothing else.
pub(super) fn demanding_entries(schema: &Value, answer: &Value) -> Option<Value> {
    let mut found = Found::default();
    found.read(answer);
    if !found.has_lists || found.has_values {
        return None;
    }
    let mut schema = schema.clone();
    let has_changed = demand(&mut schema);
    has_changed.then_some(schema)
}

/// Parts of an answer.
#[derive(Default)]
struct Found {
    has_lists: bool,
    has_values: bool,
}

impl Found {
    fn read(&mut self, value: &Value) {
        match value {
            Value::Null => {}
            Value::Array(entries) => {
                self.has_lists = true;
                self.has_values |= !entries.is_empty();
            }
            Value::Object(members) => members.values().for_each(|member| self.read(member)),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => self.has_values = true,
        }
    }
}

/// Sets the minimum of the lists in a schema that sets none. Lists in lists are left. Returns whether there are some.
fn demand(schema: &mut Value) -> bool {
    let Value::Object(members) = schema else { return false };
    if members.get("type") == Some(&json!("array")) {
        let is_bounded = members.contains_key("minItems") || members.get("maxItems") == Some(&json!(0));
        if !is_bounded {
            members.insert("minItems".to_owned(), json!(1));
        }
        return !is_bounded;
    }
    let Some(Value::Object(properties)) = members.get_mut("properties") else { return false };
    let mut has_changed = false;
    for property in properties.values_mut() {
        has_changed |= demand(property);
    }
    has_changed
}

/// Returns whether a text states all strings and numbers of an answer, apart from case and white space.
pub(super) fn is_stated(answer: &Value, text: &str) -> bool {
    let text = normalized(text);
    let mut open = vec![answer];
    while let Some(value) = open.pop() {
        let leaf = match value {
            Value::Null | Value::Bool(_) => continue,
            Value::Array(entries) => {
                open.extend(entries);
                continue;
            }
            Value::Object(members) => {
                open.extend(members.values());
                continue;
            }
            Value::String(leaf) => normalized(leaf),
            Value::Number(number) => number.to_string(),
        };
        if !text.contains(&leaf) {
            return false;
        }
    }
    true
}

fn normalized(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_demanded_only_of_answers_without_any_value() {
        let schema = json!({ "type": "object", "properties": {
            "people": { "type": "array", "items": { "type": "object", "properties": { "tags": { "type": "array" } } } },
            "note": { "type": ["string", "null"] },
            "group": { "type": "object", "properties": { "names": { "type": "array", "minItems": 0 } } },
        } });
        let demanding = demanding_entries(&schema, &json!({ "people": [], "note": null })).unwrap();
        assert_eq!(demanding["properties"]["people"]["minItems"], 1);
        assert_eq!(demanding["properties"]["group"], schema["properties"]["group"], "it has a minimum");
        assert_eq!(demanding["properties"]["people"]["items"], schema["properties"]["people"]["items"]);
        for answer in [
            json!({ "people": [{}] }),
            json!({ "people": [], "note": "x" }),
            json!({ "note": null }),
            json!(null),
        ] {
            assert_eq!(demanding_entries(&schema, &answer), None, "{answer}");
        }
        assert_eq!(demanding_entries(&json!({ "type": "array", "minItems": 0 }), &json!([])), None);
    }

    #[test]
    fn every_string_and_number_has_to_be_stated() {
        let text = "Leaf has 1 GB\n and costs 4.50 USD";
        assert!(is_stated(&json!({ "plans": [{ "name": "leaf", "gb": 1, "ssd": true, "x": null }] }), text));
        assert!(is_stated(&json!(["LEAF HAS 1 gb and"]), text));
        assert!(!is_stated(&json!([{ "name": "Leaf", "gb": 2 }]), text));
        assert!(!is_stated(&json!([{ "name": "Branch" }]), text));
    }
}

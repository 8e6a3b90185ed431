//! The words of a JSON Schema that say what it asks for: the names of its properties, and its descriptions.

use serde_json::Value;

/// The maximum number of values of a schema that are read.
const MAX_VALUES: usize = 2_000;

/// The maximum length of the words, in bytes.
const MAX_BYTES: usize = 8_000;

/// Returns the names of the properties of a schema, and then its titles and descriptions.
pub(super) fn schema_words(schema: &Value) -> String {
    let (mut names, mut texts) = (String::new(), String::new());
    let mut open = vec![schema];
    for _ in 0..MAX_VALUES {
        let Some(value) = open.pop() else { break };
        match value {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    properties.keys().for_each(|name| push(&mut names, &split_camel_case(name)));
                }
                for text in ["title", "description"].into_iter().filter_map(|key| members.get(key)?.as_str())
                {
                    push(&mut texts, text);
                }
                open.extend(members.values().rev());
            }
            Value::Array(values) => open.extend(values.iter().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    names + &texts
}

fn push(words: &mut String, text: &str) {
    if words.len() + text.len() < MAX_BYTES {
        words.push_str(text);
        words.push(' ');
    }
}

/// Returns a name with spaces between its words: `unitPrice` is `unit Price`.
fn split_camel_case(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_uppercase() && words.ends_with(char::is_lowercase) {
            words.push(' ');
        }
        words.push(c);
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_come_before_descriptions() {
        let schema = json!({
            "description": "A shop",
            "properties": {
                "unitPrice": { "type": "number", "description": "in euros" },
                "opening_hours": { "type": "array", "items": { "properties": { "day": {} } } },
            },
        });
        assert_eq!(schema_words(&schema), "unit Price opening_hours day A shop in euros ");
        let long = json!({ "description": "x".repeat(MAX_BYTES) });
        assert_eq!(schema_words(&long), "");
    }
}

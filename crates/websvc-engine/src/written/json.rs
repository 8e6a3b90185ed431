//! The format `json`: data out of a page, by a schema, a wish, or both.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use websvc_model::Shape;
use websvc_stage::carried;
use websvc_types::format::Json;

use super::ask::Desk;

const FORMAT: &str = "json";

/// The longest answer.
const MAX_TOKENS: u32 = 4_096;

/// How many of the mistakes a model is told, and how long each may be.
const MISTAKES: usize = 5;
const MISTAKE_CHARS: usize = 200;

const INSTRUCTIONS: &str = "You extract data from the content of a web page. Take every value from the content alone: what it \
    does not state is null, or left out where the schema allows that. Invent nothing.";

/// Extracts data, and tells whether a model did; null with a warning when nothing valid came of it. Without a model there is
/// none, which was told before the page was got.
pub(super) async fn extract(desk: &mut Desk<'_>, options: &Json, content: &str) -> (Option<Value>, bool) {
    let Json { schema, prompt } = options;
    if desk.model.is_none() {
        return (None, false);
    }
    let schema = schema.clone().map(Value::Object);
    let shape = schema.as_ref().map_or(Shape::Json, Shape::Schema);
    let wish = match prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => prompt,
        None if schema.is_some() => "Extract the data that the schema describes.",
        None => "Extract the main facts of the page, as an object with short names.",
    };
    let Some(value) = ask(desk, wish, content, shape).await else { return (Some(Value::Null), false) };
    let (value, mistakes) = validated(schema.clone(), value).await;
    if mistakes.is_empty() {
        return (Some(value), true);
    }
    let wish = format!("{wish}\n\nYour last answer broke the schema, correct it: {}", mistakes.join("; "));
    let Some(value) = ask(desk, &wish, content, shape).await else { return (Some(Value::Null), false) };
    let (value, mistakes) = validated(schema, value).await;
    if mistakes.is_empty() {
        return (Some(value), true);
    }
    desk.warn(FORMAT, "what the language model extracted does not keep to the schema");
    (Some(Value::Null), false)
}

async fn ask(desk: &mut Desk<'_>, wish: &str, content: &str, shape: Shape<'_>) -> Option<Value> {
    let answer = desk.ask(FORMAT, (INSTRUCTIONS, wish), content, shape, MAX_TOKENS).await?;
    Some(answer.into_json())
}

/// Returns a value with what is wrong with it. Schemas are of callers: how long they take is not known.
async fn validated(schema: Option<Value>, value: Value) -> (Value, Vec<String>) {
    let Some(schema) = schema else { return (value, Vec::new()) };
    let checking = tokio::task::spawn_blocking(carried(move || {
        let mistakes = mistakes(&schema, &value);
        (value, mistakes)
    }));
    checking.await.unwrap_or_else(|_panicked| (Value::Null, vec!["it cannot be checked".to_owned()]))
}

fn mistakes(schema: &Value, value: &Value) -> Vec<String> {
    let validator: Validator =
        // Patterns are of callers: the engine without backtracking.
        match jsonschema::options().with_pattern_options(PatternOptions::regex()).build(schema) {
            Ok(validator) => validator,
            Err(error) => return vec![cut(&format!("the schema cannot be used: {error}"))],
        };
    let errors = validator.iter_errors(value).take(MISTAKES);
    errors.map(|error| cut(&format!("{}: {error}", error.instance_path()))).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(MISTAKE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, value: &Value, is_fine: bool) {
        let found = mistakes(schema, value);
        assert_eq!(found.is_empty(), is_fine, "{schema} {value}: {found:?}");
    }

    #[test]
    fn values_keep_to_schemas() {
        let schema =
            json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        check(&schema, &json!({ "n": 1 }), true);
        check(&schema, &json!({ "n": "1" }), false);
        check(&schema, &json!({}), false);
    }

    #[test]
    fn schemas_of_callers_cannot_hang_or_reach_out() {
        let aaa = "a".repeat(5_000) + "!";
        check(&json!({ "type": "string", "pattern": "^(a+)+$" }), &json!(aaa), false);
        check(&json!({ "pattern": "(?=a)a" }), &json!("a"), false);
        check(&json!({ "$ref": "#" }), &json!(1), true);
        check(&json!({ "allOf": [{ "$ref": "#" }] }), &json!(1), true);
        check(&json!({ "$ref": "http://127.0.0.1:9/schema" }), &json!(1), false);
    }
}

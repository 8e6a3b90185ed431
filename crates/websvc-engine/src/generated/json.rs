//! The format `json`: data out of a page, by a schema, a wish, or both.

use serde_json::Value;
use websvc_model::ResponseFormat;
use websvc_types::format::Json;

use super::schema_check::schema_violation;
use super::session::ModelSession;
use crate::blocking::run_blocking;

const FORMAT: &str = "json";

/// The longest answer.
const MAX_TOKENS: u32 = 4_096;

const INSTRUCTIONS: &str = "You extract data from the content of a web page. Take every value from the content alone: what it \
    does not state is null, or left out where the schema allows that. Invent nothing.";

/// Extracts data, and tells whether a model did; null with a warning when nothing valid came of it. Without a model there is
/// none, which was told before the page was got.
pub(super) async fn extract(
    desk: &mut ModelSession<'_>,
    options: &Json,
    content: &str,
) -> (Option<Value>, bool) {
    if desk.model.is_none() {
        return (None, false);
    }
    match extract_valid(desk, options, content).await {
        Some(value) => (Some(value), true),
        None => (Some(Value::Null), false),
    }
}

/// Asks for data, and once more when it breaks the schema. Without data a warning says why.
async fn extract_valid(desk: &mut ModelSession<'_>, options: &Json, content: &str) -> Option<Value> {
    let Json { schema, prompt } = options;
    let schema = schema.clone().map(Value::Object);
    let shape = schema.as_ref().map_or(ResponseFormat::Json, ResponseFormat::Schema);
    let wish = match prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => prompt,
        None if schema.is_some() => "Extract the data that the schema describes.",
        None => "Extract the main facts of the page, as an object with short names.",
    };
    let value = ask(desk, wish, content, shape).await?;
    let Some(schema) = &schema else { return Some(value) };
    let mistake = match validated(desk, schema, value).await? {
        CheckedValue { value, mistake: None } => return Some(value),
        CheckedValue { value: _, mistake: Some(mistake) } => mistake,
    };
    let wish = format!("{wish}\n\nYour last answer broke the schema, correct it: {mistake}");
    let value = ask(desk, &wish, content, shape).await?;
    let CheckedValue { value, mistake } = validated(desk, schema, value).await?;
    if mistake.is_some() {
        desk.warn(FORMAT, "what the language model extracted does not keep to the schema");
        return None;
    }
    Some(value)
}

async fn ask(
    desk: &mut ModelSession<'_>,
    wish: &str,
    content: &str,
    shape: ResponseFormat<'_>,
) -> Option<Value> {
    let answer = desk.ask(FORMAT, (INSTRUCTIONS, wish), content, shape, MAX_TOKENS).await?;
    Some(answer.into_json())
}

/// A value with what is wrong with it.
struct CheckedValue {
    value: Value,
    mistake: Option<String>,
}

/// Validates a value; `None`, with a warning, when that could not be done in time.
async fn validated(desk: &mut ModelSession<'_>, schema: &Value, value: Value) -> Option<CheckedValue> {
    let schema = schema.clone();
    let validating = run_blocking(desk.deadline, move || {
        let mistake = schema_violation(&schema, &value);
        CheckedValue { value, mistake }
    });
    match validating.await {
        Ok(validated) => Some(validated),
        Err(error) => {
            desk.warn(FORMAT, &format!("what the language model extracted was not checked: {error}"));
            None
        }
    }
}

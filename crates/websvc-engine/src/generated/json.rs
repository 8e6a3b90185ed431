//! The format `json`: data extracted from a page by a schema, a prompt, or both.

use serde_json::Value;
use websvc_model::{Feature, ResponseFormat};
use websvc_types::format::Json;

use super::schema_check::schema_violation;
use super::session::{ContentRequest, Generated, ModelSession};
use crate::blocking::run_blocking;

/// The maximum length of a response.
pub(super) const MAX_TOKENS: u32 = 4_096;

pub(super) const INSTRUCTIONS: &str = "You extract data from the content of a web page. Take every value from the content alone: what it \
    does not state is null, or left out where the schema allows that. Invent nothing.";

/// Extracts data with the model, unless `extracted` is valid data already. If no valid data results, the content is null and a
/// warning says why. Without a model there is no content; the caller has been warned before.
pub(super) async fn extract(
    session: &mut ModelSession<'_>,
    options: &Json,
    content: &str,
    extracted: Option<Value>,
) -> Generated<Value> {
    if session.model.is_none() {
        return Generated::none();
    }
    if let Some(value) = extracted
        && let Some(value) = if_valid(session, options, value).await
    {
        return Generated { content: Some(value), by_model: true };
    }
    match extract_valid(session, Feature::Json, options, content).await {
        Some(value) => Generated { content: Some(value), by_model: true },
        None => Generated { content: Some(Value::Null), by_model: false },
    }
}

/// Returns the prompt of the caller, or one that the schema needs.
pub(super) fn prompt(options: &Json) -> &str {
    let Json { schema, prompt } = options;
    match prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => prompt,
        None if schema.is_some() => "Extract the data that the schema describes.",
        None => "Extract the main facts of the page, as an object with short names.",
    }
}

/// Returns a value if it follows the schema of the options.
async fn if_valid(session: &mut ModelSession<'_>, options: &Json, value: Value) -> Option<Value> {
    let Some(schema) = options.schema.clone().map(Value::Object) else { return Some(value) };
    let CheckedValue { value, violation } = validate(session, Feature::Json, &schema, value).await?;
    violation.is_none().then_some(value)
}

/// Requests the data for a format, and once more if it violates the schema. If no valid data results, adds a warning.
pub(super) async fn extract_valid(
    session: &mut ModelSession<'_>,
    feature: Feature,
    options: &Json,
    content: &str,
) -> Option<Value> {
    let schema = options.schema.clone().map(Value::Object);
    let shape = schema.as_ref().map_or(ResponseFormat::Json, ResponseFormat::Schema);
    let prompt = prompt(options);
    let value = request_data(session, feature, prompt, content, shape).await?;
    let Some(schema) = &schema else { return Some(value) };
    let violation = match validate(session, feature, schema, value).await? {
        CheckedValue { value, violation: None } => return Some(value),
        CheckedValue { value: _, violation: Some(violation) } => violation,
    };
    let prompt = format!("{prompt}\n\nYour last answer broke the schema, correct it: {violation}");
    let value = request_data(session, feature, &prompt, content, shape).await?;
    let CheckedValue { value, violation } = validate(session, feature, schema, value).await?;
    if violation.is_some() {
        session.warn(feature.name(), "the extracted data does not match the schema");
        return None;
    }
    Some(value)
}

async fn request_data(
    session: &mut ModelSession<'_>,
    feature: Feature,
    prompt: &str,
    content: &str,
    shape: ResponseFormat<'_>,
) -> Option<Value> {
    let request = ContentRequest {
        feature,
        instructions: INSTRUCTIONS,
        prompt,
        content,
        shape,
        max_tokens: MAX_TOKENS,
    };
    Some(session.complete(request).await?.into_json())
}

/// A value with the violation of the schema, if any.
struct CheckedValue {
    value: Value,
    violation: Option<String>,
}

/// Validates a value. If that fails, adds a warning and returns `None`.
async fn validate(
    session: &mut ModelSession<'_>,
    feature: Feature,
    schema: &Value,
    value: Value,
) -> Option<CheckedValue> {
    let schema = schema.clone();
    let task = run_blocking(session.deadline, move || {
        let violation = schema_violation(&schema, &value)?;
        Ok::<_, std::io::Error>(CheckedValue { value, violation })
    });
    match task.await {
        Ok(Ok(checked)) => Some(checked),
        Ok(Err(error)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "no thread to validate extracted data");
            session.warn(
                feature.name(),
                "the extracted data could not be validated: the server has no thread for it",
            );
            None
        }
        Err(error) => {
            session.warn(feature.name(), &format!("the extracted data could not be validated: {error}"));
            None
        }
    }
}

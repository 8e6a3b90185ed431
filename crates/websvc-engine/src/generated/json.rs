//! The format `json`: data extracted from a page by a schema, a prompt, or both.

use serde_json::Value;
use websvc_model::{Feature, ResponseFormat};
use websvc_types::format::Json;

use super::empty_answer::{demanding_entries, is_stated};
use super::schema_check::schema_violation;
use super::schema_words::schema_words;
use super::session::{ContentRequest, Generated, ModelSession, PageText};
use crate::blocking::run_blocking;

pub(super) const INSTRUCTIONS: &str = "You extract data from the content of a web page. Take every value from the content alone: what it \
    does not state is null, or left out where the schema allows that. Invent nothing.";

/// Extracts data with the model, unless `extracted` is valid data already. Of a page that is too long for it, the passages
/// with the words of the prompt and of the schema are read. If no valid data results, the content is null and a warning says
/// why. Without a model there is no content; the caller has been warned before.
pub(super) async fn extract(
    session: &mut ModelSession<'_>,
    options: &Json,
    page: &PageText,
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
    let schema = options.schema.clone().map(Value::Object);
    let words = format!(
        "{} {}",
        options.prompt.as_deref().unwrap_or_default(),
        schema.as_ref().map(schema_words).unwrap_or_default()
    );
    let request = request(Feature::Json, prompt_of(options), "", shape_of(schema.as_ref()));
    let content = session.fitting(page, &request, &words).await;
    match extract_valid(session, Feature::Json, options, &content).await {
        Some(value) => Generated { content: Some(value), by_model: true },
        None => Generated { content: Some(Value::Null), by_model: false },
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
    let (shape, prompt) = (shape_of(schema.as_ref()), prompt_of(options));
    let value = request_data(session, feature, prompt, content, shape).await?;
    let Some(schema) = &schema else { return Some(value) };
    let violation = match validate(session, feature, schema, value).await? {
        CheckedValue { value, violation: None } => {
            let entries = entries(session, feature, options, content, &value).await;
            return Some(entries.unwrap_or(value));
        }
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

/// Requests the entries of lists once more, if an answer has only empty ones. Returns an answer whose values the content
/// states.
async fn entries(
    session: &mut ModelSession<'_>,
    feature: Feature,
    options: &Json,
    content: &str,
    empty: &Value,
) -> Option<Value> {
    let schema = options.schema.clone().map(Value::Object)?;
    let demanding = demanding_entries(&schema, empty)?;
    let shape = ResponseFormat::Schema(&demanding);
    let value = request_data(session, feature, prompt_of(options), content, shape).await?;
    let CheckedValue { value, violation } = validate(session, feature, &schema, value).await?;
    (violation.is_none() && is_stated(&value, content)).then_some(value)
}

/// Returns the prompt of a request for data.
pub(super) fn prompt_of(options: &Json) -> &str {
    match options.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => prompt,
        None if options.schema.is_some() => "Extract the data that the schema describes.",
        None => "Extract the main facts of the page, as an object with short names.",
    }
}

fn shape_of(schema: Option<&Value>) -> ResponseFormat<'_> {
    schema.map_or(ResponseFormat::Json, ResponseFormat::Schema)
}

fn request<'a>(
    feature: Feature,
    prompt: &'a str,
    content: &'a str,
    shape: ResponseFormat<'a>,
) -> ContentRequest<'a> {
    let max_tokens = shape.max_data_tokens(content);
    ContentRequest { feature, instructions: INSTRUCTIONS, prompt, content, shape, max_tokens }
}

async fn request_data(
    session: &mut ModelSession<'_>,
    feature: Feature,
    prompt: &str,
    content: &str,
    shape: ResponseFormat<'_>,
) -> Option<Value> {
    Some(session.complete(request(feature, prompt, content, shape)).await?.into_json())
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;
    use websvc_model::{CompletionContent, FakeModel};
    use websvc_stage::StageTimes;

    use super::*;

    #[tokio::test]
    async fn model_reads_the_passages_with_the_words_of_the_schema_of_a_long_page() {
        let filler = "Gardens lie on the slopes by the river, in the sun.\n\n".repeat(4_000);
        let markdown =
            format!("# Gardens\n\n{filler}The annualPass is 99 euros.\n\nThe guide is Bo.\n\n{filler}");
        let page = PageText { text: format!("Title: Gardens\n\n{markdown}"), markdown_start: 16 };
        let model = FakeModel::new(|request| {
            let content = request.content.unwrap();
            assert!(content.starts_with("Title: Gardens\n\n# Gardens\n\n"), "{content}");
            assert!(content.chars().count() <= 8_000, "{}", content.len());
            let has = |text: &str| content.contains(text);
            assert!(has("The annualPass is 99 euros.") && has("The guide is Bo."), "{content}");
            Ok(CompletionContent::Json(json!({ "pass": 99 })))
        });
        let model = model.with_max_input_chars(8_000);
        let stages = StageTimes::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut session =
            ModelSession { model: Some(&model), stages: &stages, deadline, warnings: Vec::new() };
        let schema = json!({ "type": "object", "properties": {
            "pass": { "type": "integer", "description": "the annualPass in euros" },
        } });
        let Value::Object(schema) = schema else { unreachable!() };
        let options = Json { schema: Some(schema), prompt: Some("and the guide".to_owned()) };
        let Generated { content, by_model } = extract(&mut session, &options, &page, None).await;
        assert_eq!((content, by_model), (Some(json!({ "pass": 99 })), true));
        let warnings = &session.warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("llm.max_input_chars"), "{warnings:?}");
    }

    #[tokio::test]
    async fn model_with_empty_lists_is_asked_again_and_believed_if_the_page_states_the_entries() {
        let schema = json!({ "type": "object", "properties": {
            "people": { "type": "array", "items": { "type": "string" } },
        } });
        let Value::Object(schema) = schema else { unreachable!() };
        let options = Json { schema: Some(schema), prompt: None };
        for (entry, expected) in [("Bo", json!(["Bo"])), ("Al", json!([]))] {
            let model = FakeModel::new(move |request| {
                let ResponseFormat::Schema(schema) = request.format else { unreachable!() };
                let is_again = schema["properties"]["people"]["minItems"] == 1;
                let people = if is_again { json!([entry]) } else { json!([]) };
                Ok(CompletionContent::Json(json!({ "people": people })))
            });
            let stages = StageTimes::default();
            let deadline = Instant::now() + Duration::from_secs(60);
            let mut session =
                ModelSession { model: Some(&model), stages: &stages, deadline, warnings: Vec::new() };
            let page = PageText { text: "The guide is bo.".to_owned(), markdown_start: 0 };
            let Generated { content, .. } = extract(&mut session, &options, &page, None).await;
            assert_eq!(content, Some(json!({ "people": expected })));
        }
    }
}

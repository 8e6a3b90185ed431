//! One request for several formats of a page (`llm.combine`): the model reads the page once, also on a server without a cache of
//! prompts. The schema of the answer has one field per format. A format without a usable field gets a request of its own.

use serde_json::{Map, Value, json};
use websvc_model::{CompletionRequest, Feature, MAX_DATA_TOKENS, ResponseFormat};
use websvc_stage::Stage;
use websvc_types::Format;
use websvc_types::format::Json;

use super::json;
use super::session::{CUT_BY_SERVER, ModelSession, content_space, model_deadline};
use super::{ANSWER_TOKENS, QUESTION, SUMMARY, SUMMARY_TOKENS};

/// The maximum lengths of the texts, about as many characters as the tokens of a request of its own.
const MAX_SUMMARY_CHARS: usize = 1_500;
const MAX_ANSWER_CHARS: usize = 1_900;

const INSTRUCTIONS: &str = "You do several tasks with one web page. The answer is an object with one field for each task. Each \
    task is on its own: what one asks for does not change another one.";

/// The contents that a combined request produced.
#[derive(Debug, Default)]
pub(super) struct Combined {
    pub(super) summary: Option<String>,
    pub(super) answer: Option<String>,
    /// Not yet validated.
    pub(super) json: Option<Value>,
}

/// Requests the content of formats that read the same content, if there are at least two of them and the model combines
/// requests. Those without a usable field are `None`.
pub(super) async fn request(session: &mut ModelSession<'_>, formats: &[&Format], content: &str) -> Combined {
    let Some(model) = session.model.filter(|model| model.combines()) else { return Combined::default() };
    let tasks: Vec<Task<'_>> = formats.iter().filter_map(|format| Task::new(format)).collect();
    if tasks.len() < 2 {
        return Combined::default();
    }
    let (prompt, schema) = (prompt(&tasks), schema(&tasks));
    let space = content_space(model, INSTRUCTIONS, &prompt, ResponseFormat::Schema(&schema));
    if content.len() > space && content.chars().count() > space {
        // Each format reads other passages of a long page.
        return Combined::default();
    }
    let request = CompletionRequest {
        feature: tasks[0].feature,
        instructions: INSTRUCTIONS,
        user_prompt: &prompt,
        content: Some(content),
        format: ResponseFormat::Schema(&schema),
        max_tokens: tasks.iter().map(|task| task.max_tokens).sum(),
        deadline: model_deadline(session.deadline),
    };
    match session.stages.run(Stage::Model, model.complete(&request)).await {
        Ok(completion) => {
            if completion.is_content_truncated {
                let shortened = "the content was shortened for the language model";
                let text = if completion.is_cut_by_server { CUT_BY_SERVER } else { shortened };
                for task in &tasks {
                    session.warn(task.feature.name(), text);
                }
            }
            read(completion.content.into_json())
        }
        Err(error) => {
            tracing::warn!(%error, "combined request to the language model failed, each format is requested on its own");
            Combined::default()
        }
    }
}

/// A task of a combined request.
struct Task<'a> {
    /// The feature, whose name is that of the format.
    feature: Feature,
    /// The name of the field of the answer.
    field: &'static str,
    instructions: &'static str,
    prompt: &'a str,
    schema: Value,
    max_tokens: u32,
}

impl<'a> Task<'a> {
    /// Returns the task of a format; `None` for one that is not combined.
    fn new(format: &'a Format) -> Option<Self> {
        let text = |max_chars: usize| json!({ "type": "string", "maxLength": max_chars });
        match format {
            Format::Summary(_) => Some(Self {
                feature: Feature::Summary,
                field: "summary",
                instructions: SUMMARY,
                prompt: "Summarise it.",
                schema: text(MAX_SUMMARY_CHARS),
                max_tokens: SUMMARY_TOKENS,
            }),
            Format::Question(question) => Some(Self {
                feature: Feature::Question,
                field: "answer",
                instructions: QUESTION,
                prompt: &question.question,
                schema: text(MAX_ANSWER_CHARS),
                max_tokens: ANSWER_TOKENS,
            }),
            Format::Json(options) => Some(Self {
                feature: Feature::Json,
                field: "json",
                instructions: json::INSTRUCTIONS,
                prompt: json::prompt_of(options),
                schema: data_schema(options)?,
                max_tokens: MAX_DATA_TOKENS,
            }),
            Format::Markdown(_)
            | Format::Html(_)
            | Format::RawHtml(_)
            | Format::RawBase64(_)
            | Format::Links(_)
            | Format::Images(_)
            | Format::Screenshot(_)
            | Format::ChangeTracking(_)
            | Format::Branding(_)
            | Format::Product(_)
            | Format::Menu(_)
            | Format::Audio(_)
            | Format::Video(_)
            | Format::Attributes(_)
            | Format::Highlights(_) => None,
        }
    }
}

/// Returns the schema of the data as a part of another one; `None` if its references would lead elsewhere there.
fn data_schema(options: &Json) -> Option<Value> {
    let Some(schema) = &options.schema else { return Some(json!({ "type": "object" })) };
    let mut schema = schema.clone();
    schema.shift_remove("$schema");
    let schema = Value::Object(schema);
    let text = schema.to_string();
    (!["\"$ref\"", "\"$id\"", "\"$dynamicRef\""].iter().any(|keyword| text.contains(keyword)))
        .then_some(schema)
}

fn prompt(tasks: &[Task<'_>]) -> String {
    let task = |Task { field, instructions, prompt, .. }: &Task<'_>| {
        format!("The task of the field {field}: {instructions}\n{prompt}")
    };
    tasks.iter().map(task).collect::<Vec<_>>().join("\n\n")
}

fn schema(tasks: &[Task<'_>]) -> Value {
    let fields: Vec<&str> = tasks.iter().map(|task| task.field).collect();
    let properties: Map<String, Value> =
        tasks.iter().map(|task| (task.field.to_owned(), task.schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": fields, "additionalProperties": false })
}

fn read(mut answer: Value) -> Combined {
    let mut take = |field: &str| answer.get_mut(field).map(Value::take);
    let text = |value: Option<Value>, max_chars: usize| match value {
        // A text of the maximum length was ended by the grammar.
        Some(Value::String(text)) if !text.trim().is_empty() && text.chars().count() < max_chars => {
            Some(text.trim().to_owned())
        }
        Some(_) | None => None,
    };
    Combined {
        summary: text(take("summary"), MAX_SUMMARY_CHARS),
        answer: text(take("answer"), MAX_ANSWER_CHARS),
        json: take("json").filter(Value::is_object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_empty_or_cut_and_data_that_is_no_object_are_requested_again() {
        let Combined { summary, answer, json } =
            read(json!({ "summary": " Tea. ", "answer": "x".repeat(MAX_ANSWER_CHARS), "json": [1] }));
        assert_eq!((summary.as_deref(), answer, json), (Some("Tea."), None, None));
        let Combined { summary, answer, json } = read(json!({ "summary": " ", "json": { "b": 1, "a": 2 } }));
        assert_eq!((summary, answer), (None, None));
        assert_eq!(json.map(|json| json.to_string()).as_deref(), Some(r#"{"b":1,"a":2}"#));
        assert!(read(json!("no")).summary.is_none());
    }

    #[test]
    fn schema_with_references_is_not_a_part_of_another_one() {
        let options = |schema: Value| Json { schema: schema.as_object().cloned(), prompt: None };
        assert!(data_schema(&options(json!({ "properties": { "a": { "$ref": "#/$defs/a" } } }))).is_none());
        let found = data_schema(&options(json!({ "$schema": "x", "type": "object" })));
        assert_eq!(found, Some(json!({ "type": "object" })));
        assert_eq!(data_schema(&options(Value::Null)), Some(json!({ "type": "object" })));
    }
}

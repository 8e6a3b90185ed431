//! Corrects data that violates a schema.

use std::time::Instant;

use serde_json::Value;
use websvc_model::{CompletionRequest, Feature, Model, ModelError, ResponseFormat, Usage, cut};

use crate::instructions::COMPOSE;
use crate::normalize::usable_data;
use crate::prompt::{Content, task_sections};
use crate::requests::{complete, content_chars};
use crate::schema::optional_schema;

/// The maximum length of an answer, in tokens.
const MAX_TOKENS: u32 = 4_096;

/// Corrected data.
#[derive(Debug)]
pub struct Corrected {
    /// The data, which is not checked, or the reason why the answer of the model cannot be used.
    pub data: Result<Value, &'static str>,
    /// The tokens, estimated where the model does not report them.
    pub usage: Usage,
}

/// Asks the model once to correct data that violates a schema. Values that it requires may stay null. The violation must not contain values of the data.
///
/// # Errors
/// The failure of the model.
pub async fn correct_data(
    model: &dyn Model,
    prompt: &str,
    schema: &Value,
    data: &Value,
    violation: &str,
    deadline: Instant,
) -> Result<Corrected, ModelError> {
    let optional = optional_schema(schema);
    let format = ResponseFormat::Schema(&optional);
    let mut prompt = task_sections(prompt, Some(&optional), &[]);
    prompt.push_str(
        "## Answer\nWrite the answer to the task.\nYour last answer was refused: it violates the schema. The section \
         Violation says how.",
    );
    let max_chars = content_chars(model, COMPOSE, &prompt, format);
    let mut content = Content::new(max_chars);
    content.add("Violation", [cut(violation, max_chars / 10)], max_chars / 5);
    let remaining = content.remaining();
    content.add("Draft", [data.to_string()], remaining);
    let content = content.finish();
    let request = CompletionRequest {
        feature: Feature::Extract,
        instructions: COMPOSE,
        user_prompt: &prompt,
        content: Some(&content),
        format,
        max_tokens: MAX_TOKENS,
        deadline,
    };
    let (answer, usage) = complete(model, &request).await?;
    let data = match answer {
        Ok(answer) => usable_data(answer, Some(schema)).await,
        Err(reason) => Err(reason),
    };
    Ok(Corrected { data, usage })
}

//! The option `onlyCleanContent`: a model names the passages of the markdown that are boilerplate, and they are
//! removed.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::{Value, json};
use websvc_extract::passages::{Passages, SplitPolicy};
use websvc_model::{CompletionRequest, ResponseFormat};
use websvc_stage::Stage;

use super::session::ModelSession;
use crate::blocking::run_blocking;

const OPTION: &str = "onlyCleanContent";

/// The maximum length of the list of numbers.
const MAX_TOKENS: u32 = 2_000;

const INSTRUCTIONS: &str = "The content is the passages of a web page, each after its number in brackets. Name the passages \
    that are residual boilerplate: navigation, share buttons, advertisements, sign-up forms, notices about cookies, lists of \
    related pages. Headings, lists, tables, code, images and links that belong to the content are not boilerplate. Answer \
    with the numbers of the boilerplate passages only.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": { "boilerplate": { "type": "array", "items": { "type": "integer" } } },
        "required": ["boilerplate"],
        "additionalProperties": false,
    })
});

/// Returns the markdown without boilerplate. If that fails, adds a warning and returns the markdown unchanged.
pub(super) async fn clean(session: &mut ModelSession<'_>, markdown: String) -> String {
    let Some(model) = session.model else { return markdown };
    // The split works on a copy, so that the markdown is available if it fails.
    let copy = markdown.clone();
    let splitting = run_blocking(session.deadline, move || {
        let passages = Passages::of(copy, SplitPolicy::InText);
        let content = passages.numbered();
        (passages, content)
    });
    let (passages, content) = match splitting.await {
        Ok((passages, _)) if passages.is_empty() => return markdown,
        Ok(split) => split,
        Err(error) => return skip(session, &format!("the markdown could not be split: {error}"), markdown),
    };
    let request = CompletionRequest {
        instructions: INSTRUCTIONS,
        user_prompt: "Which passages are boilerplate?",
        content: Some(&content),
        format: ResponseFormat::Schema(&SCHEMA),
        max_tokens: MAX_TOKENS,
        deadline: session.deadline,
    };
    let skip_reason = match session.stages.run(Stage::Model, model.complete(&request)).await {
        Ok(completion) if completion.is_content_truncated => format!(
            "the markdown has {} characters, and a prompt of the language model may have {} (llm.max_input_chars)",
            markdown.chars().count(),
            model.max_input_chars()
        ),
        Ok(completion) => match without(&passages, &completion.content.into_json()) {
            Some(cleaned) => return cleaned,
            None => "the language model named no passages, or all of them".to_owned(),
        },
        Err(error) => {
            tracing::warn!(format = OPTION, %error, "request to the language model failed");
            format!("the language model failed: {error}")
        }
    };
    skip(session, &skip_reason, markdown)
}

fn skip(session: &mut ModelSession<'_>, reason: &str, markdown: String) -> String {
    session.warnings.push(format!("{OPTION}: {reason}; the markdown is as extracted"));
    markdown
}

/// Returns the markdown without the passages that the model named; `None` if its response has another structure, or if
/// nothing would remain.
fn without(passages: &Passages, response: &Value) -> Option<String> {
    let numbers: HashSet<u64> =
        response["boilerplate"].as_array()?.iter().filter_map(Value::as_u64).collect();
    passages.without(&numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unnamed_passages_remain_unchanged() {
        let passages = Passages::of("# a\n\nb\nb\n\nc".to_owned(), SplitPolicy::InText);
        let check = |response: Value, expected: Option<&str>| {
            assert_eq!(without(&passages, &response).as_deref(), expected, "{response}");
        };
        check(json!({ "boilerplate": [3, 9] }), Some("# a\n\nb\nb"));
        check(json!({ "boilerplate": [] }), Some("# a\n\nb\nb\n\nc"));
        check(json!({ "boilerplate": [1, 2, 3] }), None);
        check(json!({}), None);
    }
}

//! `onlyCleanContent`: a model tells which passages of the markdown are boilerplate; the others stay as they are.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::{Value, json};
use websvc_model::{CompletionRequest, ResponseFormat};
use websvc_stage::Stage;

use super::passages::{Passages, SplitPolicy};
use super::session::ModelSession;
use crate::blocking::run_blocking;

const OPTION: &str = "onlyCleanContent";

/// The longest list of numbers.
const MAX_TOKENS: u32 = 2_000;

const INSTRUCTIONS: &str = "The content is the passages of a web page, each after its number in brackets. Name the passages \
    that are residual boilerplate: navigation, share buttons, advertisements, sign-up forms, notices about cookies, lists of \
    related pages. Headings, lists, tables, code, images and links that belong to the content are none. Answer with the \
    numbers of the boilerplate, of no other passage.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": { "boilerplate": { "type": "array", "items": { "type": "integer" } } },
        "required": ["boilerplate"],
        "additionalProperties": false,
    })
});

/// Returns the markdown without boilerplate; as it was, with a warning, when it is too long or nothing comes of it.
pub(super) async fn clean(desk: &mut ModelSession<'_>, markdown: String) -> String {
    let Some(model) = desk.model else { return markdown };
    // Splitting takes a copy, so that the markdown is there whatever happens.
    let copy = markdown.clone();
    let split = run_blocking(desk.deadline, move || {
        let passages = Passages::of(copy, SplitPolicy::InText);
        let content = passages.numbered();
        (passages, content)
    });
    let (passages, content) = match split.await {
        Ok((passages, _)) if passages.is_empty() => return markdown,
        Ok(split) => split,
        Err(error) => return skip(desk, &format!("no passages could be told apart: {error}"), markdown),
    };
    let question = CompletionRequest {
        instructions: INSTRUCTIONS,
        user_prompt: "Which passages are boilerplate?",
        content: Some(&content),
        format: ResponseFormat::Schema(&SCHEMA),
        max_tokens: MAX_TOKENS,
        deadline: desk.deadline,
    };
    let skipped = match desk.stages.run(Stage::Model, model.complete(&question)).await {
        Ok(completion) if completion.is_content_truncated => {
            "the markdown is too long for the language model".to_owned()
        }
        Ok(completion) => match without(&passages, &completion.content.into_json()) {
            Some(cleaned) => return cleaned,
            None => "the language model named no passages, or all of them".to_owned(),
        },
        Err(error) => {
            tracing::warn!(format = OPTION, %error, "the language model gave no answer");
            format!("the language model gave no answer: {error}")
        }
    };
    skip(desk, &skipped, markdown)
}

fn skip(desk: &mut ModelSession<'_>, why: &str, markdown: String) -> String {
    desk.warnings.push(format!("{OPTION}: {why}; the markdown is as extracted"));
    markdown
}

/// Returns the markdown without the passages that an answer names; `None` for an answer of another shape, and when nothing
/// would be left.
fn without(passages: &Passages, answer: &Value) -> Option<String> {
    let named: HashSet<u64> = answer["boilerplate"].as_array()?.iter().filter_map(Value::as_u64).collect();
    passages.without(&named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_stays_as_it_is() {
        let passages = Passages::of("# a\n\nb\nb\n\nc".to_owned(), SplitPolicy::InText);
        let check = |answer: Value, expected: Option<&str>| {
            assert_eq!(without(&passages, &answer).as_deref(), expected, "{answer}");
        };
        check(json!({ "boilerplate": [3, 9] }), Some("# a\n\nb\nb"));
        check(json!({ "boilerplate": [] }), Some("# a\n\nb\nb\n\nc"));
        check(json!({ "boilerplate": [1, 2, 3] }), None);
        check(json!({}), None);
    }
}

//! The option `onlyCleanContent`: a model names the passages of the markdown that are boilerplate, and they are
//! removed. A model that returns the cleaned markdown in place of numbers may only have deleted lines
//! (operations.md, section 10).

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::{Value, json};
use websvc_extract::passages::{Passages, SplitPolicy};
use websvc_model::{CompletionContent, CompletionRequest, Feature, ResponseFormat};
use websvc_stage::Stage;

use super::session::{CUT_BY_SERVER, ModelSession, model_deadline};
use crate::blocking::run_blocking;

const OPTION: &str = Feature::OnlyCleanContent.name();

/// The maximum length of the list of numbers.
const MAX_TOKENS: u32 = 2_000;

/// The maximum number of passages in the list, which fit into [`MAX_TOKENS`]: a model that repeats itself must end.
const MAX_NUMBERS: usize = 400;

const INSTRUCTIONS: &str = "The content is the passages of a web page, each after its number in brackets. Name the passages \
    that are residual boilerplate: navigation, share buttons, advertisements, sign-up forms, notices about cookies, lists of \
    related pages. Headings, lists, tables, code, images and links that belong to the content are not boilerplate. Answer \
    with the numbers of the boilerplate passages only.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "boilerplate": { "type": "array", "items": { "type": "integer" }, "maxItems": MAX_NUMBERS },
        },
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
        Ok((passages, _)) if passages.is_empty() => return skip(session, "the markdown is empty", markdown),
        Ok(split) => split,
        Err(error) => return skip(session, &format!("the markdown could not be split: {error}"), markdown),
    };
    let request = CompletionRequest {
        feature: Feature::OnlyCleanContent,
        instructions: INSTRUCTIONS,
        user_prompt: "Which passages are boilerplate?",
        content: Some(&content),
        // Some models return the cleaned text whatever the schema says.
        format: ResponseFormat::SchemaOrText(&SCHEMA),
        max_tokens: MAX_TOKENS,
        deadline: model_deadline(session.deadline),
    };
    let skip_reason = match session.stages.run(Stage::Model, model.complete(&request)).await {
        Ok(completion) if completion.is_cut_by_server => CUT_BY_SERVER.to_owned(),
        Ok(completion) if completion.is_content_truncated => format!(
            "the markdown has {} characters, and a prompt of the language model may have {} (llm.max_input_chars, \
             llm.context_tokens)",
            markdown.chars().count(),
            model.max_input_chars()
        ),
        Ok(completion) => match cleaned(&passages, &markdown, completion.content) {
            Ok(cleaned) => return cleaned,
            Err(reason) => reason.to_owned(),
        },
        Err(error) => {
            tracing::warn!(format = OPTION, %error, "request to the language model failed");
            format!("the language model failed: {}", error.explanation())
        }
    };
    skip(session, &skip_reason, markdown)
}

fn skip(session: &mut ModelSession<'_>, reason: &str, markdown: String) -> String {
    session.warnings.push(format!("{OPTION}: {reason}; the markdown is as extracted"));
    markdown
}

/// Returns the cleaned markdown, or the reason why the response of the model cannot be used.
fn cleaned(passages: &Passages, markdown: &str, response: CompletionContent) -> Result<String, &'static str> {
    match response {
        CompletionContent::Json(response) => without(passages, &response).ok_or(
            "the language model did not name passages of the markdown by their numbers, or named all of them",
        ),
        CompletionContent::Text(text) => only_lines(markdown, &text).ok_or(
            "the language model returned text that is not made of lines of the markdown in their order",
        ),
    }
}

/// Returns the markdown without the passages that the model named; `None` if its response has another structure or
/// numbers of no passage, or if nothing would remain.
fn without(passages: &Passages, response: &Value) -> Option<String> {
    let is_listed = |number: &u64| (1..=passages.len() as u64).contains(number);
    let named = response["boilerplate"].as_array()?.iter();
    let numbers: HashSet<u64> =
        named.map(|number| number.as_u64().filter(is_listed)).collect::<Option<_>>()?;
    passages.without(&numbers)
}

/// Returns the lines of the markdown that a text consists of, apart from white space; `None` if the text has none, or one
/// that the markdown does not have there. The white space is that of the markdown.
fn only_lines(markdown: &str, text: &str) -> Option<String> {
    let mut wanted = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    wanted.peek()?;
    let mut remaining = String::with_capacity(markdown.len());
    let mut is_after_removed = false;
    for line in markdown.split_inclusive('\n') {
        if line.trim().is_empty() {
            // Where lines were removed, the gap before them is present already.
            if !(is_after_removed && (remaining.is_empty() || remaining.ends_with("\n\n"))) {
                remaining.push_str(line);
            }
            continue;
        }
        let is_wanted = |wanted: &&str| wanted.split_whitespace().eq(line.split_whitespace());
        is_after_removed = wanted.next_if(is_wanted).is_none();
        if !is_after_removed {
            remaining.push_str(line);
        }
    }
    if is_after_removed {
        remaining.truncate(remaining.trim_end().len());
        remaining.extend(markdown.ends_with('\n').then_some('\n'));
    }
    wanted.peek().is_none().then_some(remaining)
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
        check(json!({ "boilerplate": [3] }), Some("# a\n\nb\nb"));
        check(json!({ "boilerplate": [] }), Some("# a\n\nb\nb\n\nc"));
        check(json!({ "boilerplate": [1, 2, 3] }), None);
        check(json!({}), None);
        // A number of no passage shows that the model did not understand the task.
        for numbers in [json!([3, 9]), json!([0]), json!([-1]), json!(["x", 3]), json!([1.5]), json!("3")] {
            check(json!({ "boilerplate": numbers }), None);
        }
    }

    #[test]
    fn text_may_only_delete_lines() {
        let markdown = "# a\n\nb\n  c  d\n\nad\n\n```\nx\n\ny\n```\n\nb\n";
        for (text, expected) in [
            ("# a\nb\nc d\n```\nx\ny\n```\nb", Some("# a\n\nb\n  c  d\n\n```\nx\n\ny\n```\n\nb\n")),
            ("# a\n\n\nb\n", Some("# a\n\nb\n")),
            ("b\nb", Some("b\n\nb\n")),
            (markdown, Some(markdown)),
            // Invented, in another order, repeated too often, changed, and empty.
            ("# a\nnew", None),
            ("b\n# a", None),
            ("b\nb\nb", None),
            ("# a changed", None),
            (" \n", None),
        ] {
            assert_eq!(only_lines(markdown, text).as_deref(), expected, "{text:?}");
        }
    }
}

//! The option `onlyCleanContent`: a model names the passages of the markdown that are boilerplate, and they are
//! removed. A model that returns the cleaned markdown in place of numbers may only have deleted lines
//! (operations.md, section 10).
//!
//! A small model may take the content for boilerplate. So the first heading always remains, an answer that would take more than
//! half of the text is not used, and a warning says how much was taken.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::{Value, json};
use websvc_extract::passages::{Passages, SplitPolicy, visible_chars};
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
        let passages = Passages::from_markdown(copy, SplitPolicy::InText);
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
            Ok(cleaned) => return accept(session, cleaned),
            Err(reason) => reason,
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

/// Markdown without what a model took for boilerplate.
#[derive(Debug, PartialEq, Eq)]
struct Cleaned {
    markdown: String,
    /// The length of the text before, and that of what was taken, in letters and digits that a reader sees.
    total_chars: usize,
    removed_chars: usize,
    /// The model took the first heading, which remains.
    is_heading_kept: bool,
}

/// Returns the cleaned markdown, and warns of what was taken.
fn accept(session: &mut ModelSession<'_>, cleaned: Cleaned) -> String {
    let Cleaned { markdown, total_chars, removed_chars, is_heading_kept } = cleaned;
    let kept = if is_heading_kept { "; the first heading was named, too, and remains" } else { "" };
    if removed_chars > 0 || is_heading_kept {
        session.warnings.push(format!(
            "{OPTION}: {removed_chars} of {total_chars} characters of the text were removed as boilerplate{kept}"
        ));
    }
    markdown
}

/// Returns the cleaned markdown, or the reason why the response of the model cannot be used.
fn cleaned(passages: &Passages, markdown: &str, response: CompletionContent) -> Result<Cleaned, String> {
    let (remaining, is_heading_kept) = match response {
        CompletionContent::Json(response) => without(passages, &response).ok_or(
            "the language model did not name passages of the markdown by their numbers, or named all of them",
        )?,
        CompletionContent::Text(text) => only_lines(markdown, &text).ok_or(
            "the language model returned text that is not made of lines of the markdown in their order",
        )?,
    };
    let total_chars = visible_chars(markdown);
    let removed_chars = total_chars.saturating_sub(visible_chars(&remaining));
    if 2 * removed_chars > total_chars {
        return Err(format!(
            "the language model took {removed_chars} of {total_chars} characters of the text for boilerplate, more than half"
        ));
    }
    Ok(Cleaned { markdown: remaining, total_chars, removed_chars, is_heading_kept })
}

/// Returns the markdown without the passages that the model named, and whether the first heading was one of them and remains;
/// `None` if its response has another structure or numbers of no passage, or if nothing would remain.
fn without(passages: &Passages, response: &Value) -> Option<(String, bool)> {
    let is_listed = |number: &u64| (1..=passages.len() as u64).contains(number);
    let named = response["boilerplate"].as_array()?.iter();
    let mut numbers: HashSet<u64> =
        named.map(|number| number.as_u64().filter(is_listed)).collect::<Option<_>>()?;
    let heading = (1..).zip(passages.texts()).find(|(_, text)| text.starts_with('#'));
    let is_heading_kept = heading.is_some_and(|(number, _)| numbers.remove(&number));
    Some((passages.without(&numbers)?, is_heading_kept))
}

/// Returns the lines of the markdown that a text consists of, apart from white space, and whether the first heading is missing
/// in it and remains; `None` if the text has no lines, or one that the markdown does not have there. The white space is that of
/// the markdown.
fn only_lines(markdown: &str, text: &str) -> Option<(String, bool)> {
    let mut wanted = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    wanted.peek()?;
    let mut remaining = String::with_capacity(markdown.len());
    let (mut is_after_removed, mut has_heading, mut is_heading_kept) = (false, false, false);
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
        if line.starts_with('#') && !has_heading {
            has_heading = true;
            is_heading_kept = is_after_removed;
            is_after_removed = false;
        }
        if !is_after_removed {
            remaining.push_str(line);
        }
    }
    if is_after_removed {
        remaining.truncate(remaining.trim_end().len());
        remaining.extend(markdown.ends_with('\n').then_some('\n'));
    }
    wanted.peek().is_none().then_some((remaining, is_heading_kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unnamed_passages_remain_unchanged() {
        let passages = Passages::from_markdown("# a\n\nb\nb\n\nc".to_owned(), SplitPolicy::InText);
        let check = |response: Value, expected: Option<(&str, bool)>| {
            let expected = expected.map(|(text, is_heading_kept)| (text.to_owned(), is_heading_kept));
            assert_eq!(without(&passages, &response), expected, "{response}");
        };
        check(json!({ "boilerplate": [3] }), Some(("# a\n\nb\nb", false)));
        check(json!({ "boilerplate": [] }), Some(("# a\n\nb\nb\n\nc", false)));
        check(json!({ "boilerplate": [1, 3] }), Some(("# a\n\nb\nb", true)));
        check(json!({ "boilerplate": [1, 2, 3] }), Some(("# a", true)));
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
            // The first heading always remains.
            ("b\nb", Some("# a\n\nb\n\nb\n")),
            (markdown, Some(markdown)),
            // Invented, in another order, repeated too often, changed, and empty.
            ("# a\nnew", None),
            ("b\n# a", None),
            ("b\nb\nb", None),
            ("# a changed", None),
            (" \n", None),
        ] {
            let remaining = only_lines(markdown, text).map(|(remaining, _)| remaining);
            assert_eq!(remaining.as_deref(), expected, "{text:?}");
        }
        assert_eq!(only_lines(markdown, "b\nb").map(|(_, is_heading_kept)| is_heading_kept), Some(true));
        assert_eq!(only_lines(markdown, "# a\nb").map(|(_, is_heading_kept)| is_heading_kept), Some(false));
    }

    #[test]
    fn cleaning_never_takes_more_than_half_of_the_text() {
        let markdown =
            "# Tea\n\nShare [this](http://a.test/a-long-address-without-use)\n\nSencha is green.\n\nMenu";
        let passages = Passages::from_markdown(markdown.to_owned(), SplitPolicy::InText);
        let clean = |response: CompletionContent| cleaned(&passages, markdown, response);
        let boilerplate = |numbers: &[u64]| CompletionContent::Json(json!({ "boilerplate": numbers }));
        let expected = Cleaned {
            markdown: "# Tea\n\nSencha is green.".to_owned(),
            total_chars: 29,
            removed_chars: 13,
            is_heading_kept: true,
        };
        assert_eq!(clean(boilerplate(&[1, 2, 4])), Ok(expected));
        let refused =
            "the language model took 22 of 29 characters of the text for boilerplate, more than half";
        assert_eq!(clean(boilerplate(&[2, 3])), Err(refused.to_owned()));
        // Everything, and the text of a model that leaves out nearly everything.
        assert!(clean(boilerplate(&[1, 2, 3, 4])).unwrap_err().contains("26 of 29"));
        assert!(clean(CompletionContent::Text("Menu".to_owned())).unwrap_err().contains("22 of 29"));
        let nothing = clean(boilerplate(&[])).unwrap();
        assert_eq!((nothing.markdown.as_str(), nothing.removed_chars), (markdown, 0));
    }
}

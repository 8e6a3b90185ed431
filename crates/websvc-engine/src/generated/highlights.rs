//! The format `highlights`: the passages of a page that are about a query, verbatim.
//!
//! A small model may name nearly everything, or passages at random. An answer that the words of the query contradict is not
//! used: they choose, as without a model. To other answers the passage is added that the words match best, if it has more of
//! them than the named ones.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use serde_json::{Value, json};
use websvc_extract::passages::{Passages, SplitPolicy, is_heading, visible_chars};
use websvc_model::{Feature, ResponseFormat, cut};
use websvc_types::format::HighlightPassage;
use websvc_types::limits::QUERY_TERMS_MAX;

use super::content_words::ContentWords;
use super::selection::select;
use super::session::{ContentRequest, Generated, ModelSession, content_space};
use crate::blocking::{ComputeError, run_blocking};
use crate::rerank::rerank;

const FORMAT: &str = Feature::Highlights.name();

/// The maximum number of passages.
const MAX_PASSAGES: usize = 8;

/// The maximum length of the list of numbers.
const MAX_TOKENS: u32 = 300;

/// The number of passages of a page up to which an answer may name all of them.
const FEW_PASSAGES: usize = 4;

/// The maximum length of a passage in a request to the model, in characters. Its beginning says what it is about.
const MAX_PASSAGE_CHARS: usize = 3_000;

/// The minimum score of a passage chosen by words, as a fraction of the best score.
const MIN_SCORE_RATIO: f64 = 0.5;

const INSTRUCTIONS: &str = "The content is the passages of a web page, each after its number in brackets. Choose the \
    passages that answer the query or are directly about it: at most 8, none when nothing is about it. Answer with their \
    numbers.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": { "passages": { "type": "array", "items": { "type": "integer" }, "maxItems": MAX_PASSAGES } },
        "required": ["passages"],
        "additionalProperties": false,
    })
});

/// Chooses the passages about a query. The model returns only their numbers, so all text comes from the page. Without a
/// usable response of the model, the words of the query decide.
pub(super) async fn choose_passages(
    session: &mut ModelSession<'_>,
    query: &str,
    markdown: &str,
) -> Generated<Vec<HighlightPassage>> {
    let prompt = format!("The query: {query}");
    let space = session.model.map(|model| {
        (
            content_space(model, INSTRUCTIONS, &prompt, ResponseFormat::Schema(&SCHEMA)),
            model.max_input_chars(),
        )
    });
    let (query_copy, copy, deadline) = (query.to_owned(), markdown.to_owned(), session.deadline);
    let splitting = run_blocking(session.deadline, move || {
        let passages = Passages::from_markdown(copy, SplitPolicy::Anywhere);
        let numbered =
            space.map(|(space, _)| Numbered::new(&query_copy, &passages, space, deadline)).transpose();
        numbered.map(|numbered| (Arc::new(passages), numbered))
    });
    let (passages, numbered) = match splitting.await.flatten() {
        Ok(split) => split,
        Err(error) => {
            session.warn(FORMAT, &format!("no passages were chosen: {error}"));
            return Generated::none();
        }
    };
    if passages.is_empty() {
        session.warn(FORMAT, "the page has no text");
        return Generated::none();
    }
    if let (Some(Numbered { count, .. }), Some((_, max_chars))) = (&numbered, space)
        && *count < passages.len()
    {
        let text = format!(
            "the page has {} passages, and a prompt of the language model may have {max_chars} characters \
             (llm.max_input_chars): it read the beginning and the passages with the words of the query, {count} passages",
            passages.len()
        );
        session.warn(FORMAT, &text);
    }
    let chosen = by_model(session, &prompt, numbered, passages.len()).await;
    let usable = usable(session, query, &passages, chosen).await;
    let (numbers, by_model) = match usable {
        Some(numbers) => (numbers, true),
        None => (by_words(session, query, &passages).await, false),
    };
    let chosen: Vec<HighlightPassage> =
        numbers.into_iter().map(|number| highlight(&passages, number)).collect();
    if chosen.is_empty() {
        session.warn(FORMAT, "no passage of the page is about the query");
        return Generated { content: None, by_model };
    }
    Generated { content: Some(chosen), by_model }
}

/// Returns a passage with its position in the markdown.
fn highlight(passages: &Passages, index: usize) -> HighlightPassage {
    let (markdown, text) = (passages.markdown(), passages.text(index));
    let range = passages.range(index);
    let line_breaks =
        markdown[range.clone()].len() - markdown[range.clone()].trim_start_matches(['\n', '\r']).len();
    let start = markdown[..range.start + line_breaks].chars().count() as u64;
    HighlightPassage { text: text.to_owned(), start, end: start + text.chars().count() as u64 }
}

/// The passages of a page with their numbers, as the model gets them.
struct Numbered {
    text: String,
    /// The number of passages in the text.
    count: usize,
}

impl Numbered {
    /// Numbers the passages. If they have more than `max_chars` characters, those for the query are chosen.
    fn new(
        query: &str,
        passages: &Passages,
        max_chars: usize,
        deadline: Instant,
    ) -> Result<Self, ComputeError> {
        let number =
            |(number, text): (usize, &str)| format!("[{number}]\n{}\n\n", cut(text, MAX_PASSAGE_CHARS));
        let texts: Vec<String> = (1..).zip(passages.texts()).map(number).collect();
        let all: Vec<&str> = texts.iter().map(String::as_str).collect();
        let kept = select(query, &all, max_chars, deadline)?;
        let text: String = kept.iter().map(|index| all[*index]).collect();
        Ok(Self { text, count: kept.len() })
    }
}

/// Returns the indexes of the passages that the model chose, in their order.
async fn by_model(
    session: &mut ModelSession<'_>,
    prompt: &str,
    numbered: Option<Numbered>,
    count: usize,
) -> Option<Vec<usize>> {
    let request = ContentRequest {
        feature: Feature::Highlights,
        instructions: INSTRUCTIONS,
        prompt,
        content: &numbered?.text,
        shape: ResponseFormat::Schema(&SCHEMA),
        max_tokens: MAX_TOKENS,
    };
    let response = session.complete(request).await?;
    let indexes = indexes(&response.into_json(), count);
    if indexes.is_none() {
        session.warn(FORMAT, "the language model returned no passage numbers");
    }
    indexes
}

/// Returns the passages that the model chose, unless something speaks against them; a warning says what.
async fn usable(
    session: &mut ModelSession<'_>,
    query: &str,
    passages: &Arc<Passages>,
    chosen: Option<Vec<usize>>,
) -> Option<Vec<usize>> {
    let chosen = chosen?;
    let (query, passages, deadline) = (query.to_owned(), Arc::clone(passages), session.deadline);
    let checking = run_blocking(deadline, move || match objection(&query, &passages, &chosen) {
        Some(objection) => Ok(Err(objection)),
        None => with_best(&query, &passages, chosen, deadline),
    });
    match checking.await.flatten() {
        Ok(Ok(chosen)) => Some(chosen),
        Ok(Err(objection)) => {
            session.warn(FORMAT, &format!("the language model {objection}"));
            None
        }
        Err(error) => {
            session
                .warn(FORMAT, &format!("the passages of the language model could not be checked: {error}"));
            None
        }
    }
}

/// Returns what speaks against the passages that a model chose for a query.
fn objection(query: &str, passages: &Passages, chosen: &[usize]) -> Option<String> {
    if chosen.len() > MAX_PASSAGES {
        return Some(format!("named {} passages, more than {MAX_PASSAGES}", chosen.len()));
    }
    if passages.len() > FEW_PASSAGES && chosen.len() > FEW_PASSAGES / 2 && is_most(passages, chosen) {
        return Some("named more than half of the page".to_owned());
    }
    // A schema with a maximum ends a model that counts up.
    if chosen.len() == MAX_PASSAGES
        && passages.len() > MAX_PASSAGES
        && chosen.iter().copied().eq(0..MAX_PASSAGES)
    {
        return Some(format!("named the first {MAX_PASSAGES} passages one after the other"));
    }
    let words = ContentWords::from_request(query);
    let count = |index: usize| words.count_in(passages.text(index));
    let texts: Vec<usize> = (0..passages.len()).filter(|index| !is_heading(passages.text(*index))).collect();
    let counts: Vec<usize> = texts.iter().map(|index| count(*index)).collect();
    let best = counts.iter().copied().max().unwrap_or_default();
    if counts.iter().any(|count| *count < best) && texts.iter().all(|index| chosen.contains(index)) {
        return Some("named the whole page".to_owned());
    }
    let of_chosen = chosen.iter().copied().map(count).max().unwrap_or_default();
    let is_contradicted = 2 * best > words.len() && 2 * of_chosen < best;
    is_contradicted.then(|| {
        format!(
            "named passages with {of_chosen} words of the query, where another passage has {best} of {}",
            words.len()
        )
    })
}

/// Returns whether passages are more than half of a page.
fn is_most(passages: &Passages, chosen: &[usize]) -> bool {
    let chars = |indexes: &mut dyn Iterator<Item = usize>| -> usize {
        indexes.map(|index| visible_chars(passages.text(index))).sum()
    };
    2 * chars(&mut chosen.iter().copied()) > chars(&mut (0..passages.len()))
}

/// Adds the passage that the words of a query match best to those that a model chose, if it has more of the words than each
/// of them; if there is no space for it, returns that as an objection. A model that found nothing is right if the words do
/// not contradict it.
fn with_best(
    query: &str,
    passages: &Passages,
    chosen: Vec<usize>,
    deadline: Instant,
) -> Result<Result<Vec<usize>, String>, ComputeError> {
    if chosen.is_empty() {
        return Ok(Ok(chosen));
    }
    let words = ContentWords::from_request(query);
    let count = |index: &usize| words.count_in(passages.text(*index));
    let named = chosen.iter().map(count).max().unwrap_or_default();
    let ranked = rank(query, passages, deadline)?.0;
    let better = ranked.first().map(|(index, _)| *index).filter(|index| count(index) > named);
    let Some(better) = better else { return Ok(Ok(chosen)) };
    let mut extended: Vec<usize> = chosen.into_iter().chain([better]).collect();
    extended.sort_unstable();
    let is_too_much =
        extended.len() > MAX_PASSAGES || (passages.len() > FEW_PASSAGES && is_most(passages, &extended));
    Ok(match is_too_much {
        true => Err(format!(
            "named passages with {named} words of the query, where another passage has {}",
            count(&better)
        )),
        false => Ok(extended),
    })
}

/// Returns the indexes of the passages that contain the words of the query. Adds a warning if the model should have
/// chosen.
async fn by_words(session: &mut ModelSession<'_>, query: &str, passages: &Arc<Passages>) -> Vec<usize> {
    if session.model.is_some() {
        session.warn(FORMAT, "the passages were chosen by the words of the query");
    }
    let (query, passages, deadline) = (query.to_owned(), Arc::clone(passages), session.deadline);
    match run_blocking(deadline, move || best(&query, &passages, deadline)).await.flatten() {
        Ok(WordChoice { indexes, is_query_cut }) => {
            if is_query_cut {
                let text = format!("only the first {QUERY_TERMS_MAX} different words of the query are used");
                session.warn(FORMAT, &text);
            }
            indexes
        }
        Err(error) => {
            session.warn(FORMAT, &format!("no passages were chosen by the words of the query: {error}"));
            Vec::new()
        }
    }
}

/// Reads the passage numbers in a response, and ignores those that do not exist.
fn indexes(response: &Value, count: usize) -> Option<Vec<usize>> {
    let numbers = response["passages"].as_array()?;
    let indexes = numbers.iter().filter_map(|number| usize::try_from(number.as_u64()?).ok()?.checked_sub(1));
    let mut indexes: Vec<usize> = indexes.filter(|index| *index < count).collect();
    indexes.sort_unstable();
    indexes.dedup();
    Some(indexes)
}

/// The passages that the words of a query chose.
#[derive(Debug, PartialEq)]
struct WordChoice {
    indexes: Vec<usize>,
    is_query_cut: bool,
}

/// Returns the indexes of the passages that match the words of a query, in their order. Headings alone are not
/// passages.
fn best(query: &str, passages: &Passages, deadline: Instant) -> Result<WordChoice, ComputeError> {
    let (ranked, is_query_cut) = rank(query, passages, deadline)?;
    let best = ranked.first().map_or(0.0, |(_, score)| *score);
    let is_good = |score: f64| score > 0.0 && score >= best * MIN_SCORE_RATIO;
    let good = ranked.into_iter().filter(|(_, score)| is_good(*score)).take(MAX_PASSAGES);
    let mut indexes: Vec<usize> = good.map(|(index, _)| index).collect();
    indexes.sort_unstable();
    Ok(WordChoice { indexes, is_query_cut })
}

/// Returns the indexes of the passages that are not headings with their scores for a query, the best first, and whether the
/// query has too many words.
fn rank(
    query: &str,
    passages: &Passages,
    deadline: Instant,
) -> Result<(Vec<(usize, f64)>, bool), ComputeError> {
    let texts: Vec<usize> = (0..passages.len()).filter(|index| !is_heading(passages.text(*index))).collect();
    let words: Vec<&str> = texts.iter().map(|index| passages.text(*index)).collect();
    let ranking = rerank(query, &words, deadline)?;
    let ranked = ranking.ranked.iter().map(|ranked| (texts[ranked.index], ranked.score)).collect();
    Ok((ranked, ranking.is_query_cut))
}

#[cfg(test)]
mod tests;

//! The format `highlights`: the passages of a page that are about a query, verbatim.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use serde_json::{Value, json};
use websvc_extract::passages::{Passages, SplitPolicy};
use websvc_model::{Feature, ResponseFormat};
use websvc_types::limits::QUERY_TERMS_MAX;

use super::session::{ContentRequest, Generated, ModelSession};
use crate::blocking::{ComputeError, run_blocking};
use crate::rerank::rerank;

const FORMAT: &str = Feature::Highlights.name();

/// The maximum number of passages.
const MAX_PASSAGES: usize = 8;

/// The maximum length of the list of numbers.
const MAX_TOKENS: u32 = 300;

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
/// response of the model, the words of the query decide.
pub(super) async fn choose(session: &mut ModelSession<'_>, query: &str, markdown: &str) -> Generated<String> {
    let (copy, is_numbered) = (markdown.to_owned(), session.model.is_some());
    let splitting = run_blocking(session.deadline, move || {
        let passages = Passages::of(copy, SplitPolicy::Anywhere);
        let content = is_numbered.then(|| passages.numbered());
        (Arc::new(passages), content)
    });
    let (passages, content) = match splitting.await {
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
    let (numbers, by_model) = match by_model(session, query, content, passages.len()).await {
        Some(numbers) => (numbers, true),
        None => (by_words(session, query, &passages).await, false),
    };
    let chosen: Vec<&str> = numbers.into_iter().map(|number| passages.text(number)).collect();
    if chosen.is_empty() {
        session.warn(FORMAT, "no passage of the page is about the query");
        return Generated { content: None, by_model };
    }
    Generated { content: Some(chosen.join("\n\n")), by_model }
}

/// Returns the indexes of the passages that the model chose, in their order.
async fn by_model(
    session: &mut ModelSession<'_>,
    query: &str,
    content: Option<String>,
    count: usize,
) -> Option<Vec<usize>> {
    let content = content?;
    let prompt = format!("The query: {query}");
    let request = ContentRequest {
        feature: Feature::Highlights,
        instructions: INSTRUCTIONS,
        prompt: &prompt,
        content: &content,
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
pub(super) fn indexes(response: &Value, count: usize) -> Option<Vec<usize>> {
    let numbers = response["passages"].as_array()?;
    let indexes = numbers.iter().filter_map(|number| usize::try_from(number.as_u64()?).ok()?.checked_sub(1));
    let mut indexes: Vec<usize> = indexes.filter(|index| *index < count).take(MAX_PASSAGES).collect();
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
    let is_heading = |passage: &str| passage.starts_with('#') && !passage.contains('\n');
    let texts: Vec<usize> = (0..passages.len()).filter(|index| !is_heading(passages.text(*index))).collect();
    let words: Vec<&str> = texts.iter().map(|index| passages.text(*index)).collect();
    let ranking = rerank(query, &words, deadline)?;
    let best = ranking.ranked.first().map_or(0.0, |ranked| ranked.score);
    let is_good = |score: f64| score > 0.0 && score >= best * MIN_SCORE_RATIO;
    let chosen_ranks = ranking.ranked.iter().filter(|ranked| is_good(ranked.score)).take(MAX_PASSAGES);
    let mut indexes: Vec<usize> = chosen_ranks.map(|ranked| texts[ranked.index]).collect();
    indexes.sort_unstable();
    Ok(WordChoice { indexes, is_query_cut: ranking.is_query_cut })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use websvc_stage::StageTimes;

    use super::*;

    fn session(stages: &StageTimes, timeout: Duration) -> ModelSession<'_> {
        ModelSession { model: None, stages, deadline: Instant::now() + timeout, warnings: Vec::new() }
    }

    #[tokio::test]
    async fn passages_chosen_by_words_are_in_page_order() {
        let markdown =
            "# Tea\n\nCoffee is roasted.\n\nSencha is a green tea.\n\nMatcha is a green tea, too.\n";
        let stages = StageTimes::default();
        let mut session = session(&stages, Duration::from_secs(60));
        let Generated { content, by_model } = choose(&mut session, "green tea", markdown).await;
        assert_eq!(content.as_deref(), Some("Sencha is a green tea.\n\nMatcha is a green tea, too."));
        assert!(!by_model && session.warnings.is_empty());
        assert_eq!(choose(&mut session, "chocolate", markdown).await.content, None);
        let long: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
        choose(&mut session, &format!("sencha {}", long.join(" ")), markdown).await;
        assert!(
            session.warnings.iter().any(|warning| warning.contains("first 64")),
            "{:?}",
            session.warnings
        );
    }

    /// The only async thread must remain free for a timer, and the deadline must be met.
    #[tokio::test]
    async fn long_text_blocks_neither_the_async_thread_nor_the_request() {
        let (query, markdown) = ("a b ".repeat(2_500), "a b ".repeat(2_500_000));
        let stages = StageTimes::default();
        let mut session = session(&stages, Duration::from_millis(30));
        let (mut ticks, mut interval) = (0, tokio::time::interval(Duration::from_millis(5)));
        let mut choosing = Box::pin(choose(&mut session, &query, &markdown));
        let chosen = loop {
            tokio::select! {
                biased;
                _ = interval.tick() => ticks += 1,
                chosen = &mut choosing => break chosen,
            }
        };
        drop(choosing);
        assert_eq!(chosen.content, None);
        assert!(ticks >= 3, "{ticks}");
        assert!(
            session.warnings.iter().any(|warning| warning.contains("not done in time")),
            "{:?}",
            session.warnings
        );
    }

    #[test]
    fn unknown_passage_numbers_are_ignored() {
        let check = |response: Value, expected: Option<Vec<usize>>| {
            assert_eq!(indexes(&response, 3), expected, "{response}");
        };
        check(json!({ "passages": [3, 1, 1, 0, 4, -1, "2", 1.5] }), Some(vec![0, 2]));
        check(json!({ "passages": [] }), Some(Vec::new()));
        check(json!({ "passages": "all" }), None);
        check(json!([1]), None);
    }
}

//! The format `highlights`: the passages of a page that a query is about, word by word.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use serde_json::{Value, json};
use websvc_model::ResponseFormat;
use websvc_types::limits::QUERY_TERMS_MAX;

use super::passages::{Passages, SplitPolicy};
use super::session::ModelSession;
use crate::blocking::{ComputeError, run_blocking};
use crate::rerank::rerank;

const FORMAT: &str = "highlights";

/// Passages at most.
const MOST: usize = 8;

/// The longest list of numbers.
const MAX_TOKENS: u32 = 300;

/// By words: a passage is taken when it is worth this part of the best one.
const SHARE: f64 = 0.5;

const INSTRUCTIONS: &str = "The content is the passages of a web page, each after its number in brackets. Choose the \
    passages that answer the query or are directly about it: at most 8, none when nothing is about it. Answer with their \
    numbers.";

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": { "passages": { "type": "array", "items": { "type": "integer" } } },
        "required": ["passages"],
        "additionalProperties": false,
    })
});

/// Chooses passages, and tells whether a model did. A model only tells numbers, so that all text is of the page; without an
/// answer of a model, words choose.
pub(super) async fn choose(
    desk: &mut ModelSession<'_>,
    query: &str,
    markdown: &str,
) -> (Option<String>, bool) {
    let (copy, is_numbered) = (markdown.to_owned(), desk.model.is_some());
    let split = run_blocking(desk.deadline, move || {
        let passages = Passages::of(copy, SplitPolicy::Anywhere);
        let content = is_numbered.then(|| passages.numbered());
        (Arc::new(passages), content)
    });
    let (passages, content) = match split.await {
        Ok(split) => split,
        Err(error) => {
            desk.warn(FORMAT, &format!("no passages were chosen: {error}"));
            return (None, false);
        }
    };
    if passages.is_empty() {
        desk.warn(FORMAT, "the page has no text");
        return (None, false);
    }
    let (numbers, by_model) = match by_model(desk, query, content, passages.len()).await {
        Some(numbers) => (numbers, true),
        None => (by_words(desk, query, &passages).await, false),
    };
    let chosen: Vec<&str> = numbers.into_iter().map(|number| passages.text(number)).collect();
    if chosen.is_empty() {
        desk.warn(FORMAT, "nothing on the page is about the query");
        return (None, by_model);
    }
    (Some(chosen.join("\n\n")), by_model)
}

/// Returns the places of the passages that a model chose, in their order.
async fn by_model(
    desk: &mut ModelSession<'_>,
    query: &str,
    content: Option<String>,
    count: usize,
) -> Option<Vec<usize>> {
    let content = content?;
    let wish = format!("The query: {query}");
    let answer = desk
        .ask(FORMAT, (INSTRUCTIONS, &wish), &content, ResponseFormat::Schema(&SCHEMA), MAX_TOKENS)
        .await?;
    let places = places(&answer.into_json(), count);
    if places.is_none() {
        desk.warn(FORMAT, "the language model gave no numbers of passages");
    }
    places
}

/// Returns the places of the passages that words chose, and says so where a model should have.
async fn by_words(desk: &mut ModelSession<'_>, query: &str, passages: &Arc<Passages>) -> Vec<usize> {
    if desk.model.is_some() {
        desk.warn(FORMAT, "the passages were chosen by the words of the query");
    }
    let (query, passages, deadline) = (query.to_owned(), Arc::clone(passages), desk.deadline);
    match run_blocking(deadline, move || best(&query, &passages, deadline)).await.flatten() {
        Ok(WordChoice { places, is_query_cut }) => {
            if is_query_cut {
                let text = format!("only the first {QUERY_TERMS_MAX} different words of the query count");
                desk.warn(FORMAT, &text);
            }
            places
        }
        Err(error) => {
            desk.warn(FORMAT, &format!("the words of the query chose nothing: {error}"));
            Vec::new()
        }
    }
}

/// Reads numbers of passages; those of none are left out.
pub(super) fn places(answer: &Value, count: usize) -> Option<Vec<usize>> {
    let numbers = answer["passages"].as_array()?;
    let places = numbers.iter().filter_map(|number| usize::try_from(number.as_u64()?).ok()?.checked_sub(1));
    let mut places: Vec<usize> = places.filter(|place| *place < count).take(MOST).collect();
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// What words chose.
#[derive(Debug, PartialEq)]
struct WordChoice {
    places: Vec<usize>,
    is_query_cut: bool,
}

/// Returns the places of the passages that have the words of a query, in their order. A heading alone says nothing.
fn best(query: &str, passages: &Passages, deadline: Instant) -> Result<WordChoice, ComputeError> {
    let is_heading = |passage: &str| passage.starts_with('#') && !passage.contains('\n');
    let texts: Vec<usize> = (0..passages.len()).filter(|place| !is_heading(passages.text(*place))).collect();
    let words: Vec<&str> = texts.iter().map(|place| passages.text(*place)).collect();
    let ranking = rerank(query, &words, deadline)?;
    let best = ranking.ranked.first().map_or(0.0, |ranked| ranked.score);
    let is_good = |score: f64| score > 0.0 && score >= best * SHARE;
    let good = ranking.ranked.iter().filter(|ranked| is_good(ranked.score)).take(MOST);
    let mut places: Vec<usize> = good.map(|ranked| texts[ranked.index]).collect();
    places.sort_unstable();
    Ok(WordChoice { places, is_query_cut: ranking.is_query_cut })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use websvc_stage::StageTimes;

    use super::*;

    fn desk(stages: &StageTimes, time: Duration) -> ModelSession<'_> {
        ModelSession { model: None, stages, deadline: Instant::now() + time, warnings: Vec::new() }
    }

    #[tokio::test]
    async fn words_choose_passages_in_the_order_of_the_page() {
        let markdown =
            "# Tea\n\nCoffee is roasted.\n\nSencha is a green tea.\n\nMatcha is a green tea, too.\n";
        let stages = StageTimes::default();
        let mut desk = desk(&stages, Duration::from_secs(60));
        let (chosen, by_model) = choose(&mut desk, "green tea", markdown).await;
        assert_eq!(chosen.as_deref(), Some("Sencha is a green tea.\n\nMatcha is a green tea, too."));
        assert!(!by_model && desk.warnings.is_empty());
        assert_eq!(choose(&mut desk, "chocolate", markdown).await.0, None);
        let long: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
        choose(&mut desk, &format!("sencha {}", long.join(" ")), markdown).await;
        assert!(desk.warnings.iter().any(|warning| warning.contains("first 64")), "{:?}", desk.warnings);
    }

    /// The only async thread has to stay free for a timer meanwhile, and the time of the page is kept.
    #[tokio::test]
    async fn a_long_text_neither_holds_an_async_thread_nor_the_request() {
        let (query, markdown) = ("a b ".repeat(2_500), "a b ".repeat(2_500_000));
        let stages = StageTimes::default();
        let mut desk = desk(&stages, Duration::from_millis(30));
        let (mut ticks, mut ticking) = (0, tokio::time::interval(Duration::from_millis(5)));
        let mut choosing = Box::pin(choose(&mut desk, &query, &markdown));
        let (chosen, _) = loop {
            tokio::select! {
                biased;
                _ = ticking.tick() => ticks += 1,
                chosen = &mut choosing => break chosen,
            }
        };
        drop(choosing);
        assert_eq!(chosen, None);
        assert!(ticks >= 3, "{ticks}");
        assert!(
            desk.warnings.iter().any(|warning| warning.contains("not done in time")),
            "{:?}",
            desk.warnings
        );
    }

    #[test]
    fn numbers_of_no_passage_are_left_out() {
        let check = |answer: Value, expected: Option<Vec<usize>>| {
            assert_eq!(places(&answer, 3), expected, "{answer}");
        };
        check(json!({ "passages": [3, 1, 1, 0, 4, -1, "2", 1.5] }), Some(vec![0, 2]));
        check(json!({ "passages": [] }), Some(Vec::new()));
        check(json!({ "passages": "all" }), None);
        check(json!([1]), None);
    }
}

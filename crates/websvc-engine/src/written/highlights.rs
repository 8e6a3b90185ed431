//! The format `highlights`: the passages of a page that a query is about, word by word.

use std::sync::LazyLock;

use serde_json::{Value, json};
use websvc_model::Shape;

use super::ask::Desk;
use super::passages::{numbered, passages};
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
pub(super) async fn choose(desk: &mut Desk<'_>, query: &str, markdown: &str) -> (Option<String>, bool) {
    let passages = passages(markdown);
    if passages.is_empty() {
        desk.warn(FORMAT, "the page has no text");
        return (None, false);
    }
    let (numbers, by_model) = match by_model(desk, query, &passages).await {
        Some(numbers) => (numbers, true),
        None => {
            if desk.model.is_some() {
                desk.warn(FORMAT, "the passages were chosen by the words of the query");
            }
            (by_words(query, &passages), false)
        }
    };
    let chosen: Vec<&str> = numbers.into_iter().map(|number| passages[number]).collect();
    if chosen.is_empty() {
        desk.warn(FORMAT, "nothing on the page is about the query");
        return (None, by_model);
    }
    (Some(chosen.join("\n\n")), by_model)
}

/// Returns the places of the passages that a model chose, in their order.
async fn by_model(desk: &mut Desk<'_>, query: &str, passages: &[&str]) -> Option<Vec<usize>> {
    desk.model?;
    let content = numbered(passages);
    let wish = format!("The query: {query}");
    let answer =
        desk.ask(FORMAT, (INSTRUCTIONS, &wish), &content, Shape::Schema(&SCHEMA), MAX_TOKENS).await?;
    let places = places(&answer.into_json(), passages.len());
    if places.is_none() {
        desk.warn(FORMAT, "the language model gave no numbers of passages");
    }
    places
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

/// Returns the places of the passages that have the words of a query, in their order. A heading alone says nothing.
fn by_words(query: &str, passages: &[&str]) -> Vec<usize> {
    let is_heading = |passage: &str| passage.starts_with('#') && !passage.contains('\n');
    let texts: Vec<usize> = (0..passages.len()).filter(|place| !is_heading(passages[*place])).collect();
    let ranking = rerank(query, texts.iter().map(|place| passages[*place]));
    let best = ranking.ranked.first().map_or(0.0, |ranked| ranked.score);
    let is_good = |score: f64| score > 0.0 && score >= best * SHARE;
    let good = ranking.ranked.iter().filter(|ranked| is_good(ranked.score)).take(MOST);
    let mut places: Vec<usize> = good.map(|ranked| texts[ranked.index]).collect();
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_passages_in_the_order_of_the_page() {
        let passages =
            ["# Tea", "Coffee is roasted.", "Sencha is a green tea.", "Matcha is a green tea, too."];
        assert_eq!(by_words("green tea", &passages), [2, 3]);
        assert_eq!(by_words("chocolate", &passages), [0_usize; 0]);
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

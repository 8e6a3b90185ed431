//! Ranks texts by a query with BM25, plus a bonus for query words that are close to each other.
//!
//! The texts themselves are the corpus, so a word that all of them contain has little weight. The ranking is CPU work,
//! linear in the length of the texts whatever the query is. Each text is read twice, and nothing of it is stored.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use websvc_types::limits::QUERY_TERMS_MAX;

use crate::blocking::{ComputeError, check_deadline};

/// The saturation of the term frequency (BM25).
const K1: f64 = 1.2;

/// The influence of the text length (BM25).
const B: f64 = 0.75;

/// The bonus of two adjacent query words, relative to the weight of one of them.
const PROXIMITY: f64 = 0.5;

/// The number of words after which the deadline is checked again.
const WORDS_PER_CHECK: usize = 16_384;

/// The score of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The position of the text in the input, from 0.
    pub index: usize,
    /// The score: 0 for a text without any query word, always below 1.
    pub score: f64,
}

/// The ranking of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The texts, the best first. Equal scores keep the order of the input.
    pub ranked: Vec<Ranked>,
    /// The number of words that were read.
    pub words: u64,
    /// The query has more than [`QUERY_TERMS_MAX`] different words, and the others were ignored.
    pub is_query_cut: bool,
}

/// Ranks texts by the first [`QUERY_TERMS_MAX`] different words of a query.
///
/// # Errors
/// [`ComputeError::Late`] if it is not done by the deadline.
pub fn rerank(query: &str, texts: &[&str], deadline: Instant) -> Result<Ranking, ComputeError> {
    let query = RerankQuery::read(query);
    let mut counts = TermCounts::new(&query);
    let stats = CorpusStats::read(texts, &query, &mut counts, deadline)?;
    let max_score: f64 = stats.weights.iter().sum();
    let mut ranked = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        counts.read(text, &query, deadline)?;
        let score = stats.score(&mut counts) + stats.proximity(&mut counts, &query);
        ranked.push(Ranked { index, score: if score > 0.0 { score / (score + max_score) } else { 0.0 } });
    }
    ranked.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    let words = stats.words + query.words;
    Ok(Ranking { ranked, words, is_query_cut: query.is_cut })
}

/// The words of a query.
#[derive(Default)]
struct RerankQuery {
    /// The different words, by number.
    terms: HashMap<String, usize>,
    /// The numbers of pairs of adjacent words, each pair once, the smaller word number first.
    pairs: HashMap<(usize, usize), usize>,
    /// The pairs, by number.
    pairs_by_number: Vec<(usize, usize)>,
    words: u64,
    is_cut: bool,
}

impl RerankQuery {
    fn read(text: &str) -> Self {
        let mut query = Self::default();
        let mut before = None;
        // The callback never breaks.
        let _ = each_word(text, |word| {
            query.words += 1;
            let term = query.term(word);
            if let (Some(before), Some(term)) = (before, term)
                && before != term
            {
                query.pair(pair(before, term));
            }
            before = term;
            ControlFlow::Continue(())
        });
        query
    }

    /// Assigns a number to a pair.
    fn pair(&mut self, pair: (usize, usize)) {
        if !self.pairs.contains_key(&pair) {
            self.pairs.insert(pair, self.pairs_by_number.len());
            self.pairs_by_number.push(pair);
        }
    }

    /// Returns the number of a word. A new word gets one unless the maximum is reached.
    fn term(&mut self, word: &str) -> Option<usize> {
        if let Some(known) = self.terms.get(word) {
            return Some(*known);
        }
        let number = self.terms.len();
        if number >= QUERY_TERMS_MAX {
            self.is_cut = true;
            return None;
        }
        self.terms.insert(word.to_owned(), number);
        Some(number)
    }
}

fn pair(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

/// The occurrences of query words in one text. It is reused for all texts, and clearing it costs only as much as was
/// found.
struct TermCounts {
    /// The number of words of the text.
    length: usize,
    /// The number of occurrences of each query word.
    counts: Vec<u32>,
    /// The query words that occur.
    found: Vec<usize>,
    /// The smallest distance between the words of each pair.
    nearest: Vec<usize>,
    /// The pairs that occur.
    seen_pairs: Vec<usize>,
}

impl TermCounts {
    fn new(query: &RerankQuery) -> Self {
        let (terms, pairs) = (query.terms.len(), query.pairs.len());
        let (counts, nearest) = (vec![0; terms], vec![usize::MAX; pairs]);
        Self { length: 0, counts, found: Vec::new(), nearest, seen_pairs: Vec::new() }
    }

    fn clear(&mut self) {
        self.length = 0;
        for term in self.found.drain(..) {
            self.counts[term] = 0;
        }
        for pair in self.seen_pairs.drain(..) {
            self.nearest[pair] = usize::MAX;
        }
    }

    fn read(&mut self, text: &str, query: &RerankQuery, deadline: Instant) -> Result<(), ComputeError> {
        self.clear();
        let mut last = None;
        let reading = each_word(text, |word| {
            let position = self.length;
            self.length += 1;
            if position.is_multiple_of(WORDS_PER_CHECK) && check_deadline(deadline).is_err() {
                return ControlFlow::Break(());
            }
            if let Some(term) = query.terms.get(word) {
                self.count(*term);
                if let Some((before, other)) = last {
                    self.record_pair(query, pair(other, *term), position - before);
                }
                last = Some((position, *term));
            }
            ControlFlow::Continue(())
        });
        if reading.is_break() { Err(ComputeError::Late) } else { Ok(()) }
    }

    fn count(&mut self, term: usize) {
        if self.counts[term] == 0 {
            self.found.push(term);
        }
        self.counts[term] += 1;
    }

    fn record_pair(&mut self, query: &RerankQuery, pair: (usize, usize), distance: usize) {
        let Some(pair) = query.pairs.get(&pair) else { return };
        if self.nearest[*pair] == usize::MAX {
            self.seen_pairs.push(*pair);
        }
        self.nearest[*pair] = self.nearest[*pair].min(distance);
    }
}

/// The weights of the query words in these texts.
struct CorpusStats {
    weights: Vec<f64>,
    average_length: f64,
    words: u64,
}

impl CorpusStats {
    fn read(
        texts: &[&str],
        query: &RerankQuery,
        counts: &mut TermCounts,
        deadline: Instant,
    ) -> Result<Self, ComputeError> {
        let (mut document_counts, mut words) = (vec![0_usize; query.terms.len()], 0_u64);
        for text in texts {
            counts.read(text, query, deadline)?;
            counts.found.iter().for_each(|term| document_counts[*term] += 1);
            words += counts.length as u64;
        }
        let text_count = texts.len() as f64;
        let weight = |document_count: usize| {
            let document_count = document_count as f64;
            (1.0 + (text_count - document_count + 0.5) / (document_count + 0.5)).ln()
        };
        let average_length = (words as f64 / text_count.max(1.0)).max(1.0);
        Ok(Self { weights: document_counts.into_iter().map(weight).collect(), average_length, words })
    }

    fn score(&self, counts: &mut TermCounts) -> f64 {
        // In a fixed order, so that texts with the same words get exactly the same score.
        counts.found.sort_unstable();
        let length = 1.0 - B + B * counts.length as f64 / self.average_length;
        let score = counts.found.iter().map(|term| {
            let count = f64::from(counts.counts[*term]);
            self.weights[*term] * count * (K1 + 1.0) / (count + K1 * length)
        });
        score.sum()
    }

    /// Returns the bonus for words that are adjacent in the query and close to each other in the text.
    fn proximity(&self, counts: &mut TermCounts, query: &RerankQuery) -> f64 {
        counts.seen_pairs.sort_unstable();
        let score = counts.seen_pairs.iter().map(|pair| {
            let (one, other) = query.pairs_by_number[*pair];
            let weight = self.weights[one].min(self.weights[other]);
            PROXIMITY * weight / counts.nearest[*pair] as f64
        });
        score.sum()
    }
}

/// Calls `visit` with each word of a text, in lower case, until it breaks. In scripts without spaces, each character is
/// a word.
pub(crate) fn each_word(text: &str, mut visit: impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut word = String::new();
    for c in text.chars() {
        let is_single = is_word_alone(c);
        if !is_single && c.is_alphanumeric() {
            word.extend(c.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            visit(&word)?;
            word.clear();
        }
        if is_single && c.is_alphanumeric() {
            visit(c.encode_utf8(&mut [0; 4]))?;
        }
    }
    if word.is_empty() { ControlFlow::Continue(()) } else { visit(&word) }
}

/// Returns whether a character belongs to the Chinese, Japanese or Thai script.
fn is_word_alone(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ranking(query: &str, texts: &[&str]) -> Ranking {
        rerank(query, texts, Instant::now() + Duration::from_secs(600)).unwrap()
    }

    fn order(query: &str, texts: &[&str]) -> Vec<usize> {
        let Ranking { ranked, words: _, is_query_cut: _ } = ranking(query, texts);
        assert_eq!(ranked.len(), texts.len());
        assert!(ranked.iter().all(|ranked| (0.0..1.0).contains(&ranked.score)), "{ranked:?}");
        ranked.into_iter().map(|ranked| ranked.index).collect()
    }

    #[test]
    fn rare_words_weigh_more_than_common_words() {
        let texts = ["the tea and the cup", "the the the the", "the oolong"];
        assert_eq!(order("the oolong", &texts), [2, 1, 0]);
    }

    #[test]
    fn texts_with_adjacent_query_words_come_first() {
        let texts = [
            "green is a colour and this is tea of some sort here",
            "some sort here of green tea is this and a colour is",
            "nothing of the sort",
        ];
        assert_eq!(order("green tea", &texts), [1, 0, 2]);
    }

    #[test]
    fn texts_without_query_words_score_zero_and_ties_keep_their_order() {
        let Ranking { ranked, words, is_query_cut } = ranking("Café", &["coffee", "a CAFÉ", "tea"]);
        assert!(!is_query_cut);
        assert_eq!(ranked.iter().map(|ranked| ranked.index).collect::<Vec<_>>(), [1, 0, 2]);
        assert_eq!((ranked[1].score, ranked[2].score, words), (0.0, 0.0, 5));
        assert!(ranked[0].score > 0.0);
    }

    #[test]
    fn scripts_without_spaces_are_read_character_by_character() {
        assert_eq!(order("緑茶", &["紅茶の店", "緑茶の店", "珈琲"]), [1, 0, 2]);
    }

    #[test]
    fn empty_queries_and_inputs_are_valid() {
        let nothing = Ranking { ranked: Vec::new(), words: 1, is_query_cut: false };
        assert_eq!(ranking("tea", &[]), nothing);
        assert_eq!(order("?!", &["a", ""]), [0, 1]);
    }

    #[test]
    fn repeated_query_words_add_nothing() {
        let text = "green is not tea but tea is green tea";
        let once = ranking("green tea", &[text, "other"]);
        let again = ranking(&"green tea ".repeat(50), &[text, "other"]);
        assert_eq!(once.ranked, again.ranked);
    }

    #[test]
    fn query_words_beyond_the_maximum_are_ignored() {
        let query: Vec<String> = (0..QUERY_TERMS_MAX + 1).map(|number| format!("w{number}")).collect();
        let (first, last) = ("w0".to_owned(), format!("w{QUERY_TERMS_MAX}"));
        let found = ranking(&query.join(" "), &[&first, &last]);
        assert!(found.is_query_cut);
        assert!(found.ranked[0].score > 0.0);
        assert_eq!((found.ranked[0].index, found.ranked[1].score), (0, 0.0));
        assert!(!ranking(&query[1..].join(" "), &[&first]).is_query_cut);
    }

    /// Comparing all pairs at all positions would take ten thousand million comparisons.
    #[test]
    fn long_queries_over_long_texts_take_linear_time() {
        let (query, text) = ("a b ".repeat(2_500), "a b ".repeat(1_000_000));
        let short = "a\n".repeat(1_000_000);
        let many: Vec<&str> = short.lines().collect();
        let started = Instant::now();
        let found = ranking(&query, &[&text]);
        assert_eq!(found.words, 2_000_000 + 5_000);
        assert_eq!(ranking(&query, &many).ranked.len(), 1_000_000);
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }

    #[test]
    fn ranking_fails_after_the_deadline() {
        let result = rerank("a", &["a", "b"], Instant::now());
        assert_eq!(result, Err(ComputeError::Late));
    }
}

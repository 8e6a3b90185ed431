//! Texts in the order in which they answer a query: BM25 over their words, and how near to each other these stand.
//!
//! The texts are their own collection: a word that all of them have tells nothing. Everything here is CPU work, linear in the
//! length of the texts, whatever the query is: each is read twice, and nothing of it is kept.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

use websvc_types::limits::QUERY_TERMS_MAX;

use crate::blocking::{ComputeError, check_deadline};

/// How soon more of the same word counts no more (BM25).
const K1: f64 = 1.2;

/// How much the length of a text counts (BM25).
const B: f64 = 0.75;

/// What two words of the query next to each other add, beside what one of them is worth.
const NEARNESS: f64 = 0.5;

/// After so many words of a text it is asked again what time it is.
const WORDS_AT_ONCE: usize = 16_384;

/// A text with what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Where the text stood, from 0.
    pub index: usize,
    /// From 0, for a text that has no word of the query, to below 1.
    pub score: f64,
}

/// The order of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The texts, the best first; of equals the first.
    pub ranked: Vec<Ranked>,
    /// How many words were read.
    pub words: u64,
    /// The query has more different words than count, [`QUERY_TERMS_MAX`].
    pub is_query_cut: bool,
}

/// Orders texts by a query, of which the first [`QUERY_TERMS_MAX`] different words count.
///
/// # Errors
/// [`ComputeError::Late`] when it is not done at the deadline.
pub fn rerank(query: &str, texts: &[&str], deadline: Instant) -> Result<Ranking, ComputeError> {
    let asked = RerankQuery::read(query);
    let mut tally = TermCounts::new(&asked);
    let collection = CorpusStats::read(texts, &asked, &mut tally, deadline)?;
    let most: f64 = collection.weights.iter().sum();
    let mut ranked = Vec::with_capacity(texts.len());
    for (index, text) in texts.iter().enumerate() {
        tally.read(text, &asked, deadline)?;
        let worth = collection.worth(&mut tally) + collection.nearness(&mut tally, &asked);
        ranked.push(Ranked { index, score: if worth > 0.0 { worth / (worth + most) } else { 0.0 } });
    }
    ranked.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    let words = collection.words + asked.words;
    Ok(Ranking { ranked, words, is_query_cut: asked.is_cut })
}

/// What a query asks for.
#[derive(Default)]
struct RerankQuery {
    /// Its different words by their numbers.
    terms: HashMap<String, usize>,
    /// The numbers of pairs of words that stand next to each other in it, each once, the smaller word first.
    pairs: HashMap<(usize, usize), usize>,
    /// The pairs by their numbers.
    words_of_pairs: Vec<(usize, usize)>,
    words: u64,
    is_cut: bool,
}

impl RerankQuery {
    fn read(query: &str) -> Self {
        let mut asked = Self::default();
        let mut before = None;
        // Every word is told.
        let _ = each_word(query, |word| {
            asked.words += 1;
            let term = asked.term(word);
            if let (Some(before), Some(term)) = (before, term)
                && before != term
            {
                asked.pair(pair(before, term));
            }
            before = term;
            ControlFlow::Continue(())
        });
        asked
    }

    /// Gives a pair its number.
    fn pair(&mut self, pair: (usize, usize)) {
        if !self.pairs.contains_key(&pair) {
            self.pairs.insert(pair, self.words_of_pairs.len());
            self.words_of_pairs.push(pair);
        }
    }

    /// Returns the number of a word, which it gets while there is one.
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

/// What of one text matters. It is used for one after the other, and what one takes is by what is found in it.
struct TermCounts {
    /// How many words the text has.
    length: usize,
    /// How often each word of the query is in it.
    counts: Vec<u32>,
    /// Those that are.
    found: Vec<usize>,
    /// How near the words of each pair come to each other.
    nearest: Vec<usize>,
    /// Those pairs that do.
    met: Vec<usize>,
}

impl TermCounts {
    fn new(asked: &RerankQuery) -> Self {
        let (terms, pairs) = (asked.terms.len(), asked.pairs.len());
        let (counts, nearest) = (vec![0; terms], vec![usize::MAX; pairs]);
        Self { length: 0, counts, found: Vec::new(), nearest, met: Vec::new() }
    }

    fn clear(&mut self) {
        self.length = 0;
        for term in self.found.drain(..) {
            self.counts[term] = 0;
        }
        for pair in self.met.drain(..) {
            self.nearest[pair] = usize::MAX;
        }
    }

    fn read(&mut self, text: &str, asked: &RerankQuery, deadline: Instant) -> Result<(), ComputeError> {
        self.clear();
        let mut last = None;
        let reading = each_word(text, |word| {
            let place = self.length;
            self.length += 1;
            if place.is_multiple_of(WORDS_AT_ONCE) && check_deadline(deadline).is_err() {
                return ControlFlow::Break(());
            }
            if let Some(term) = asked.terms.get(word) {
                self.count(*term);
                if let Some((before, other)) = last {
                    self.meet(asked, pair(other, *term), place - before);
                }
                last = Some((place, *term));
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

    fn meet(&mut self, asked: &RerankQuery, pair: (usize, usize), distance: usize) {
        let Some(pair) = asked.pairs.get(&pair) else { return };
        if self.nearest[*pair] == usize::MAX {
            self.met.push(*pair);
        }
        self.nearest[*pair] = self.nearest[*pair].min(distance);
    }
}

/// What the words of the query are worth among these texts.
struct CorpusStats {
    weights: Vec<f64>,
    usual_length: f64,
    words: u64,
}

impl CorpusStats {
    fn read(
        texts: &[&str],
        asked: &RerankQuery,
        tally: &mut TermCounts,
        deadline: Instant,
    ) -> Result<Self, ComputeError> {
        let (mut holders, mut words) = (vec![0_usize; asked.terms.len()], 0_u64);
        for text in texts {
            tally.read(text, asked, deadline)?;
            tally.found.iter().for_each(|term| holders[*term] += 1);
            words += tally.length as u64;
        }
        let all = texts.len() as f64;
        let weight = |holders: usize| {
            let holders = holders as f64;
            (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
        };
        let usual_length = (words as f64 / all.max(1.0)).max(1.0);
        Ok(Self { weights: holders.into_iter().map(weight).collect(), usual_length, words })
    }

    fn worth(&self, tally: &mut TermCounts) -> f64 {
        // In one order, so that texts with the same words are worth the same.
        tally.found.sort_unstable();
        let length = 1.0 - B + B * tally.length as f64 / self.usual_length;
        let worth = tally.found.iter().map(|term| {
            let count = f64::from(tally.counts[*term]);
            self.weights[*term] * count * (K1 + 1.0) / (count + K1 * length)
        });
        worth.sum()
    }

    /// Returns what words add that follow each other in the query and stand near to each other in the text.
    fn nearness(&self, tally: &mut TermCounts, asked: &RerankQuery) -> f64 {
        tally.met.sort_unstable();
        let worth = tally.met.iter().map(|pair| {
            let (one, other) = asked.words_of_pairs[*pair];
            let weight = self.weights[one].min(self.weights[other]);
            NEARNESS * weight / tally.nearest[*pair] as f64
        });
        worth.sum()
    }
}

/// Tells the words of a text in lower case, one by one, until it is told to stop. Of scripts without spaces between words, each
/// sign is one.
fn each_word(text: &str, mut tell: impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut word = String::new();
    for sign in text.chars() {
        let is_alone = is_word_alone(sign);
        if !is_alone && sign.is_alphanumeric() {
            word.extend(sign.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            tell(&word)?;
            word.clear();
        }
        if is_alone && sign.is_alphanumeric() {
            tell(sign.encode_utf8(&mut [0; 4]))?;
        }
    }
    if word.is_empty() { ControlFlow::Continue(()) } else { tell(&word) }
}

/// Returns whether a sign is of the Chinese, Japanese or Thai script.
fn is_word_alone(sign: char) -> bool {
    matches!(sign, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
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
    fn rare_words_weigh_more_than_those_that_all_texts_have() {
        let texts = ["the tea and the cup", "the the the the", "the oolong"];
        assert_eq!(order("the oolong", &texts), [2, 1, 0]);
    }

    #[test]
    fn words_of_the_query_next_to_each_other_come_first() {
        let texts = [
            "green is a colour and this is tea of some sort here",
            "some sort here of green tea is this and a colour is",
            "nothing of the sort",
        ];
        assert_eq!(order("green tea", &texts), [1, 0, 2]);
    }

    #[test]
    fn what_has_no_word_is_worth_nothing_and_equals_keep_their_order() {
        let Ranking { ranked, words, is_query_cut } = ranking("Café", &["coffee", "a CAFÉ", "tea"]);
        assert!(!is_query_cut);
        assert_eq!(ranked.iter().map(|ranked| ranked.index).collect::<Vec<_>>(), [1, 0, 2]);
        assert_eq!((ranked[1].score, ranked[2].score, words), (0.0, 0.0, 5));
        assert!(ranked[0].score > 0.0);
    }

    #[test]
    fn scripts_without_spaces_are_read_sign_by_sign() {
        assert_eq!(order("緑茶", &["紅茶の店", "緑茶の店", "珈琲"]), [1, 0, 2]);
    }

    #[test]
    fn nothing_asked_or_given_is_no_error() {
        let nothing = Ranking { ranked: Vec::new(), words: 1, is_query_cut: false };
        assert_eq!(ranking("tea", &[]), nothing);
        assert_eq!(order("?!", &["a", ""]), [0, 1]);
    }

    #[test]
    fn the_same_words_again_in_the_query_are_worth_nothing_more() {
        let text = "green is not tea but tea is green tea";
        let once = ranking("green tea", &[text, "other"]);
        let again = ranking(&"green tea ".repeat(50), &[text, "other"]);
        assert_eq!(once.ranked, again.ranked);
    }

    #[test]
    fn words_beyond_the_first_different_ones_do_not_count() {
        let query: Vec<String> = (0..QUERY_TERMS_MAX + 1).map(|number| format!("w{number}")).collect();
        let (first, last) = ("w0".to_owned(), format!("w{QUERY_TERMS_MAX}"));
        let found = ranking(&query.join(" "), &[&first, &last]);
        assert!(found.is_query_cut);
        assert!(found.ranked[0].score > 0.0);
        assert_eq!((found.ranked[0].index, found.ranked[1].score), (0, 0.0));
        assert!(!ranking(&query[1..].join(" "), &[&first]).is_query_cut);
    }

    /// Pair by pair and place by place these would be ten thousand million comparisons.
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
    fn nothing_is_ordered_beyond_the_deadline() {
        let late = rerank("a", &["a", "b"], Instant::now());
        assert_eq!(late, Err(ComputeError::Late));
    }
}

//! Texts in the order in which they answer a query: BM25 over their words, and how near to each other these stand.
//!
//! The texts are their own collection: a word that all of them have tells nothing. Everything here is CPU work.

use std::cmp::Ordering;
use std::collections::HashMap;

/// How soon more of the same word counts no more (BM25).
const K1: f64 = 1.2;

/// How much the length of a text counts (BM25).
const B: f64 = 0.75;

/// What two words of the query next to each other add, beside what one of them is worth.
const NEARNESS: f64 = 0.5;

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
}

/// Orders texts by a query.
pub fn rerank<'t>(query: &str, texts: impl IntoIterator<Item = &'t str>) -> Ranking {
    let mut terms: Vec<String> = Vec::new();
    let asked: Vec<usize> = words(query)
        .map(|word| {
            terms.iter().position(|known| *known == word).unwrap_or_else(|| {
                terms.push(word);
                terms.len() - 1
            })
        })
        .collect();
    let numbers: HashMap<&str, usize> =
        terms.iter().enumerate().map(|(number, term)| (term.as_str(), number)).collect();
    let texts: Vec<Text> = texts.into_iter().map(|text| Text::read(text, &numbers)).collect();
    let collection = Collection::of(&texts, terms.len());
    let most: f64 = collection.weights.iter().sum();
    let mut ranked: Vec<Ranked> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let worth = collection.worth(text) + collection.nearness(text, &asked);
            Ranked { index, score: if worth > 0.0 { worth / (worth + most) } else { 0.0 } }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    let words = texts.iter().map(|text| text.length as u64).sum::<u64>() + asked.len() as u64;
    Ranking { ranked, words }
}

/// What of a text matters.
struct Text {
    /// How many words it has.
    length: usize,
    /// Where which words of the query stand, in order.
    places: Vec<(usize, usize)>,
}

impl Text {
    fn read(text: &str, numbers: &HashMap<&str, usize>) -> Self {
        let (mut length, mut places) = (0, Vec::new());
        for word in words(text) {
            places.extend(numbers.get(word.as_str()).map(|number| (length, *number)));
            length += 1;
        }
        Self { length, places }
    }
}

/// What the words of the query are worth among these texts.
struct Collection {
    weights: Vec<f64>,
    usual_length: f64,
}

impl Collection {
    fn of(texts: &[Text], terms: usize) -> Self {
        let mut holders = vec![0_usize; terms];
        for text in texts {
            let mut seen: Vec<usize> = text.places.iter().map(|(_, term)| *term).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.into_iter().for_each(|term| holders[term] += 1);
        }
        let all = texts.len() as f64;
        let weight = |holders: usize| {
            let holders = holders as f64;
            (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
        };
        let length: usize = texts.iter().map(|text| text.length).sum();
        Self {
            weights: holders.into_iter().map(weight).collect(),
            usual_length: (length as f64 / all.max(1.0)).max(1.0),
        }
    }

    fn worth(&self, text: &Text) -> f64 {
        let mut counts = vec![0_u32; self.weights.len()];
        for (_, term) in &text.places {
            counts[*term] += 1;
        }
        let length = 1.0 - B + B * text.length as f64 / self.usual_length;
        let worth = counts.into_iter().zip(&self.weights).map(|(count, weight)| {
            let count = f64::from(count);
            weight * count * (K1 + 1.0) / (count + K1 * length)
        });
        worth.sum()
    }

    /// Returns what words add that follow each other in the query and stand near to each other in the text.
    fn nearness(&self, text: &Text, asked: &[usize]) -> f64 {
        let pairs = asked.windows(2).filter(|pair| pair[0] != pair[1]);
        let worth = pairs.map(|pair| {
            let nearest = text
                .places
                .windows(2)
                .filter(|places| {
                    let found = (places[0].1, places[1].1);
                    found == (pair[0], pair[1]) || found == (pair[1], pair[0])
                })
                .map(|places| places[1].0 - places[0].0)
                .min();
            let weight = self.weights[pair[0]].min(self.weights[pair[1]]);
            nearest.map_or(0.0, |distance| NEARNESS * weight / distance as f64)
        });
        worth.sum()
    }
}

/// Returns the words of a text in lower case. Of scripts without spaces between words, each sign is one.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|run| !run.is_empty()).flat_map(split_run)
}

fn split_run(run: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    for sign in run.chars() {
        if is_word_alone(sign) {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
            words.push(sign.to_string());
        } else {
            word.extend(sign.to_lowercase());
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// Returns whether a sign is of the Chinese, Japanese or Thai script.
fn is_word_alone(sign: char) -> bool {
    matches!(sign, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(query: &str, texts: &[&str]) -> Vec<usize> {
        let Ranking { ranked, .. } = rerank(query, texts.iter().copied());
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
        let Ranking { ranked, words } = rerank("Café", ["coffee", "a CAFÉ", "tea"]);
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
        assert_eq!(rerank("tea", []), Ranking { ranked: Vec::new(), words: 1 });
        assert_eq!(order("?!", &["a", ""]), [0, 1]);
    }
}

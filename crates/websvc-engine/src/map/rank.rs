//! Ranks URLs by search words.
//!
//! The weight of a word is its rarity among the URLs (as in BM25), times the weight of the field: 3 for the title and
//! the last path segment, 2 for the rest of the path, 1 for the description and the host. A prefix of a longer word
//! counts half. The sum is multiplied by the share of the search words that the URL has. Equal scores are ordered by
//! length of the URL, then as found. URLs without any of the words come last, in the order in which they were found.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization;
use url::Url;
use websvc_types::MapLink;

const TITLE: f64 = 3.0;
const LAST_SEGMENT: f64 = 3.0;
const PATH: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
const HOST: f64 = 1.0;

/// The factor of a word that is only a prefix.
const PREFIX_FACTOR: f64 = 0.5;

/// The minimum length of a word that matches longer words by prefix.
const MIN_PREFIX_CHARS: usize = 3;

/// The maximum number of different search words that are used.
const MAX_WORDS: usize = 32;

/// A link and its score.
struct Ranked {
    link: MapLink,
    score: f64,
    path_length: usize,
}

/// Sorts links by search words. The cost is linear in their total length, times the number of words.
pub(super) fn rank(links: Vec<MapLink>, search: &str) -> Vec<MapLink> {
    let mut search_words: Vec<String> = Vec::new();
    for word in words(search) {
        if search_words.len() < MAX_WORDS && !search_words.contains(&word) {
            search_words.push(word);
        }
    }
    if search_words.is_empty() {
        return links;
    }
    let weights: Vec<Vec<f64>> = links.iter().map(|link| weights(link, &search_words)).collect();
    let link_count = links.len() as f64;
    let rarity: Vec<f64> = (0..search_words.len())
        .map(|word| {
            let match_count = weights.iter().filter(|link_weights| link_weights[word] > 0.0).count() as f64;
            (1.0 + (link_count - match_count + 0.5) / (match_count + 0.5)).ln()
        })
        .collect();
    let mut ranked: Vec<Ranked> = links
        .into_iter()
        .zip(weights)
        .map(|(link, weights)| {
            let match_count = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
            let sum: f64 = weights.iter().zip(&rarity).map(|(weight, rarity)| weight * rarity).sum();
            let path_length = link.url.len();
            Ranked { link, score: sum * match_count / search_words.len() as f64, path_length }
        })
        .collect();
    // The sort is stable, so equal links stay in the order in which they were found.
    ranked.sort_by(order);
    ranked.into_iter().map(|ranked| ranked.link).collect()
}

fn order(a: &Ranked, b: &Ranked) -> Ordering {
    let by_length = if a.score > 0.0 { a.path_length.cmp(&b.path_length) } else { Ordering::Equal };
    b.score.total_cmp(&a.score).then(by_length)
}

/// Returns the weight of each search word in a link, by the fields that contain it.
fn weights(link: &MapLink, search_words: &[String]) -> Vec<f64> {
    let mut weights = vec![0.0; search_words.len()];
    let mut add_field = |text: &str, field_weight: f64| {
        let mut best = vec![0.0_f64; search_words.len()];
        for word in words(text) {
            for (best, search_word) in best.iter_mut().zip(search_words) {
                *best = best.max(similarity(&word, search_word));
            }
        }
        weights.iter_mut().zip(best).for_each(|(weight, best)| *weight += best * field_weight);
    };
    add_field(link.title.as_deref().unwrap_or_default(), TITLE);
    add_field(link.description.as_deref().unwrap_or_default(), DESCRIPTION);
    if let Ok(url) = Url::parse(&link.url) {
        let path = percent_encoding::percent_decode_str(url.path().trim_end_matches('/')).decode_utf8_lossy();
        let (above, last) = path.rsplit_once('/').unwrap_or_default();
        add_field(last, LAST_SEGMENT);
        add_field(above, PATH);
        add_field(url.host_str().unwrap_or_default(), HOST);
    }
    weights
}

fn similarity(word: &str, search_word: &str) -> f64 {
    if word == search_word {
        1.0
    } else if search_word.chars().count() >= MIN_PREFIX_CHARS && word.starts_with(search_word) {
        PREFIX_FACTOR
    } else {
        0.0
    }
}

/// Returns the words of a text in lower case, with compatible characters normalized (NFKC).
fn words(text: &str) -> impl Iterator<Item = String> {
    let text: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(search: &str, links: &[(&str, &str)]) -> Vec<String> {
        let link = |(path, title): &(&str, &str)| MapLink {
            url: format!("http://a.test/{path}"),
            title: (!title.is_empty()).then(|| (*title).to_owned()),
            description: None,
        };
        let links = rank(links.iter().map(link).collect(), search);
        links.into_iter().map(|link| link.url["http://a.test/".len()..].to_owned()).collect()
    }

    #[test]
    fn words_weigh_by_the_field_that_contains_them() {
        let links = [("x", ""), ("tea/x/y", ""), ("y/tea", ""), ("z", "Tea"), ("tea", "Tea")];
        assert_eq!(ranked("tea", &links), ["tea", "z", "y/tea", "tea/x/y", "x"]);
    }

    #[test]
    fn rare_words_and_complete_matches_rank_higher() {
        let links = [("green-apple", ""), ("green-pear", ""), ("tea", ""), ("green-tea", ""), ("green", "")];
        assert_eq!(ranked("green tea", &links)[..2], ["green-tea", "tea"]);
    }

    #[test]
    fn prefixes_count_half_and_case_and_width_do_not_matter() {
        let links = [("teapots", ""), ("TEA", ""), ("te", ""), ("%E8%8C%B6", "")];
        assert_eq!(ranked("Ｔea", &links), ["TEA", "teapots", "te", "%E8%8C%B6"]);
        assert_eq!(ranked("茶", &links)[0], "%E8%8C%B6");
        assert_eq!(ranked(" - ", &links)[0], "teapots");
    }
}

//! Which URLs are the best for some words.
//!
//! Each word counts by its rarity among the URLs (as in BM25) and by where it stands: 3 in the title and in the last
//! segment of the path, 2 in the rest of the path, 1 in the description and in the host. The beginning of a longer word
//! counts half. The sum is taken by the share of the words that a URL has. Of equals the shorter path comes first, then
//! what was found first. URLs without any of the words come last, in the order in which they were found.

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization;
use url::Url;
use websvc_types::MapLink;

const TITLE: f64 = 3.0;
const LAST_SEGMENT: f64 = 3.0;
const PATH: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
const HOST: f64 = 1.0;

/// What the beginning of a longer word counts.
const BEGINNING: f64 = 0.5;

/// Shorter words do not stand for longer ones that begin with them.
const MIN_BEGINNING_CHARS: usize = 3;

/// So many different words of a search count.
const MAX_WORDS: usize = 32;

/// A link with what its words are worth.
struct Ranked {
    link: MapLink,
    score: f64,
    path_length: usize,
}

/// Puts the links in order. Takes time linear in their length, times the words.
pub(super) fn rank(links: Vec<MapLink>, search: &str) -> Vec<MapLink> {
    let mut wanted: Vec<String> = Vec::new();
    for word in words(search) {
        if wanted.len() < MAX_WORDS && !wanted.contains(&word) {
            wanted.push(word);
        }
    }
    if wanted.is_empty() {
        return links;
    }
    let worth: Vec<Vec<f64>> = links.iter().map(|link| worth(link, &wanted)).collect();
    let total = links.len() as f64;
    let rarity: Vec<f64> = (0..wanted.len())
        .map(|word| {
            let having = worth.iter().filter(|worth| worth[word] > 0.0).count() as f64;
            (1.0 + (total - having + 0.5) / (having + 0.5)).ln()
        })
        .collect();
    let mut ranked: Vec<Ranked> = links
        .into_iter()
        .zip(worth)
        .map(|(link, worth)| {
            let having = worth.iter().filter(|worth| **worth > 0.0).count() as f64;
            let sum: f64 = worth.iter().zip(&rarity).map(|(worth, rarity)| worth * rarity).sum();
            let path_length = link.url.len();
            Ranked { link, score: sum * having / wanted.len() as f64, path_length }
        })
        .collect();
    // Stable: what was found first stays first.
    ranked.sort_by(order);
    ranked.into_iter().map(|ranked| ranked.link).collect()
}

fn order(a: &Ranked, b: &Ranked) -> Ordering {
    let by_length = if a.score > 0.0 { a.path_length.cmp(&b.path_length) } else { Ordering::Equal };
    b.score.total_cmp(&a.score).then(by_length)
}

/// Returns what each of the words is worth by where it stands.
fn worth(link: &MapLink, wanted: &[String]) -> Vec<f64> {
    let mut worth = vec![0.0; wanted.len()];
    let mut count = |text: &str, weight: f64| {
        let mut best = vec![0.0_f64; wanted.len()];
        for word in words(text) {
            for (best, wanted) in best.iter_mut().zip(wanted) {
                *best = best.max(likeness(&word, wanted));
            }
        }
        worth.iter_mut().zip(best).for_each(|(worth, best)| *worth += best * weight);
    };
    count(link.title.as_deref().unwrap_or_default(), TITLE);
    count(link.description.as_deref().unwrap_or_default(), DESCRIPTION);
    if let Ok(url) = Url::parse(&link.url) {
        let path = percent_encoding::percent_decode_str(url.path().trim_end_matches('/')).decode_utf8_lossy();
        let (above, last) = path.rsplit_once('/').unwrap_or_default();
        count(last, LAST_SEGMENT);
        count(above, PATH);
        count(url.host_str().unwrap_or_default(), HOST);
    }
    worth
}

fn likeness(word: &str, wanted: &str) -> f64 {
    if word == wanted {
        1.0
    } else if wanted.chars().count() >= MIN_BEGINNING_CHARS && word.starts_with(wanted) {
        BEGINNING
    } else {
        0.0
    }
}

/// Returns the words of a text, in lower case, compatible forms as one.
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
    fn the_place_of_a_word_counts() {
        let links = [("x", ""), ("tea/x/y", ""), ("y/tea", ""), ("z", "Tea"), ("tea", "Tea")];
        assert_eq!(ranked("tea", &links), ["tea", "z", "y/tea", "tea/x/y", "x"]);
    }

    #[test]
    fn rare_words_and_all_of_them_count() {
        let links = [("green-apple", ""), ("green-pear", ""), ("tea", ""), ("green-tea", ""), ("green", "")];
        assert_eq!(ranked("green tea", &links)[..2], ["green-tea", "tea"]);
    }

    #[test]
    fn beginnings_count_half_and_spelling_does_not() {
        let links = [("teapots", ""), ("TEA", ""), ("te", ""), ("%E8%8C%B6", "")];
        assert_eq!(ranked("Ｔea", &links), ["TEA", "teapots", "te", "%E8%8C%B6"]);
        assert_eq!(ranked("茶", &links)[0], "%E8%8C%B6");
        assert_eq!(ranked(" - ", &links)[0], "teapots");
    }
}

//! Random queries of words of the indexed pages.
//!
//! There are many of them, because the caches of the process would serve most of a load of few queries.

use std::path::{Path, PathBuf};

use crate::parts::html_files;

/// Number of queries, more than the entries of the caches of documents and results.
const QUERIES: usize = 2_000;

/// Maximum number of words from each page.
const MAX_PAGE_WORDS: usize = 1_000;

/// Returns queries of one to three words. Words have the same frequencies as in the pages.
pub(crate) fn varied(corpus: &Path) -> Vec<String> {
    let mut files = html_files(corpus);
    files.sort_unstable();
    let words: Vec<String> = files.iter().flat_map(|file| words(file)).collect();
    let mut random = Random(20_261_123);
    (0..QUERIES)
        .map(|_| {
            let count = 1 + random.below(3);
            random.choose(&words, count)
        })
        .collect()
}

/// Returns pages, each several times with different pairs of its words.
pub(crate) fn word_pairs(pages: &[PathBuf]) -> Vec<(&Path, String)> {
    let words: Vec<Vec<String>> = pages.iter().map(|page| words(page)).collect();
    let mut random = Random(20_261_123);
    let pages = pages.iter().zip(&words).cycle();
    pages.take(QUERIES).map(|(page, words)| (page.as_path(), random.choose(words, 2))).collect()
}

/// Returns the words of a page's text with repetitions.
fn words(file: &Path) -> Vec<String> {
    let html = std::fs::read_to_string(file).unwrap_or_default();
    // The text between tags, after the head and the navigation.
    let text = html.split_once("role=\"main\"").map_or(html.as_str(), |(_, main)| main);
    let text = text.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    let words = text.flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphabetic()));
    words.filter(|word| word.len() >= 4).take(MAX_PAGE_WORDS).map(str::to_ascii_lowercase).collect()
}

/// A pseudo-random number generator with a fixed seed.
struct Random(u64);

impl Random {
    /// Returns a number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Returns `count` random words, separated by spaces.
    fn choose(&mut self, words: &[String], count: usize) -> String {
        let chosen: Vec<&str> = (0..count).map(|_| words[self.below(words.len())].as_str()).collect();
        chosen.join(" ")
    }
}

//! The passages in which a word occurs, so that a text is looked up without a search through all pages.

use std::collections::HashMap;
use std::sync::Arc;

use crate::page::{Page, Passage};

/// A passage by the indexes of its page and of itself.
pub(crate) type Place = (usize, usize);

/// The passages of pages, and the ones with each word.
#[derive(Debug)]
pub(crate) struct WordIndex<'a> {
    /// All passages in the order of the pages.
    passages: Vec<(Place, &'a Passage)>,
    /// The indexes of passages by word, in order.
    by_word: HashMap<&'a str, Vec<usize>>,
}

impl<'a> WordIndex<'a> {
    pub(crate) fn new(pages: &'a [Arc<Page>]) -> Self {
        let (mut passages, mut by_word) = (Vec::new(), HashMap::<&str, Vec<usize>>::new());
        for (page_index, page) in pages.iter().enumerate() {
            for (passage_index, passage) in page.passages.iter().enumerate() {
                let index = passages.len();
                passages.push(((page_index, passage_index), passage));
                for word in passage.words.split_whitespace() {
                    let with_word = by_word.entry(word).or_default();
                    if with_word.last() != Some(&index) {
                        with_word.push(index);
                    }
                }
            }
        }
        Self { passages, by_word }
    }

    /// Returns the place and the passage at an index.
    pub(crate) fn get(&self, index: usize) -> (Place, &'a Passage) {
        self.passages[index]
    }

    /// Returns the indexes of the passages that can have all of these words: those with the rarest one, or all of them if
    /// there are no words.
    pub(crate) fn candidates<'w>(&self, words: impl Iterator<Item = &'w str>) -> Vec<usize> {
        let rarest = words.map(|word| self.with(word)).min_by_key(|with_word| with_word.len());
        rarest.map_or_else(|| (0..self.passages.len()).collect(), <[usize]>::to_vec)
    }

    /// Returns the indexes of the passages with at least `min_count` of these words, each of which is named once.
    pub(crate) fn with_several<'w>(
        &self,
        words: impl Iterator<Item = &'w str>,
        min_count: usize,
    ) -> Vec<usize> {
        let mut counts = vec![0; self.passages.len()];
        for index in words.flat_map(|word| self.with(word)) {
            counts[*index] += 1;
        }
        (0..counts.len()).filter(|index| counts[*index] >= min_count).collect()
    }

    fn with(&self, word: &str) -> &[usize] {
        self.by_word.get(word).map_or(&[], Vec::as_slice)
    }
}

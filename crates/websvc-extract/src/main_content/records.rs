//! Completes the records of a list: a price belongs to the product whose name is kept.
//!
//! A price alone says little about its record, so the model often rejects it: on most pages, prices are those of offers
//! around the content. If nearly all records of a list are kept, its prices are content, too.

use super::blocks::{Block, BlockTree};
use crate::dom::Dom;
use crate::offer::has_price;

/// Minimum number of siblings of a record that look the same.
const MIN_SIBLINGS: u32 = 2;

/// Maximum number of words of a record: longer elements are sections, which may contain several kinds of content.
const MAX_RECORD_WORDS: f32 = 120.0;

/// Maximum number of words of a price with its label. A number with a fraction counts as two.
const MAX_PRICE_WORDS: f32 = 6.0;

/// The share of the records of a list that must be kept, at least in part.
const KEPT_RECORDS: f32 = 0.8;

/// The share of the words of a list that must be kept.
const KEPT_WORDS: f32 = 0.5;

/// The records of one list.
#[derive(Debug, Clone, Copy, Default)]
struct List {
    records: f32,
    kept_records: f32,
    words: f32,
    kept_words: f32,
}

impl List {
    fn is_kept(&self) -> bool {
        self.kept_records >= KEPT_RECORDS * self.records && self.kept_words >= KEPT_WORDS * self.words
    }
}

/// Keeps the prices of records of which other text is kept, in lists that are kept.
pub(super) fn keep_prices(dom: &Dom, tree: &BlockTree, kept: &mut [bool]) {
    let may_be_price = |block: &Block| block.digits > 0 && block.size.words <= MAX_PRICE_WORDS;
    let is_open = |index: &usize| !kept[*index] && may_be_price(&tree.blocks[*index]);
    let open: Vec<usize> = (0..kept.len()).filter(is_open).collect();
    if open.is_empty() {
        return;
    }
    let is_in_kept_record = in_kept_records(tree, &kept_words(tree, kept));
    for index in open {
        let block = &tree.blocks[index];
        // The text comes last, because searching it for currencies is expensive.
        kept[index] = is_in_kept_record[block.owner] && has_price(&block.text(dom));
    }
}

/// Returns for each element whether a record that is kept in part, of a list that is kept, is the element or around it.
fn in_kept_records(tree: &BlockTree, kept_words: &[f32]) -> Vec<bool> {
    let lists = lists(tree, kept_words);
    let mut is_inside = vec![false; tree.elements.len()];
    // Forwards, so that parents come before their children.
    for (index, element) in tree.elements.iter().enumerate() {
        let is_kept_record =
            is_record(tree, index) && kept_words[index] > 0.0 && lists[element.parent].is_kept();
        is_inside[index] = is_inside[element.parent] || is_kept_record;
    }
    is_inside
}

fn is_record(tree: &BlockTree, element: usize) -> bool {
    let element = &tree.elements[element];
    element.similar_siblings >= MIN_SIBLINGS && element.size.words <= MAX_RECORD_WORDS
}

/// Returns for each element the number of kept words inside.
fn kept_words(tree: &BlockTree, kept: &[bool]) -> Vec<f32> {
    let mut words = vec![0.0; tree.elements.len()];
    for (block, _) in tree.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        words[block.owner] += block.size.words;
    }
    // Backwards, so that children come before their parents.
    for index in (1..words.len()).rev() {
        words[tree.elements[index].parent] += words[index];
    }
    words
}

/// Returns for each element the records among its children.
fn lists(tree: &BlockTree, kept_words: &[f32]) -> Vec<List> {
    let mut lists = vec![List::default(); tree.elements.len()];
    for (index, element) in tree.elements.iter().enumerate() {
        if is_record(tree, index) && element.size.words > 0.0 {
            let list = &mut lists[element.parent];
            list.records += 1.0;
            list.kept_records += f32::from(u8::from(kept_words[index] > 0.0));
            list.words += element.size.words;
            list.kept_words += kept_words[index];
        }
    }
    lists
}

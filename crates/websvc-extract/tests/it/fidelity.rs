//! The share of the structure of known main content that markdown keeps: headings, items, rows, cells, code, links,
//! images, their order, and the heading of the page.

#![allow(dead_code, reason = "the tests and the example `score` use different parts")]

use crate::structure::{Image, Row, Structure, key};
use std::collections::{HashMap, HashSet};

/// Names of the measures, in the order of [`Fidelity`].
pub(crate) const MEASURES: [&str; 9] =
    ["headings", "items", "rows", "cells", "code lines", "links", "images", "order", "own h1"];

/// Minimum number of words that are known to be main content wherever they are in the known text. Fewer have to be a
/// line of it.
const MIN_WORDS: usize = 4;

/// Minimum number of words of a block that shows where the main content is.
const MIN_ANCHOR_WORDS: usize = 6;

/// Kept and all elements for each measure.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fidelity {
    pub(crate) counts: [[usize; 2]; 9],
}

impl Fidelity {
    /// Compares the markdown of a page with the parts of the page whose text is in the known main text.
    pub(crate) fn of_page(page: &Structure, markdown: &Structure, truth: &str) -> Fidelity {
        let lines: HashSet<String> = truth.lines().map(key).collect();
        let truth = format!(" {} ", key(truth));
        // A few words may be in the main text by chance: the names of menu entries often are.
        let is_main = |text: &str| match text.split(' ').count() {
            0..MIN_WORDS => lines.contains(text),
            _ => truth.contains(&format!(" {text} ")),
        };
        let mut main = page.clone();
        main.headings.retain(|(_, text)| is_main(text));
        main.items.retain(|(_, text)| is_main(text));
        main.code.clear();
        let code = page.code.iter();
        let compact: String = truth.chars().filter(|c| !c.is_whitespace()).collect();
        let in_compact = |line: &str| compact.contains(&key(line).replace(' ', "")) && !key(line).is_empty();
        main.code.extend(code.filter(|line| in_compact(line)).cloned());
        main.links.retain(|(text, _)| is_main(text));
        let is_data = data_tables(&page.rows);
        main.rows.retain(|row| is_data[&row.table] && is_main(&row_key(row)));
        let is_anchor = |block: &&String| block.split(' ').count() >= MIN_ANCHOR_WORDS && is_main(block);
        let first = page.blocks.iter().position(|block| is_anchor(&block));
        let last = page.blocks.iter().rposition(|block| is_anchor(&block));
        let (first, last) = (first.unwrap_or(usize::MAX), last.unwrap_or(0));
        main.images.retain(|image| image.block > first && image.block <= last);
        main.blocks.retain(|block| is_anchor(&block));
        let mut fidelity = Fidelity::of_structures(&main, markdown);
        if let Some((_, title)) = page.headings.iter().find(|(level, _)| *level == 1) {
            let is_first = markdown.headings.first().is_some_and(|first| first == &(1, title.clone()));
            fidelity.counts[8] = [usize::from(is_first), 1];
        }
        fidelity
    }

    /// Compares a structure with the known one.
    pub(crate) fn of_structures(truth: &Structure, found: &Structure) -> Fidelity {
        let mut fidelity = Fidelity::default();
        let texts = |list: &[(usize, String)]| list.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
        fidelity.counts[0] = common(texts(&truth.headings), texts(&found.headings));
        fidelity.counts[1] = common(texts(&truth.items), texts(&found.items));
        let rows: Vec<&Row> = truth.rows.iter().filter(|row| filled(row).count() > 1).collect();
        fidelity.counts[2] = [kept_rows(&rows, &found.rows), rows.len()];
        let cells = |rows: &mut dyn Iterator<Item = &Row>| -> Vec<String> {
            rows.flat_map(|row| filled(row).cloned().collect::<Vec<_>>()).collect()
        };
        fidelity.counts[3] = common(cells(&mut rows.iter().copied()), cells(&mut found.rows.iter()));
        fidelity.counts[4] = common(truth.code.clone(), found.code.clone());
        fidelity.counts[5] = common(truth.links.clone(), found.links.clone());
        let sources = |images: &[Image]| -> Vec<String> {
            let mut list: Vec<String> = images.iter().map(|image| image.source.clone()).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        fidelity.counts[6] = common(sources(&truth.images), sources(&found.images));
        fidelity.counts[7] = in_order(&truth.blocks, &found.blocks);
        fidelity
    }

    pub(crate) fn add(&mut self, other: &Fidelity) {
        for (sum, count) in self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
            *sum += count;
        }
    }

    /// Returns the share of kept elements for each measure, `None` where there are none.
    pub(crate) fn shares(&self) -> [Option<f64>; 9] {
        self.counts.map(|[kept, all]| (all > 0).then(|| kept as f64 / all as f64))
    }
}

fn filled(row: &Row) -> impl Iterator<Item = &String> {
    row.cells.iter().filter(|cell| !cell.is_empty())
}

fn row_key(row: &Row) -> String {
    filled(row).cloned().collect::<Vec<_>>().join(" ")
}

/// Returns for each table if it has at least two rows of several short cells.
fn data_tables(rows: &[Row]) -> HashMap<usize, bool> {
    let mut tables: HashMap<usize, [usize; 2]> = HashMap::new();
    for row in rows {
        let counts = tables.entry(row.table).or_default();
        counts[0] += usize::from(filled(row).count() > 1);
        counts[1] += usize::from(row.cells.iter().any(|cell| cell.len() > 300));
    }
    tables.into_iter().map(|(table, [rows, long])| (table, rows >= 2 && long * 4 <= rows)).collect()
}

/// Returns the number of elements of `truth` that are in `found`, each once, and the number of all.
fn common<T: std::hash::Hash + Eq>(truth: Vec<T>, found: Vec<T>) -> [usize; 2] {
    let all = truth.len();
    let mut counts: HashMap<T, usize> = HashMap::new();
    for element in found {
        *counts.entry(element).or_default() += 1;
    }
    let mut kept = 0;
    for element in truth {
        if let Some(count) = counts.get_mut(&element).filter(|count| **count > 0) {
            *count -= 1;
            kept += 1;
        }
    }
    [kept, all]
}

/// Counts the rows with a row in `found` that has all of their cells in order. A cell may be repeated there, because
/// it spans rows.
fn kept_rows(rows: &[&Row], found: &[Row]) -> usize {
    let mut by_cell: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, row) in found.iter().enumerate() {
        for cell in filled(row) {
            by_cell.entry(cell).or_default().push(index);
        }
    }
    let mut used = vec![false; found.len()];
    let mut is_kept = |row: &&&Row| {
        let candidates = filled(row).map(|cell| by_cell.get(cell.as_str()));
        let fewest = candidates.min_by_key(|list| list.map_or(0, Vec::len)).flatten();
        let has_all = |&&index: &&usize| {
            let mut cells = found[index].cells.iter();
            !used[index] && filled(row).all(|cell| cells.any(|other| other == cell))
        };
        let kept = fewest.and_then(|list| list.iter().take(1_000).find(has_all)).copied();
        kept.inspect(|&index| used[index] = true).is_some()
    };
    rows.iter().filter(|row| is_kept(row)).count()
}

/// Counts the neighboring blocks of `truth` that are in the same order in `found`, and those that are in it at all.
fn in_order(truth: &[String], found: &[String]) -> [usize; 2] {
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    for (index, block) in found.iter().enumerate() {
        // The place of a repeated block says nothing.
        places.entry(block).and_modify(|place| *place = None).or_insert(Some(index));
    }
    let known: Vec<usize> =
        truth.iter().filter_map(|block| places.get(block.as_str()).copied().flatten()).collect();
    let kept = known.windows(2).filter(|pair| pair[0] < pair[1]).count();
    [kept, known.len().saturating_sub(1)]
}

//! Removes headers and footers: rows at the edges of a page that repeat on other pages.

use std::collections::HashMap;

use super::segment::Segment;

/// The share of the page height, at the top and at the bottom, in which rows can be headers or footers.
const EDGE_SHARE: f32 = 0.11;
/// The share of the page height below which the last line can be a page number.
const PAGE_NUMBER_SHARE: f32 = 0.8;
/// The words before the numbers of pages.
const PAGE_WORDS: [&str; 9] =
    ["page", "seite", "página", "pagina", "side", "sida", "strona", "страница", "σελίδα"];
/// The maximum number of rows of a header or footer.
const MAX_ROWS: usize = 3;
/// The minimum number of pages on which a row must repeat to be a header or footer.
const MIN_PAGES: u32 = 3;
/// The maximum number of distinct keys that are counted.
const MAX_KEYS: usize = 100_000;

/// The rows that repeat at the edges of pages.
#[derive(Debug, Default)]
pub(super) struct RunningElements {
    /// The number of rows with a key.
    counts: HashMap<String, u32>,
}

/// A row at the edge of a page.
struct EdgeRow {
    /// Indexes of its segments.
    segments: Vec<usize>,
    /// The keys under which the row is counted.
    keys: Vec<String>,
}

impl RunningElements {
    /// Counts the rows at the edges of a page.
    pub(super) fn learn(&mut self, page: u32, segments: &[Segment], height: f32) {
        for edge in edges(page, segments, height) {
            for key in edge.into_iter().flat_map(|row| row.keys) {
                if self.counts.len() < MAX_KEYS {
                    *self.counts.entry(key).or_default() += 1;
                }
            }
        }
    }

    /// Removes the headers and footers from a page of a document of `pages` pages.
    pub(super) fn strip(&self, page: u32, pages: u32, segments: &mut Vec<Segment>, height: f32) {
        let needed = if pages <= 4 { 2.max(pages.saturating_sub(1)) } else { MIN_PAGES };
        let mut removed = Vec::new();
        for edge in edges(page, segments, height) {
            for row in edge {
                // Headers and footers are outermost: all rows inside of the first other row are content.
                if !row.keys.iter().any(|key| self.counts.get(key).is_some_and(|count| *count >= needed)) {
                    break;
                }
                removed.extend(row.segments);
            }
        }
        if let Some(number) = page_number(page, segments, height)
            && !removed.contains(&number)
        {
            removed.push(number);
        }
        // If nothing else remains, the page repeats as a whole, and is not a header or footer.
        if removed.len() == segments.len() {
            return;
        }
        let mut index = 0;
        segments.retain(|_| {
            index += 1;
            !removed.contains(&(index - 1))
        });
    }
}

/// Returns the lowest segment if it is only the number of the page, also in a document of one page.
fn page_number(page: u32, segments: &[Segment], height: f32) -> Option<usize> {
    let lowest = |a: &(usize, &Segment), b: &(usize, &Segment)| a.1.y.total_cmp(&b.1.y);
    let (index, segment) = segments.iter().enumerate().max_by(lowest)?;
    let is_alone = segments.iter().filter(|other| (other.y - segment.y).abs() < 3.0).count() == 1;
    let is_number = is_page_number(&segment.text(), page + 1);
    (is_alone && is_number && segment.y > height * PAGE_NUMBER_SHARE).then_some(index)
}

/// Returns whether a text is only the number of a page: "3", "- 3 -", "Page 3", "3 / 8" or "Page 3 of 8".
fn is_page_number(text: &str, page: u32) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split([' ', '/', '-', '–']).filter(|word| !word.is_empty()).collect();
    let words = match words.as_slice() {
        [first, rest @ ..] if PAGE_WORDS.contains(first) => rest,
        words => words,
    };
    let number = |word: &str| word.parse::<u32>().ok();
    match words {
        [number_of_page] => number(number_of_page) == Some(page),
        [number_of_page, total]
        | [number_of_page, "of" | "von" | "de" | "sur" | "di" | "из" | "z", total] => {
            number(number_of_page) == Some(page) && number(total).is_some_and(|total| total >= page)
        }
        _ => false,
    }
}

/// Returns the rows at the top and at the bottom of a page, both from the edge inwards.
fn edges(page: u32, segments: &[Segment], height: f32) -> [Vec<EdgeRow>; 2] {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by(|a, b| segments[*a].y.total_cmp(&segments[*b].y));
    let top = order.iter().copied().filter(|index| segments[*index].y < height * EDGE_SHARE);
    let bottom = order.iter().copied().rev().filter(|index| segments[*index].y > height * (1.0 - EDGE_SHARE));
    [rows("top", page, segments, top), rows("bottom", page, segments, bottom)]
}

fn rows(edge: &str, page: u32, segments: &[Segment], order: impl Iterator<Item = usize>) -> Vec<EdgeRow> {
    let mut rows: Vec<EdgeRow> = Vec::new();
    for index in order {
        let y = segments[index].y;
        let is_full = rows.len() == MAX_ROWS;
        match rows.last_mut() {
            Some(row) if (segments[row.segments[0]].y - y).abs() < 3.0 => row.segments.push(index),
            _ if is_full => break,
            _ => rows.push(EdgeRow { segments: vec![index], keys: Vec::new() }),
        }
    }
    for row in &mut rows {
        row.segments.sort_by(|a, b| segments[*a].area.x0.total_cmp(&segments[*b].area.x0));
        let texts: Vec<String> = row.segments.iter().map(|index| segments[*index].text()).collect();
        let y = (segments[row.segments[0]].y / 4.0).round();
        row.keys = keys(edge, y, page, &texts.join(" "));
    }
    rows
}

/// Returns the keys of a row: its position with the text, in which all numbers are equal. If the row begins or ends
/// with a number, also its position with the difference to the page number, because running titles change.
fn keys(edge: &str, y: f32, page: u32, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut keys = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    let normalized: Vec<String> = words.iter().map(|word| without_number(word)).collect();
    keys.push(format!("{edge} {y} {}", normalized.join(" ")));
    for number in [words.first(), words.last()].into_iter().flatten() {
        let digits = number.trim_matches(|character: char| !character.is_ascii_digit());
        if let Ok(number) = digits.parse::<i64>()
            && digits.len() <= 4
        {
            keys.push(format!("{edge} {y} page {}", number - i64::from(page)));
        }
    }
    keys.dedup();
    keys
}

/// Returns a word with each number replaced by `#`, including Roman numerals.
fn without_number(word: &str) -> String {
    if word.len() <= 7 && word.chars().all(|character| matches!(character, 'i' | 'v' | 'x' | 'l' | 'c')) {
        return "#".to_owned();
    }
    let mut normalized = String::new();
    for character in word.chars() {
        match character {
            '0'..='9' if normalized.ends_with('#') => {}
            '0'..='9' => normalized.push('#'),
            other => normalized.push(other),
        }
    }
    normalized
}

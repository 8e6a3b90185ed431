//! Headers and footers: rows at the edge of a page that come again on others.

use std::collections::HashMap;

use super::lines::Segment;

/// Rows in this share of the page's height, at its top and at its bottom, may be furniture.
const EDGE: f32 = 0.11;
/// So many rows at an edge may be furniture.
const MAX_ROWS: usize = 3;
/// A row is furniture when it is on so many pages.
const MIN_PAGES: u32 = 3;
/// More rows than this are not remembered.
const MAX_KEYS: usize = 100_000;

/// Text that repeats at the edges of pages.
#[derive(Debug, Default)]
pub(super) struct RunningElements {
    seen: HashMap<String, u32>,
}

/// A row at an edge, by the segments it has.
struct EdgeRow {
    segments: Vec<usize>,
    keys: Vec<String>,
}

impl RunningElements {
    /// Learns the edges of a page.
    pub(super) fn learn(&mut self, page: u32, segments: &[Segment], height: f32) {
        for edge in edges(page, segments, height) {
            for key in edge.into_iter().flat_map(|row| row.keys) {
                if self.seen.len() < MAX_KEYS {
                    *self.seen.entry(key).or_default() += 1;
                }
            }
        }
    }

    /// Takes the furniture off a page of a document of so many pages.
    pub(super) fn strip(&self, page: u32, pages: u32, segments: &mut Vec<Segment>, height: f32) {
        let needed = if pages <= 4 { 2.max(pages.saturating_sub(1)) } else { MIN_PAGES };
        let mut gone = Vec::new();
        for edge in edges(page, segments, height) {
            for row in edge {
                // Furniture lies outside of the content: what is behind the first row that stays, stays too.
                if !row.keys.iter().any(|key| self.seen.get(key).is_some_and(|count| *count >= needed)) {
                    break;
                }
                gone.extend(row.segments);
            }
        }
        // A page of nothing else is a page that is repeated, not furniture.
        if gone.len() == segments.len() {
            return;
        }
        let mut index = 0;
        segments.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
    }
}

/// Returns the rows of the top, from the uppermost, and of the bottom, from the lowest.
fn edges(page: u32, segments: &[Segment], height: f32) -> [Vec<EdgeRow>; 2] {
    let mut order: Vec<usize> = (0..segments.len()).collect();
    order.sort_by(|a, b| segments[*a].y.total_cmp(&segments[*b].y));
    let top = order.iter().copied().filter(|index| segments[*index].y < height * EDGE);
    let bottom = order.iter().copied().rev().filter(|index| segments[*index].y > height * (1.0 - EDGE));
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
        let at = (segments[row.segments[0]].y / 4.0).round();
        row.keys = keys(edge, at, page, &texts.join(" "));
    }
    rows
}

/// Returns under which keys a row is counted: its text with numbers made equal, and, when it begins or ends with the
/// number of the page, its place alone: running titles change.
fn keys(edge: &str, at: f32, page: u32, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut keys = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    let plain: Vec<String> = words.iter().map(|word| without_number(word)).collect();
    keys.push(format!("{edge} {at} {}", plain.join(" ")));
    for number in [words.first(), words.last()].into_iter().flatten() {
        let digits = number.trim_matches(|character: char| !character.is_ascii_digit());
        if let Ok(number) = digits.parse::<i64>()
            && digits.len() <= 4
        {
            keys.push(format!("{edge} {at} page {}", number - i64::from(page)));
        }
    }
    keys.dedup();
    keys
}

/// Returns a word with its digits as one sign; Roman numbers count as such.
fn without_number(word: &str) -> String {
    if word.len() <= 7 && word.chars().all(|character| matches!(character, 'i' | 'v' | 'x' | 'l' | 'c')) {
        return "#".to_owned();
    }
    let mut plain = String::new();
    for character in word.chars() {
        match character {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            other => plain.push(other),
        }
    }
    plain
}

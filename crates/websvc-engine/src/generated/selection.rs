//! The parts of a long page that a request to a model has: the beginning, the passages that fit the words of the request best,
//! and what else fits.

use std::ops::Range;
use std::time::Instant;

use websvc_extract::passages::{Passages, SplitPolicy, is_heading};

use super::content_words::ContentWords;
use crate::blocking::ComputeError;
use crate::rerank::rerank;

/// The mark in place of passages that are left out.
const GAP: &str = "[\u{2026}]";

/// The space for a mark and the lines around it, in characters.
const GAP_CHARS: usize = 8;

/// The part of the space that the beginning has: one eighth.
const BEGINNING_DIVISOR: usize = 8;

/// The number of the best passages after which the next one is chosen, too: a list or table follows its introduction.
const WITH_NEXT: usize = 5;

/// The length from which a passage is split at a space, in bytes.
const MAX_UNIT_BYTES: usize = 3_000;

/// A text that was made of a longer one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SelectedText {
    /// The chosen parts in their order, with marks where others are left out.
    pub(super) text: String,
    /// The length of the chosen parts, in characters.
    pub(super) kept_chars: usize,
}

/// Chooses parts of a markdown text of at most `max_chars` characters for the words of a request.
///
/// # Errors
/// [`ComputeError::Late`] if that is not done by the deadline.
pub(super) fn select_text(
    request: &str,
    markdown: String,
    max_chars: usize,
    deadline: Instant,
) -> Result<SelectedText, ComputeError> {
    let passages = Passages::from_markdown(markdown, SplitPolicy::Anywhere);
    let markdown = passages.markdown();
    let units = units(&passages);
    let texts: Vec<&str> =
        units.iter().map(|range| markdown[range.clone()].trim_matches(['\n', '\r'])).collect();
    let kept = select(request, &texts, max_chars, deadline)?;
    let mut selected = SelectedText { text: String::new(), kept_chars: 0 };
    let mut next = 0;
    for index in kept {
        if index > next {
            selected.text.push_str(GAP);
            selected.text.push_str("\n\n");
        }
        selected.kept_chars += texts[index].chars().count();
        selected.text.push_str(texts[index]);
        selected.text.push_str("\n\n");
        next = index + 1;
    }
    if next < texts.len() {
        selected.text.push_str(GAP);
    }
    Ok(selected)
}

/// Returns the indexes of the texts to keep, in their order, so that all have at most `max_chars` characters: the first ones,
/// those that fit the words of a request best, and the next ones of the page.
///
/// # Errors
/// [`ComputeError::Late`] if that is not done by the deadline.
pub(super) fn select(
    request: &str,
    texts: &[&str],
    max_chars: usize,
    deadline: Instant,
) -> Result<Vec<usize>, ComputeError> {
    let mut chosen = Chosen::new(texts, max_chars);
    if chosen.has_space_for_all() {
        return Ok((0..texts.len()).collect());
    }
    chosen.add_beginning(max_chars / BEGINNING_DIVISOR);
    let query = ContentWords::from_request(request).query();
    let ranking = rerank(&query, texts, deadline)?;
    let matching = ranking.ranked.iter().filter(|ranked| ranked.score > 0.0);
    for (rank, ranked) in matching.enumerate() {
        chosen.add(ranked.index);
        if rank < WITH_NEXT {
            chosen.add(ranked.index + 1);
        }
    }
    (0..texts.len()).for_each(|index| chosen.add(index));
    Ok(chosen.indexes())
}

/// The texts that are chosen so far.
struct Chosen {
    /// The length of each text with a mark after it, in characters.
    costs: Vec<usize>,
    is_chosen: Vec<bool>,
    space: usize,
}

impl Chosen {
    fn new(texts: &[&str], max_chars: usize) -> Self {
        let costs: Vec<usize> = texts.iter().map(|text| text.chars().count() + GAP_CHARS).collect();
        Self { is_chosen: vec![false; costs.len()], costs, space: max_chars }
    }

    fn has_space_for_all(&self) -> bool {
        self.costs.iter().sum::<usize>() <= self.space
    }

    /// Chooses the first texts up to a length, at least one.
    fn add_beginning(&mut self, max_chars: usize) {
        let mut chars = 0;
        for index in 0..self.costs.len() {
            chars += self.costs[index];
            if chars > max_chars && index > 0 {
                break;
            }
            self.add(index);
        }
    }

    /// Chooses a text if it fits.
    fn add(&mut self, index: usize) {
        let Some(cost) = self.costs.get(index).filter(|cost| **cost <= self.space) else { return };
        if !self.is_chosen[index] {
            self.is_chosen[index] = true;
            self.space -= cost;
        }
    }

    fn indexes(&self) -> Vec<usize> {
        (0..self.costs.len()).filter(|index| self.is_chosen[*index]).collect()
    }
}

/// Returns the ranges of the parts to choose from: passages, with the headings before them. Long ones are split.
fn units(passages: &Passages) -> Vec<Range<usize>> {
    let mut units = Vec::with_capacity(passages.len());
    let mut start = None;
    for index in 0..passages.len() {
        let range = passages.range(index);
        let unit = start.take().unwrap_or(range.start)..range.end;
        if is_heading(passages.text(index)) && index + 1 < passages.len() && unit.len() < MAX_UNIT_BYTES {
            start = Some(unit.start);
        } else {
            push_split(passages.markdown(), unit, &mut units);
        }
    }
    units
}

/// Adds a range, split at spaces if it is long.
fn push_split(markdown: &str, mut range: Range<usize>, units: &mut Vec<Range<usize>>) {
    while range.len() > MAX_UNIT_BYTES {
        let end = markdown.floor_char_boundary(range.start + MAX_UNIT_BYTES);
        let piece = &markdown[range.start..end];
        let end = piece.rfind(char::is_whitespace).filter(|at| *at > 0).map_or(end, |at| range.start + at);
        units.push(range.start..end);
        range.start = end;
    }
    units.push(range);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn selected(request: &str, markdown: &str, max_chars: usize) -> SelectedText {
        let deadline = Instant::now() + Duration::from_secs(60);
        select_text(request, markdown.to_owned(), max_chars, deadline).unwrap()
    }

    #[test]
    fn beginning_and_best_passages_remain_in_their_order() {
        let filler: Vec<String> =
            (0..200).map(|index| format!("Garden {index} lies on a slope of the river.")).collect();
        let mut paragraphs = vec!["# Tea".to_owned(), "All about the gardens.".to_owned()];
        paragraphs.extend(filler);
        paragraphs.insert(150, "## Prices".to_owned());
        paragraphs.insert(151, "An annual pass costs:".to_owned());
        paragraphs.insert(152, "| adults | 99 euros |".to_owned());
        let markdown = paragraphs.join("\n\n");
        let SelectedText { text, kept_chars } = selected("What does the annual pass cost?", &markdown, 1_000);
        assert!(text.starts_with("# Tea\n\nAll about the gardens.\n\nGarden 0 "), "{text}");
        assert!(
            text.contains(
                "\n\n[\u{2026}]\n\n## Prices\n\nAn annual pass costs:\n\n| adults | 99 euros |\n\n["
            ),
            "{text}"
        );
        assert!(text.ends_with("[\u{2026}]") && text.chars().count() <= 1_000, "{}", text.chars().count());
        assert!(kept_chars > 700 && kept_chars < text.chars().count(), "{kept_chars}");
    }

    #[test]
    fn text_that_fits_is_whole_and_without_words_its_beginning_remains() {
        assert_eq!(selected("x", "a\n\nb", 100).text, "a\n\nb\n\n");
        let long = "word ".repeat(10_000);
        let text = selected("chocolate", &long, 5_000).text;
        assert!(
            text.starts_with("word word") && text.chars().count() <= 5_000 && text.len() > 2_500,
            "{}",
            text.len()
        );
    }

    #[test]
    fn long_lines_are_split_at_spaces_and_lose_nothing() {
        let line = format!("{} needle {}", "hay ".repeat(20_000), "\u{e4}".repeat(10_000));
        let passages = Passages::from_markdown(line.clone(), SplitPolicy::Anywhere);
        let units = units(&passages);
        assert!(units.len() > 20 && units.iter().all(|range| range.len() <= MAX_UNIT_BYTES));
        let joined: String = units.iter().map(|range| &line[range.clone()]).collect();
        assert_eq!(joined, line);
        assert!(selected("needle", &line, 8_000).text.contains("needle"));
    }

    #[test]
    fn selection_ends_at_the_deadline() {
        let late = select_text("a", "a b ".repeat(100), 10, Instant::now());
        assert_eq!(late, Err(ComputeError::Late));
    }
}

//! Groups the recognized words of a paragraph into blocks: headings by the size of their letters, and items by their markers.

use super::blocks::{Block, PlacedBlock, Text, TextRole};
use super::font::Style;
use super::geometry::{Rect, median};
use super::list_marker::{ListMarker, parse_marker};
use super::text::{Span, join};

/// A recognized word.
pub(super) struct Word<'t> {
    /// The numbers of its block and its paragraph in the block.
    pub(super) paragraph: (u32, u32),
    /// The number of its line in the paragraph.
    pub(super) line: u32,
    pub(super) area: Rect,
    pub(super) text: &'t str,
}

/// The parts of the size of a font that letters without ascenders, the ascenders and the descenders have.
const X_HEIGHT: f32 = 0.47;
const ASCENDER: f32 = 0.23;
const DESCENDER: f32 = 0.21;
/// The difference of the sizes of lines up to which they are the same, because the boxes of words are inexact.
const SAME_SIZE: f32 = 0.16;
/// The same difference for a line that is a paragraph of its own.
const SAME_SIZE_ALONE: f32 = 0.11;
/// The maximum difference of the sizes of headings of the same level.
const SAME_LEVEL: f32 = 0.1;
/// The minimum number of letters of the words that show the size of a line.
const MIN_LETTERS: usize = 2;
/// The maximum number of words of a line with another size than the text around it.
const MAX_HEADING_WORDS: usize = 14;
/// The minimum number of lines with a marker in a paragraph that show that single letters are bullets, too.
const MIN_MARKED: usize = 2;

/// A line of a recognized paragraph.
struct Line<'w, 't> {
    words: &'w [Word<'t>],
    /// The estimated size of the font, in pixels.
    size: f32,
    marker: Option<ListMarker>,
}

/// Returns the size of most of the text of a page, in pixels; `None` if it has no text.
pub(super) fn body_size(words: &[Word<'_>]) -> Option<f32> {
    median(words.iter().filter_map(size))
}

/// Appends the blocks of the words of a paragraph. `body` is the size of most of the text of the page.
pub(super) fn push_blocks(words: &[Word<'_>], body: f32, blocks: &mut Vec<PlacedBlock>) {
    let rows: Vec<&[Word<'_>]> = words.chunk_by(|a, b| a.line == b.line).collect();
    let tolerance = if rows.len() == 1 { SAME_SIZE_ALONE } else { SAME_SIZE };
    let mut lines: Vec<Line<'_, '_>> = rows.iter().map(|words| line(words, body, tolerance)).collect();
    let is_bullet = |line: &&Line<'_, '_>| {
        let marker = weak_marker(line.words[0].text);
        line.words.len() > 1 && matches!(marker, Some(ListMarker::Bullet | ListMarker::Dash))
    };
    if lines.iter().filter(is_bullet).count() >= MIN_MARKED {
        let weak = |line: &Line<'_, '_>| weak_marker(line.words[0].text).filter(|_| line.words.len() > 1);
        lines.iter_mut().for_each(|line| line.marker = line.marker.or_else(|| weak(line)));
    } else {
        // One dash or asterisk is not a list.
        let is_sure = |marker: &ListMarker| !matches!(marker, ListMarker::Dash);
        lines.iter_mut().for_each(|line| line.marker = line.marker.filter(is_sure));
    }
    let is_start =
        |line: &Line<'_, '_>, last: &Line<'_, '_>| line.marker.is_some() || differs(line, last, body);
    for group in lines.chunk_by(|last, line| !is_start(line, last)) {
        blocks.push(PlacedBlock::unplaced(Block::Text(text(group, body))));
    }
}

/// Gives headings of nearly the same size the same one.
pub(super) fn unite_sizes(blocks: &mut [PlacedBlock]) {
    let mut headings: Vec<&mut Text> = blocks
        .iter_mut()
        .filter_map(|placed| match &mut placed.block {
            Block::Text(text) if text.role == TextRole::Unknown => Some(text),
            _ => None,
        })
        .collect();
    headings.sort_by(|a, b| b.size.total_cmp(&a.size));
    let mut level = f32::INFINITY;
    for text in headings {
        if text.size < level * (1.0 - SAME_LEVEL) || level.is_infinite() {
            level = text.size;
        }
        text.size = level;
    }
}

/// Returns whether the sizes of two lines next to each other differ, as those of a heading and a text.
fn differs(line: &Line<'_, '_>, last: &Line<'_, '_>, body: f32) -> bool {
    let is_heading = |line: &Line<'_, '_>| line.size > body && line.words.len() <= MAX_HEADING_WORDS;
    is_heading(line) != is_heading(last)
}

fn line<'w, 't>(words: &'w [Word<'t>], body: f32, tolerance: f32) -> Line<'w, 't> {
    let size = median(words.iter().filter_map(size)).unwrap_or(body);
    let size = if (size - body).abs() < body * tolerance { body } else { size };
    let characters: Vec<char> = words[0].text.chars().collect();
    let marker = parse_marker(&characters).filter(|marker| words.len() > 1 && *marker != ListMarker::Letter);
    Line { words, size, marker }
}

/// Returns the size of the font of a word by the heights of its letters; `None` for words of few or of other signs.
fn size(word: &Word<'_>) -> Option<f32> {
    let letters = word.text.chars().filter(|letter| letter.is_alphanumeric()).count();
    if letters < MIN_LETTERS {
        return None;
    }
    let has = |part: fn(char) -> bool| word.text.chars().any(part);
    let ascends = has(|letter| {
        !letter.is_lowercase() && letter.is_alphanumeric()
            || "bdfhijklt".contains(letter)
            || letter > '\u{7f}'
    });
    let descends = has(|letter| "gjpqy,;()".contains(letter));
    let share = X_HEIGHT + if ascends { ASCENDER } else { 0.0 } + if descends { DESCENDER } else { 0.0 };
    Some(word.area.height() / share)
}

/// Returns the marker that a word is in a list: also the signs and letters that are recognized in place of a bullet.
fn weak_marker(word: &str) -> Option<ListMarker> {
    let characters: Vec<char> = word.chars().collect();
    let is_bullet = matches!(
        characters[..],
        ['*' | '+' | '«' | '»' | '°' | '¢' | '®' | '©' | '¤' | 'e' | 'o' | '.' | '-']
    );
    let known = parse_marker(&characters).filter(|marker| *marker != ListMarker::Letter);
    if is_bullet { Some(ListMarker::Bullet) } else { known }
}

/// Returns the text of the lines of a block, without its marker.
fn text(lines: &[Line<'_, '_>], body: f32) -> Text {
    let marker = lines[0].marker;
    let mut spans = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let skipped = usize::from(index == 0 && marker.is_some());
        let words: Vec<&str> = line.words[skipped..].iter().map(|word| word.text).collect();
        join(&mut spans, vec![Span { text: words.join(" "), style: Style::default(), link: 0 }]);
    }
    let area = Rect::around(lines[0].words.iter().map(|word| &word.area));
    let size = median(lines.iter().map(|line| line.size)).unwrap_or(body);
    Text {
        spans,
        size,
        bold: false,
        lines: lines.len(),
        x0: area.x0,
        marker,
        label: marker.map(|_| lines[0].words[0].text.to_owned()).unwrap_or_default(),
        role: if size > body { TextRole::Unknown } else { TextRole::Body },
        starts_column: false,
        may_continue: false,
    }
}

#[cfg(test)]
mod tests {
    use crate::pdf::recognized_html;

    /// Returns the output of Tesseract for lines of one paragraph: left edge, top and height of the letters "d", text.
    fn tsv(lines: &[(u32, u32, u32, &str)]) -> String {
        let mut out = String::new();
        for (number, (left, top, height, text)) in lines.iter().enumerate() {
            let mut left = *left;
            for word in text.split(' ') {
                // A word without ascenders is lower, one with descenders reaches below the line.
                let ascends =
                    word.contains(|letter: char| "bdfhklit".contains(letter) || letter.is_uppercase());
                let (above, below) =
                    (if ascends { *height } else { height * 2 / 3 }, word.contains(['g', 'p', 'y']));
                let full = above + if below { height * 3 / 10 } else { 0 };
                let top = top + height - above;
                let width = 16 * word.len() as u32;
                out.push_str(&format!(
                    "5\t1\t1\t1\t{number}\t1\t{left}\t{top}\t{width}\t{full}\t90\t{word}\n"
                ));
                left += width + 14;
            }
        }
        out
    }

    #[test]
    fn larger_line_at_the_start_of_a_paragraph_is_a_heading() {
        let html = recognized_html(&tsv(&[
            (100, 100, 40, "Kinds of tea"),
            (100, 160, 26, "All kinds of tea are leaves of one plant that are dried in dif-"),
            (100, 200, 26, "ferent ways and kept in tins until the kettle is hot."),
        ]));
        let text = "All kinds of tea are leaves of one plant that are dried in different ways and kept in tins until the kettle \
            is hot.";
        assert_eq!(html, format!("<h1>Kinds of tea</h1>\n<p>{text}</p>\n"));
    }

    #[test]
    fn lines_with_signs_in_place_of_bullets_are_items() {
        let html = recognized_html(&tsv(&[
            (100, 100, 26, "« boil the water in a kettle"),
            (130, 140, 26, "of iron"),
            (100, 180, 26, "e add the leaves"),
        ]));
        assert_eq!(html, "<ul><li>boil the water in a kettle of iron</li>\n<li>add the leaves</li></ul>\n");
    }

    #[test]
    fn one_dash_and_a_lone_number_are_text() {
        let lines = tsv(&[(100, 100, 26, "- said the keeper of the"), (100, 140, 26, "7. hive at last")]);
        assert!(!recognized_html(&lines).contains("<li>"), "{}", recognized_html(&lines));
    }
}

//! Detects the markers of list items.

use super::geometry::median;
use super::glyphs::Glyph;
use super::segment::Segment;

/// The minimum number of lines of a listing with numbers, and the maximum number of digits of a number.
const MIN_LISTING: usize = 3;
const MAX_LINE_NUMBER: usize = 5;

/// The maximum size of the letters of notes relative to those of the text.
const MAX_NOTE_SCALE: f32 = 0.93;

/// The marker of a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListMarker {
    /// A bullet.
    Bullet,
    /// A dash, which can also be part of a sentence.
    Dash,
    /// A number followed by a period or a parenthesis.
    Number(u32),
    /// A letter or Roman numeral followed by a period or a parenthesis.
    Letter,
}

/// Returns the marker at the start of a line, and its number of glyphs including the space after it.
pub(super) fn leading_marker(glyphs: &[Glyph]) -> (Option<ListMarker>, usize) {
    let start: Vec<char> = glyphs.iter().take(10).map(|glyph| glyph.character).collect();
    let Some(end) = start.iter().position(|character| *character == ' ') else { return (None, 0) };
    if end + 1 >= glyphs.len() {
        return (None, 0);
    }
    match parse_marker(&start[..end]) {
        Some(marker) => (Some(marker), end + 1),
        None => (None, 0),
    }
}

/// Returns the text of a marker with this number of glyphs.
pub(super) fn label(glyphs: &[Glyph]) -> String {
    glyphs.iter().map(|glyph| glyph.character).filter(|character| *character != ' ').collect()
}

/// Writes the period after the numbers of lists whose numbers have none: two cells, the number and its text, that are
/// in sequence from 1.
pub(super) fn mark_bare_numbers(rows: &mut [Vec<Segment>]) {
    let mut index = 0;
    while index < rows.len() {
        let sequence = bare_sequence(rows, index);
        for row in &sequence {
            if let Some(last) = rows[*row][0].glyphs.last().copied() {
                rows[*row][0].glyphs.push(Glyph { character: '.', x0: last.x1, ..last });
            }
        }
        index = sequence.last().map_or(index, |last| *last) + 1;
    }
}

/// Joins the numbers of notes with their texts, which are the last rows of a column and in small print. They are raised
/// numbers then, as where the text refers to them.
pub(super) fn mark_notes(rows: &mut [Vec<Segment>]) {
    let usual = median(rows.iter().flatten().map(|segment| segment.size)).unwrap_or(0.0);
    let is_small = |row: &&Vec<Segment>| row.iter().all(|segment| segment.size < usual * MAX_NOTE_SCALE);
    let start = rows.len() - rows.iter().rev().take_while(is_small).count();
    let is_note = |row: &Vec<Segment>| row.len() == 2 && bare_number(row).is_some();
    if rows.get(start).is_some_and(is_note) {
        for row in rows[start..].iter_mut().filter(|row| is_note(row)) {
            row[0].glyphs.iter_mut().for_each(|glyph| glyph.style.superscript = true);
            join_first(row);
        }
    }
}

/// Joins the first two segments of a row.
pub(super) fn join_first(row: &mut Vec<Segment>) {
    let second = row.remove(1);
    let first = &mut row[0];
    if let Some(last) = first.glyphs.last().copied() {
        first.glyphs.push(Glyph { character: ' ', x0: last.x1, x1: second.area.x0, ..last });
    }
    first.glyphs.extend(second.glyphs);
    first.area.unite(&second.area);
    (first.y, first.size) = (second.y, second.size);
}

/// Returns whether a line begins with the raised number of a note.
pub(super) fn begins_note(glyphs: &[Glyph]) -> bool {
    let number =
        glyphs.iter().take_while(|glyph| glyph.style.superscript && glyph.character.is_ascii_digit());
    let digits = number.count();
    digits > 0 && glyphs.get(digits).is_some_and(|glyph| glyph.character == ' ')
}

/// Removes the numbers of the lines of a listing, which are not a part of it.
pub(super) fn remove_line_numbers(rows: &mut [Vec<Segment>]) {
    let number = |row: &Vec<Segment>| {
        let (first, rest) = row.split_first()?;
        let is_code = rest.iter().all(Segment::is_mono);
        let number =
            first.text().parse::<u32>().ok().filter(|_| is_code && first.glyphs.len() <= MAX_LINE_NUMBER)?;
        Some((number, first.area.x1))
    };
    let mut start = 0;
    while start < rows.len() {
        let Some((first, x1)) = number(&rows[start]) else {
            start += 1;
            continue;
        };
        let is_next = |(row, expected): &(&Vec<Segment>, u32)| {
            number(row).is_some_and(|(number, other)| number == *expected && (other - x1).abs() < 2.0)
        };
        let length = rows[start..].iter().zip(first..).take_while(is_next).count().max(1);
        let listing = &mut rows[start..start + length];
        if length >= MIN_LISTING && listing.iter().filter(|row| row.len() > 1).count() * 2 > length {
            listing.iter_mut().filter(|row| row.len() > 1).for_each(|row| drop(row.remove(0)));
        }
        start += length;
    }
}

/// Returns the rows of the list that begins with this row; none if it is not a list.
fn bare_sequence(rows: &[Vec<Segment>], start: usize) -> Vec<usize> {
    let Some((1, x1, text_x0)) = bare_number(&rows[start]) else { return Vec::new() };
    // Below a row of cells, numbers are the first column of a table.
    let number = &rows[start][0];
    let above = start.checked_sub(1).map(|above| &rows[above]);
    let is_header = |row: &Vec<Segment>| {
        number.y - row[0].y < number.size * 2.5
            && row.iter().skip(1).any(|cell| (cell.area.x0 - text_x0).abs() < 2.0)
    };
    if above.is_some_and(is_header) {
        return Vec::new();
    }
    let mut sequence = vec![start];
    for (index, row) in rows.iter().enumerate().skip(start + 1) {
        match bare_number(row) {
            Some((number, other_x1, other_x0))
                if number as usize == sequence.len() + 1
                    && (other_x0 - text_x0).abs() < 2.0
                    && ((other_x1 - x1).abs() < 2.0 || number >= 10) =>
            {
                sequence.push(index);
            }
            None if row.len() == 1 && row[0].area.x0 > text_x0 - 2.0 => {}
            _ => break,
        }
    }
    if sequence.len() < 2 { Vec::new() } else { sequence }
}

/// Returns the number of a row of a number and a text, its right edge, and the left edge of the text.
fn bare_number(row: &[Segment]) -> Option<(u32, f32, f32)> {
    let [number, text, ..] = row else { return None };
    let digits = number.text();
    let is_number = digits.len() <= 2 && digits.chars().all(|character| character.is_ascii_digit());
    let is_near = text.area.x0 - number.area.x1 < number.size * 4.0;
    let has_letters = text.glyphs.iter().any(|glyph| glyph.character.is_alphabetic());
    (is_number && is_near && has_letters).then_some(())?;
    Some((digits.parse().ok()?, number.area.x1, text.area.x0))
}

/// Returns the marker that a word is; `None` if it is not a marker.
pub(super) fn parse_marker(word: &[char]) -> Option<ListMarker> {
    match word {
        [
            '•' | '‣' | '◦' | '▪' | '■' | '□' | '●' | '○' | '∙' | '·' | '✓' | '➢' | '⁃' | '◆' | '◇' | '►'
            | '▶' | '➤' | '❖',
        ] => Some(ListMarker::Bullet),
        ['–' | '—' | '-' | '−' | '*'] => Some(ListMarker::Dash),
        [body @ .., '.' | ')'] => parse_number(body.strip_prefix(&['(']).unwrap_or(body)),
        _ => None,
    }
}

fn parse_number(body: &[char]) -> Option<ListMarker> {
    if !body.is_empty() && body.len() <= 3 && body.iter().all(char::is_ascii_digit) {
        return body.iter().collect::<String>().parse().ok().map(ListMarker::Number);
    }
    let is_roman = body.len() <= 4 && body.iter().all(|c| matches!(c, 'i' | 'v' | 'x'));
    let is_letter = matches!(body, [letter] if letter.is_ascii_lowercase());
    (!body.is_empty() && (is_roman || is_letter)).then_some(ListMarker::Letter)
}

//! Detects the markers of list items.

use super::content::Glyph;

/// The marker of a list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListMarker {
    /// A bullet or a dash.
    Bullet,
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

/// Returns the marker that a word is; `None` if it is not a marker.
pub(super) fn parse_marker(word: &[char]) -> Option<ListMarker> {
    match word {
        [
            '•' | '‣' | '◦' | '▪' | '■' | '●' | '○' | '∙' | '·' | '–' | '—' | '-' | '−' | '*' | '✓' | '➢'
            | '⁃' | '◆' | '►',
        ] => Some(ListMarker::Bullet),
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

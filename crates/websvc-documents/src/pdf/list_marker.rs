//! The signs before the items of a list.

use super::content::Glyph;

/// The sign before an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListMarker {
    /// A bullet or a dash.
    Bullet,
    /// A number with a stop or a bracket.
    Number(u32),
    /// A letter or Roman number with a stop or brackets.
    Letter,
}

/// Returns the sign at the start of a line, and how many characters it has with the space behind it.
pub(super) fn leading_marker(glyphs: &[Glyph]) -> (Option<ListMarker>, usize) {
    let head: Vec<char> = glyphs.iter().take(10).map(|glyph| glyph.character).collect();
    let Some(end) = head.iter().position(|character| *character == ' ') else { return (None, 0) };
    if end + 1 >= glyphs.len() {
        return (None, 0);
    }
    match kind(&head[..end]) {
        Some(marker) => (Some(marker), end + 1),
        None => (None, 0),
    }
}

/// Returns what sign a word is.
pub(super) fn kind(word: &[char]) -> Option<ListMarker> {
    match word {
        [
            '•' | '‣' | '◦' | '▪' | '■' | '●' | '○' | '∙' | '·' | '–' | '—' | '-' | '−' | '*' | '✓' | '➢'
            | '⁃' | '◆' | '►',
        ] => Some(ListMarker::Bullet),
        [body @ .., '.' | ')'] => numbered(body.strip_prefix(&['(']).unwrap_or(body)),
        _ => None,
    }
}

fn numbered(body: &[char]) -> Option<ListMarker> {
    if !body.is_empty() && body.len() <= 3 && body.iter().all(char::is_ascii_digit) {
        return body.iter().collect::<String>().parse().ok().map(ListMarker::Number);
    }
    let is_roman = body.len() <= 4 && body.iter().all(|c| matches!(c, 'i' | 'v' | 'x'));
    let is_letter = matches!(body, [letter] if letter.is_ascii_lowercase());
    (!body.is_empty() && (is_roman || is_letter)).then_some(ListMarker::Letter)
}

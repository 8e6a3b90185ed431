//! Words, which rules read around their triggers, only a few at a time.

use crate::lexicon::{WordSense, senses};
use crate::scan::{Scan, TextPart};

/// The maximum length of a word in bytes; a longer word is cut.
const MAX_WORD_BYTES: usize = 64;

/// A word: letters, with apostrophes and hyphens between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: &'a str,
    /// True if the word starts with a capital letter.
    pub(crate) is_capitalized: bool,
    /// True if the word has more than one letter, and all are capital letters.
    pub(crate) is_uppercase: bool,
    /// The possible senses of the word.
    pub(crate) senses: WordSense,
}

/// A separator between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// One space.
    Space,
    /// One space, or a full stop and one space.
    Dot,
    /// A comma, optionally followed by a space.
    Comma,
}

/// Reads the word that starts at `at`.
pub(crate) fn word<'a>(scan: &mut Scan<'a>, part: TextPart, at: usize) -> Word<'a> {
    let text = scan.text;
    let last = part.end.min(at + MAX_WORD_BYTES);
    let mut end = at;
    let (mut is_capitalized, mut has_lower, mut letters) = (false, false, 0);
    while end < last {
        let b = text.as_bytes()[end];
        let (c, length) = if b < 0x80 {
            (b as char, 1)
        } else {
            let Some(c) = text[end..].chars().next() else { break };
            (c, c.len_utf8())
        };
        if c.is_ascii_alphabetic() || (!c.is_ascii() && is_letter(c)) {
            letters += 1;
            let is_upper = if c.is_ascii() { c.is_ascii_uppercase() } else { c.is_uppercase() };
            is_capitalized |= end == at && is_upper;
            has_lower |= !is_upper;
        } else if !(matches!(c, '\'' | '’' | '-') && end > at && is_letter_at(text, part, end + length)) {
            break;
        }
        end += length;
    }
    let end = end.min(part.end);
    scan.work += (end - at) as u64;
    let text = &text[at..end];
    let is_uppercase = is_capitalized && !has_lower && letters > 1;
    Word { start: at, end, text, is_capitalized, is_uppercase, senses: senses(text) }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&c)
}

fn is_letter_at(text: &str, part: TextPart, at: usize) -> bool {
    at < part.end && text[at..part.end].chars().next().is_some_and(char::is_alphabetic)
}

/// Returns the word after `end`, if only `gap` is between.
pub(crate) fn next<'a>(scan: &mut Scan<'a>, part: TextPart, end: usize, gap: Separator) -> Option<Word<'a>> {
    let start = skip(scan, part, end, gap)?;
    let first = scan.text[start..part.end].chars().next()?;
    first.is_alphabetic().then(|| word(scan, part, start))
}

/// Returns the position after a gap; `None` if there is no such gap.
pub(crate) fn skip(scan: &Scan<'_>, part: TextPart, end: usize, gap: Separator) -> Option<usize> {
    let rest = scan.text.get(end..part.end)?;
    let rest = match gap {
        Separator::Space => strip_space(rest)?,
        Separator::Dot => {
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            strip_space(rest).unwrap_or(rest)
        }
        Separator::Comma => {
            let rest = rest.strip_prefix(',')?;
            strip_space(rest).unwrap_or(rest)
        }
    };
    Some(part.end - rest.len())
}

fn strip_space(rest: &str) -> Option<&str> {
    rest.strip_prefix([' ', '\u{a0}', '\u{202f}'])
}

/// Returns the word before `start`, if one space is between.
pub(crate) fn before<'a>(scan: &Scan<'a>, part: TextPart, start: usize) -> Option<&'a str> {
    let head = scan.text.get(part.start..start)?;
    let head = head.strip_suffix([' ', '\u{a0}'])?;
    let letters: usize =
        head.chars().rev().take(24).take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    (letters > 0).then(|| &head[head.len() - letters..])
}

//! Words, read where they are needed: a rule looks at a few words around its trigger and never at more.

use crate::lexicon::{WordSense, meaning};
use crate::scan::{Scan, TextPart};

/// Longer words are cut.
const LONGEST_WORD: usize = 64;

/// A word: letters, with apostrophes and hyphens between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: &'a str,
    /// It begins with a capital letter.
    pub(crate) capital: bool,
    /// It has more than one letter, and all are capital.
    pub(crate) upper: bool,
    /// Possible meanings of the word.
    pub(crate) meaning: WordSense,
}

/// Separator between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// One space.
    Space,
    /// One space, or a full stop and one space.
    Dot,
    /// A comma, and perhaps a space.
    Comma,
}

/// Reads the word that begins at `at`.
pub(crate) fn word<'a>(scan: &mut Scan<'a>, part: TextPart, at: usize) -> Word<'a> {
    let text = scan.text;
    let last = part.end.min(at + LONGEST_WORD);
    let mut end = at;
    let (mut capital, mut lower, mut letters) = (false, false, 0);
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
            capital |= end == at && is_upper;
            lower |= !is_upper;
        } else if !(matches!(c, '\'' | '’' | '-') && end > at && follows(text, part, end + length)) {
            break;
        }
        end += length;
    }
    let end = end.min(part.end);
    scan.work += (end - at) as u64;
    let (text, upper) = (&text[at..end], capital && !lower && letters > 1);
    Word { start: at, end, text, capital, upper, meaning: meaning(text) }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || ('\u{300}'..='\u{36f}').contains(&c)
}

fn follows(text: &str, part: TextPart, at: usize) -> bool {
    at < part.end && text[at..part.end].chars().next().is_some_and(char::is_alphabetic)
}

/// Returns the word behind `end`, when nothing but `gap` is between.
pub(crate) fn next<'a>(scan: &mut Scan<'a>, part: TextPart, end: usize, gap: Gap) -> Option<Word<'a>> {
    let start = skip(scan, part, end, gap)?;
    let first = scan.text[start..part.end].chars().next()?;
    first.is_alphabetic().then(|| word(scan, part, start))
}

/// Returns where the text goes on behind a gap.
pub(crate) fn skip(scan: &Scan<'_>, part: TextPart, end: usize, gap: Gap) -> Option<usize> {
    let rest = scan.text.get(end..part.end)?;
    let after = match gap {
        Gap::Space => strip_space(rest)?,
        Gap::Dot => {
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            strip_space(rest).unwrap_or(rest)
        }
        Gap::Comma => {
            let rest = rest.strip_prefix(',')?;
            strip_space(rest).unwrap_or(rest)
        }
    };
    Some(part.end - after.len())
}

fn strip_space(rest: &str) -> Option<&str> {
    rest.strip_prefix([' ', '\u{a0}', '\u{202f}'])
}

/// Returns the word before `start`, when one space is between.
pub(crate) fn before<'a>(scan: &Scan<'a>, part: TextPart, start: usize) -> Option<&'a str> {
    let head = scan.text.get(part.start..start)?;
    let head = head.strip_suffix([' ', '\u{a0}'])?;
    let letters: usize =
        head.chars().rev().take(24).take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    (letters > 0).then(|| &head[head.len() - letters..])
}

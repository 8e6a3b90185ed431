//! Characters in, tokens out: where words and phrases begin and end, and which dashes negate.

use std::borrow::Cow;

use crate::operator::Name;
use crate::tokens::{Token, Tokens};

/// Splits `text` into tokens in linear time; with it, the warnings about operators that became words.
pub(crate) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<String>) {
    let mut lexer = Lexer { text, lone_quote: lone_quote(text), tokens: Tokens::new(text.len()) };
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        at = lexer.step(at, c);
    }
    lexer.tokens.finish()
}

/// Returns `text` without characters that cannot be seen and mean nothing: soft hyphens, byte order marks, word joiners
/// and marks of direction come along when text is copied from pages. Joiners of letters (U+200C, U+200D) are spelling.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let invisible = |c| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if text.is_ascii() || !text.contains(invisible) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(invisible, ""))
}

/// Tells whether `c` separates words: white space, control characters, the zero width space.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{200b}'
}

/// Tells whether `c` opens or closes a phrase: typed, typographic and full-width double quotes.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ff02}')
}

/// Tells whether `c` negates what it touches: the hyphen of keyboards, also the full-width one.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{ff0d}')
}

fn is_open(c: char) -> bool {
    matches!(c, '(' | '\u{ff08}')
}

fn is_close(c: char) -> bool {
    matches!(c, ')' | '\u{ff09}')
}

/// Tells whether a word ends before `c`: white space, quotes and parentheses stand in none.
pub(crate) fn ends_word(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => ends_ascii_word(byte),
        _ => is_space(c) || is_quote(c) || is_open(c) || is_close(c),
    }
}

fn ends_ascii_word(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | b'"' | b'(' | b')' | 0x7f)
}

/// Returns the length of the word that `text` begins with. Most are ASCII, which needs no decoding.
fn word_length(text: &str) -> usize {
    let ascii = text.bytes().position(|byte| !byte.is_ascii() || ends_ascii_word(byte));
    let ascii = ascii.unwrap_or(text.len());
    text[ascii..].find(ends_word).map_or(text.len(), |more| ascii + more)
}

/// Returns the last of an odd number of quotes: quotes pair up from the left, so it has no partner.
fn lone_quote(text: &str) -> Option<usize> {
    let mut unpaired = None;
    for (at, c) in text.char_indices() {
        if is_quote(c) {
            unpaired = if unpaired.is_none() { Some(at) } else { None };
        }
    }
    unpaired
}

struct Lexer<'a> {
    text: &'a str,
    lone_quote: Option<usize>,
    tokens: Tokens<'a>,
}

impl<'a> Lexer<'a> {
    /// Reads what begins with `c` at byte `at`; returns where it ends.
    fn step(&mut self, at: usize, c: char) -> usize {
        let next = at + c.len_utf8();
        if is_space(c) || self.lone_quote == Some(at) {
            return next;
        }
        if is_quote(c) {
            return self.phrase(at, next);
        }
        if is_open(c) {
            self.tokens.open();
        } else if is_close(c) {
            self.tokens.close();
        } else if is_dash(c) && self.negates(next) {
            self.tokens.minus();
        } else {
            return self.word(at);
        }
        next
    }

    /// Reads the phrase whose text begins at byte `start`, after its opening quote at byte `at`.
    fn phrase(&mut self, at: usize, start: usize) -> usize {
        let rest = &self.text[start..];
        let (end, closing) = rest.char_indices().find(|&(_, c)| is_quote(c)).unwrap_or((rest.len(), ' '));
        let glued = self.text[..at].chars().next_back().is_some_and(|before| !is_space(before));
        self.tokens.phrase(&rest[..end], glued);
        (start + end + closing.len_utf8()).min(self.text.len())
    }

    /// Tells whether a dash before byte `next` negates: something must touch it, but no second dash, so that
    /// `--help` stays a word and a dash between spaces is nothing.
    fn negates(&self, next: usize) -> bool {
        let follower = self.text[next..].chars().next();
        self.lone_quote != Some(next) && follower.is_some_and(|c| !is_space(c) && !is_dash(c) && !is_close(c))
    }

    fn word(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let word = &rest[..word_length(rest)];
        if let Some((name, argument)) = word.split_once([':', '\u{ff1a}'])
            && let Some(kind) = Name::from_text(name)
        {
            self.tokens.operator(kind, &word[..name.len()], word, argument);
        } else if word == "OR" || word == "|" {
            self.tokens.or();
        } else if !matches!(word, "-" | "\u{ff0d}") {
            self.tokens.word(word);
        }
        at + word.len()
    }
}

//! Lexer: splits a query into words, phrases, operators and punctuation.

use std::borrow::Cow;

use crate::character::{ends_ascii_word, ends_word, is_close, is_dash, is_open, is_quote, is_space};
use crate::operator::OperatorName;
use crate::tokens::{Token, Tokens};

/// Splits `text` into tokens, in linear time. Also returns warnings about operators with invalid arguments.
pub(crate) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<String>) {
    let mut lexer = Lexer {
        text,
        unpaired_quote: unpaired_quote(text),
        is_capitals: is_capitals(text),
        has_exclusion: None,
        tokens: Tokens::new(text.len()),
    };
    let mut position = 0;
    while let Some(c) = text[position..].chars().next() {
        position = lexer.step(position, c);
    }
    lexer.tokens.finish()
}

/// Removes invisible characters without a meaning: soft hyphens, byte order marks, word joiners and direction marks,
/// which text copied from pages often contains. The joiners U+200C and U+200D stay, because they are part of the
/// spelling.
pub(crate) fn remove_invisible(text: &str) -> Cow<'_, str> {
    let invisible = |c| {
        matches!(c, '\u{ad}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if text.is_ascii() || !text.contains(invisible) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(invisible, ""))
}

/// Returns the length of the word at the start of `text`, in bytes. Most words are ASCII, which needs no decoding.
fn word_length(text: &str) -> usize {
    let ascii = text.bytes().position(|byte| !byte.is_ascii() || ends_ascii_word(byte));
    let ascii = ascii.unwrap_or(text.len());
    text[ascii..].find(ends_word).map_or(text.len(), |remaining| ascii + remaining)
}

/// Returns the byte position of the last quote if their number is odd: quotes are paired from the left.
fn unpaired_quote(text: &str) -> Option<usize> {
    let mut unpaired = None;
    for (position, c) in text.char_indices() {
        if is_quote(c) {
            unpaired = if unpaired.is_none() { Some(position) } else { None };
        }
    }
    unpaired
}

/// Returns whether a text is written in capitals only, so that its `OR` is a word: it has a capital outside of `OR`, no
/// small letter, and no other operator.
fn is_capitals(text: &str) -> bool {
    let mut has_capital = false;
    for word in text.split(is_space).filter(|word| *word != "OR") {
        let is_operator = word
            .split_once([':', '\u{ff1a}'])
            .is_some_and(|(name, _)| OperatorName::from_text(name).is_some());
        let is_syntax = |c| is_quote(c) || is_open(c) || is_close(c) || c.is_lowercase();
        if is_operator || word == "|" || word.contains(is_syntax) || is_signed(word) {
            return false;
        }
        has_capital |= word.contains(char::is_uppercase);
    }
    has_capital
}

/// Returns whether a word starts with a dash and has more characters.
pub(crate) fn is_signed(word: &str) -> bool {
    word.strip_prefix(is_dash).is_some_and(|rest| !rest.is_empty())
}

/// Returns whether a text excludes a word, phrase, group or operator with a dash. Numbers with a dash do not count.
fn has_exclusion(text: &str) -> bool {
    let (mut before, mut is_quoted) = (' ', false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        is_quoted ^= is_quote(c);
        let is_start = !is_quoted && (is_space(before) || is_open(before)) && is_dash(c);
        let excludes =
            |next: &char| !(is_space(*next) || is_dash(*next) || is_close(*next) || next.is_numeric());
        if is_start && chars.peek().is_some_and(excludes) {
            return true;
        }
        before = c;
    }
    false
}

/// Returns the length of the number at the start of `text`, the rest of a word after a dash: digits with punctuation in
/// between and a unit. `7zip` and `3d` are names.
fn number_length(text: &str) -> Option<usize> {
    const UNITS: [&str; 6] = ["C", "F", "V", "mV", "dB", "dBm"];
    let word = &text[..word_length(text)];
    let is_inner = |c: char| c.is_numeric() || matches!(c, '.' | ',' | ':' | '/' | '-');
    let unit = word.trim_start_matches(is_inner);
    let is_number = word.starts_with(char::is_numeric)
        && (!unit.starts_with(char::is_alphabetic) || UNITS.contains(&unit));
    is_number.then_some(word.len())
}

struct Lexer<'a> {
    text: &'a str,
    /// Byte position of the quote without a partner, which is ignored.
    unpaired_quote: Option<usize>,
    /// True if the text is in capitals only, so that `OR` is a word.
    is_capitals: bool,
    /// True if the text excludes something other than a number, once it is known.
    has_exclusion: Option<bool>,
    tokens: Tokens<'a>,
}

impl<'a> Lexer<'a> {
    /// Reads the token that starts with `c` at byte `start`. Returns the position after it.
    fn step(&mut self, start: usize, c: char) -> usize {
        let next = start + c.len_utf8();
        if is_space(c) || self.unpaired_quote == Some(start) {
            return next;
        }
        if is_quote(c) {
            return self.phrase(start, next);
        }
        if is_open(c) {
            self.tokens.open();
        } else if is_close(c) {
            self.tokens.close();
        } else if is_dash(c) && self.negates(next) {
            return self.negation(start, next);
        } else {
            return self.word(start);
        }
        next
    }

    /// Reads the phrase whose opening quote is at byte `quote` and whose text starts at byte `start`.
    fn phrase(&mut self, quote: usize, start: usize) -> usize {
        let rest = &self.text[start..];
        let (end, closing) = rest.char_indices().find(|&(_, c)| is_quote(c)).unwrap_or((rest.len(), ' '));
        let is_adjacent = self.text[..quote].chars().next_back().is_some_and(|before| !is_space(before));
        self.tokens.phrase(&rest[..end], is_adjacent);
        (start + end + closing.len_utf8()).min(self.text.len())
    }

    /// Returns whether a dash before byte `next` negates: something must follow directly, but not a second dash, so
    /// that `--help` stays a word and a dash between spaces is ignored.
    fn negates(&self, next: usize) -> bool {
        let following = self.text[next..].chars().next();
        self.unpaired_quote != Some(next)
            && following.is_some_and(|c| !is_space(c) && !is_dash(c) && !is_close(c))
    }

    /// Reads a dash that negates what follows at byte `next`. A number with a dash is negative, unless the query excludes
    /// something else too: `-80 °C`.
    fn negation(&mut self, start: usize, next: usize) -> usize {
        let (before, rest) = (self.text[..start].chars().next_back(), &self.text[next..]);
        if before.is_none_or(|before| is_space(before) || is_open(before))
            && let Some(length) = number_length(rest)
            && !*self.has_exclusion.get_or_insert_with(|| has_exclusion(self.text))
        {
            self.tokens.negative_number(&rest[..length]);
            return next + length;
        }
        self.tokens.minus();
        next
    }

    /// Reads a word, which may be an operator or `OR`.
    fn word(&mut self, start: usize) -> usize {
        let rest = &self.text[start..];
        let word = &rest[..word_length(rest)];
        if let Some((name, argument)) = word.split_once([':', '\u{ff1a}'])
            && let Some(operator) = OperatorName::from_text(name)
        {
            self.tokens.operator(operator, &word[..name.len()], word, argument);
        } else if word == "OR" && self.is_capitals {
            self.tokens.or_as_word();
        } else if word == "OR" || word == "|" {
            self.tokens.or();
        } else if !matches!(word, "-" | "\u{ff0d}") {
            self.tokens.word(word);
        }
        start + word.len()
    }
}

//! Tokens packed into one text, the cheapest way to pass them to tantivy.
//!
//! Tantivy would serialize pre-tokenized text as JSON and copy the tokens one by one. A text is passed unchanged, and a
//! tokenizer reads the packed tokens from it. Each token is its position, its length in bytes and its text. Numbers are
//! encoded with six bits per ASCII character.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The name of the tokenizer of all text fields. [`PackedTokenizer`] is registered in place of tantivy's tokenizer of
/// this name, because the name is part of the files of every index.
pub(crate) const TOKENIZER: &str = "default";

/// The tokens of one field.
#[derive(Default)]
pub(crate) struct PackedTokens(String);

impl PackedTokens {
    /// Adds a word `times` times. Does nothing if the word is empty.
    pub(crate) fn push(&mut self, text: &str, position: u32, times: usize) {
        if text.is_empty() {
            return;
        }
        for _ in 0..times {
            self.number(position as usize);
            self.number(text.len());
            self.0.push_str(text);
        }
    }

    /// Returns the words in the order in which they were added.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        PackedTokenReader(&self.0).map(|(_, text)| text)
    }

    /// Returns the length in bytes, for [`PackedTokens::truncate`].
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes all tokens that were added after [`PackedTokens::len`] returned `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Returns the text that [`PackedTokenizer`] reads.
    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn number(&mut self, mut value: usize) {
        while value >= 0x40 {
            self.0.push(char::from((value & 0x3f) as u8 | 0x40));
            value >>= 6;
        }
        self.0.push(char::from(value as u8));
    }
}

/// An iterator over the tokens of a packed text: position and text. It ends at the first invalid byte.
struct PackedTokenReader<'a>(&'a str);

impl<'a> PackedTokenReader<'a> {
    fn number(&mut self) -> Option<usize> {
        let mut value = 0;
        for shift in (0..usize::BITS).step_by(6) {
            let (first, rest) = self.0.split_at_checked(1)?;
            self.0 = rest;
            let byte = first.as_bytes()[0];
            value |= usize::from(byte & 0x3f) << shift;
            if byte < 0x40 {
                return Some(value);
            }
        }
        None
    }
}

impl<'a> Iterator for PackedTokenReader<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.number()?;
        let len = self.number()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some((position, text))
    }
}

/// A tokenizer that reads packed tokens.
#[derive(Debug, Clone)]
pub(crate) struct PackedTokenizer;

impl Tokenizer for PackedTokenizer {
    type TokenStream<'a> = PackedTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PackedTokenStream<'a> {
        PackedTokenStream { rest: PackedTokenReader(text), token: Token::default() }
    }
}

/// The token stream of a packed text.
pub(crate) struct PackedTokenStream<'a> {
    rest: PackedTokenReader<'a>,
    token: Token,
}

impl TokenStream for PackedTokenStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((position, text)) = self.rest.next() else { return false };
        self.token.position = position;
        self.token.text.clear();
        self.token.text.push_str(text);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use super::*;

    #[test]
    fn tokens_are_read_back_unchanged() {
        let long = "\u{e4}".repeat(5_000);
        let words = [("a", 0), ("\u{4e2d}\u{6587}", 63), ("@", 64), (&long, 4_096), ("\u{1}b", u32::MAX)];
        let mut tokens = PackedTokens::default();
        for (text, position) in words {
            tokens.push(text, position, 2);
        }
        tokens.push("", 7, 1);
        let len = tokens.len();
        tokens.push("gone", 9, 1);
        tokens.truncate(len);
        assert!(tokens.texts().eq(words.iter().flat_map(|(text, _)| [*text; 2])));

        let text = tokens.finish();
        let mut tokenizer = PackedTokenizer;
        let mut stream = tokenizer.token_stream(&text);
        let mut seen = Vec::new();
        stream.process(&mut |token| seen.push((token.text.clone(), token.position, token.position_length)));
        let token = |(text, position): &(&str, u32)| repeat_n(((*text).to_owned(), *position as usize, 1), 2);
        let expected = words.iter().flat_map(token);
        assert_eq!(seen, expected.collect::<Vec<_>>());
    }

    #[test]
    fn invalid_text_ends_the_tokens() {
        for text in [
            "\u{e4}",
            "@",
            "\u{1}\u{9}short",
            "\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}",
        ] {
            assert_eq!(PackedTokenReader(text).next(), None, "{text:?}");
        }
    }
}

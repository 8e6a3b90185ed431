//! The tokenizer WordPiece of BERT: text -> words -> pieces of the vocabulary.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Maximum characters of a word that has pieces.
const MAX_WORD_CHARS: usize = 100;

/// How text is normalized before it is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Normalization {
    pub(crate) lowercase: bool,
    pub(crate) strip_accents: bool,
    /// Chinese characters are words of their own.
    pub(crate) split_chinese: bool,
}

/// The vocabulary and its rules.
#[derive(Debug)]
pub(crate) struct WordPiece {
    pub(crate) vocabulary: HashMap<String, u32>,
    pub(crate) prefix: String,
    pub(crate) unknown: Option<u32>,
    pub(crate) normalization: Normalization,
}

impl WordPiece {
    /// Returns the first `limit` tokens of a text.
    pub(crate) fn tokens(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut tokens = Vec::new();
        let mut word = String::new();
        for c in text.chars() {
            if tokens.len() >= limit {
                break;
            }
            self.push_char(c, &mut word, &mut tokens);
        }
        self.end_word(&mut word, &mut tokens);
        tokens.truncate(limit);
        tokens
    }

    /// Adds a character to the word, or ends the word.
    fn push_char(&self, c: char, word: &mut String, tokens: &mut Vec<u32>) {
        let Normalization { lowercase, strip_accents, split_chinese } = self.normalization;
        if c.is_whitespace() {
            self.end_word(word, tokens);
        } else if c == '\u{fffd}' || c.is_control() || is_format(c) {
            // Left out.
        } else if c.is_ascii_punctuation() || is_punctuation(c) || (split_chinese && is_chinese(c)) {
            self.end_word(word, tokens);
            word.push(c);
            self.end_word(word, tokens);
        } else if c.is_ascii() {
            word.push(if lowercase { c.to_ascii_lowercase() } else { c });
        } else {
            let mut push = |c: char| {
                if !(strip_accents && is_combining_mark(c)) {
                    if lowercase { word.extend(c.to_lowercase()) } else { word.push(c) }
                }
            };
            if strip_accents { c.nfd().for_each(push) } else { push(c) }
        }
        // A text without spaces must not collect in memory.
        if word.len() > 8 * MAX_WORD_CHARS {
            self.end_word(word, tokens);
        }
    }

    fn end_word(&self, word: &mut String, tokens: &mut Vec<u32>) {
        if !word.is_empty() {
            let before = tokens.len();
            if self.push_pieces(word, tokens).is_none() {
                tokens.truncate(before);
                tokens.extend(self.unknown);
            }
            word.clear();
        }
    }

    /// Adds the longest pieces of a word. Returns `None` if a part of it is not in the vocabulary.
    fn push_pieces(&self, word: &str, tokens: &mut Vec<u32>) -> Option<()> {
        if word.chars().count() > MAX_WORD_CHARS {
            return None;
        }
        let mut start = 0;
        let mut piece = String::new();
        while start < word.len() {
            let ends = word[start..].char_indices().map(|(at, c)| start + at + c.len_utf8());
            let ends: Vec<usize> = ends.collect();
            let (id, end) = ends.iter().rev().find_map(|&end| {
                piece.clear();
                if start > 0 {
                    piece.push_str(&self.prefix);
                }
                piece.push_str(&word[start..end]);
                self.vocabulary.get(&piece).map(|id| (*id, end))
            })?;
            tokens.push(id);
            start = end;
        }
        Some(())
    }
}

/// Returns true for invisible format characters.
fn is_format(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Returns true for the punctuation outside ASCII that texts have.
fn is_punctuation(c: char) -> bool {
    matches!(c,
        '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{37e}' | '\u{387}'
        | '\u{589}' | '\u{58a}' | '\u{5be}' | '\u{5c0}' | '\u{5c3}' | '\u{5f3}' | '\u{5f4}' | '\u{60c}' | '\u{61b}'
        | '\u{61e}'..='\u{61f}' | '\u{66a}'..='\u{66d}' | '\u{6d4}' | '\u{964}' | '\u{965}' | '\u{e4f}'
        | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205e}'
        | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{3030}' | '\u{30fb}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}' | '\u{ff0c}'..='\u{ff0f}'
        | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}'
        | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}')
}

fn is_chinese(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

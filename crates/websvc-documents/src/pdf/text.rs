//! Converts glyphs to styled spans, joins lines to paragraphs, and joins hyphenated words.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::font::Style;
use super::glyphs::Glyph;

/// A placeholder for a hyphen at the end of a line, until all words of the document are known.
pub(super) const LINE_HYPHEN: char = '\u{e000}';

/// Words that form compounds with a hyphen.
const COMPOUND_STARTS: [&str; 11] =
    ["self", "well", "ill", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
/// Words that form compounds with a hyphen at their end, and that no other words end with.
const COMPOUND_ENDS: [&str; 11] = [
    "based",
    "oriented",
    "driven",
    "specific",
    "aware",
    "dependent",
    "independent",
    "friendly",
    "party",
    "scale",
    "style",
];

/// Small words within compounds.
const SMALL_WORDS: [&str; 14] =
    ["a", "an", "and", "at", "by", "for", "in", "of", "on", "or", "out", "the", "to", "up"];

/// A run of text with one style.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
    /// The 1-based number of its link in the document; 0 if it is not in a link.
    pub(super) link: u32,
}

/// Converts glyphs to spans. `link_offset` is the number of links on the pages before this one.
pub(super) fn spans(glyphs: &[Glyph], link_offset: u32) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for glyph in glyphs {
        let link = if glyph.link == 0 { 0 } else { link_offset + u32::from(glyph.link) };
        let is_blank = glyph.character == ' ';
        match spans.last_mut() {
            // A space gets the style of the text before it, unless it is not in the same link.
            Some(last) if (last.style == glyph.style || is_blank) && last.link == link => {
                last.text.push(glyph.character);
            }
            _ => spans.push(Span { text: glyph.character.to_string(), style: glyph.style, link }),
        }
    }
    spans
}

/// Returns the text of spans without style.
pub(super) fn plain_text(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect::<String>().replace(LINE_HYPHEN, "")
}

/// Appends a line to a paragraph, with a space or a hyphen placeholder between them where necessary.
pub(super) fn join(paragraph: &mut Vec<Span>, line: Vec<Span>) {
    let next = line.first().and_then(|span| span.text.chars().next());
    let Some(last) = paragraph.last_mut() else {
        *paragraph = line;
        return;
    };
    let mut end = last.text.chars().rev();
    let (last_character, before) = (end.next(), end.next());
    let is_hyphen = matches!(last_character, Some('-' | '\u{ad}' | '\u{2010}'))
        && before.is_some_and(char::is_alphabetic)
        && next.is_some_and(char::is_alphabetic);
    if is_hyphen && (last_character == Some('\u{ad}') || next.is_some_and(char::is_lowercase)) {
        last.text.pop();
        last.text.push(LINE_HYPHEN);
    } else if !is_hyphen && !is_unspaced_script(last_character, next) && last_character != Some(' ') {
        last.text.push(' ');
    }
    for span in line {
        push_span(paragraph, span);
    }
}

/// Returns whether two characters belong to a script without spaces between words.
fn is_unspaced_script(last: Option<char>, next: Option<char>) -> bool {
    let is_wide = |character: Option<char>| {
        character.is_some_and(
            |c| matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}'),
        )
    };
    is_wide(last) && is_wide(next)
}

/// Appends a span, or extends the last one if style and link are the same.
fn push_span(spans: &mut Vec<Span>, span: Span) {
    match spans.last_mut() {
        Some(last) if last.style == span.style && last.link == span.link => last.text.push_str(&span.text),
        _ => spans.push(span),
    }
}

/// The words of a document. [`join_hyphenated`](Self::join_hyphenated) uses them to decide whether a hyphen at the end
/// of a line is part of a word.
#[derive(Debug, Default)]
pub(super) struct Words {
    hashes: HashSet<u64>,
    state: RandomState,
}

impl Words {
    /// The maximum number of distinct words that are stored.
    const MAX: usize = 500_000;

    /// Adds the words of a text, except those that are hyphenated across lines.
    pub(super) fn add(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if self.hashes.len() < Self::MAX && !word.contains(LINE_HYPHEN) {
                self.hashes.insert(self.hash(word));
            }
        }
    }

    fn hash(&self, word: &str) -> u64 {
        let trimmed = word.trim_matches(|character: char| !character.is_alphanumeric());
        self.state.hash_one(trimmed.to_lowercase())
    }

    fn contains(&self, word: &str) -> bool {
        self.hashes.contains(&self.hash(word))
    }

    /// Returns whether the two parts of a word are words themselves, with a hyphen between them.
    fn is_compound(&self, first: &str, second: &str) -> bool {
        let second = second.trim_end_matches(|character: char| !character.is_alphanumeric());
        let (tail, has_hyphen) = first.rsplit_once('-').map_or((first, false), |(_, tail)| (tail, true));
        let head = second.split_once('-').map(|(head, _)| head);
        let joined = format!("{tail}{}", head.unwrap_or(second));
        if self.contains(&joined) {
            return false;
        }
        let tail = tail.to_lowercase();
        let is_word = SMALL_WORDS.contains(&tail.as_str()) || self.contains(&tail);
        // `state-of-the-` and `art`, `up-` and `to-date`.
        if (has_hyphen || head.is_some()) && is_word {
            return true;
        }
        let is_long = second.chars().count() > 3;
        let is_ending = ["ness", "like", "less"].iter().any(|ending| second.eq_ignore_ascii_case(ending));
        (COMPOUND_STARTS.contains(&tail.as_str()) && is_long && !is_ending)
            || COMPOUND_ENDS.iter().any(|end| second.eq_ignore_ascii_case(end))
    }

    /// Replaces the hyphen placeholders in a text. A hyphen stays if the document contains the word with the hyphen, or
    /// if the word is a compound, and the document does not contain it without the hyphen.
    pub(super) fn join_hyphenated(&self, text: &mut String) {
        while let Some(position) = text.find(LINE_HYPHEN) {
            let start = text[..position].rfind(char::is_whitespace).map_or(0, |space| space + 1);
            let after = position + LINE_HYPHEN.len_utf8();
            let end = text[after..].find(char::is_whitespace).map_or(text.len(), |space| after + space);
            let (first, second) = (text[start..position].to_owned(), text[after..end].to_owned());
            let keep_hyphen = !self.contains(&format!("{first}{second}"))
                && (self.contains(&format!("{first}-{second}")) || self.is_compound(&first, &second));
            text.replace_range(position..after, if keep_hyphen { "-" } else { "" });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(lines: &[&str]) -> String {
        let mut spans = Vec::new();
        let mut words = Words::default();
        for line in lines {
            words.add(line);
            join(&mut spans, vec![Span { text: (*line).to_owned(), style: Style::default(), link: 0 }]);
        }
        let mut text: String = spans.into_iter().map(|span| span.text).collect();
        words.join_hyphenated(&mut text);
        text
    }

    #[test]
    fn words_hyphenated_across_lines_are_joined() {
        assert_eq!(paragraph(&["a com-", "puter"]), "a computer");
        assert_eq!(paragraph(&["a com\u{ad}", "puter"]), "a computer");
        assert_eq!(paragraph(&["Anglo-", "Saxon"]), "Anglo-Saxon");
        assert_eq!(paragraph(&["1 -", "2"]), "1 - 2");
    }

    #[test]
    fn hyphen_of_a_word_that_the_document_contains_with_hyphen_stays() {
        assert_eq!(
            paragraph(&["the well-known tea, a well-", "known cup"]),
            "the well-known tea, a well-known cup"
        );
    }

    #[test]
    fn hyphen_of_a_compound_stays() {
        assert_eq!(paragraph(&["this is state-of-the-", "art work"]), "this is state-of-the-art work");
        assert_eq!(paragraph(&["an up-", "to-date list"]), "an up-to-date list");
        assert_eq!(
            paragraph(&["a self-", "contained rule-", "based box"]),
            "a self-contained rule-based box"
        );
        assert_eq!(paragraph(&["one self-con-", "tained box"]), "one self-contained box");
        assert_eq!(
            paragraph(&["it is well-under-", "stood; understood"]),
            "it is well-understood; understood"
        );
        assert_eq!(paragraph(&["much self-", "ness, un-", "known"]), "much selfness, unknown");
    }

    #[test]
    fn lines_of_an_unspaced_script_are_joined_without_space() {
        assert_eq!(paragraph(&["日本語の", "文章"]), "日本語の文章");
    }
}

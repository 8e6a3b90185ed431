//! Converts glyphs to styled spans, joins lines to paragraphs, and joins hyphenated words.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::content::Glyph;
use super::font::Style;

/// A placeholder for a hyphen at the end of a line, until all words of the document are known.
pub(super) const LINE_HYPHEN: char = '\u{e000}';

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

    /// Replaces the hyphen placeholders in a text. A hyphen stays only if the document contains the word with the
    /// hyphen, and not without it.
    pub(super) fn join_hyphenated(&self, text: &mut String) {
        while let Some(position) = text.find(LINE_HYPHEN) {
            let start = text[..position].rfind(char::is_whitespace).map_or(0, |space| space + 1);
            let after = position + LINE_HYPHEN.len_utf8();
            let end = text[after..].find(char::is_whitespace).map_or(text.len(), |space| after + space);
            let (first, second) = (text[start..position].to_owned(), text[after..end].to_owned());
            let keep_hyphen =
                !self.contains(&format!("{first}{second}")) && self.contains(&format!("{first}-{second}"));
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
    fn lines_of_an_unspaced_script_are_joined_without_space() {
        assert_eq!(paragraph(&["日本語の", "文章"]), "日本語の文章");
    }
}

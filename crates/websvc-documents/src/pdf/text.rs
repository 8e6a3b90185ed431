//! Lines of characters to runs of text with a style, and lines to paragraphs with hyphens undone.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::content::Glyph;
use super::font::Style;

/// Stands for a hyphen at the end of a line until the words of the whole document are known.
const LINE_HYPHEN: char = '\u{e000}';

/// Text of one style.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
    /// The link it is part of, from 1 in the links of the document; 0 for none.
    pub(super) link: u32,
}

/// Returns the characters as spans; `links` is the number of the page's first link less 1.
pub(super) fn spans(glyphs: &[Glyph], links: u32) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for glyph in glyphs {
        let link = if glyph.link == 0 { 0 } else { links + u32::from(glyph.link) };
        let blank = glyph.character == ' ';
        match spans.last_mut() {
            // A space has the style of what is before it, unless it would end a link there.
            Some(last) if (last.style == glyph.style || blank) && last.link == link => {
                last.text.push(glyph.character);
            }
            _ => spans.push(Span { text: glyph.character.to_string(), style: glyph.style, link }),
        }
    }
    spans
}

/// Returns the text of spans.
pub(super) fn plain_text(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect::<String>().replace(LINE_HYPHEN, "")
}

/// Appends the next line of a paragraph.
pub(super) fn join(paragraph: &mut Vec<Span>, line: Vec<Span>) {
    let next = line.first().and_then(|span| span.text.chars().next());
    let Some(last) = paragraph.last_mut() else {
        *paragraph = line;
        return;
    };
    let mut end = last.text.chars().rev();
    let (hyphen, before) = (end.next(), end.next());
    let is_hyphen = matches!(hyphen, Some('-' | '\u{ad}' | '\u{2010}'))
        && before.is_some_and(char::is_alphabetic)
        && next.is_some_and(char::is_alphabetic);
    if is_hyphen && (hyphen == Some('\u{ad}') || next.is_some_and(char::is_lowercase)) {
        last.text.pop();
        last.text.push(LINE_HYPHEN);
    } else if !is_hyphen && !without_spaces(hyphen, next) && hyphen != Some(' ') {
        last.text.push(' ');
    }
    for span in line {
        push(paragraph, span);
    }
}

/// Returns whether two characters stand in writing that has no spaces between words.
fn without_spaces(last: Option<char>, next: Option<char>) -> bool {
    let is_wide = |character: Option<char>| {
        character.is_some_and(
            |c| matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}'),
        )
    };
    is_wide(last) && is_wide(next)
}

fn push(spans: &mut Vec<Span>, span: Span) {
    match spans.last_mut() {
        Some(last) if last.style == span.style && last.link == span.link => last.text.push_str(&span.text),
        // What belongs to the word before a break keeps its style; the break itself has that of the first part.
        _ => spans.push(span),
    }
}

/// The words of a document, which tell whether a hyphen at the end of a line is part of the word.
#[derive(Debug, Default)]
pub(super) struct Words {
    hashes: HashSet<u64>,
    state: RandomState,
}

impl Words {
    const MAX: usize = 500_000;

    /// Learns the words that are not broken.
    pub(super) fn learn(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if self.hashes.len() < Self::MAX && !word.contains(LINE_HYPHEN) {
                self.hashes.insert(self.hash(word));
            }
        }
    }

    fn hash(&self, word: &str) -> u64 {
        let bare = word.trim_matches(|character: char| !character.is_alphanumeric());
        self.state.hash_one(bare.to_lowercase())
    }

    fn knows(&self, word: &str) -> bool {
        self.hashes.contains(&self.hash(word))
    }

    /// Puts the hyphens of broken words right: away, unless the document writes the word with one elsewhere.
    pub(super) fn join_hyphenated(&self, text: &mut String) {
        while let Some(at) = text.find(LINE_HYPHEN) {
            let start = text[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1);
            let after = at + LINE_HYPHEN.len_utf8();
            let end = text[after..].find(char::is_whitespace).map_or(text.len(), |space| after + space);
            let (first, second) = (text[start..at].to_owned(), text[after..end].to_owned());
            let keep = !self.knows(&format!("{first}{second}")) && self.knows(&format!("{first}-{second}"));
            text.replace_range(at..after, if keep { "-" } else { "" });
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
            words.learn(line);
            join(&mut spans, vec![Span { text: (*line).to_owned(), style: Style::default(), link: 0 }]);
        }
        let mut text: String = spans.into_iter().map(|span| span.text).collect();
        words.join_hyphenated(&mut text);
        text
    }

    #[test]
    fn hyphens_at_the_end_of_a_line_are_undone() {
        assert_eq!(paragraph(&["a com-", "puter"]), "a computer");
        assert_eq!(paragraph(&["a com\u{ad}", "puter"]), "a computer");
        assert_eq!(paragraph(&["Anglo-", "Saxon"]), "Anglo-Saxon");
        assert_eq!(paragraph(&["1 -", "2"]), "1 - 2");
    }

    #[test]
    fn a_hyphen_that_the_document_writes_elsewhere_stays() {
        assert_eq!(
            paragraph(&["the well-known tea, a well-", "known cup"]),
            "the well-known tea, a well-known cup"
        );
    }

    #[test]
    fn writing_without_spaces_is_joined_without_one() {
        assert_eq!(paragraph(&["日本語の", "文章"]), "日本語の文章");
    }
}

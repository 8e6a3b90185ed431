//! The passages of a page that are encoded: its title, then parts of its text of about equal length.

use crate::document::Document;

/// Words of a passage. With a title, sentence encoders read all of it, which take 256 tokens or more.
const PASSAGE_WORDS: usize = 160;

/// Maximum characters of a title before each passage.
const TITLE_CHARS: usize = 200;

/// Maximum characters of a passage, for texts without spaces between words.
const PASSAGE_CHARS: usize = 1_600;

/// Returns the first `limit` passages of a page, each after its title. A page without text has its description as the
/// only passage, or its title alone.
pub(super) fn passages(document: &Document, limit: usize) -> Vec<String> {
    let title: String = document.title.trim().chars().take(TITLE_CHARS).collect();
    let body = document.body.trim();
    let text =
        if body.is_empty() { document.description.as_deref().unwrap_or_default().trim() } else { body };
    let mut passages = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && passages.len() < limit {
        let end = passage_end(rest);
        let (passage, after) = rest.split_at(end);
        let separator = if title.is_empty() { "" } else { "\n" };
        passages.push(format!("{title}{separator}{}", passage.trim()));
        rest = after.trim_start();
    }
    if passages.is_empty() && !title.is_empty() {
        passages.push(title);
    }
    passages
}

/// Returns the end of the first passage of a text: of the last paragraph in its second half if there is one, otherwise of
/// the last word.
fn passage_end(text: &str) -> usize {
    let mut words = 0;
    let mut chars = 0;
    let mut in_word = false;
    let (mut word_end, mut paragraph_end) = (0, 0);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            if in_word {
                words += 1;
                word_end = at;
                in_word = false;
            }
            if c == '\n' && words >= PASSAGE_WORDS / 2 {
                paragraph_end = at;
            }
        } else {
            in_word = true;
        }
        chars += 1;
        if words >= PASSAGE_WORDS || chars >= PASSAGE_CHARS {
            let end = if paragraph_end > 0 { paragraph_end } else { word_end };
            // A word that is longer than a passage is cut.
            return if end > 0 { end } else { at + c.len_utf8() };
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{PASSAGE_CHARS, passages};
    use crate::document::Document;

    fn page(title: &str, body: &str) -> Document {
        Document { title: title.to_owned(), body: body.to_owned(), ..Document::default() }
    }

    #[test]
    fn short_page_is_one_passage_after_its_title() {
        assert_eq!(passages(&page("Tea ", " Green tea.\nBlack tea. "), 4), ["Tea\nGreen tea.\nBlack tea."]);
        assert_eq!(passages(&page("", "Green tea."), 4), ["Green tea."]);
        assert_eq!(passages(&page("Tea", ""), 4), ["Tea"]);
        assert!(passages(&page("", ""), 4).is_empty());
        let described = Document { description: Some("About tea.".to_owned()), ..page("Tea", "") };
        assert_eq!(passages(&described, 4), ["Tea\nAbout tea."]);
    }

    #[test]
    fn long_page_is_split_at_paragraphs_up_to_the_limit() {
        let paragraph = |number: usize| vec![format!("word{number}"); 60].join(" ");
        let body: Vec<String> = (0..9).map(paragraph).collect();
        let found = passages(&page("Tea", &body.join("\n")), 3);
        assert_eq!(found.len(), 3);
        for (number, passage) in found.iter().enumerate() {
            let expected: Vec<String> = (2 * number..2 * number + 2).map(paragraph).collect();
            assert_eq!(*passage, format!("Tea\n{}", expected.join("\n")));
        }
    }

    #[test]
    fn text_without_spaces_is_cut_within_characters() {
        let body = "茶".repeat(2 * PASSAGE_CHARS + 10);
        let found = passages(&page("", &body), 9);
        assert_eq!(found.concat(), body);
        assert_eq!(found.len(), 3);
    }
}

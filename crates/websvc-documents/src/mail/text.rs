//! The text of a message: plain text as HTML, and HTML reduced to its body.

use std::collections::HashSet;

use crate::html::{push_escaped, without_marks};

/// The maximum nesting depth of quotes.
const MAX_QUOTES: usize = 8;
/// The maximum number of bytes that are compared with the plain text.
const MAX_COMPARED_BYTES: usize = 500_000;

/// Returns plain text as HTML: paragraphs, and lines that begin with `>` as quotes.
pub(super) fn to_html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    let mut depth = 0;
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let (line_depth, content) = quoted(line);
        if line_depth != depth || content.trim().is_empty() {
            end_paragraph(&mut lines, &mut html);
        }
        // A blank line between quotes does not end them.
        if !(content.trim().is_empty() && line_depth == 0) {
            while depth < line_depth {
                html.push_str("<blockquote>");
                depth += 1;
            }
            while depth > line_depth {
                html.push_str("</blockquote>\n");
                depth -= 1;
            }
        }
        if !content.trim().is_empty() {
            lines.push(content);
        }
    }
    end_paragraph(&mut lines, &mut html);
    for _ in 0..depth {
        html.push_str("</blockquote>\n");
    }
    html
}

/// Returns the depth of the quote of a line, and the text after its marks.
fn quoted(line: &str) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    while let Some(after) = rest.strip_prefix('>').filter(|_| depth < MAX_QUOTES) {
        depth += 1;
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    (depth, rest)
}

fn end_paragraph(lines: &mut Vec<&str>, html: &mut String) {
    if lines.is_empty() {
        return;
    }
    html.push_str("<p>");
    for (index, line) in lines.drain(..).enumerate() {
        if index > 0 {
            html.push_str("<br>");
        }
        push_escaped(html, line.trim_end());
    }
    html.push_str("</p>\n");
}

/// Returns the content of the body of an HTML page. The marks that this crate puts between pages are made unusable.
pub(super) fn body_of(html: &str) -> String {
    let start = find_tag(html, "<body").and_then(|at| html[at..].find('>').map(|end| at + end + 1));
    let start = start
        .or_else(|| find_tag(html, "</head").and_then(|at| html[at..].find('>').map(|end| at + end + 1)));
    let body = &html[start.unwrap_or(0)..];
    let end = find_tag(body, "</body").unwrap_or(body.len());
    without_marks(&body[..end]) + "\n"
}

/// Returns the position of a tag in any case.
fn find_tag(html: &str, tag: &str) -> Option<usize> {
    let (bytes, tag) = (html.as_bytes(), tag.as_bytes());
    bytes.windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag))
}

/// Returns whether HTML lacks a part of the words of the plain text that it is the alternative of: some senders put only
/// a note or a part of the message into it.
pub(super) fn lacks_words(html: &str, plain: &str) -> bool {
    let plain = &plain[..plain.floor_char_boundary(MAX_COMPARED_BYTES)];
    let html = without_tags(&html[..html.floor_char_boundary(MAX_COMPARED_BYTES)]);
    let words = |text: &str| -> Vec<String> {
        // Addresses are often targets of links in HTML, and text in the plain version.
        let text = text.split_whitespace().filter(|word| !word.contains("://") && !word.contains('@'));
        text.flat_map(|word| word.split(|character: char| !character.is_alphanumeric()))
            .filter(|word| word.chars().count() > 1)
            .map(str::to_lowercase)
            .collect()
    };
    let wanted = words(plain);
    let present: HashSet<String> = words(&html).into_iter().collect();
    let missing = wanted.iter().filter(|word| !present.contains(*word)).count();
    missing * 4 > wanted.len()
}

/// Returns the text of HTML, roughly: without tags, and with the entities that letters have.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        let Some(end) = rest[at..].find('>') else { return text };
        rest = &rest[at + end + 1..];
    }
    text.push_str(rest);
    for (entity, character) in [
        ("&nbsp;", " "),
        ("&amp;", "&"),
        ("&auml;", "ä"),
        ("&ouml;", "ö"),
        ("&uuml;", "ü"),
        ("&szlig;", "ß"),
        ("&eacute;", "é"),
    ] {
        text = text.replace(entity, character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_paragraphs_and_quotes() {
        assert_eq!(
            to_html("Hello\nyou\n\n> older\n>> oldest\n\nbye <1>"),
            "<p>Hello<br>you</p>\n<blockquote><p>older</p>\n<blockquote><p>oldest</p>\n</blockquote>\n</blockquote>\n<p>bye &lt;1&gt;</p>\n"
        );
    }

    #[test]
    fn body_is_cut_out_of_a_page() {
        assert_eq!(
            body_of("<html><head><title>x</title></head><BODY class=a><p>y</p></body></html>"),
            "<p>y</p>\n"
        );
        assert_eq!(body_of("<p>y<hr data-page-start=\"1\">"), "<p>y<hr data-start=\"1\">\n");
    }

    #[test]
    fn html_without_the_words_of_the_text_is_incomplete() {
        assert!(lacks_words("<p>Open in a browser</p>", "The harbour opens at nine on Monday"));
        assert!(!lacks_words("<p>The <b>harbour</b> opens</p>", "The harbour opens"));
        assert!(!lacks_words("<p>x</p>", ""));
    }
}

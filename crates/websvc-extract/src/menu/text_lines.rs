//! The lines of the visible text of a page, with the price at their end.

use crate::content_view::ContentView;
use crate::document::Document;
use crate::dom::{NodeId, NodeKind, Tag};
use crate::limits::MAX_LABEL_BYTES;
use crate::offer::{Notation, price_of};
use crate::text::{collapsed, push_collapsed, start_of};
use std::ops::Range;
use websvc_types::product::Price;

/// Maximum number of lines of a page.
const MAX_LINES: usize = 20_000;

/// Maximum number of texts of a page, several of which may be in one line.
const MAX_TEXTS: usize = 100_000;

/// Maximum number of bytes of a line; the rest is cut off.
const MAX_LINE_BYTES: usize = 1_000;

/// A line of the visible text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// The text without the price.
    pub(super) text: String,
    /// The price at the end.
    pub(super) price: Option<Price>,
    /// The level of a heading, or of a caption as of one below all headings.
    pub(super) heading: Option<u8>,
}

/// Returns the lines of the visible part of a page, without navigation, header and footer.
pub(super) fn read(document: &Document) -> Vec<Line> {
    let dom = &document.dom;
    let view = ContentView::visible(dom);
    let mut reader =
        LineReader { lines: Vec::new(), text: String::new(), last_part: String::new(), heading: None };
    let mut current = None;
    let mut heading = None;
    let mut texts = 0;
    for id in view.nodes(dom) {
        match dom.kind(id) {
            NodeKind::Text => {
                texts += 1;
                let around = block_around(document, id);
                if around != current {
                    reader.end_line();
                    current = around;
                    heading = around.and_then(|block| heading_of(document, block));
                }
                if around.is_none() {
                    continue;
                }
                let is_ignored = |id| {
                    matches!(dom.tag(id), Some(Tag::Nav | Tag::Footer | Tag::Button | Tag::Select))
                        || Some(id) == document.json_ld_content
                };
                if !is_ignored(id) && dom.ancestors(id).any(is_ignored) {
                    continue;
                }
                reader.heading = heading;
                reader.push(dom.text(id));
            }
            NodeKind::Element(Tag::Br) => reader.end_line(),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
        }
        if reader.lines.len() >= MAX_LINES || texts >= MAX_TEXTS {
            break;
        }
    }
    reader.end_line();
    reader.lines
}

/// Returns the block that a text belongs to. The cells of a row are one line.
fn block_around(document: &Document, id: NodeId) -> Option<NodeId> {
    let dom = &document.dom;
    let is_line = |&id: &NodeId| matches!(dom.kind(id), NodeKind::Element(tag) if tag.is_block() && !matches!(tag, Tag::Td | Tag::Th));
    dom.ancestors(id).find(is_line)
}

/// Returns the level of a block that is a heading, or is named like one.
fn heading_of(document: &Document, block: NodeId) -> Option<u8> {
    heading_level(document.dom.tag(block)?).or_else(|| names_section(document, block).then_some(8))
}

/// Returns the level of a heading.
fn heading_level(tag: Tag) -> Option<u8> {
    let is_caption = matches!(tag, Tag::Caption | Tag::Summary | Tag::Legend);
    tag.heading_level().or(is_caption.then_some(7)).map(|level| level as u8)
}

/// Returns whether the class of an element says that it is the title of a section, such as `menu-section-title`.
fn names_section(document: &Document, block: NodeId) -> bool {
    let class = document.dom.attribute(block, "class").unwrap_or_default();
    let class = start_of(class, MAX_LABEL_BYTES).to_ascii_lowercase();
    class.split_ascii_whitespace().any(|name| {
        let words: Vec<&str> = name.split(['-', '_']).filter(|word| !word.is_empty()).collect();
        let is_title = matches!(words.last(), Some(&("title" | "name" | "heading" | "header")));
        is_title && words.iter().any(|word| matches!(*word, "section" | "category" | "group"))
    })
}

struct LineReader {
    lines: Vec<Line>,
    text: String,
    /// The last text node of the line.
    last_part: String,
    heading: Option<u8>,
}

impl LineReader {
    fn push(&mut self, text: &str) {
        let text = start_of(text, MAX_LINE_BYTES);
        let part = collapsed(text);
        if part.is_empty() || self.text.len() > MAX_LINE_BYTES {
            return;
        }
        // The parts of a line may touch: `<b>Soup</b><i>4.50</i>`.
        push_collapsed(&mut self.text, " ");
        push_collapsed(&mut self.text, text);
        self.last_part = part;
    }

    fn end_line(&mut self) {
        let text = collapsed(&std::mem::take(&mut self.text));
        let last_part = std::mem::take(&mut self.last_part);
        if text.is_empty() {
            return;
        }
        let (text, price) = split_price(&text, &last_part);
        self.lines.push(Line { text, price, heading: self.heading });
    }
}

/// Splits a line into its text and the price at its end. Of several prices, such as those of two sizes, the lowest one
/// counts. A whole number is a price only with a sign of a currency, or in an element of its own.
fn split_price(line: &str, last_part: &str) -> (String, Option<Price>) {
    let end = CODES.iter().find_map(|code| line.strip_suffix(code)).unwrap_or(line).trim_end().len();
    let has_code = end < line.len();
    let name_end = line[..end].trim_end_matches(is_price_char).len();
    let tokens = price_tokens(&line[name_end..end], name_end);
    let is_alone = last_part.len() <= 3 && last_part.bytes().all(|byte| byte.is_ascii_digit());
    let mut prices: Vec<Price> = Vec::new();
    let mut name_end = name_end;
    for (at, token) in tokens.iter().enumerate().rev() {
        let is_last = at + 1 == tokens.len();
        let text = if is_last { &line[token.start..] } else { &line[token.clone()] };
        let is_price = has_sign(text) || has_fraction(text) || is_last && (is_alone || has_code);
        let Some(price) = price_of(text, Notation::Visible).filter(|price| is_price && price.amount > 0.0)
        else {
            name_end = token.end;
            break;
        };
        prices.push(price);
    }
    let Some(price) = prices.into_iter().min_by(|a, b| a.amount.total_cmp(&b.amount)) else {
        return (line.to_owned(), None);
    };
    let name =
        line[..name_end].trim_end_matches([' ', '.', '…', '·', '_', '-', '–', ':', '|', '/', '(']).trim();
    (name.to_owned(), Some(price))
}

/// Currencies after a price.
const CODES: [&str; 12] = ["EUR", "CHF", "USD", "GBP", "SEK", "NOK", "DKK", "PLN", "kr", "zł", "Kč", "Euro"];

fn is_price_char(c: char) -> bool {
    c.is_ascii_digit() || is_sign(c) || matches!(c, '.' | ',' | '/' | '|' | ' ' | '-' | '–')
}

fn is_sign(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹')
}

fn has_sign(text: &str) -> bool {
    text.contains(is_sign)
}

fn has_fraction(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let fraction = digits.bytes().rev().take_while(u8::is_ascii_digit).count();
    fraction == 2 && digits.len() > 3 && matches!(digits.as_bytes()[digits.len() - 3], b'.' | b',')
}

/// Returns the ranges of the numbers in the end of a line, each with the sign of its currency. `start` is the position of
/// `text` in the line.
fn price_tokens(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    // A sign before a number.
    let mut sign: Option<usize> = None;
    let mut at = start;
    for word in text.split_inclusive([' ', '/', '|', '–']) {
        let range = at..at + word.trim_end_matches([' ', '/', '|', '–']).len();
        at += word.len();
        let is_number = word.contains(|c: char| c.is_ascii_digit());
        if is_number {
            tokens.push(sign.take().unwrap_or(range.start)..range.end);
        } else if has_sign(word) {
            match tokens.last_mut() {
                // The sign follows its number, unless the number has one.
                Some(last) if !has_sign(&text[last.start - start..last.end - start]) => last.end = range.end,
                Some(_) | None => sign = Some(range.start),
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, last_part: &str, name: &str, amount: Option<f64>) {
        let (text, price) = split_price(line, last_part);
        assert_eq!((text.as_str(), price.map(|price| price.amount)), (name, amount), "{line}");
    }

    #[test]
    fn price_at_the_end_is_split_off() {
        check("Tomato soup ..... 4.50", "", "Tomato soup", Some(4.5));
        check("Schnitzel mit Pommes 14,90 €", "", "Schnitzel mit Pommes", Some(14.9));
        check("Cola 0,33 l 3,50 €", "", "Cola 0,33 l", Some(3.5));
        check("Espresso 2.80 / 4.20", "", "Espresso", Some(2.8));
        check("Set for 2 25.00", "", "Set for 2", Some(25.0));
        check("Pale ale £2.60 £5.00", "£5.00", "Pale ale", Some(2.6));
        check("Tea $ 4 $ 6", "6", "Tea", Some(4.0));
        check("Wine 5 € / 7 €", "", "Wine", Some(5.0));
        check("Burger $14", "", "Burger", Some(14.0));
        check("Burger 14", "14", "Burger", Some(14.0));
        check("9.50", "9.50", "", Some(9.5));
        check("Pasta 12,00 EUR", "", "Pasta", Some(12.0));
    }

    #[test]
    fn other_numbers_are_not_prices() {
        for line in ["Open since 1999", "Call 555 1234", "Table for 2", "No prices here", "24/7"] {
            check(line, line, line, None);
        }
    }
}

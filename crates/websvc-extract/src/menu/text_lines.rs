//! The lines of the visible text of a page, with the price at their end.

use crate::content_view::ContentView;
use crate::document::Document;
use crate::dom::{NodeId, NodeKind, Tag};
use crate::offer::{Notation, amount_of, price_of};
use crate::text::{collapsed, push_collapsed, start_of};
use websvc_types::product::Price;

/// Maximum number of lines of a page.
const MAX_LINES: usize = 20_000;

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
    for id in view.nodes(dom) {
        match dom.kind(id) {
            NodeKind::Text => {
                let around = block_around(document, id);
                if around != current {
                    reader.end_line();
                    current = around;
                }
                let tag = around.and_then(|id| dom.tag(id));
                let Some(tag) = tag else { continue };
                let is_ignored = |id| {
                    matches!(dom.tag(id), Some(Tag::Nav | Tag::Footer | Tag::Button | Tag::Select))
                        || Some(id) == document.json_ld_content
                };
                if !is_ignored(id) && dom.ancestors(id).any(is_ignored) {
                    continue;
                }
                reader.heading = heading_level(tag);
                reader.push(dom.text(id));
            }
            NodeKind::Element(Tag::Br) => reader.end_line(),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
        }
        if reader.lines.len() >= MAX_LINES {
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

/// Returns the level of a heading.
fn heading_level(tag: Tag) -> Option<u8> {
    Some(match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 => 4,
        Tag::H5 => 5,
        Tag::H6 => 6,
        Tag::Caption | Tag::Summary | Tag::Legend => 7,
        _ => return None,
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
/// counts. A whole number is a price only in an element of its own.
fn split_price(line: &str, last_part: &str) -> (String, Option<Price>) {
    let without_code = ["EUR", "CHF", "USD", "GBP", "SEK", "NOK", "DKK", "PLN", "kr", "zł", "Kč", "Euro"]
        .iter()
        .find_map(|code| line.strip_suffix(code))
        .unwrap_or(line);
    let is_price_part = |c: char| {
        c.is_ascii_digit()
            || matches!(c, '.' | ',' | '/' | '|' | ' ' | '$' | '€' | '£' | '¥' | '-' | '–' | '₹')
    };
    let name_end = without_code.trim_end_matches(is_price_part).len();
    let suffix = line[name_end..].trim_matches(|c: char| matches!(c, ' ' | '.' | '-' | '–' | '|'));
    let plain = || (line.to_owned(), None);
    let parts: Vec<&str> =
        suffix.split(['/', '|', '–']).map(str::trim).filter(|part| !part.is_empty()).collect();
    // Of several numbers without a separator, the last one is the price, and the others belong to the name.
    let first = parts.first().copied().unwrap_or_default();
    let single = first.rsplit(' ').find(|part| part.chars().any(|c| c.is_ascii_digit())).unwrap_or_default();
    let mut prices: Vec<Price> = Vec::new();
    for part in parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at == 0 && amount_of(part, Notation::Visible).is_none() { single } else { part })
    {
        match price_of(part, Notation::Visible) {
            Some(price) => prices.push(price),
            None => return plain(),
        }
    }
    let has_fraction = |part: &&str| {
        let tail = part.trim_end_matches(|c: char| !c.is_ascii_digit());
        tail.len() > 3 && matches!(tail.as_bytes()[tail.len() - 3], b'.' | b',')
    };
    let has_sign = suffix.chars().any(|c| c.is_alphabetic() || matches!(c, '$' | '€' | '£' | '¥' | '₹'));
    let is_alone = last_part.bytes().all(|byte| byte.is_ascii_digit()) && last_part.len() <= 3;
    if !(has_sign || parts.iter().any(has_fraction) || is_alone) {
        return plain();
    }
    let Some(mut price) =
        prices.into_iter().min_by(|a, b| a.amount.total_cmp(&b.amount)).filter(|price| price.amount > 0.0)
    else {
        return plain();
    };
    if price.formatted.is_none() && parts.len() == 1 {
        price.formatted = price_of(suffix, Notation::Visible).and_then(|price| price.formatted);
    }
    let mut name = line[..name_end].to_owned();
    if amount_of(first, Notation::Visible).is_none()
        && let Some(rest) = first.strip_suffix(single)
    {
        name.push_str(rest);
    }
    let name = name.trim_end_matches([' ', '.', '…', '·', '_', '-', '–', ':', '|', '(']).trim();
    (name.to_owned(), Some(price))
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

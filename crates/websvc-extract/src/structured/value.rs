//! Texts of structured data: values of attributes, and strings that are HTML themselves.

use crate::dom::{self, Dom, NodeId, NodeKind, Tag};
use crate::text::{collapsed, push_collapsed, start_of};
use crate::xml;

/// Maximum number of nodes that are visited for the text of one value.
const MAX_TEXT_NODES: usize = 500;

/// Returns a text without its markup and with decoded character references: descriptions are often HTML.
pub(crate) fn plain_text(source: &str) -> String {
    if !source.contains(['<', '&']) {
        return collapsed(source);
    }
    // A string in JSON may be escaped twice.
    let source = if source.contains("&lt;") && !source.contains('<') { &*decoded(source) } else { source };
    let dom = dom::parse(source);
    text_below(&dom, NodeId::ROOT, usize::MAX)
}

/// Decodes the character references of a text that may have been escaped once too often, such as `Tom &amp; Jerry`.
pub(crate) fn decoded(text: &str) -> String {
    let text = text.trim();
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    xml::decode_with(&mut out, text, |name| match name {
        "euro" => Some('€'),
        "pound" => Some('£'),
        "ndash" => Some('–'),
        "mdash" => Some('—'),
        _ => None,
    });
    out
}

/// Returns the text below a node, with spaces between blocks, up to about `max` bytes. The text before white
/// space is collapsed is cut too, at four times as many bytes: elements may share one long text.
pub(super) fn text_below(dom: &Dom, top: NodeId, max: usize) -> String {
    let mut out = String::new();
    let mut walk = dom.descendants(top);
    let mut visited = 0;
    let mut left = max.saturating_mul(4);
    while out.len() <= max
        && left > 0
        && visited < MAX_TEXT_NODES
        && let Some(id) = walk.next()
    {
        visited += 1;
        match dom.kind(id) {
            NodeKind::Text => {
                let text = start_of(dom.text(id), left);
                left -= text.len();
                push_collapsed(&mut out, text);
            }
            NodeKind::Element(Tag::Script | Tag::Style | Tag::Template) => walk.skip_children(id),
            NodeKind::Element(tag) if tag.is_block() || tag == Tag::Br => push_collapsed(&mut out, " "),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_not_read_to_its_end() {
        let dom = dom::parse(&format!("{}<b>{}</b>end", " ".repeat(30), "x".repeat(1 << 20)));
        assert_eq!(text_below(&dom, NodeId::ROOT, 10), "x".repeat(40));
        assert_eq!(text_below(&dom::parse("<p>a  <b>b</b><p>c"), NodeId::ROOT, 10), "a b c");
    }
}

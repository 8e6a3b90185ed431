//! Blanks the shortcodes of page builders that a page shows as text: `[vc_row …]` stays in the markup if the plugin that
//! would replace it is gone.

use super::{Dom, NodeId, NodeKind, Tag};

/// Beginnings of the names of shortcodes of page builders.
const PREFIXES: [&[u8]; 8] = [b"vc_", b"et_pb_", b"fusion_", b"av_", b"tatsu_", b"mk_", b"nectar_", b"cs_"];

/// Maximum size of a shortcode in bytes.
const MAX_BYTES: usize = 4_000;

/// Maximum number of shortcodes of a text.
const MAX_SHORTCODES: usize = 2_000;

impl Dom {
    /// Replaces the shortcodes in texts by spaces, except in code.
    pub(super) fn blank_shortcodes(&mut self) {
        if !has_shortcode(&self.text) {
            return;
        }
        let mut ranges = Vec::new();
        let mut walk = self.descendants(NodeId::ROOT);
        while let Some(id) = walk.next() {
            match self.kind(id) {
                NodeKind::Element(Tag::Pre | Tag::Code | Tag::Script | Tag::Textarea) => {
                    walk.skip_children(id);
                }
                NodeKind::Text => {
                    let start = self.nodes[id.index()].start as usize;
                    let found = shortcodes(self.text(id));
                    ranges.extend(found.into_iter().map(|range| range.start + start..range.end + start));
                }
                _ => {}
            }
        }
        if ranges.is_empty() {
            return;
        }
        // Each byte becomes a space, so the offsets of the other texts stay.
        let mut text = std::mem::take(&mut self.text).into_bytes();
        for range in ranges {
            text[range].fill(b' ');
        }
        self.text = String::from_utf8(text).unwrap_or_default();
    }
}

fn has_shortcode(text: &str) -> bool {
    text.match_indices('[').any(|(at, _)| begins_shortcode(&text.as_bytes()[at..]))
}

/// Returns whether a text begins with an opening or closing shortcode.
fn begins_shortcode(text: &[u8]) -> bool {
    let name = text.get(1..).unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the ranges of the shortcodes in a text.
fn shortcodes(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('[').map(|offset| at + offset) {
        let rest = &text.as_bytes()[start..];
        at = start + 1;
        if !begins_shortcode(rest) {
            continue;
        }
        // A page with thousands of them, or with one that does not end, is hostile.
        let end = end_of_shortcode(rest);
        if end.is_none() || found.len() >= MAX_SHORTCODES {
            break;
        }
        at = end.map_or(at, |end| start + end);
        found.extend(end.map(|end| start..start + end));
    }
    found
}

/// Returns the length of the shortcode that a text begins with. Brackets in its quoted values do not end it.
fn end_of_shortcode(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, &byte) in text.iter().enumerate().take(MAX_BYTES) {
        match (quote, byte) {
            (None, b']') => return Some(at + 1),
            (None, b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    // An unpaired quote must not hide the end.
    text.iter().take(MAX_BYTES).position(|&byte| byte == b']').map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcodes_are_found_with_their_values_and_other_brackets_are_not() {
        let text = "[vc_row a=\"x]y\"]Tea[/vc_column_text] [1] [vc_open";
        let found: Vec<&str> = shortcodes(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["[vc_row a=\"x]y\"]", "[/vc_column_text]"]);
    }

    #[test]
    fn text_between_shortcodes_stays_and_code_is_unchanged() {
        let dom = crate::dom::parse(
            "<p>[vc_row][vc_column width=\"1/2\"]Täglich Tee.[/vc_column]</p><code>[vc_row]</code>",
        );
        let text: String = dom.descendants(NodeId::ROOT).map(|id| dom.text(id)).collect();
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["Täglich", "Tee.", "[vc_row]"]);
    }
}

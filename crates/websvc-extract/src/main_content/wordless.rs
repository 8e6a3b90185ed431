//! Parts of the main content without words: line breaks, and lines of signs.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::text::is_space;

/// Maximum length of a line of signs, in bytes.
const MAX_SIGNS_BYTES: usize = 100;

/// Keeps texts without letters and digits between kept ones, such as `* * *` between two parts of a story. They are in
/// no block, because no score can be given to them.
pub(super) fn keep_signs(dom: &Dom, order: &[NodeId], keep: &mut [bool]) {
    let mut kept_before = false;
    let mut pending: Vec<NodeId> = Vec::new();
    for &id in order.iter().filter(|&&id| dom.kind(id) == NodeKind::Text) {
        let text = dom.text(id).trim_ascii_start();
        let Some(first) = text.bytes().next() else { continue };
        // The first letter decides for almost all texts.
        let is_signs = !first.is_ascii_alphanumeric()
            && text.len() <= MAX_SIGNS_BYTES
            && !text.chars().any(char::is_alphanumeric);
        if !is_signs {
            let kept_after = keep[id.index()];
            for signs in pending.drain(..) {
                keep[signs.index()] |= kept_before && kept_after;
            }
            kept_before = kept_after;
        } else if !text.chars().all(is_space) {
            pending.push(id);
        }
    }
}

/// Keeps the inline elements that have a line break and nothing else: it keeps the words around them apart.
pub(super) fn keep_line_breaks(dom: &Dom, order: &[NodeId], keep: &mut [bool]) {
    for &id in order.iter().filter(|&&id| dom.is(id, Tag::Br)) {
        for above in dom.ancestors(id) {
            if keep[above.index()] || dom.tag(above).is_none_or(Tag::is_block) {
                break;
            }
            keep[above.index()] = true;
        }
    }
}

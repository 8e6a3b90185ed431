//! Parts of the main content without words: line breaks, and lines of signs.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::text::is_space;

/// Keeps texts without letters and digits between kept ones, such as `* * *` between two parts of a story. They are in
/// no block, because no score can be given to them.
pub(super) fn keep_signs(dom: &Dom, order: &[NodeId], keep: &mut [bool]) {
    let mut kept_before = false;
    let mut pending: Vec<NodeId> = Vec::new();
    for &id in order.iter().filter(|&&id| dom.kind(id) == NodeKind::Text) {
        let text = dom.text(id);
        if text.chars().any(char::is_alphanumeric) {
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

/// Returns the elements that have a line break but may have nothing else: it keeps the words around an inline element
/// apart.
pub(super) fn with_line_break(dom: &Dom, order: &[NodeId]) -> Vec<bool> {
    let mut has_break = vec![false; dom.len()];
    for &id in order.iter().rev() {
        let is_break = dom.is(id, Tag::Br) || has_break[id.index()];
        if is_break
            && let Some(parent) = dom.parent(id)
            && !dom.tag(parent).is_some_and(Tag::is_block)
        {
            has_break[parent.index()] = true;
        }
    }
    has_break
}

//! Plain text for the index: one line per block, table cells side by side.

use super::OutputContext;
use crate::dom::{NodeKind, Tag};
use crate::limits::MAX_OUTPUT_BYTES;
use crate::text::push_collapsed;

/// Writes the view as plain text.
pub(crate) fn write(page: OutputContext<'_>) -> (String, bool) {
    let OutputContext { dom, view, .. } = page;
    let mut out = String::new();
    for &root in &page.view.roots {
        let mut previous_end: Vec<crate::dom::NodeId> = Vec::new();
        for id in view.below(dom, root) {
            while let Some(&open) = previous_end.last() {
                if is_inside(dom, id, open) {
                    break;
                }
                previous_end.pop();
                end_line(&mut out);
            }
            match dom.kind(id) {
                NodeKind::Text => push_collapsed(&mut out, dom.text(id)),
                NodeKind::Element(Tag::Br) => end_line(&mut out),
                NodeKind::Element(Tag::Td | Tag::Th) => push_collapsed(&mut out, " "),
                NodeKind::Element(tag) if tag.is_block() => {
                    end_line(&mut out);
                    previous_end.push(id);
                }
                NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
            }
            if out.len() > MAX_OUTPUT_BYTES {
                return (out, true);
            }
        }
        end_line(&mut out);
    }
    (out, false)
}

fn is_inside(dom: &crate::dom::Dom, id: crate::dom::NodeId, outer: crate::dom::NodeId) -> bool {
    dom.ancestors(id).any(|ancestor| ancestor == outer)
}

fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

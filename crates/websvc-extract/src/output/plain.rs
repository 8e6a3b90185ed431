//! Plain text for the index: one line per block, with the cells of a table row on one line.

use super::boxes::{BoxKind, Boxes};
use super::{FormattedText, OutputContext};
use crate::dom::{NodeKind, Tag};
use crate::limits::MAX_OUTPUT_BYTES;
use crate::text::push_collapsed;

/// Writes the view as plain text.
pub(crate) fn write(context: OutputContext<'_>) -> FormattedText {
    let OutputContext { dom, view, .. } = context;
    let mut out = String::new();
    // Roles and inline styles only: to read the style sheets would take as long as to write the text.
    let boxes = Boxes::default();
    for &root in &context.view.roots {
        let mut open_blocks: Vec<crate::dom::NodeId> = Vec::new();
        for id in view.below(dom, root) {
            while let Some(&open) = open_blocks.last() {
                if is_inside(dom, id, open) {
                    break;
                }
                open_blocks.pop();
                end_line(&mut out);
            }
            match dom.kind(id) {
                NodeKind::Text => push_collapsed(&mut out, dom.text(id)),
                NodeKind::Element(Tag::Br) => end_line(&mut out),
                NodeKind::Element(Tag::Td | Tag::Th | Tag::Button) => push_collapsed(&mut out, " "),
                NodeKind::Element(tag) => match boxes.of(dom, id, tag) {
                    BoxKind::Inline => {}
                    BoxKind::InlineBlock | BoxKind::Cell | BoxKind::HeaderCell => {
                        push_collapsed(&mut out, " ");
                    }
                    BoxKind::OfTag if !tag.is_block() => {}
                    _ => {
                        end_line(&mut out);
                        open_blocks.push(id);
                    }
                },
                NodeKind::Document | NodeKind::Nothing => {}
            }
            if out.len() > MAX_OUTPUT_BYTES {
                return FormattedText { text: out, truncated: true };
            }
        }
        end_line(&mut out);
    }
    FormattedText { text: out, truncated: false }
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

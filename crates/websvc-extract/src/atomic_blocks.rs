//! Tables of data and blocks of code are kept whole: without a cell, the cells behind it would stand in the wrong columns.

use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, Tag};

/// One part in so many of a table must be main content for all of it to be.
const LEAST_SHARE: usize = 4;

/// Longest mean text of a cell, in bytes, in a table of data.
const MAX_CELL_BYTES: usize = 200;

/// Puts back what the choice of main content has taken from the middle of tables and of code.
pub(crate) fn keep_atomic_blocks(dom: &Dom, visible: &ContentView, main: &mut ContentView) {
    let is_whole = |&id: &NodeId| matches!(dom.tag(id), Some(Tag::Table | Tag::Pre));
    let parts: Vec<NodeId> = main.nodes(dom).filter(is_whole).collect();
    for part in parts {
        let taken = dom.descendants(part).any(|id| main.is_left_out(id) && !visible.is_left_out(id));
        if !taken {
            continue;
        }
        let kept = bytes(dom, main, part);
        let enough = match dom.tag(part) {
            Some(Tag::Pre) => kept > 0,
            _ => is_data(dom, visible, part) && kept * LEAST_SHARE >= bytes(dom, visible, part),
        };
        if enough {
            main.restore(dom, part, visible);
        }
    }
}

fn bytes(dom: &Dom, view: &ContentView, top: NodeId) -> usize {
    view.below(dom, top).map(|id| dom.text(id).trim().len()).sum()
}

/// Tells whether a table holds short cells and nothing that arranges a page.
fn is_data(dom: &Dom, visible: &ContentView, table: NodeId) -> bool {
    let (mut cells, mut rows) = (0, 0);
    for id in visible.below(dom, table).skip(1) {
        match dom.tag(id) {
            Some(Tag::Td | Tag::Th) => cells += 1,
            Some(Tag::Tr) => rows += 1,
            Some(Tag::Table | Tag::Form | Tag::Nav | Tag::H1 | Tag::H2 | Tag::Article | Tag::Section) => {
                return false;
            }
            _ => {}
        }
    }
    rows >= 2 && cells >= 2 * rows && bytes(dom, visible, table) <= cells * MAX_CELL_BYTES
}

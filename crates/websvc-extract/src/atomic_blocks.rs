//! Keeps data tables and code blocks whole: if a cell is removed, the cells after it move to the wrong columns.

use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, Tag};

/// A table is kept whole if at least 1/N of its text is main content.
const MIN_SHARE_DIVISOR: usize = 4;

/// Maximum mean length of the text of a cell in a data table, in bytes.
const MAX_CELL_BYTES: usize = 200;

/// Restores the parts in the middle of tables and code that the selection of main content has removed.
pub(crate) fn keep_atomic_blocks(dom: &Dom, visible: &ContentView, main: &mut ContentView) {
    let is_atomic = |&id: &NodeId| matches!(dom.tag(id), Some(Tag::Table | Tag::Pre));
    let blocks: Vec<NodeId> = main.nodes(dom).filter(is_atomic).collect();
    for block in blocks {
        let has_removed = dom.descendants(block).any(|id| main.is_excluded(id) && !visible.is_excluded(id));
        if !has_removed {
            continue;
        }
        let kept = bytes(dom, main, block);
        let is_kept = match dom.tag(block) {
            Some(Tag::Pre) => kept > 0,
            _ => is_data_table(dom, visible, block) && kept * MIN_SHARE_DIVISOR >= bytes(dom, visible, block),
        };
        if is_kept {
            main.restore(dom, block, visible);
        }
    }
}

fn bytes(dom: &Dom, view: &ContentView, top: NodeId) -> usize {
    view.below(dom, top).map(|id| dom.text(id).trim().len()).sum()
}

/// Returns whether a table has short cells and no layout elements.
fn is_data_table(dom: &Dom, visible: &ContentView, table: NodeId) -> bool {
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

//! The marks of blocks in the layout of a page.

use crate::page_output::{BlockKind, block_start};

use super::blocks::{Block, PageSize, PlacedBlock};
use super::geometry::Rect;

/// Returns the mark of a block with content, on a page of this size; `level` is that of a heading.
pub(super) fn block_mark(placed: &PlacedBlock, level: Option<u32>, size: Option<PageSize>) -> Option<String> {
    let area = placed.area.zip(size).map(|(area, size)| shares(area, size));
    Some(block_start(kind(&placed.block, level)?, area))
}

/// Returns the kind of a block with content.
fn kind(block: &Block, level: Option<u32>) -> Option<BlockKind> {
    match block {
        Block::Text(text) => Some(match (level, text.marker) {
            (Some(1), _) => BlockKind::Title,
            (Some(_), _) => BlockKind::Heading,
            (None, Some(_)) => BlockKind::ListItem,
            (None, None) => BlockKind::Text,
        }),
        Block::Code(_) => Some(BlockKind::Code),
        Block::Table(_) => Some(BlockKind::Table),
        Block::Contents(_) => Some(BlockKind::Contents),
        Block::PageStart(_) | Block::PageMark(_) => None,
    }
}

/// Returns the edges of an area as shares of the size of its page.
fn shares(area: Rect, size: PageSize) -> [f32; 4] {
    let (width, height) = (size.width.max(1.0), size.height.max(1.0));
    [area.x0 / width, area.y0 / height, area.x1 / width, area.y1 / height]
}

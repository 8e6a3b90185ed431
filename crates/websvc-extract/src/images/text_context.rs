//! The text around a position of a page: of its own block, then of the blocks after it, else of the block before it.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::limits::MAX_CAPTION_CHARS;
use crate::text::{push_collapsed, shorten};

/// A block with fewer characters than this is not enough: the blocks after it are added.
const MIN_CONTEXT_CHARS: usize = 40;

/// A position in the text: the index of its block.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPosition(usize);

/// The text blocks of a page, some of them marked.
#[derive(Debug, Default)]
pub(super) struct TextContext {
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    element: Option<NodeId>,
    text: String,
    /// True if an image is here: the text of another image ends before this block.
    marked: bool,
}

impl TextContext {
    /// Adds a text node. Captions are stored separately and are not part of the text around them.
    pub(super) fn push(&mut self, dom: &Dom, id: NodeId) {
        let text = dom.text(id);
        // A caption is seldom nested deeper than this. Searching up to the root for each text would cost too much.
        if text.trim().is_empty() || dom.ancestors(id).take(4).any(|above| is_outside_context(dom, above)) {
            return;
        }
        let index = self.block(dom, id);
        // Of a long block only the beginning is stored: the rest is further from the image.
        let block = &mut self.blocks[index].text;
        if block.len() < 4 * MAX_CAPTION_CHARS {
            push_collapsed(block, text);
        }
    }

    /// Marks the position of an element.
    pub(super) fn mark(&mut self, dom: &Dom, id: NodeId) -> TextPosition {
        let index = self.block(dom, id);
        self.blocks[index].marked = true;
        TextPosition(index)
    }

    /// Returns the index of the block around a node.
    fn block(&mut self, dom: &Dom, id: NodeId) -> usize {
        let is_block = |id: &NodeId| matches!(dom.kind(*id), NodeKind::Element(tag) if tag.is_block());
        let element = dom.ancestors(id).find(is_block);
        if self.blocks.last().is_none_or(|last| last.element != element) {
            self.blocks.push(Block { element, text: String::new(), marked: false });
        }
        self.blocks.len() - 1
    }

    /// Returns the text around a position.
    pub(super) fn around(&self, TextPosition(index): TextPosition) -> String {
        let mut out = self.blocks[index].text.trim().to_owned();
        let is_unmarked = |block: &&Block| !block.marked;
        for block in self.blocks[index + 1..].iter().take_while(is_unmarked) {
            if out.len() >= MIN_CONTEXT_CHARS {
                break;
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(block.text.trim());
        }
        // The text before an image is more often about something else.
        if out.is_empty() {
            let mut before = self.blocks[..index].iter().rev().take_while(is_unmarked);
            out.push_str(before.find(|block| !block.text.is_empty()).map_or("", |block| block.text.trim()));
        }
        shorten(&mut out, MAX_CAPTION_CHARS);
        out
    }
}

fn is_outside_context(dom: &Dom, id: NodeId) -> bool {
    matches!(dom.tag(id), Some(Tag::Figcaption | Tag::Head | Tag::Noscript))
}

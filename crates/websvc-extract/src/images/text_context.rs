//! The text around a place of a page: its own block, then the blocks after it, else the one before it.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::limits::MAX_CAPTION_CHARS;
use crate::text::{push_collapsed, shorten};

/// A block with fewer characters than this says too little; its neighbours are taken too.
const ENOUGH_CHARS: usize = 40;

/// A place in the text: the number of its block.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPosition(usize);

/// The blocks of a page with the marks in them.
#[derive(Debug, Default)]
pub(super) struct TextContext {
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    element: Option<NodeId>,
    text: String,
    /// Something is marked here: another mark's text ends before it.
    marked: bool,
}

impl TextContext {
    /// Adds a text node. Captions are told apart from the text around them, and are no part of it.
    pub(super) fn push(&mut self, dom: &Dom, id: NodeId) {
        let text = dom.text(id);
        // A caption is seldom nested deeper than this; to climb to the root from every text would cost too much.
        if text.trim().is_empty() || dom.ancestors(id).take(4).any(|above| is_no_context(dom, above)) {
            return;
        }
        let at = self.block(dom, id);
        // A long block is told by its beginning: what follows is further from the image.
        let block = &mut self.blocks[at].text;
        if block.len() < 4 * MAX_CAPTION_CHARS {
            push_collapsed(block, text);
        }
    }

    /// Marks the place of an element.
    pub(super) fn mark(&mut self, dom: &Dom, id: NodeId) -> TextPosition {
        let at = self.block(dom, id);
        self.blocks[at].marked = true;
        TextPosition(at)
    }

    /// Returns the number of the block that a node is in.
    fn block(&mut self, dom: &Dom, id: NodeId) -> usize {
        let is_block = |id: &NodeId| matches!(dom.kind(*id), NodeKind::Element(tag) if tag.is_block());
        let element = dom.ancestors(id).find(is_block);
        if self.blocks.last().is_none_or(|last| last.element != element) {
            self.blocks.push(Block { element, text: String::new(), marked: false });
        }
        self.blocks.len() - 1
    }

    /// Returns the text around a place.
    pub(super) fn around(&self, TextPosition(at): TextPosition) -> String {
        let mut out = self.blocks[at].text.trim().to_owned();
        let neighbours = |block: &&Block| !block.marked;
        for block in self.blocks[at + 1..].iter().take_while(neighbours) {
            if out.len() >= ENOUGH_CHARS {
                break;
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(block.text.trim());
        }
        // What comes before an image is more often about something else.
        if out.is_empty() {
            let mut before = self.blocks[..at].iter().rev().take_while(neighbours);
            out.push_str(before.find(|block| !block.text.is_empty()).map_or("", |block| block.text.trim()));
        }
        shorten(&mut out, MAX_CAPTION_CHARS);
        out
    }
}

fn is_no_context(dom: &Dom, id: NodeId) -> bool {
    matches!(dom.tag(id), Some(Tag::Figcaption | Tag::Head | Tag::Noscript))
}

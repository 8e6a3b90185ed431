//! Cuts a page into blocks of text, the units that are kept or left out, and sums them up along the tree.

use super::tokens::{self, Hints};
use super::topics::{Topics, Words};
use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::text::{is_dropped, is_space};

/// A run of text that no block boundary interrupts: a paragraph, a heading, a list item, a table cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// The element whose run of text it is.
    pub(super) owner: usize,
    /// The text nodes of the run.
    pub(super) nodes: Vec<NodeId>,
    pub(super) size: Size,
    pub(super) commas: u32,
    pub(super) digits: u32,
    pub(super) capitals: u32,
    /// Ends of sentences inside the block.
    pub(super) sentences: u32,
    pub(super) first: char,
    pub(super) last: char,
    /// A hash of its letters, for finding repetitions.
    pub(super) hash: u64,
    /// Topics of the block's words.
    pub(super) topics: Topics,
    /// Words that have a topic: they name what a page does rather than what it says.
    pub(super) topical: u32,
    /// Currency signs.
    pub(super) prices: u32,
    /// Number of `<br>` inside.
    pub(super) breaks: u32,
}

/// How much text there is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) words: f32,
    /// Letters and digits.
    pub(super) chars: f32,
    /// Those inside links.
    pub(super) linked: f32,
    /// Words in blocks that read like prose.
    pub(super) prose: f32,
    pub(super) blocks: f32,
}

impl Size {
    /// Adds what is elsewhere.
    pub(super) fn add(&mut self, other: &Size) {
        self.words += other.words;
        self.chars += other.chars;
        self.linked += other.linked;
        self.prose += other.prose;
        self.blocks += other.blocks;
    }

    /// Returns the share of the text that is inside links.
    pub(super) fn link_density(&self) -> f32 {
        if self.chars > 0.0 { self.linked / self.chars } else { 0.0 }
    }
}

/// One element that has text below it.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) tag: Tag,
    /// Index of the parent in `BlockTree::elements`; the first element is its own.
    pub(super) parent: usize,
    pub(super) depth: u16,
    /// Hints from the element's own names.
    pub(super) own: Hints,
    /// Hints from the names of the element and all its ancestors.
    pub(super) all: Hints,
    pub(super) size: Size,
    /// How many siblings in a row look the same: same tag, and names that hint at the same.
    pub(super) twins: u32,
    /// A hash of its tag and classes, and one of those of all its ancestors too.
    pub(super) look: u64,
    pub(super) path: u64,
}

/// A page as blocks and the elements around them.
#[derive(Debug)]
pub(super) struct BlockTree {
    pub(super) elements: Vec<Element>,
    pub(super) blocks: Vec<Block>,
}

/// Cuts the view into blocks.
pub(super) fn outline(dom: &Dom, view: &ContentView) -> BlockTree {
    let mut cutter =
        BlockBuilder { dom, elements: Vec::new(), blocks: Vec::new(), current: Block::default() };
    cutter.elements.push(Element {
        tag: Tag::Other,
        parent: 0,
        depth: 0,
        own: 0,
        all: 0,
        size: Size::default(),
        twins: 0,
        look: 0,
        path: 0,
    });
    cutter.children(view, NodeId::ROOT, 0, 0);
    cutter.end_block();
    let BlockBuilder { mut elements, blocks, .. } = cutter;
    for block in &blocks {
        elements[block.owner].size.add(&block.size);
    }
    for index in (1..elements.len()).rev() {
        let (size, parent) = (elements[index].size, elements[index].parent);
        elements[parent].size.add(&size);
    }
    BlockTree { elements, blocks }
}

/// Returns the hash a block with this text has.
pub(super) fn hash_of(text: &str) -> u64 {
    text.chars().filter(|c| c.is_alphanumeric()).fold(0, hashed)
}

fn hashed(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c.to_ascii_lowercase()))).wrapping_mul(0x0100_0000_01b3)
}

struct BlockBuilder<'a> {
    dom: &'a Dom,
    elements: Vec<Element>,
    blocks: Vec<Block>,
    current: Block,
}

impl BlockBuilder<'_> {
    /// Walks the children of a node. `here` is its element, `owner` that of the block it is part of.
    fn children(&mut self, view: &ContentView, id: NodeId, here: usize, owner: usize) {
        let mut elements = Vec::new();
        for child in view.children(self.dom, id) {
            match self.dom.kind(child) {
                NodeKind::Text => self.text(child, here, owner),
                NodeKind::Element(Tag::Br) => self.current.breaks += 1,
                NodeKind::Element(tag) => elements.push(self.element(view, child, tag, here, owner)),
                NodeKind::Document | NodeKind::Nothing => {}
            }
        }
        self.count_twins(&elements);
    }

    fn element(&mut self, view: &ContentView, id: NodeId, tag: Tag, parent: usize, owner: usize) -> usize {
        let (own, look) = tokens::of_element(self.dom, id);
        let above = &self.elements[parent];
        let (all, depth) = (own | above.all, above.depth + 1);
        let path = above.path.rotate_left(5).wrapping_mul(0x0100_0000_01b3) ^ look;
        let index = self.elements.len();
        let size = Size::default();
        self.elements.push(Element { tag, parent, depth, own, all, size, twins: 0, look, path });
        let is_block = tag.is_block();
        if is_block {
            self.end_block();
        }
        self.children(view, id, index, if is_block { index } else { owner });
        if is_block {
            self.end_block();
        }
        index
    }

    /// Counts for each of these siblings how many of its neighbours look the same.
    fn count_twins(&mut self, children: &[usize]) {
        let mut run = 0;
        while run < children.len() {
            let mut end = run + 1;
            while end < children.len() && self.alike(children[run], children[end]) {
                end += 1;
            }
            for &index in &children[run..end] {
                self.elements[index].twins = u32::try_from(end - run - 1).unwrap_or(u32::MAX);
            }
            run = end;
        }
    }

    fn alike(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.elements[a], &self.elements[b]);
        a.tag == b.tag && a.own == b.own
    }

    fn text(&mut self, id: NodeId, here: usize, owner: usize) {
        let linked = self.elements[here].all & tokens::IN_LINK != 0;
        let block = &mut self.current;
        let before = block.size.chars;
        let (mut in_word, mut after_space) = (false, false);
        let mut words = Words::default();
        for c in self.dom.text(id).chars().chain(std::iter::once(' ')) {
            let topic = words.add(c);
            block.topics |= topic;
            block.topical += u32::from(topic != 0);
            if is_space(c) || is_dropped(c) {
                (in_word, after_space) = (false, true);
                continue;
            }
            if after_space && block.last == '.' {
                block.sentences += 1;
            }
            after_space = false;
            if before == 0.0 && block.first == '\0' {
                block.first = c;
            }
            if c.is_alphanumeric() {
                block.size.chars += 1.0;
                // Scripts without spaces: two characters make about one word.
                let dense = ('\u{3040}'..'\u{fb00}').contains(&c);
                if dense {
                    block.size.words += 0.5;
                } else if !in_word {
                    block.size.words += 1.0;
                }
                in_word = !dense;
                block.digits += u32::from(c.is_ascii_digit());
                block.capitals += u32::from(c.is_uppercase());
                block.hash = hashed(block.hash, c);
            } else {
                match c {
                    ',' | '、' | '，' | ';' => block.commas += 1,
                    '$' | '€' | '£' | '¥' | '₹' => block.prices += 1,
                    '。' | '！' | '？' | '!' | '?' => block.sentences += 1,
                    _ => {}
                }
                if !matches!(c, '\'' | '’' | '-') {
                    in_word = false;
                }
            }
            block.last = c;
        }
        if linked {
            block.size.linked += block.size.chars - before;
        }
        if block.last != '\0' {
            block.owner = owner;
            block.nodes.push(id);
        }
    }

    fn end_block(&mut self) {
        let mut block = std::mem::take(&mut self.current);
        if block.size.chars == 0.0 {
            return;
        }
        let ended = matches!(block.last, '.' | '!' | '?' | ':' | '。' | '！' | '？' | '"' | '”' | '…' | ')');
        let prose =
            block.size.words >= 12.0 && block.size.link_density() < 0.4 && (ended || block.commas > 0);
        block.size.prose = if prose { block.size.words } else { 0.0 };
        block.size.blocks = 1.0;
        self.blocks.push(block);
    }
}

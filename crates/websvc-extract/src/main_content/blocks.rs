//! Splits a page into blocks of text, the units that are selected, and sums their sizes along the tree.

use super::tokens::{self, Hints};
use super::topics::{Topics, Words};
use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::text::{is_dropped, is_space, push_collapsed};

/// A run of text without a block boundary: a paragraph, a heading, a list item, a table cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// Index of the element whose text it is.
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
    /// A hash of its letters, to find repetitions.
    pub(super) hash: u64,
    /// Topics of the block's words.
    pub(super) topics: Topics,
    /// Number of words that have a topic: they describe a function of the page rather than its subject.
    pub(super) topical: u32,
    /// Currency signs.
    pub(super) prices: u32,
    /// Number of `<br>` inside.
    pub(super) breaks: u32,
}

impl Block {
    /// Returns the text with collapsed white space.
    pub(super) fn text(&self, dom: &Dom) -> String {
        let mut text = String::new();
        self.nodes.iter().for_each(|&id| push_collapsed(&mut text, dom.text(id)));
        text
    }
}

/// An amount of text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) words: f32,
    /// Number of letters and digits.
    pub(super) chars: f32,
    /// Number of letters and digits inside links.
    pub(super) linked: f32,
    /// Number of words in blocks that look like prose.
    pub(super) prose: f32,
    pub(super) blocks: f32,
}

impl Size {
    /// Adds the size of another part.
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

/// An element that has text below it.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) tag: Tag,
    /// Index of the parent in `BlockTree::elements`. The first element is its own parent.
    pub(super) parent: usize,
    pub(super) depth: u16,
    /// Hints from the names of the element itself.
    pub(super) own_hints: Hints,
    /// Hints from the names of the element and all its ancestors.
    pub(super) all_hints: Hints,
    pub(super) size: Size,
    /// Number of adjacent siblings that look the same: same tag, and names with the same hints.
    pub(super) similar_siblings: u32,
    /// A hash of its tag and classes.
    pub(super) signature: u64,
    /// A hash of the signatures of the element and all its ancestors.
    pub(super) path: u64,
}

/// The blocks of a page and the elements around them.
#[derive(Debug)]
pub(super) struct BlockTree {
    pub(super) elements: Vec<Element>,
    pub(super) blocks: Vec<Block>,
}

/// Splits the view into blocks.
pub(super) fn split(dom: &Dom, view: &ContentView) -> BlockTree {
    let mut builder =
        BlockBuilder { dom, elements: Vec::new(), blocks: Vec::new(), current: Block::default() };
    builder.elements.push(Element {
        tag: Tag::Other,
        parent: 0,
        depth: 0,
        own_hints: 0,
        all_hints: 0,
        size: Size::default(),
        similar_siblings: 0,
        signature: 0,
        path: 0,
    });
    builder.children(view, NodeId::ROOT, 0, 0);
    builder.end_block();
    let BlockBuilder { mut elements, blocks, .. } = builder;
    for block in &blocks {
        elements[block.owner].size.add(&block.size);
    }
    for index in (1..elements.len()).rev() {
        let (size, parent) = (elements[index].size, elements[index].parent);
        elements[parent].size.add(&size);
    }
    BlockTree { elements, blocks }
}

/// Returns the hash of a block with this text.
pub(super) fn hash_of(text: &str) -> u64 {
    text.chars().filter(|c| c.is_alphanumeric()).fold(0, add_to_hash)
}

fn add_to_hash(hash: u64, c: char) -> u64 {
    (hash ^ u64::from(u32::from(c.to_ascii_lowercase()))).wrapping_mul(0x0100_0000_01b3)
}

struct BlockBuilder<'a> {
    dom: &'a Dom,
    elements: Vec<Element>,
    blocks: Vec<Block>,
    current: Block,
}

impl BlockBuilder<'_> {
    /// Visits the children of a node. `here` is its element, `owner` the element of the block around it.
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
        self.count_similar_siblings(&elements);
    }

    fn element(&mut self, view: &ContentView, id: NodeId, tag: Tag, parent: usize, owner: usize) -> usize {
        let (own_hints, signature) = tokens::of_element(self.dom, id);
        let parent_element = &self.elements[parent];
        let (all_hints, depth) = (own_hints | parent_element.all_hints, parent_element.depth + 1);
        let path = parent_element.path.rotate_left(5).wrapping_mul(0x0100_0000_01b3) ^ signature;
        let index = self.elements.len();
        let size = Size::default();
        self.elements.push(Element {
            tag,
            parent,
            depth,
            own_hints,
            all_hints,
            size,
            similar_siblings: 0,
            signature,
            path,
        });
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

    /// Counts for each sibling the adjacent siblings that look the same.
    fn count_similar_siblings(&mut self, children: &[usize]) {
        let mut run = 0;
        while run < children.len() {
            let mut end = run + 1;
            while end < children.len() && self.is_similar(children[run], children[end]) {
                end += 1;
            }
            for &index in &children[run..end] {
                self.elements[index].similar_siblings = u32::try_from(end - run - 1).unwrap_or(u32::MAX);
            }
            run = end;
        }
    }

    fn is_similar(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.elements[a], &self.elements[b]);
        a.tag == b.tag && a.own_hints == b.own_hints
    }

    fn text(&mut self, id: NodeId, here: usize, owner: usize) {
        let is_linked = self.elements[here].all_hints & tokens::IN_LINK != 0;
        let block = &mut self.current;
        let chars_before = block.size.chars;
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
            if chars_before == 0.0 && block.first == '\0' {
                block.first = c;
            }
            if c.is_alphanumeric() {
                block.size.chars += 1.0;
                // In scripts without spaces two characters are about one word.
                let is_unspaced = ('\u{3040}'..'\u{fb00}').contains(&c);
                if is_unspaced {
                    block.size.words += 0.5;
                } else if !in_word {
                    block.size.words += 1.0;
                }
                in_word = !is_unspaced;
                block.digits += u32::from(c.is_ascii_digit());
                block.capitals += u32::from(c.is_uppercase());
                block.hash = add_to_hash(block.hash, c);
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
        if is_linked {
            block.size.linked += block.size.chars - chars_before;
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
        let has_end =
            matches!(block.last, '.' | '!' | '?' | ':' | '。' | '！' | '？' | '"' | '”' | '…' | ')');
        let is_prose =
            block.size.words >= 12.0 && block.size.link_density() < 0.4 && (has_end || block.commas > 0);
        block.size.prose = if is_prose { block.size.words } else { 0.0 };
        block.size.blocks = 1.0;
        self.blocks.push(block);
    }
}

/// Iterates over an element and its ancestors up to the root.
pub(super) fn chain(elements: &[Element], from: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(from), |&index| (index != 0).then(|| elements[index].parent))
}

/// Returns the level of the heading that a block is, or 0.
pub(super) fn heading_level(tree: &BlockTree, block: &Block) -> u8 {
    let mut nearest = chain(&tree.elements, block.owner).take(3);
    nearest.find_map(|i| tree.elements[i].tag.heading_level()).map_or(0, |level| level as u8)
}

//! The features of a block, as numbers: of its own text, its neighbors, the elements around it, and its page.

use super::blocks::{Block, BlockTree, Element, Size, chain, heading_level};
use super::grids::{Grid, Grids};
use super::groups::Groups;
use super::page_type::PageTypeSignal;
use super::tokens::{self, Hints};
use super::topics::{self, Topics};
use crate::dom::Tag;

/// Number of features.
pub(super) const COUNT: usize = 307;

/// The features of one block.
pub(super) type FeatureVector = [f32; COUNT];

/// Features of the whole page that the score of each block uses.
struct PageFeatures<'a> {
    tree: &'a BlockTree,
    total: Size,
    /// Words before each block.
    before: Vec<f32>,
    headings: Vec<u8>,
    first_h1: Option<usize>,
    last_title: Option<usize>,
    /// The deepest element with half of the page's prose.
    half_prose: usize,
    /// The deepest element with four fifths of the page's prose.
    most_prose: usize,
    /// The deepest element with half of the page's words.
    half_words: usize,
    groups: &'a Groups,
    grids: Grids,
    /// The largest groups of blocks at one position of a repeated pattern, by words: by path, and by signature.
    largest_groups: [f32; 2],
    is_title: Vec<bool>,
    articles: f32,
    has_main: bool,
    /// Share of the blocks with a price.
    prices: f32,
    /// Share of the words in elements with each of these names.
    named: [f32; PAGE_NAMES.len()],
    type_signals: &'a [PageTypeSignal],
}

/// Names whose share of a page indicates the kind of page.
const PAGE_NAMES: [Hints; 8] = [
    tokens::POST,
    tokens::COMMENT,
    tokens::PRODUCT,
    tokens::LISTING,
    tokens::IN_LIST,
    tokens::IN_TABLE,
    tokens::IN_ARTICLE,
    tokens::IN_CODE,
];

/// Computes the features of each block.
pub(super) fn vectors(
    tree: &BlockTree,
    groups: &Groups,
    title_hashes: &[u64],
    type_signals: &[PageTypeSignal],
) -> Vec<FeatureVector> {
    let page = PageFeatures::new(tree, groups, title_hashes, type_signals);
    (0..tree.blocks.len()).map(|index| page.vector(index)).collect()
}

/// Collects the features of one block in order.
struct Builder {
    vector: FeatureVector,
    count: usize,
}

impl Builder {
    fn push(&mut self, value: f32) {
        if let Some(slot) = self.vector.get_mut(self.count) {
            *slot = value;
        }
        self.count += 1;
    }

    fn flag(&mut self, value: bool) {
        self.push(f32::from(u8::from(value)));
    }

    fn log(&mut self, value: f32) {
        self.push((value + 1.0).ln());
    }

    fn topics(&mut self, topics: Topics) {
        for bit in 0..topics::COUNT {
            self.flag(topics & (1 << bit) != 0);
        }
    }

    fn hint(&mut self, hints: Hints, wanted: Hints) {
        self.flag(hints & wanted != 0);
    }
}

impl<'a> PageFeatures<'a> {
    fn new(
        tree: &'a BlockTree,
        groups: &'a Groups,
        title_hashes: &[u64],
        type_signals: &'a [PageTypeSignal],
    ) -> PageFeatures<'a> {
        let blocks = &tree.blocks;
        let total = tree.elements[0].size;
        let running = blocks.iter().scan(0.0, |sum, block| {
            let before = *sum;
            *sum += block.size.words;
            Some(before)
        });
        let before = running.collect();
        let headings: Vec<u8> = blocks.iter().map(|block| heading_level(tree, block)).collect();
        let is_title: Vec<bool> = blocks.iter().map(|block| title_hashes.contains(&block.hash)).collect();
        let articles = tree
            .elements
            .iter()
            .filter(|element| element.tag == Tag::Article && element.size.words > 5.0)
            .count();
        PageFeatures {
            tree,
            total,
            before,
            first_h1: headings.iter().position(|&level| level == 1),
            last_title: (0..blocks.len()).rev().find(|&i| is_title[i] && headings[i] > 0),
            headings,
            half_prose: deepest(tree, 0.5, |size| size.prose),
            most_prose: deepest(tree, 0.8, |size| size.prose),
            half_words: deepest(tree, 0.5, |size| size.words),
            groups,
            grids: Grids::from_tree(tree),
            largest_groups: largest_groups(blocks, groups),
            named: PAGE_NAMES.map(|names| word_share(tree, names)),
            is_title,
            articles: articles as f32,
            prices: blocks.iter().filter(|block| block.prices > 0).count() as f32
                / blocks.len().max(1) as f32,
            type_signals,
            has_main: tree
                .elements
                .iter()
                .any(|element| element.own_hints & tokens::IN_MAIN != 0 && element.size.words > 20.0),
        }
    }

    fn vector(&self, index: usize) -> FeatureVector {
        let mut out = Builder { vector: [0.0; COUNT], count: 0 };
        self.own_text(&mut out, index);
        self.position(&mut out, index);
        self.neighbors(&mut out, index);
        self.elements_around(&mut out, index);
        self.names(&mut out, index);
        self.topics(&mut out, index);
        self.repeated_pattern(&mut out, index);
        self.grid(&mut out, index);
        self.page(&mut out);
        debug_assert_eq!(out.count, COUNT);
        out.vector
    }

    /// Adds the block's own text. 26 features.
    fn own_text(&self, out: &mut Builder, index: usize) {
        let block = &self.tree.blocks[index];
        let size = &block.size;
        let words = size.words.max(1.0);
        out.log(size.words);
        out.push(size.chars / words);
        out.push(size.link_density());
        out.push(block.sentences as f32 / words);
        out.push(block.commas as f32 / words);
        out.push(block.digits as f32 / size.chars);
        out.push(block.capitals as f32 / size.chars);
        out.flag(matches!(block.last, '.' | '!' | '?' | '。' | '！' | '？' | '"' | '”' | '…'));
        out.flag(block.last == ':');
        out.flag(block.first.is_uppercase());
        out.flag(matches!(block.first, '©' | '(' | '|' | '/' | '»' | '›' | '<' | '>' | '#' | '@'));
        out.flag(block.first.is_ascii_digit() || matches!(block.first, '$' | '€' | '£'));
        out.log(block.breaks as f32);
        out.push(f32::from(self.headings[index]));
        let (before, after) = self.groups.copies[index];
        out.log(before);
        out.log(after);
        out.flag(self.is_title[index]);
        let tag = self.tree.elements[block.owner].tag;
        out.flag(tag == Tag::P);
        out.flag(tag == Tag::Li);
        out.flag(matches!(tag, Tag::Td | Tag::Th));
        out.flag(matches!(tag, Tag::Dd | Tag::Dt));
        out.flag(matches!(tag, Tag::Pre | Tag::Blockquote));
        out.flag(matches!(tag, Tag::Div | Tag::Section | Tag::Body));
        out.push(block.topical as f32 / words);
        out.log(block.topical as f32);
        out.log(block.prices as f32);
    }

    /// Adds the block's position on the page. 10 features.
    fn position(&self, out: &mut Builder, index: usize) {
        let count = self.tree.blocks.len() as f32;
        out.push(index as f32 / count);
        out.push(self.before[index] / self.total.words.max(1.0));
        out.log(index as f32);
        out.log(count - index as f32);
        let distance_from =
            |anchor: Option<usize>| anchor.map_or(0.0, |at| (index as f32 - at as f32) / count);
        out.push(distance_from(self.first_h1));
        out.flag(self.first_h1.is_some_and(|at| index >= at));
        out.push(distance_from(self.last_title));
        out.flag(self.last_title.is_some_and(|at| index >= at));
        let previous_heading = (0..=index).rev().take(30).position(|i| self.headings[i] > 0);
        out.push(previous_heading.map_or(31.0, |distance| distance as f32));
        out.flag(index > 0 && self.headings[index - 1] > 0);
    }

    /// Adds the blocks before and after it. 28 features.
    fn neighbors(&self, out: &mut Builder, index: usize) {
        let blocks = &self.tree.blocks;
        let owner = |block: &Block| &self.tree.elements[block.owner];
        let here = owner(&blocks[index]);
        for step in [-3_isize, -2, -1, 1, 2, 3] {
            let block = index.checked_add_signed(step).and_then(|at| blocks.get(at));
            out.log(block.map_or(0.0, |block| block.size.words));
            out.push(block.map_or(1.0, |block| block.size.link_density()));
            if step.abs() < 3 {
                let other = block.map(owner);
                out.flag(other.is_some_and(|other| other.tag == here.tag && other.depth == here.depth));
                out.flag(other.is_some_and(|other| other.parent == here.parent));
            }
        }
        // A wider window on each side.
        for range in [index.saturating_sub(10)..index, index + 1..(index + 11).min(blocks.len())] {
            let mut size = Size::default();
            for block in &blocks[range] {
                size.words += block.size.words;
                size.prose += block.size.prose;
                size.chars += block.size.chars;
                size.linked += block.size.linked;
            }
            out.log(size.words);
            out.push(size.prose / size.words.max(1.0));
            out.push(size.link_density());
            out.log(size.prose);
        }
    }

    /// Adds the elements around it: the amount of their text, and the shares of links and prose. 44 features.
    fn elements_around(&self, out: &mut Builder, index: usize) {
        let elements = &self.tree.elements;
        let owner = self.tree.blocks[index].owner;
        out.push(f32::from(elements[owner].depth));
        let mut at = owner;
        for level in 0..6 {
            let element = &elements[at];
            self.measure(out, element);
            if level < 4 {
                out.log(element.similar_siblings as f32);
            }
            at = element.parent;
        }
        // The nearest element that is one of several similar ones: a card, a row, a reply.
        let card = chain(elements, owner).find(|&i| elements[i].similar_siblings >= 2);
        out.flag(card.is_some());
        let element = &elements[card.unwrap_or(0)];
        out.log(element.similar_siblings as f32);
        self.measure(out, element);
        self.measure(out, &elements[element.parent]);
        // The distance to the elements with most of the text.
        for center in [self.half_prose, self.most_prose, self.half_words] {
            let distance = distance_to(elements, owner, center);
            out.push(distance);
        }
        out.push(elements[self.half_prose].size.prose / elements[self.half_prose].size.words.max(1.0));
        out.push(elements[self.half_prose].size.words / self.total.words.max(1.0));
    }

    /// Adds the text of one element. 4 features.
    fn measure(&self, out: &mut Builder, element: &Element) {
        let size = &element.size;
        out.log(size.words);
        out.push(size.link_density());
        out.push(size.prose / size.words.max(1.0));
        out.push(size.words / self.total.words.max(1.0));
    }

    /// Adds hints from the names around it: those of any ancestor and of the nearest ones. 70 features.
    fn names(&self, out: &mut Builder, index: usize) {
        let elements = &self.tree.elements;
        let owner = self.tree.blocks[index].owner;
        let all_hints = elements[owner].all_hints;
        let near = chain(elements, owner).take(3).fold(0, |hints, i| hints | elements[i].own_hints);
        for bit in 0..tokens::NAMES.len() {
            out.hint(all_hints, 1 << bit);
        }
        for hint in [
            tokens::NAV,
            tokens::SIDEBAR,
            tokens::COMMENT,
            tokens::RELATED,
            tokens::SOCIAL,
            tokens::ADVERT,
            tokens::BYLINE,
            tokens::TAGS,
            tokens::POST,
            tokens::PRODUCT,
            tokens::LISTING,
            tokens::TITLE,
            tokens::CAPTION,
            tokens::USER,
            tokens::ACTION,
            tokens::CONTENT,
            tokens::SUMMARY,
            tokens::SIGNUP,
        ] {
            out.hint(near, hint);
        }
    }

    /// Adds the topics of its words, of its neighbors and of the heading above. 60 features.
    fn topics(&self, out: &mut Builder, index: usize) {
        let blocks = &self.tree.blocks;
        let steps = [-2_isize, -1, 1, 2];
        let near = steps.iter().filter_map(|&step| blocks.get(index.checked_add_signed(step)?));
        out.topics(blocks[index].topics);
        out.topics(near.fold(0, |topics, block| topics | block.topics));
        out.topics(self.groups.heading_topics[index]);
        for topic in [
            topics::RELATED,
            topics::COMMENTS,
            topics::SIGNUP,
            topics::RATING,
            topics::FORUM,
            topics::BACK,
            topics::PERSON,
            topics::LEGAL,
            topics::SHARE,
            topics::TAGS,
            topics::SHOP,
            topics::ADVERT,
        ] {
            let first = self.groups.first_heading[topic.trailing_zeros() as usize];
            out.push(first.map_or(0.0, |first| (index as f32 - first as f32) / blocks.len() as f32));
        }
    }

    /// Adds the blocks at the same position of a repeated pattern. 9 features.
    fn repeated_pattern(&self, out: &mut Builder, index: usize) {
        for size in [self.groups.path(index), self.groups.signature(index)] {
            out.log(size.blocks);
            out.log(size.words / size.blocks);
            out.push(size.link_density());
            out.push(size.prose / size.words.max(1.0));
        }
        out.push(self.groups.path(index).words / self.total.words.max(1.0));
    }

    /// Adds the grid of cards around it, compared with the others of the page. 14 features.
    fn grid(&self, out: &mut Builder, index: usize) {
        let none = Grid::default();
        let grid = self.grids.of(index);
        out.flag(grid.is_some());
        let grid = grid.unwrap_or(&none);
        let cards = grid.cards.max(1.0);
        out.log(grid.cards);
        out.push(grid.cards / self.grids.max_cards.max(1.0));
        out.push(grid.size.words / self.grids.max_words.max(1.0));
        out.push(grid.size.words / self.total.words.max(1.0));
        out.log(grid.size.words / cards);
        out.push(grid.size.blocks / cards);
        out.push(grid.prices / cards);
        out.push(grid.size.link_density());
        out.flag(self.first_h1.is_some_and(|at| grid.cards > 0.0 && grid.start >= at));
        out.push(self.grids.max_words / self.total.words.max(1.0));
        out.log(self.grids.max_cards);
        for (size, largest) in
            [self.groups.path(index), self.groups.signature(index)].into_iter().zip(self.largest_groups)
        {
            out.push(size.words / largest.max(1.0));
        }
    }

    /// Adds the whole page.
    fn page(&self, out: &mut Builder) {
        out.log(self.total.words);
        out.log(self.total.prose);
        out.push(self.total.prose / self.total.words.max(1.0));
        out.push(self.total.link_density());
        out.log(self.articles);
        out.flag(self.has_main);
        out.push(self.prices);
        out.log(self.tree.blocks.len() as f32);
        for signal in PageTypeSignal::ALL {
            out.flag(self.type_signals.contains(&signal));
        }
        for share in self.named.iter().chain(&self.groups.mentions) {
            out.push(*share);
        }
    }
}

/// Returns the words of the largest groups of at least four blocks.
fn largest_groups(blocks: &[Block], groups: &Groups) -> [f32; 2] {
    let largest = |size: fn(&Groups, usize) -> &Size| {
        let sizes = (0..blocks.len()).map(|index| size(groups, index)).filter(|size| size.blocks >= 4.0);
        sizes.map(|size| size.words).fold(0.0, f32::max)
    };
    [largest(Groups::path), largest(Groups::signature)]
}

/// Returns the share of the page's words in elements with these names.
fn word_share(tree: &BlockTree, names: Hints) -> f32 {
    let named = tree.blocks.iter().filter(|block| tree.elements[block.owner].all_hints & names != 0);
    named.map(|block| block.size.words).sum::<f32>() / tree.elements[0].size.words.max(1.0)
}

/// Finds the deepest element that has this share of the page.
fn deepest(tree: &BlockTree, share: f32, amount: fn(&Size) -> f32) -> usize {
    let required = amount(&tree.elements[0].size) * share;
    let mut found = 0;
    if required > 0.0 {
        // Elements are in document order, so a descendant comes after its ancestors.
        for (index, element) in tree.elements.iter().enumerate() {
            if amount(&element.size) >= required && (element.parent == found || index == 0) {
                found = index;
            }
        }
    }
    found
}

/// Returns the distance between `from` and `center`: the number of levels to their common ancestor.
fn distance_to(elements: &[Element], from: usize, center: usize) -> f32 {
    let (mut a, mut b) = (from, center);
    while elements[b].depth > elements[a].depth {
        b = elements[b].parent;
    }
    let climbed_center = elements[center].depth - elements[b].depth;
    while elements[a].depth > elements[b].depth {
        a = elements[a].parent;
    }
    if a == b && climbed_center == 0 {
        return 0.0;
    }
    let mut apart = 0;
    while a != b {
        (a, b) = (elements[a].parent, elements[b].parent);
        apart += 1;
    }
    (apart + i32::from(climbed_center)) as f32
}

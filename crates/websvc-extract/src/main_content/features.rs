//! The signals a block is judged by, as numbers: its own text, its neighbours, the elements around it, its page.

use super::blocks::{Block, BlockTree, Element, Size};
use super::groups::Groups;
use super::page_type::PageTypeSignal;
use super::tokens::{self, Hints};
use super::topics::{self, Topics};
use crate::dom::Tag;

/// How many signals there are.
pub(super) const COUNT: usize = 286;

/// The signals of one block.
pub(super) type FeatureVector = [f32; COUNT];

/// Features of the whole page that the score of each block uses.
struct PageFeatures<'a> {
    outline: &'a BlockTree,
    total: Size,
    /// Words before each block.
    before: Vec<f32>,
    headings: Vec<u8>,
    first_h1: Option<usize>,
    last_title: Option<usize>,
    /// The deepest elements that hold half, and four fifths, of the page's prose.
    half: usize,
    most: usize,
    /// The deepest element that holds half of all the page's words.
    half_words: usize,
    groups: &'a Groups,
    is_title: Vec<bool>,
    articles: f32,
    has_main: bool,
    /// The share of blocks that name a price.
    prices: f32,
    /// The share of the words in elements with these names.
    named: [f32; PAGE_NAMES.len()],
    signs: &'a [PageTypeSignal],
}

/// The names whose share of the page tells what kind of page it is.
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

/// Computes the signals of every block.
pub(super) fn rows(
    outline: &BlockTree,
    groups: &Groups,
    title_hashes: &[u64],
    signs: &[PageTypeSignal],
) -> Vec<FeatureVector> {
    let page = PageFeatures::new(outline, groups, title_hashes, signs);
    (0..outline.blocks.len()).map(|index| page.row(index)).collect()
}

/// Collects the numbers of one row in order.
struct Builder {
    row: FeatureVector,
    used: usize,
}

impl Builder {
    fn push(&mut self, value: f32) {
        if let Some(slot) = self.row.get_mut(self.used) {
            *slot = value;
        }
        self.used += 1;
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
        outline: &'a BlockTree,
        groups: &'a Groups,
        title_hashes: &[u64],
        signs: &'a [PageTypeSignal],
    ) -> PageFeatures<'a> {
        let blocks = &outline.blocks;
        let total = outline.elements[0].size;
        let running = blocks.iter().scan(0.0, |sum, block| {
            let before = *sum;
            *sum += block.size.words;
            Some(before)
        });
        let before = running.collect();
        let headings: Vec<u8> = blocks.iter().map(|block| heading_level(outline, block)).collect();
        let is_title: Vec<bool> = blocks.iter().map(|block| title_hashes.contains(&block.hash)).collect();
        let articles =
            outline.elements.iter().filter(|e| e.tag == Tag::Article && e.size.words > 5.0).count();
        PageFeatures {
            outline,
            total,
            before,
            first_h1: headings.iter().position(|&level| level == 1),
            last_title: (0..blocks.len()).rev().find(|&i| is_title[i] && headings[i] > 0),
            headings,
            half: deepest(outline, 0.5, |size| size.prose),
            most: deepest(outline, 0.8, |size| size.prose),
            half_words: deepest(outline, 0.5, |size| size.words),
            groups,
            named: PAGE_NAMES.map(|names| share(outline, names)),
            is_title,
            articles: articles as f32,
            prices: blocks.iter().filter(|block| block.prices > 0).count() as f32
                / blocks.len().max(1) as f32,
            signs,
            has_main: outline.elements.iter().any(|e| e.own & tokens::IN_MAIN != 0 && e.size.words > 20.0),
        }
    }

    fn row(&self, index: usize) -> FeatureVector {
        let mut out = Builder { row: [0.0; COUNT], used: 0 };
        self.own_text(&mut out, index);
        self.place(&mut out, index);
        self.neighbours(&mut out, index);
        self.around(&mut out, index);
        self.names(&mut out, index);
        self.topics(&mut out, index);
        self.alike(&mut out, index);
        self.whole(&mut out);
        debug_assert_eq!(out.used, COUNT);
        out.row
    }

    /// Adds the block's own text. 26 signals.
    fn own_text(&self, out: &mut Builder, index: usize) {
        let block = &self.outline.blocks[index];
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
        let tag = self.outline.elements[block.owner].tag;
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

    /// Adds the block's position on the page. 10 signals.
    fn place(&self, out: &mut Builder, index: usize) {
        let count = self.outline.blocks.len() as f32;
        out.push(index as f32 / count);
        out.push(self.before[index] / self.total.words.max(1.0));
        out.log(index as f32);
        out.log(count - index as f32);
        let from = |mark: Option<usize>| mark.map_or(0.0, |at| (index as f32 - at as f32) / count);
        out.push(from(self.first_h1));
        out.flag(self.first_h1.is_some_and(|at| index >= at));
        out.push(from(self.last_title));
        out.flag(self.last_title.is_some_and(|at| index >= at));
        let previous_heading = (0..=index).rev().take(30).position(|i| self.headings[i] > 0);
        out.push(previous_heading.map_or(31.0, |distance| distance as f32));
        out.flag(index > 0 && self.headings[index - 1] > 0);
    }

    /// Adds the blocks before and after it. 28 signals.
    fn neighbours(&self, out: &mut Builder, index: usize) {
        let blocks = &self.outline.blocks;
        let owner = |block: &Block| &self.outline.elements[block.owner];
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
        // A wider window, to either side.
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

    /// The elements around it: how much they hold, and how much of that is links or prose. 44 signals.
    fn around(&self, out: &mut Builder, index: usize) {
        let elements = &self.outline.elements;
        let owner = self.outline.blocks[index].owner;
        out.push(f32::from(elements[owner].depth));
        let mut at = owner;
        for level in 0..6 {
            let element = &elements[at];
            self.measure(out, element);
            if level < 4 {
                out.log(element.twins as f32);
            }
            at = element.parent;
        }
        // The nearest element that is one of several alike: a card, a row, a reply.
        let card = chain(elements, owner).find(|&i| elements[i].twins >= 2);
        out.flag(card.is_some());
        let element = &elements[card.unwrap_or(0)];
        out.log(element.twins as f32);
        self.measure(out, element);
        self.measure(out, &elements[element.parent]);
        // How far the element that holds most of the text is from here.
        for center in [self.half, self.most, self.half_words] {
            let distance = distance_to(elements, owner, center);
            out.push(distance);
        }
        out.push(elements[self.half].size.prose / elements[self.half].size.words.max(1.0));
        out.push(elements[self.half].size.words / self.total.words.max(1.0));
    }

    /// 4 signals.
    fn measure(&self, out: &mut Builder, element: &Element) {
        let size = &element.size;
        out.log(size.words);
        out.push(size.link_density());
        out.push(size.prose / size.words.max(1.0));
        out.push(size.words / self.total.words.max(1.0));
    }

    /// Adds hints from the names around it: those of any ancestor and of the nearest. 69 signals.
    fn names(&self, out: &mut Builder, index: usize) {
        let elements = &self.outline.elements;
        let owner = self.outline.blocks[index].owner;
        let all = elements[owner].all;
        let near = chain(elements, owner).take(3).fold(0, |hints, i| hints | elements[i].own);
        for bit in 0..tokens::NAMES.len() {
            out.hint(all, 1 << bit);
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

    /// Adds the topics of its words, of its neighbors and of the heading above. 54 signals.
    fn topics(&self, out: &mut Builder, index: usize) {
        let blocks = &self.outline.blocks;
        let around = [-2_isize, -1, 1, 2];
        let near = around.iter().filter_map(|&step| blocks.get(index.checked_add_signed(step)?));
        out.topics(blocks[index].topics);
        out.topics(near.fold(0, |topics, block| topics | block.topics));
        out.topics(self.groups.heading_topics[index]);
        for topic in
            [topics::RELATED, topics::COMMENTS, topics::SIGNUP, topics::RATING, topics::FORUM, topics::BACK]
        {
            let first = self.groups.first_heading[topic.trailing_zeros() as usize];
            out.push(first.map_or(0.0, |first| (index as f32 - first as f32) / blocks.len() as f32));
        }
    }

    /// Adds the blocks at the same position of a repeated pattern. 9 signals.
    fn alike(&self, out: &mut Builder, index: usize) {
        for size in [self.groups.path(index), self.groups.look(index)] {
            out.log(size.blocks);
            out.log(size.words / size.blocks);
            out.push(size.link_density());
            out.push(size.prose / size.words.max(1.0));
        }
        out.push(self.groups.path(index).words / self.total.words.max(1.0));
    }

    /// The page as a whole.
    fn whole(&self, out: &mut Builder) {
        out.log(self.total.words);
        out.log(self.total.prose);
        out.push(self.total.prose / self.total.words.max(1.0));
        out.push(self.total.link_density());
        out.log(self.articles);
        out.flag(self.has_main);
        out.push(self.prices);
        out.log(self.outline.blocks.len() as f32);
        for sign in PageTypeSignal::ALL {
            out.flag(self.signs.contains(&sign));
        }
        for share in self.named.iter().chain(&self.groups.mentions) {
            out.push(*share);
        }
    }
}

/// Returns the share of the page's words that stand in elements with these names.
fn share(outline: &BlockTree, names: Hints) -> f32 {
    let named = outline.blocks.iter().filter(|block| outline.elements[block.owner].all & names != 0);
    named.map(|block| block.size.words).sum::<f32>() / outline.elements[0].size.words.max(1.0)
}

/// Walks from an element to the root.
pub(super) fn chain(elements: &[Element], from: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(from), |&index| (index != 0).then(|| elements[index].parent))
}

/// Returns the level of the heading a block is, or 0.
pub(super) fn heading_level(outline: &BlockTree, block: &Block) -> u8 {
    let mut nearest = chain(&outline.elements, block.owner).take(3);
    nearest.find_map(|i| outline.elements[i].tag.heading_level()).map_or(0, |level| level as u8)
}

/// Finds the deepest element that still holds this share of the page.
fn deepest(outline: &BlockTree, share: f32, amount: fn(&Size) -> f32) -> usize {
    let wanted = amount(&outline.elements[0].size) * share;
    let mut found = 0;
    if wanted > 0.0 {
        // Elements are in document order, so that a descendant comes after its ancestors.
        for (index, element) in outline.elements.iter().enumerate() {
            if amount(&element.size) >= wanted && (element.parent == found || index == 0) {
                found = index;
            }
        }
    }
    found
}

/// Returns how many levels above `from` the first ancestor is that also holds `center`.
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

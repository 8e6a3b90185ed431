//! Headings: on one line each, with the link of the card that they are the title of.

use super::OutputContext;
use super::inline::InlineMark;
use super::lines::BlockSeparator;
use super::markdown::Writer;
use super::reference::escape_target;
use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use crate::text::collapsed;
use std::collections::HashMap;

/// Maximum number of nodes of a heading and of a card.
const MAX_HEADING_NODES: usize = 500;
const MAX_CARD_NODES: usize = 200;

/// Maximum number of empty links whose cards are searched.
const MAX_EMPTY_LINKS: usize = 500;

/// A heading with several blocks and more text than this is not one line, in bytes.
const MAX_LINE_BYTES: usize = 120;

/// Maximum length of a block that is the title of the blocks after it, in bytes.
const MAX_TITLE_BYTES: usize = 200;

/// Parts of the classes of links that cover a card.
const COVER_CLASSES: [&str; 7] =
    ["stretched", "overlay", "cover", "card-link", "cardlink", "block-link", "full-link"];

impl Writer<'_> {
    pub(super) fn heading(&mut self, id: NodeId, level: usize) {
        self.flush();
        if self.flat > 0 {
            self.marked(id, InlineMark::Strong);
            self.flush();
        } else if is_container(self.context, id) {
            self.heading_with_blocks(id, level);
        } else {
            let OutputContext { dom, view, .. } = self.context;
            let children: Vec<NodeId> = view.children(dom, id).collect();
            self.heading_line(id, &children, level);
        }
    }

    /// Writes nodes as the text of a heading.
    fn heading_line(&mut self, heading: NodeId, nodes: &[NodeId], level: usize) {
        self.flat += 1;
        let outer = std::mem::replace(&mut self.in_heading, true);
        let link = self.title_links.remove(&heading);
        let has_link = link.is_some();
        if let Some(target) = link {
            self.inline.open(InlineMark::Link(target));
        }
        for &node in nodes {
            self.node(node);
        }
        if has_link {
            self.inline.close();
        }
        self.in_heading = outer;
        self.flat -= 1;
        let text = self.inline.take();
        let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
        let text = lines.collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        self.separate_block();
        let text = match text.strip_suffix('#') {
            Some(start) => format!("{start}\\#"),
            None => text,
        };
        self.lines.line(&format!("{} {text}", "######".get(..level).unwrap_or("######")));
        self.lines.separate(BlockSeparator::Blank);
    }

    /// Writes a heading that has blocks inside, as one without an end tag has: the text before the first block is the
    /// heading, or a short first block is.
    fn heading_with_blocks(&mut self, id: NodeId, level: usize) {
        let OutputContext { dom, view, .. } = self.context;
        let children: Vec<NodeId> = view.children(dom, id).collect();
        let is_block = |&child: &NodeId| {
            view.below(dom, child)
                .take(MAX_HEADING_NODES)
                .any(|inner| dom.tag(inner).is_some_and(Tag::is_block))
        };
        let first = children.iter().position(is_block).unwrap_or(children.len());
        let (title, blocks) = children.split_at(first);
        let is_title = |node: NodeId| !view.text_up_to(dom, node, 2).is_empty();
        let mut blocks = blocks.iter().copied();
        if title.iter().any(|&node| is_title(node)) {
            self.heading_line(id, title, level);
        } else if let Some(block) = blocks.next() {
            if has_parts(self.context, block) || dom.tag(block).is_some_and(is_structure) {
                self.heading_of_first(block, level);
            } else if view.text_up_to(dom, block, MAX_TITLE_BYTES + 1).len() <= MAX_TITLE_BYTES {
                self.heading_line(id, &[block], level);
            } else {
                self.node(block);
            }
        }
        for block in blocks {
            self.node(block);
        }
        self.flush();
    }

    /// Writes the first block of a heading, which has blocks itself.
    fn heading_of_first(&mut self, block: NodeId, level: usize) {
        let is_wrapper =
            matches!(self.context.dom.tag(block), Some(Tag::Div | Tag::Section | Tag::Header | Tag::Article));
        if is_wrapper { self.heading_with_blocks(block, level) } else { self.node(block) }
    }
}

/// Returns whether an element has more than one line of text: blocks with a structure of their own, or several blocks
/// with a long text.
fn is_container(context: OutputContext<'_>, id: NodeId) -> bool {
    let dom = context.dom;
    let Some(first) = dom.first_child(id) else { return false };
    if dom.next_sibling(first).is_none() && dom.tag(first).is_none() {
        return false;
    }
    has_parts(context, id)
}

fn has_parts(context: OutputContext<'_>, id: NodeId) -> bool {
    let OutputContext { dom, view, .. } = context;
    let (mut parts, mut bytes, mut last, mut has_paragraph) = (0, 0, None, false);
    for (count, inner) in view.below(dom, id).skip(1).enumerate() {
        if count > MAX_HEADING_NODES || dom.tag(inner).is_some_and(is_structure) {
            return true;
        }
        let text = dom.text(inner).trim();
        if text.is_empty() {
            continue;
        }
        bytes += text.len();
        // A link is one part, whatever it contains.
        let is_part = |&above: &NodeId| {
            above == id || dom.is(above, Tag::A) || dom.tag(above).is_some_and(Tag::is_block)
        };
        let part = dom.ancestors(inner).find(is_part);
        if part != last {
            (parts, last) = (parts + 1, part);
            has_paragraph |= parts > 1 && part.is_some_and(|part| dom.is(part, Tag::P));
        }
    }
    parts > 1 && (has_paragraph || bytes > MAX_LINE_BYTES)
}

/// Returns whether an element with this tag is not part of a line.
fn is_structure(tag: Tag) -> bool {
    use Tag::*;
    tag.heading_level().is_some() || matches!(tag, Ul | Ol | Dl | Table | Pre | Blockquote | Article)
}

/// Returns the first heading with text below an element, if there is one near.
pub(super) fn title_of(context: OutputContext<'_>, id: NodeId) -> Option<NodeId> {
    let OutputContext { dom, view, .. } = context;
    // Most links have only text.
    if dom.children(id).all(|child| dom.tag(child).is_none()) {
        return None;
    }
    let is_title = |&inner: &NodeId| is_heading(dom, inner) && !view.text_up_to(dom, inner, 2).is_empty();
    view.below(dom, id).skip(1).take(MAX_CARD_NODES).find(is_title)
}

fn is_heading(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id).is_some_and(|tag| {
        tag.heading_level().is_some()
            || matches!(tag, Tag::Div | Tag::Span | Tag::P) && dom.attribute(id, "role") == Some("heading")
    })
}

/// Finds the titles of cards that an empty link covers, with the targets of these links.
pub(super) fn covered_titles(context: OutputContext<'_>) -> HashMap<NodeId, String> {
    let OutputContext { dom, view, base, .. } = context;
    let mut titles = HashMap::new();
    let is_blank = |inner: NodeId| !dom.is(inner, Tag::Img) && dom.text(inner).trim().is_empty();
    let is_empty_link = |&id: &NodeId| dom.is(id, Tag::A) && dom.descendants(id).take(8).all(is_blank);
    for id in dom.ids().filter(is_empty_link).take(MAX_EMPTY_LINKS) {
        let href = dom.attribute(id, "href").filter(|href| !href.trim().starts_with('#'));
        let Some(url) = href.and_then(|href| links::resolve(base, href)) else { continue };
        let is_of_site = url.host() == base.host();
        if let Some(title) = covered_title(dom, view, id, is_of_site) {
            titles.entry(title).or_insert_with(|| escape_target(url.as_str()));
        }
    }
    titles
}

/// Returns the only heading of the card around an empty link, if the link is for the whole card.
fn covered_title(dom: &Dom, view: &ContentView, link: NodeId, is_of_site: bool) -> Option<NodeId> {
    for card in dom.ancestors(link).take(3) {
        if matches!(dom.tag(card), None | Some(Tag::Body | Tag::Main | Tag::Html | Tag::Header | Tag::Nav)) {
            return None;
        }
        let below = || dom.descendants(card).skip(1).take(MAX_CARD_NODES);
        let mut headings = below().filter(|&id| is_heading(dom, id));
        let Some(heading) = headings.next() else { continue };
        let has_link =
            below().any(|id| dom.is(id, Tag::A) && dom.ancestors(id).take(8).any(|above| above == heading));
        if headings.next().is_some() || has_link || !view.contains(dom, heading) {
            return None;
        }
        return covers(dom, view, link, heading, is_of_site).then_some(heading);
    }
    None
}

/// Returns whether an empty link covers its card: its label or its class says so, or it is beside the title and leads to
/// the same site without an icon.
fn covers(dom: &Dom, view: &ContentView, link: NodeId, heading: NodeId, is_of_site: bool) -> bool {
    let class = dom.attribute(link, "class").unwrap_or_default().to_ascii_lowercase();
    if COVER_CLASSES.iter().any(|part| class.contains(part)) {
        return true;
    }
    match ["aria-label", "title"].iter().find_map(|name| dom.attribute(link, name)) {
        Some(label) => {
            let title = view.text_up_to(dom, heading, MAX_TITLE_BYTES).to_lowercase();
            let label = collapsed(label).to_lowercase();
            !title.is_empty() && (label.contains(&title) || title.contains(&label))
        }
        None => {
            let is_empty = dom.children(link).all(|child| dom.tag(child).is_none());
            is_empty && is_of_site && dom.parent(link) == dom.parent(heading)
        }
    }
}

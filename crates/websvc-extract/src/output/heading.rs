//! Headings: on one line each, with the link of the card that they are the title of.

use super::OutputContext;
use super::inline::InlineMark;
use super::lines::BlockSeparator;
use super::markdown::Writer;
use super::reference::escape_target;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use crate::text::collapsed;
use std::collections::HashMap;

/// Maximum number of nodes of a heading and of a card.
const MAX_HEADING_NODES: usize = 500;
const MAX_CARD_NODES: usize = 200;

/// Maximum number of headings whose cards are searched for a link, and of elements next to a heading.
const MAX_TITLES: usize = 2_000;
const MAX_SIBLINGS: usize = 32;

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
        let is_title = |node: NodeId| view.has_text(dom, node);
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
    let is_title = |&inner: &NodeId| is_heading(dom, inner) && view.has_text(dom, inner);
    view.below(dom, id).skip(1).take(MAX_CARD_NODES).find(is_title)
}

fn is_heading(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id).is_some_and(|tag| {
        tag.heading_level().is_some()
            || matches!(tag, Tag::Div | Tag::Span | Tag::P) && dom.attribute(id, "role") == Some("heading")
    })
}

/// Finds the titles of cards that an empty link covers, with the targets of these links.
pub(super) fn covered_titles(context: OutputContext<'_>, headings: &[NodeId]) -> HashMap<NodeId, String> {
    let OutputContext { dom, base, .. } = context;
    let mut titles = HashMap::new();
    for &heading in headings.iter().take(MAX_TITLES) {
        let has_link = dom.descendants(heading).take(MAX_SIBLINGS).any(|id| dom.is(id, Tag::A));
        if has_link {
            continue;
        }
        if let Some(link) = covering_link(context, heading)
            && let Some(url) = links::resolve(base, dom.attribute(link, "href").unwrap_or_default())
        {
            titles.insert(heading, escape_target(url.as_str()));
        }
    }
    titles
}

/// Returns the empty link for the whole card whose only heading is `heading`.
fn covering_link(context: OutputContext<'_>, heading: NodeId) -> Option<NodeId> {
    let OutputContext { dom, .. } = context;
    for card in dom.ancestors(heading).take(3) {
        if matches!(dom.tag(card), None | Some(Tag::Body | Tag::Main | Tag::Html | Tag::Header | Tag::Nav)) {
            return None;
        }
        let links = dom.children(card).take(MAX_SIBLINGS).filter_map(|child| empty_link(dom, child));
        let mut covering = links.filter(|&link| covers(context, link, heading));
        if let Some(link) = covering.next() {
            let inside = dom.descendants(card).skip(1).take(MAX_CARD_NODES);
            let is_only = inside.filter(|&id| is_heading(dom, id)).count() == 1;
            return is_only.then_some(link);
        }
    }
    None
}

/// Returns an element, or its first child, if it is a link to another page without text and images.
fn empty_link(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let link =
        if dom.is(id, Tag::A) { id } else { dom.first_child(id).filter(|&child| dom.is(child, Tag::A))? };
    let is_blank = |inner: NodeId| !dom.is(inner, Tag::Img) && dom.text(inner).trim().is_empty();
    let href = dom.attribute(link, "href")?.trim_start();
    let leads_away = !href.is_empty() && !href.starts_with('#');
    (leads_away && dom.descendants(link).take(8).all(is_blank)).then_some(link)
}

/// Returns whether an empty link covers its card: its label or its class says so, or it is next to the title and leads to
/// the same site without an icon.
fn covers(context: OutputContext<'_>, link: NodeId, heading: NodeId) -> bool {
    let OutputContext { dom, view, base, .. } = context;
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
            let url = links::resolve(base, dom.attribute(link, "href").unwrap_or_default());
            let is_of_site = url.is_some_and(|url| url.host() == base.host());
            is_empty && is_of_site && dom.parent(link) == dom.parent(heading)
        }
    }
}

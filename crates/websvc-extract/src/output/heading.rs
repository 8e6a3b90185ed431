//! Writes headings: on one line each.

use super::OutputContext;
use super::inline::InlineMark;
use super::lines::BlockSeparator;
use super::markdown::Writer;
use crate::dom::{NodeId, Tag};

/// Maximum number of nodes of a heading.
const MAX_HEADING_NODES: usize = 500;

/// A heading with several blocks and more text than this is not one line, in bytes.
const MAX_LINE_BYTES: usize = 120;

/// Maximum length of a block that is the title of the blocks after it, in bytes.
const MAX_TITLE_BYTES: usize = 200;

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

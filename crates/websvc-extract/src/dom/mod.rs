//! The compact DOM of a page: nodes in one arena, text in one buffer, ids of four bytes.
//!
//! Ours rather than a general one, because every format derives from it: a node is one flat record, nothing is
//! reference counted, dropping it is not recursive, and its depth is bounded, so that writers may recurse.

mod guard;
mod repair;
mod select;
mod sink;
mod tag;
mod tags;

pub(crate) use guard::parse;
pub(crate) use select::{MatchScope, SelectorSet};
pub(crate) use tag::Tag;

use html5ever::LocalName;
use std::ops::Range;

/// A node's place in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// The document node: always there, parent of `<html>`.
    pub(crate) const ROOT: NodeId = NodeId(0);
    const NONE: NodeId = NodeId(u32::MAX);

    /// Returns the id as an index into tables that are parallel to the arena.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    fn some(self) -> Option<NodeId> {
        (self != NodeId::NONE).then_some(self)
    }
}

/// Kinds of DOM nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Document,
    Element(Tag),
    Text,
    /// Comments, processing instructions: kept only as places in the tree.
    Nothing,
}

#[derive(Debug)]
struct Node {
    name: LocalName,
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
    /// Text: a range of `Dom::text`. Element: a range of `Dom::attributes`.
    start: u32,
    end: u32,
    kind: NodeKind,
    namespace: Namespace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespace {
    Html,
    Svg,
    MathMl,
}

#[derive(Debug, Clone)]
struct Attribute {
    name: LocalName,
    start: u32,
    end: u32,
}

/// The tree of one page.
#[derive(Debug)]
pub(crate) struct Dom {
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    text: String,
    /// The styles of the page, those for print and for browsers without scripts aside.
    styles: String,
    /// The `<style>` being read, and whether it counts.
    current_style: Option<(NodeId, bool)>,
    truncated: bool,
    quirks: bool,
}

impl Dom {
    /// Returns what stands in the `<style>` elements of the page.
    pub(crate) fn styles(&self) -> &str {
        &self.styles
    }

    /// Returns the number of nodes, detached ones included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether a bound cut the page short.
    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn kind(&self, id: NodeId) -> NodeKind {
        self.nodes[id.index()].kind
    }

    /// Returns the node's tag, if it is an element.
    pub(crate) fn tag(&self, id: NodeId) -> Option<Tag> {
        match self.kind(id) {
            NodeKind::Element(tag) => Some(tag),
            NodeKind::Document | NodeKind::Text | NodeKind::Nothing => None,
        }
    }

    pub(crate) fn is(&self, id: NodeId, tag: Tag) -> bool {
        self.kind(id) == NodeKind::Element(tag)
    }

    /// Tells whether the element is of HTML, not of SVG or MathML.
    pub(crate) fn is_html(&self, id: NodeId) -> bool {
        self.nodes[id.index()].namespace == Namespace::Html
    }

    /// Returns the element's local name, `""` for other nodes.
    pub(crate) fn name(&self, id: NodeId) -> &str {
        &self.nodes[id.index()].name
    }

    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].parent.some()
    }

    pub(crate) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].first.some()
    }

    pub(crate) fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].next.some()
    }

    pub(crate) fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.index()].previous.some()
    }

    /// Returns the text of a text node, `""` for other nodes.
    pub(crate) fn text(&self, id: NodeId) -> &str {
        let node = &self.nodes[id.index()];
        if node.kind == NodeKind::Text { &self.text[node.start as usize..node.end as usize] } else { "" }
    }

    /// Returns the value of an attribute, given its lower-case name.
    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.raw_attributes(id).iter().find(|a| &*a.name == name).map(|a| self.value(a))
    }

    /// Returns all attributes of an element in document order.
    pub(crate) fn attributes(&self, id: NodeId) -> impl Iterator<Item = (&str, &str)> {
        self.raw_attributes(id).iter().map(|a| (&*a.name, self.value(a)))
    }

    /// Returns all attributes of an element with their names as atoms, which compare as numbers.
    pub(crate) fn named_attributes(&self, id: NodeId) -> impl Iterator<Item = (&LocalName, &str)> {
        self.raw_attributes(id).iter().map(|a| (&a.name, self.value(a)))
    }

    fn raw_attributes(&self, id: NodeId) -> &[Attribute] {
        let node = &self.nodes[id.index()];
        match node.kind {
            NodeKind::Element(_) => &self.attributes[node.start as usize..node.end as usize],
            NodeKind::Document | NodeKind::Text | NodeKind::Nothing => &[],
        }
    }

    fn value(&self, attribute: &Attribute) -> &str {
        &self.text[attribute.start as usize..attribute.end as usize]
    }

    /// Iterates over the children of a node.
    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |&child| self.next_sibling(child))
    }

    /// Iterates over the ancestors of a node, nearest first.
    pub(crate) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |&node| self.parent(node))
    }

    /// Walks a subtree in document order, `top` first.
    pub(crate) fn descendants(&self, top: NodeId) -> Descendants<'_> {
        Descendants { dom: self, top, next: Some(top) }
    }

    /// Returns the node after `id` and all its descendants in document order, within `top`.
    pub(crate) fn after(&self, id: NodeId, top: NodeId) -> Option<NodeId> {
        let mut node = id;
        while node != top {
            if let Some(next) = self.next_sibling(node) {
                return Some(next);
            }
            node = self.parent(node)?;
        }
        None
    }

    /// Returns the first element of a tag in the page.
    pub(crate) fn first_element(&self, tag: Tag) -> Option<NodeId> {
        self.descendants(NodeId::ROOT).find(|&id| self.is(id, tag))
    }

    fn value_range(&self, id: NodeId) -> Range<usize> {
        let node = &self.nodes[id.index()];
        node.start as usize..node.end as usize
    }
}

/// A walk over a subtree in document order that can skip what is below a node.
pub(crate) struct Descendants<'a> {
    dom: &'a Dom,
    top: NodeId,
    next: Option<NodeId>,
}

impl Descendants<'_> {
    /// Leaves out the descendants of the node returned last.
    pub(crate) fn skip_children(&mut self, last: NodeId) {
        self.next = self.dom.after(last, self.top);
    }
}

impl Iterator for Descendants<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let id = self.next?;
        self.next = self.dom.first_child(id).or_else(|| self.dom.after(id, self.top));
        Some(id)
    }
}

//! The compact DOM of a page: nodes in one arena, text in one buffer, IDs of four bytes.
//!
//! This crate has its own DOM because all formats are written from it: a node is one flat record, nothing is reference
//! counted, dropping it is not recursive, and its depth is limited, so that writers may recurse.

mod embedded_documents;
mod graft;
mod guard;
mod repair;
mod select;
mod shortcodes;
mod sink;
mod tag;
mod tags;

pub(crate) use embedded_documents::MARKER as EMBEDDED_DOCUMENT;
pub(crate) use guard::parse;
pub(crate) use select::{MatchScope, SelectorSet};
pub(crate) use tag::Tag;

use html5ever::LocalName;
use std::ops::Range;

/// The index of a node in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// The document node, which always exists and is the parent of `<html>`.
    pub(crate) const ROOT: NodeId = NodeId(0);
    const NONE: NodeId = NodeId(u32::MAX);

    /// Returns the ID as an index for tables that are parallel to the arena.
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
    /// A comment or processing instruction, which has no content.
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
    /// For text a range of `Dom::text`, for an element a range of `Dom::attributes`.
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
    /// The styles of the page, without those for print and for browsers without scripts.
    styles: String,
    /// The `<style>` being parsed, and whether its text is stored.
    current_style: Option<(NodeId, bool)>,
    truncated: bool,
    quirks: bool,
    /// True if links to embedded documents were added.
    has_embedded_documents: bool,
}

impl Dom {
    /// Returns the text of the `<style>` elements of the page.
    pub(crate) fn styles(&self) -> &str {
        &self.styles
    }

    /// Returns the number of nodes, including detached ones.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether links to embedded documents were added.
    pub(crate) fn has_embedded_documents(&self) -> bool {
        self.has_embedded_documents
    }

    /// Returns whether a node is a link that was added for a document which the page only embeds.
    pub(crate) fn is_embedded_document(&self, id: NodeId) -> bool {
        self.has_embedded_documents && self.is(id, Tag::A) && self.attribute(id, EMBEDDED_DOCUMENT).is_some()
    }

    /// Returns whether a part of the page was skipped because of a limit.
    pub(crate) fn is_truncated(&self) -> bool {
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

    /// Returns whether the element is in the HTML namespace, not in SVG or MathML.
    pub(crate) fn is_html(&self, id: NodeId) -> bool {
        self.nodes[id.index()].namespace == Namespace::Html
    }

    /// Returns the local name of an element, `""` for other nodes.
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

    /// Returns the value of an attribute by its lower-case name.
    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        self.raw_attributes(id).iter().find(|a| &*a.name == name).map(|a| self.value(a))
    }

    /// Returns all attributes of an element in document order.
    pub(crate) fn attributes(&self, id: NodeId) -> impl Iterator<Item = (&str, &str)> {
        self.raw_attributes(id).iter().map(|a| (&*a.name, self.value(a)))
    }

    /// Returns all attributes of an element with their names as atoms, which are compared as numbers.
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

    /// Iterates over a subtree in document order, `top` first.
    pub(crate) fn descendants(&self, top: NodeId) -> Descendants<'_> {
        Descendants { dom: self, top, next: Some(top) }
    }

    /// Returns the next node in document order that is not a descendant of `id`, within `top`.
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

    /// Iterates over the elements of the page with this tag in document order.
    pub(crate) fn elements(&self, tag: Tag) -> impl Iterator<Item = NodeId> + '_ {
        self.descendants(NodeId::ROOT).filter(move |&id| self.is(id, tag))
    }

    /// Returns the first element of the page with this tag.
    pub(crate) fn first_element(&self, tag: Tag) -> Option<NodeId> {
        self.elements(tag).next()
    }

    /// Returns whether an attribute is a list of words with this one among them, ignoring ASCII case.
    pub(crate) fn has_word(&self, id: NodeId, name: &str, word: &str) -> bool {
        let mut words = self.attribute(id, name).unwrap_or_default().split_ascii_whitespace();
        words.any(|listed| listed.eq_ignore_ascii_case(word))
    }

    /// Returns whether one of the element's classes is wanted.
    pub(crate) fn has_class(&self, id: NodeId, is_wanted: impl FnMut(&str) -> bool) -> bool {
        self.attribute(id, "class").unwrap_or_default().split_ascii_whitespace().any(is_wanted)
    }

    /// Returns the value of the first of these attributes that the element has.
    pub(crate) fn first_attribute(&self, id: NodeId, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.attribute(id, name))
    }

    /// Returns whether an element has the content of its page inside, whatever its name.
    pub(crate) fn has_page_content(&self, top: NodeId) -> bool {
        self.descendants(top).any(|id| matches!(self.tag(id), Some(Tag::Main | Tag::Article | Tag::H1)))
    }

    /// Returns whether the element is a `<script>` of this media type.
    pub(crate) fn is_script_of(&self, id: NodeId, media_type: &str) -> bool {
        let kind = self.attribute(id, "type").unwrap_or_default().trim();
        self.is(id, Tag::Script) && kind.eq_ignore_ascii_case(media_type)
    }

    /// Returns the text of a `<script>` or another element without elements inside.
    pub(crate) fn own_text(&self, id: NodeId) -> String {
        self.children(id).map(|child| self.text(child)).collect()
    }

    fn value_range(&self, id: NodeId) -> Range<usize> {
        let node = &self.nodes[id.index()];
        node.start as usize..node.end as usize
    }
}

/// An iterator over a subtree in document order that can skip the descendants of a node.
pub(crate) struct Descendants<'a> {
    dom: &'a Dom,
    top: NodeId,
    next: Option<NodeId>,
}

impl Descendants<'_> {
    /// Skips the descendants of `last`, the node that was returned last.
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

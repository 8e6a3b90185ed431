//! Builds the DOM from the events of html5ever's tree builder.

use crate::limits::{MAX_ATTRIBUTES, MAX_ATTRIBUTES_OF_PAGE};

use super::{Attribute, Dom, Namespace, Node, NodeId, NodeKind, Tag};
use crate::limits::MAX_STYLE_BYTES;
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace as NamespaceUrl, QualName, local_name, ns};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};

/// The tree sink of html5ever.
pub(super) struct Sink {
    dom: RefCell<Dom>,
    /// The parent of the node that was appended last: in effect the current node of the tree builder.
    current: Cell<NodeId>,
    text_budget: usize,
}

/// The name of an element, owned because the DOM is inside a `RefCell`.
#[derive(Debug)]
pub(super) struct Name(NamespaceUrl, LocalName);

impl html5ever::tree_builder::ElemName for Name {
    fn ns(&self) -> &NamespaceUrl {
        &self.0
    }

    fn local_name(&self) -> &LocalName {
        &self.1
    }
}

impl Sink {
    /// Returns a sink for a source of `source_bytes`.
    pub(super) fn new(source_bytes: usize) -> Sink {
        let mut dom = Dom {
            nodes: Vec::with_capacity(source_bytes / 32 + 16),
            attributes: Vec::with_capacity(source_bytes / 64 + 16),
            text: String::with_capacity(source_bytes / 2),
            styles: String::new(),
            current_style: None,
            truncated: false,
            quirks: false,
            has_embedded_documents: false,
        };
        dom.push(NodeKind::Document, local_name!(""), Namespace::Html, 0..0);
        // Misnested formatting elements are cloned with their attributes, which could multiply the size of the input.
        let text_budget = source_bytes.saturating_mul(2).saturating_add(1 << 20);
        Sink { dom: RefCell::new(dom), current: Cell::new(NodeId::ROOT), text_budget }
    }

    /// Returns the number of nodes so far.
    pub(super) fn node_count(&self) -> usize {
        self.dom.borrow().len()
    }

    /// Returns the depth of the next node, counted up to `limit`.
    pub(super) fn depth(&self, limit: usize) -> usize {
        let dom = self.dom.borrow();
        dom.ancestors(self.current.get()).take(limit).count() + 1
    }

    /// Returns whether the next node will be inside `<noscript>`.
    pub(super) fn in_noscript(&self) -> bool {
        let dom = self.dom.borrow();
        let current = self.current.get();
        std::iter::once(current).chain(dom.ancestors(current)).take(8).any(|id| dom.is(id, Tag::Noscript))
    }

    /// Handles an end tag: it closes the nearest open element with that name, if there is one.
    pub(super) fn close_element(&self, name: &LocalName) {
        let dom = self.dom.borrow();
        let open = std::iter::once(self.current.get()).chain(dom.ancestors(self.current.get()));
        let closed = open.into_iter().find(|&id| dom.nodes[id.index()].name == *name);
        if let Some(parent) = closed.and_then(|id| dom.parent(id)) {
            self.current.set(parent);
        }
    }

    /// Records that a part of the page is skipped because of a limit.
    pub(super) fn set_truncated(&self) {
        self.dom.borrow_mut().truncated = true;
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Dom;
    type ElemName<'a> = Name;

    fn finish(self) -> Dom {
        let mut dom = self.dom.into_inner();
        if dom.styles.contains("/*") {
            dom.styles = without_comments(&dom.styles);
        }
        dom.move_streamed_fragments();
        dom.show_shadow_trees();
        dom.link_embedded_documents();
        dom.blank_shortcodes();
        dom.flatten(crate::limits::MAX_DEPTH);
        dom
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        let dom = self.dom.borrow();
        let node = &dom.nodes[target.index()];
        let url = match node.namespace {
            Namespace::Html => ns!(html),
            Namespace::Svg => ns!(svg),
            Namespace::MathMl => ns!(mathml),
        };
        Name(url, node.name.clone())
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<html5ever::Attribute>,
        _flags: ElementFlags,
    ) -> NodeId {
        let mut dom = self.dom.borrow_mut();
        let range = dom.push_attributes(attributes, self.text_budget);
        let tag = Tag::from_name(&name.local);
        let namespace = match name.ns {
            ns!(svg) => Namespace::Svg,
            ns!(mathml) => Namespace::MathMl,
            _ => Namespace::Html,
        };
        dom.push(NodeKind::Element(tag), name.local, namespace, range)
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.dom.borrow_mut().push(NodeKind::Nothing, local_name!(""), Namespace::Html, 0..0)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.create_comment(StrTendril::new())
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.current.set(*parent);
        let mut dom = self.dom.borrow_mut();
        match child {
            NodeOrText::AppendNode(id) => {
                if matches!(dom.kind(id), NodeKind::Element(tag) if !tag.is_void()) {
                    self.current.set(id);
                }
                dom.insert(id, *parent, NodeId::NONE);
            }
            NodeOrText::AppendText(text) => {
                if !dom.is_program(*parent) {
                    dom.insert_text(&text, *parent, NodeId::NONE);
                } else if dom.is(*parent, Tag::Style) {
                    dom.insert_style(&text, *parent);
                }
            }
        }
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        let has_parent = self.dom.borrow().parent(*element).is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous, child) }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.borrow_mut().quirks = mode == QuirksMode::Quirks;
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let mut dom = self.dom.borrow_mut();
        let Some(parent) = dom.parent(*sibling) else { return };
        match child {
            NodeOrText::AppendNode(id) => dom.insert(id, parent, *sibling),
            NodeOrText::AppendText(text) => dom.insert_text(&text, parent, *sibling),
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<html5ever::Attribute>) {
        self.dom.borrow_mut().add_missing_attributes(*target, attributes, self.text_budget);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.dom.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let mut dom = self.dom.borrow_mut();
        while let Some(child) = dom.first_child(*node) {
            dom.insert(child, *new_parent, NodeId::NONE);
        }
    }
}

impl Dom {
    pub(super) fn push(
        &mut self,
        kind: NodeKind,
        name: LocalName,
        namespace: Namespace,
        range: std::ops::Range<usize>,
    ) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("MAX_NODES is far below u32::MAX"));
        self.nodes.push(Node {
            name,
            parent: NodeId::NONE,
            previous: NodeId::NONE,
            next: NodeId::NONE,
            first: NodeId::NONE,
            last: NodeId::NONE,
            start: offset(range.start),
            end: offset(range.end),
            kind,
            namespace,
        });
        id
    }

    /// Returns whether an element contains a program or styles, which are often most of a page and never read. Scripts
    /// with another type contain data.
    fn is_program(&self, id: NodeId) -> bool {
        match self.kind(id) {
            NodeKind::Element(Tag::Style) => true,
            NodeKind::Element(Tag::Script) => self
                .attribute(id, "type")
                .is_none_or(|kind| kind.is_empty() || kind.contains("javascript") || kind == "module"),
            NodeKind::Element(_) | NodeKind::Document | NodeKind::Text | NodeKind::Nothing => false,
        }
    }

    /// Stores the text of a `<style>` that is for screens and for browsers with scripts.
    fn insert_style(&mut self, text: &str, style: NodeId) {
        // The text arrives in many pieces.
        let is_stored = match self.current_style {
            Some((current, is_stored)) if current == style => is_stored,
            _ => self.is_screen_style(style),
        };
        let is_stored = is_stored && self.styles.len() + text.len() <= MAX_STYLE_BYTES;
        self.current_style = Some((style, is_stored));
        if is_stored {
            self.styles.push_str(text);
        }
    }

    fn is_screen_style(&self, style: NodeId) -> bool {
        let media = self.attribute(style, "media").unwrap_or("all");
        let is_other_media = media.contains('(') || !(media.contains("all") || media.contains("screen"));
        let is_inert = |above| matches!(self.tag(above), Some(Tag::Noscript | Tag::Template | Tag::Svg));
        !is_other_media && !self.ancestors(style).any(is_inert)
    }

    fn push_attributes(
        &mut self,
        attributes: Vec<html5ever::Attribute>,
        text_budget: usize,
    ) -> std::ops::Range<usize> {
        let start = self.attributes.len();
        for attribute in attributes.into_iter().take(MAX_ATTRIBUTES) {
            let is_full = self.attributes.len() >= MAX_ATTRIBUTES_OF_PAGE;
            if is_full || self.text.len() + attribute.value.len() > text_budget {
                self.truncated = true;
                break;
            }
            let from = self.text.len();
            self.text.push_str(&attribute.value);
            let (start, end) = (offset(from), offset(self.text.len()));
            self.attributes.push(Attribute { name: attribute.name.local, start, end });
        }
        start..self.attributes.len()
    }

    fn add_missing_attributes(&mut self, id: NodeId, new: Vec<html5ever::Attribute>, text_budget: usize) {
        let missing: Vec<_> =
            new.into_iter().filter(|a| self.attribute(id, &a.name.local).is_none()).collect();
        // The old attributes are copied. A page that adds one after the other must not cause many copies.
        let (old, new) = (self.value_range(id).len(), missing.len());
        let is_full = self.attributes.len() + old + new > MAX_ATTRIBUTES_OF_PAGE;
        if missing.is_empty() || old + new > MAX_ATTRIBUTES || is_full {
            return;
        }
        // Attributes of one element are contiguous: the old ones are copied to the end, before the new ones.
        let old = self.attributes[self.value_range(id)].to_vec();
        let start = self.attributes.len();
        self.attributes.extend(old);
        let range = self.push_attributes(missing, text_budget);
        let node = &mut self.nodes[id.index()];
        (node.start, node.end) = (offset(start), offset(range.end));
    }

    pub(super) fn insert_text(&mut self, text: &str, parent: NodeId, before: NodeId) {
        let previous = self.before(parent, before);
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        // Nodes are merged only without a copy. Adjacent text nodes are read as one anyway.
        if let Some(last) = previous.some() {
            let node = &mut self.nodes[last.index()];
            if node.kind == NodeKind::Text && node.end as usize == start {
                node.end = offset(end);
                return;
            }
        }
        let id = self.push(NodeKind::Text, local_name!(""), Namespace::Html, start..end);
        self.insert(id, parent, before);
    }

    /// Moves a node to `parent`, before `before`, or to the end if that is [`NodeId::NONE`].
    pub(super) fn insert(&mut self, id: NodeId, parent: NodeId, before: NodeId) {
        self.detach(id);
        let previous = self.before(parent, before);
        let node = &mut self.nodes[id.index()];
        (node.parent, node.previous, node.next) = (parent, previous, before);
        self.set_next(parent, previous, id);
        self.set_previous(parent, before, id);
    }

    /// Returns the last child of `parent` before a place among its children.
    fn before(&self, parent: NodeId, place: NodeId) -> NodeId {
        match place.some() {
            Some(next) => self.nodes[next.index()].previous,
            None => self.nodes[parent.index()].last,
        }
    }

    /// Sets what follows a child of `parent`, or its first child.
    fn set_next(&mut self, parent: NodeId, child: NodeId, next: NodeId) {
        match child.some() {
            Some(child) => self.nodes[child.index()].next = next,
            None => self.nodes[parent.index()].first = next,
        }
    }

    /// Sets what precedes a child of `parent`, or its last child.
    fn set_previous(&mut self, parent: NodeId, child: NodeId, previous: NodeId) {
        match child.some() {
            Some(child) => self.nodes[child.index()].previous = previous,
            None => self.nodes[parent.index()].last = previous,
        }
    }

    pub(super) fn detach(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        let (parent, previous, next) = (node.parent, node.previous, node.next);
        (node.parent, node.previous, node.next) = (NodeId::NONE, NodeId::NONE, NodeId::NONE);
        let Some(parent) = parent.some() else { return };
        self.set_next(parent, previous, next);
        self.set_previous(parent, next, previous);
    }

    /// Makes all nodes below `max_depth` direct children of their ancestor at that depth.
    pub(super) fn flatten(&mut self, max_depth: usize) {
        let (mut node, mut depth) = (NodeId::ROOT, 0);
        loop {
            if depth == max_depth {
                self.flatten_below(node);
            } else if let Some(child) = self.first_child(node) {
                (node, depth) = (child, depth + 1);
                continue;
            }
            loop {
                if let Some(next) = self.next_sibling(node) {
                    node = next;
                    break;
                }
                let Some(parent) = self.parent(node) else { return };
                (node, depth) = (parent, depth - 1);
            }
        }
    }

    fn flatten_below(&mut self, top: NodeId) {
        if !self.children(top).any(|child| self.first_child(child).is_some()) {
            return;
        }
        let below: Vec<NodeId> = self.descendants(top).skip(1).collect();
        for id in below {
            self.insert(id, top, NodeId::NONE);
        }
    }
}

fn without_comments(styles: &str) -> String {
    let mut out = String::with_capacity(styles.len());
    let mut rest = styles;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        rest = rest[start + 2..].split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// Converts an offset. Text and attributes are limited to a small multiple of the input, which callers limit.
pub(super) fn offset(position: usize) -> u32 {
    u32::try_from(position).expect("a page is smaller than 4 GiB")
}

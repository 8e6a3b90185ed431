//! Microdata (HTML standard, section 5) as a graph.

use super::graph::{EntityId, Graph, Literal, MAX_VALUE_BYTES};
use super::value::text_below;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use std::collections::{HashMap, HashSet};

/// Maximum number of references of an `itemref`, and of references within references.
const MAX_REFERENCES: usize = 50;
const MAX_REFERENCE_DEPTH: usize = 2;

/// Reads the microdata of a page.
pub(super) fn read(dom: &Dom) -> Graph {
    let mut reader =
        MicrodataReader { dom, graph: Graph::default(), targets: None, budget: 2 * dom.len(), depth: 0 };
    let has_items = |id| dom.attribute(id, "itemscope").is_some();
    if dom.descendants(NodeId::ROOT).any(has_items) {
        reader.targets = reference_targets(dom);
        reader.visit_children(NodeId::ROOT, None);
    }
    reader.graph
}

/// Returns the elements that an `itemref` of the page refers to, by their ID. `None` if there is no `itemref`.
fn reference_targets(dom: &Dom) -> Option<HashMap<&str, NodeId>> {
    let references = dom.descendants(NodeId::ROOT).filter_map(|id| dom.attribute(id, "itemref"));
    let ids: HashSet<&str> = references.flat_map(str::split_ascii_whitespace).collect();
    if ids.is_empty() {
        return None;
    }
    let elements = dom.descendants(NodeId::ROOT).filter_map(|id| Some((dom.attribute(id, "id")?, id)));
    Some(elements.filter(|(id, _)| ids.contains(id)).collect())
}

struct MicrodataReader<'a> {
    dom: &'a Dom,
    graph: Graph,
    targets: Option<HashMap<&'a str, NodeId>>,
    /// The number of nodes that may still be visited.
    budget: usize,
    /// The number of references that lead to the current element.
    depth: usize,
}

impl MicrodataReader<'_> {
    fn visit_children(&mut self, id: NodeId, item: Option<EntityId>) {
        let dom = self.dom;
        for child in dom.children(id) {
            self.visit(child, item);
        }
    }

    fn visit(&mut self, id: NodeId, item: Option<EntityId>) {
        let Some(budget) = self.budget.checked_sub(1) else { return };
        self.budget = budget;
        let dom = self.dom;
        let NodeKind::Element(tag) = dom.kind(id) else { return };
        if matches!(tag, Tag::Script | Tag::Style | Tag::Template) && dom.attribute(id, "itemprop").is_none()
        {
            return;
        }
        let names = dom.attribute(id, "itemprop").unwrap_or_default();
        if dom.attribute(id, "itemscope").is_some() {
            self.visit_item(id, item, names);
            return;
        }
        if let Some(item) = item
            && !names.trim().is_empty()
            && !self.graph.is_full()
        {
            let value = value(dom, id, tag);
            for name in names.split_ascii_whitespace().take(20) {
                self.graph.add_literal(item, name, value.clone());
            }
        }
        self.visit_children(id, item);
    }

    fn visit_item(&mut self, id: NodeId, item: Option<EntityId>, names: &str) {
        let dom = self.dom;
        let types = dom.attribute(id, "itemtype").unwrap_or_default().split_ascii_whitespace();
        let Some(inner) = self.graph.add_entity(dom.attribute(id, "itemid"), types) else { return };
        match item {
            Some(item) if !names.trim().is_empty() => {
                for name in names.split_ascii_whitespace().take(20) {
                    self.graph.add_property(item, name, inner);
                }
            }
            // A property that another item refers to is not an item of the page.
            None if !names.trim().is_empty() && self.is_target(id) => {}
            enclosing => self.graph.add_root(inner, enclosing),
        }
        self.visit_children(id, Some(inner));
        let references = dom.attribute(id, "itemref").unwrap_or_default();
        if self.depth < MAX_REFERENCE_DEPTH {
            self.depth += 1;
            for reference in references.split_ascii_whitespace().take(MAX_REFERENCES) {
                let target = self.targets.as_ref().and_then(|targets| targets.get(reference)).copied();
                // An ancestor would contain the item itself.
                if let Some(target) = target.filter(|&target| !dom.ancestors(id).any(|above| above == target))
                {
                    self.visit(target, Some(inner));
                }
            }
            self.depth -= 1;
        }
    }

    /// Returns whether an `itemref` refers to the element or to one around it.
    fn is_target(&self, id: NodeId) -> bool {
        let Some(targets) = &self.targets else { return false };
        let is_one = |id| self.dom.attribute(id, "id").is_some_and(|name| targets.contains_key(name));
        is_one(id) || self.dom.ancestors(id).any(is_one)
    }
}

/// Returns the value of a property (HTML standard, section 5.2.4). Unlike there, a `content` attribute counts on any
/// element, as search engines read it.
fn value(dom: &Dom, id: NodeId, tag: Tag) -> Literal {
    let attribute = match dom.name(id) {
        "audio" | "embed" | "iframe" | "source" | "track" | "video" => Some("src"),
        "img" => Some(if dom.attribute(id, "src").is_some_and(|src| !src.starts_with("data:")) {
            "src"
        } else {
            "data-src"
        }),
        "a" | "area" | "link" => Some("href"),
        "object" => Some("data"),
        "data" | "meter" => Some("value"),
        "time" => Some("datetime"),
        _ => None,
    };
    let data = dom.attribute(id, "content").or_else(|| dom.attribute(id, attribute?));
    match data {
        Some(data) => Literal::Data(data.to_owned()),
        None if tag == Tag::Meta => Literal::Data(String::new()),
        None => Literal::Text(text_below(dom, id, MAX_VALUE_BYTES)),
    }
}

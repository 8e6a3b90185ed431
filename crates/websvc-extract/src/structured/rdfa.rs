//! RDFa Lite 1.1 with the vocabulary schema.org as a graph.

use super::graph::{EntityId, Graph, Literal, MAX_VALUE_BYTES};
use super::value::text_below;
use crate::dom::{Dom, NodeId, NodeKind, Tag};
use std::collections::HashSet;

/// Reads the RDFa of a page.
pub(super) fn read(dom: &Dom) -> Graph {
    let mut reader = RdfaReader { dom, graph: Graph::default(), prefixes: HashSet::new() };
    if dom.descendants(NodeId::ROOT).any(|id| dom.attribute(id, "typeof").is_some()) {
        reader.prefixes = prefixes(dom);
        reader.visit_children(NodeId::ROOT, Context { item: None, is_schema_org: false });
    }
    reader.graph
}

/// Returns the prefixes that the page declares for schema.org, and the one that RDFa predefines.
fn prefixes(dom: &Dom) -> HashSet<String> {
    let mut found = HashSet::from(["schema".to_owned()]);
    for declaration in dom.descendants(NodeId::ROOT).filter_map(|id| dom.attribute(id, "prefix")).take(100) {
        let words: Vec<&str> = declaration.split_ascii_whitespace().take(100).collect();
        for pair in words.windows(2) {
            if let (Some(prefix), true) = (pair[0].strip_suffix(':'), is_schema_org(pair[1])) {
                found.insert(prefix.to_ascii_lowercase());
            }
        }
    }
    found
}

fn is_schema_org(iri: &str) -> bool {
    iri.contains("://schema.org") || iri.contains("://www.schema.org")
}

#[derive(Clone, Copy)]
struct Context {
    /// The resource that properties belong to.
    item: Option<EntityId>,
    /// True if terms without a prefix are those of schema.org.
    is_schema_org: bool,
}

struct RdfaReader<'a> {
    dom: &'a Dom,
    graph: Graph,
    prefixes: HashSet<String>,
}

impl RdfaReader<'_> {
    fn visit_children(&mut self, id: NodeId, context: Context) {
        let dom = self.dom;
        for child in dom.children(id) {
            self.visit(child, context);
        }
    }

    fn visit(&mut self, id: NodeId, mut context: Context) {
        let dom = self.dom;
        let NodeKind::Element(tag) = dom.kind(id) else { return };
        if matches!(tag, Tag::Script | Tag::Style | Tag::Template) {
            return;
        }
        if let Some(vocabulary) = dom.attribute(id, "vocab") {
            context.is_schema_org = is_schema_org(vocabulary);
        }
        let terms = |attribute: &str| -> Vec<&str> {
            let words = dom.attribute(id, attribute).unwrap_or_default().split_ascii_whitespace().take(20);
            words.filter(|word| self.is_term(word, context)).collect()
        };
        let (types, names) = (terms("typeof"), terms("property"));
        let inner = if types.is_empty() {
            None
        } else {
            self.graph.add_entity(dom.attribute(id, "resource"), types.into_iter())
        };
        if let Some(inner) = inner {
            match context.item {
                Some(item) if !names.is_empty() => {
                    names.iter().for_each(|name| self.graph.add_property(item, name, inner));
                }
                enclosing => self.graph.add_root(inner, enclosing),
            }
            context.item = Some(inner);
        } else if let Some(item) = context.item
            && !names.is_empty()
            && !self.graph.is_full()
        {
            let value = value(dom, id, tag);
            names.iter().for_each(|name| self.graph.add_literal(item, name, value.clone()));
        }
        self.visit_children(id, context);
    }

    /// Returns whether a word is a term of schema.org.
    fn is_term(&self, word: &str, context: Context) -> bool {
        if word.contains("://") {
            return is_schema_org(word);
        }
        match word.split_once(':') {
            Some((prefix, _)) => self.prefixes.contains(&prefix.to_ascii_lowercase()),
            None => context.is_schema_org,
        }
    }
}

/// Returns the value of a property: an attribute, else the text of the element.
fn value(dom: &Dom, id: NodeId, tag: Tag) -> Literal {
    let attributes: &[&str] = match tag {
        Tag::Img => &["content", "resource", "src"],
        _ => &["content", "resource", "href", "src", "datetime"],
    };
    match dom.first_attribute(id, attributes) {
        Some(data) => Literal::Data(data.to_owned()),
        None => Literal::Text(text_below(dom, id, MAX_VALUE_BYTES)),
    }
}

//! Adds the content of another tree to a page.

use super::{Dom, Namespace, NodeId, NodeKind, Tag};
use crate::limits::MAX_DEPTH;
use html5ever::local_name;

impl Dom {
    /// Adds the body of another tree to the end of the body, in a `<main>`, and returns that.
    pub(crate) fn append_main(&mut self, other: Dom) -> NodeId {
        let (text, attributes, nodes) = (self.text.len(), self.attributes.len(), self.nodes.len());
        let shift = |offset: u32, by: usize| super::sink::offset(offset as usize + by);
        let shift_id = |id: NodeId| id.some().map_or(NodeId::NONE, |id| NodeId(shift(id.0, nodes)));
        let body = other.first_element(Tag::Body).map_or(NodeId::NONE, shift_id);
        self.text.push_str(&other.text);
        self.attributes.extend(other.attributes.into_iter().map(|mut attribute| {
            (attribute.start, attribute.end) = (shift(attribute.start, text), shift(attribute.end, text));
            attribute
        }));
        self.nodes.extend(other.nodes.into_iter().map(|mut node| {
            for link in
                [&mut node.parent, &mut node.previous, &mut node.next, &mut node.first, &mut node.last]
            {
                *link = shift_id(*link);
            }
            let by = match node.kind {
                NodeKind::Text => text,
                NodeKind::Element(_) => attributes,
                NodeKind::Document | NodeKind::Nothing => 0,
            };
            (node.start, node.end) = (shift(node.start, by), shift(node.end, by));
            node
        }));
        let main = self.push(NodeKind::Element(Tag::Main), local_name!("main"), Namespace::Html, 0..0);
        let parent = self.first_element(Tag::Body).or_else(|| self.first_element(Tag::Html));
        self.insert(main, parent.unwrap_or(NodeId::ROOT), NodeId::NONE);
        if let Some(body) = body.some() {
            while let Some(child) = self.first_child(body) {
                self.insert(child, main, NodeId::NONE);
            }
        }
        self.flatten(MAX_DEPTH);
        main
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn added_body_has_its_texts_and_attributes_at_the_end() {
        let mut dom = parse("<title>T</title><body><p class=a>One</p>");
        let main = dom.append_main(parse("<p class=b>Two</p><p>Three</p>"));
        let texts: Vec<&str> =
            dom.descendants(NodeId::ROOT).map(|id| dom.text(id)).filter(|t| !t.is_empty()).collect();
        assert_eq!(texts, ["T", "One", "Two", "Three"]);
        let classes: Vec<&str> =
            dom.descendants(NodeId::ROOT).filter_map(|id| dom.attribute(id, "class")).collect();
        assert_eq!(classes, ["a", "b"]);
        assert_eq!(dom.children(main).count(), 2);
    }
}

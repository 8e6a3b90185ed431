//! The meta tags of a page, and the targets of its `<link>` elements.

use crate::dom::{Dom, Tag};
use crate::limits::MAX_META_TAGS;
use crate::text::collapsed;
use std::collections::BTreeMap;

/// The value of a meta tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaValue {
    /// The tag occurs once.
    One(String),
    /// The tag is repeated. The values are in document order.
    Many(Vec<String>),
}

impl MetaValue {
    /// Returns the first value.
    pub fn first(&self) -> &str {
        match self {
            MetaValue::One(value) => value,
            MetaValue::Many(values) => values.first().map_or("", String::as_str),
        }
    }

    fn add(&mut self, value: String) {
        match self {
            MetaValue::One(first) => *self = MetaValue::Many(vec![std::mem::take(first), value]),
            MetaValue::Many(values) => values.push(value),
        }
    }
}

/// Returns all values of a meta tag by its lower-case name.
pub(crate) fn values<'a>(dom: &'a Dom, name: &'a str) -> impl Iterator<Item = &'a str> {
    let tags = dom.elements(Tag::Meta);
    tags.filter(move |&id| dom.attribute(id, "name").is_some_and(|n| n.trim().eq_ignore_ascii_case(name)))
        .filter_map(|id| dom.attribute(id, "content"))
}

/// Returns the content of `<meta http-equiv=name>`.
pub(crate) fn http_equiv<'a>(dom: &'a Dom, name: &str) -> Option<&'a str> {
    dom.elements(Tag::Meta)
        .find(|&id| dom.attribute(id, "http-equiv").is_some_and(|n| n.trim().eq_ignore_ascii_case(name)))
        .and_then(|id| dom.attribute(id, "content"))
}

/// Returns the targets of the `<link>` elements with this relation.
pub(crate) fn link_hrefs<'a>(dom: &'a Dom, relation: &'a str) -> impl Iterator<Item = &'a str> {
    let related = dom.elements(Tag::Link).filter(move |&id| dom.has_word(id, "rel", relation));
    related.filter_map(|id| dom.attribute(id, "href"))
}

/// Returns the first value of a meta tag of Open Graph that is not empty.
pub(crate) fn property(dom: &Dom, name: &str) -> Option<String> {
    dom.elements(Tag::Meta)
        .filter(|&id| dom.attribute(id, "property") == Some(name))
        .find_map(|id| dom.attribute(id, "content"))
        .map(collapsed)
        .filter(|value| !value.is_empty())
}

/// Collects all meta tags. Names are in lower case; names that differ in case only are merged.
pub(crate) fn read(dom: &Dom) -> BTreeMap<String, MetaValue> {
    let mut tags: BTreeMap<String, MetaValue> = BTreeMap::new();
    for id in dom.elements(Tag::Meta).take(MAX_META_TAGS) {
        let name = dom.first_attribute(id, &["name", "property", "itemprop"]);
        let (Some(name), Some(value)) = (name, dom.attribute(id, "content")) else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), collapsed(value));
        if name.is_empty() || value.is_empty() {
            continue;
        }
        match tags.get_mut(&name) {
            Some(existing) => existing.add(value),
            None => drop(tags.insert(name, MetaValue::One(value))),
        }
    }
    tags
}

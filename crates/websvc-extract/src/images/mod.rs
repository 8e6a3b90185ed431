//! The images of a page: in its content, its metadata and its inline styles.

mod detail;
mod size;
mod text_context;

pub use detail::ImageDetail;
pub(crate) use detail::details;
pub use size::image_size;

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::limits::MAX_LIST_BYTES;
use crate::links::{image_source, largest_srcset_candidate, resolve_image};
use std::collections::HashSet;
use url::Url;

/// Returns the absolute URLs of all images in document order, each once.
pub(crate) fn all(dom: &Dom, base: &Url) -> Vec<String> {
    let mut collector = ImageCollector { base, seen: HashSet::new(), list: Vec::new(), bytes: 0 };
    for id in dom.descendants(NodeId::ROOT) {
        let NodeKind::Element(tag) = dom.kind(id) else { continue };
        match tag {
            Tag::Img => {
                if let Some(source) = image_source(dom, id, base) {
                    collector.add(source);
                }
                collector.sources(dom, id, &["src", "data-src"]);
                collector.set(dom, id);
            }
            Tag::Source if dom.parent(id).is_some_and(|parent| dom.is(parent, Tag::Picture)) => {
                collector.set(dom, id);
            }
            Tag::Meta => {
                let name = dom.first_attribute(id, &["property", "name", "itemprop"]);
                if matches!(
                    name,
                    Some("og:image" | "og:image:url" | "twitter:image" | "twitter:image:src" | "image")
                ) {
                    collector.sources(dom, id, &["content"]);
                }
            }
            Tag::Link => {
                let rel = dom.attribute(id, "rel").unwrap_or("");
                if rel.split_ascii_whitespace().any(|token| token.to_ascii_lowercase().contains("icon")) {
                    collector.sources(dom, id, &["href"]);
                }
            }
            Tag::Video => collector.sources(dom, id, &["poster"]),
            _ => {}
        }
        if let Some(source) = dom.attribute(id, "style").and_then(background) {
            collector.source(source);
        }
    }
    collector.list
}

struct ImageCollector<'a> {
    base: &'a Url,
    seen: HashSet<String>,
    list: Vec<String>,
    bytes: usize,
}

impl ImageCollector<'_> {
    fn add(&mut self, source: String) {
        let fits = self.bytes + source.len() <= MAX_LIST_BYTES;
        if fits && !source.starts_with("data:") && self.seen.insert(source.clone()) {
            self.bytes += source.len();
            self.list.push(source);
        }
    }

    fn source(&mut self, source: &str) {
        if let Some(url) = resolve_image(self.base, source) {
            self.add(url);
        }
    }

    fn sources(&mut self, dom: &Dom, id: NodeId, names: &[&str]) {
        for value in names.iter().filter_map(|name| dom.attribute(id, name)) {
            self.source(value);
        }
    }

    fn set(&mut self, dom: &Dom, id: NodeId) {
        for set in ["srcset", "data-srcset"].iter().filter_map(|name| dom.attribute(id, name)) {
            if let Some(source) = largest_srcset_candidate(set) {
                self.source(source);
            }
        }
    }
}

/// Returns the URL in a `background` or `background-image` declaration.
fn background(style: &str) -> Option<&str> {
    let declaration = style.split(';').find(|part| part.trim_start().starts_with("background"))?;
    let rest = &declaration[declaration.find("url(")? + 4..];
    let end = rest.find(')').unwrap_or(rest.len());
    Some(rest[..end].trim().trim_matches(['"', '\'']))
}

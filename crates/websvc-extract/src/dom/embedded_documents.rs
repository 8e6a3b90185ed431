//! Adds links to the documents that a page only embeds: PDF files in `<embed>`, `<object>` and `<iframe>`, and the pages of
//! a `<frameset>`. Their elements show nothing without a browser.

use super::{Attribute, Dom, Namespace, NodeId, NodeKind, Tag};
use html5ever::{LocalName, local_name};

/// Maximum number of links that are added to a page.
const MAX_LINKS: usize = 50;

/// Maximum size of the name of a link in bytes.
const MAX_NAME_BYTES: usize = 200;

/// The attribute of the links that are added.
pub(crate) const MARKER: &str = "data-embedded-document";

impl Dom {
    /// Adds a link before each element that embeds a document.
    pub(super) fn link_embedded_documents(&mut self) {
        if !self.has_any(&[Tag::Embed, Tag::Object, Tag::Iframe, Tag::Frame]) {
            return;
        }
        let is_embedding = |&id: &NodeId| {
            matches!(self.tag(id), Some(Tag::Embed | Tag::Object | Tag::Iframe | Tag::Frame))
                && self.is_html(id)
        };
        let elements: Vec<NodeId> =
            self.descendants(NodeId::ROOT).filter(is_embedding).take(MAX_LINKS).collect();
        if elements.is_empty() {
            return;
        }
        // The page of a frame has its content only if it shows nothing by itself.
        let is_empty = !self.has_visible_text();
        for id in elements {
            let Some((target, kind)) = self.embedded_document(id, is_empty) else { continue };
            let before = if self.is(id, Tag::Frame) { self.outermost_frameset(id) } else { id };
            if let Some(parent) = self.parent(before) {
                self.add_link(&target, kind, id, parent, before);
            }
        }
    }

    /// Returns the address that an element embeds, and its kind: `document` for a PDF file, else `page`.
    fn embedded_document(&self, id: NodeId, is_empty_page: bool) -> Option<(String, &'static str)> {
        let names: &[&str] =
            if self.is(id, Tag::Object) { &["data"] } else { &["src", "data-src", "data-lazy-src"] };
        let source = names.iter().find_map(|name| self.attribute(id, name))?.trim();
        let has_other_scheme = ["about:", "javascript:", "data:", "blob:"]
            .iter()
            .any(|scheme| crate::text::starts_with_ignore_case(source, scheme));
        if source.is_empty() || has_other_scheme {
            return None;
        }
        let kind = self.attribute(id, "type").unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/pdf") || is_pdf(source) {
            return Some((source.to_owned(), "document"));
        }
        if let Some(file) = file_of_viewer(source) {
            return Some((file, "document"));
        }
        let is_frame = self.is(id, Tag::Frame) || (self.is(id, Tag::Iframe) && is_empty_page);
        is_frame.then(|| (source.to_owned(), "page"))
    }

    fn has_visible_text(&self) -> bool {
        let mut walk = self.descendants(NodeId::ROOT);
        while let Some(id) = walk.next() {
            if matches!(self.tag(id), Some(tag) if tag.is_invisible()) {
                walk.skip_children(id);
            } else if self.is(id, Tag::Img) || !self.text(id).trim().is_empty() {
                return true;
            }
        }
        false
    }

    fn outermost_frameset(&self, frame: NodeId) -> NodeId {
        self.ancestors(frame).filter(|&above| self.is(above, Tag::Frameset)).last().unwrap_or(frame)
    }

    fn add_link(&mut self, target: &str, kind: &str, element: NodeId, parent: NodeId, before: NodeId) {
        self.has_embedded_documents = true;
        let label = ["title", "aria-label", "name"].iter().find_map(|name| self.attribute(element, name));
        let label = label.map(crate::text::collapsed).filter(|label| !label.is_empty());
        let path = target.split(['?', '#']).next().unwrap_or(target).trim_end_matches('/');
        let file = path.rsplit('/').next().filter(|file| !file.is_empty()).unwrap_or(target);
        let mut name = label.unwrap_or_else(|| file.to_owned());
        name.truncate(crate::text::start_of(&name, MAX_NAME_BYTES).len());
        let start = self.attributes.len();
        for (attribute, value) in [(local_name!("href"), target), (LocalName::from(MARKER), kind)] {
            let from = self.text.len();
            self.text.push_str(value);
            let (start, end) = (super::sink::offset(from), super::sink::offset(self.text.len()));
            self.attributes.push(Attribute { name: attribute, start, end });
        }
        let range = start..self.attributes.len();
        let block = self.push(NodeKind::Element(Tag::P), local_name!("p"), Namespace::Html, 0..0);
        let link = self.push(NodeKind::Element(Tag::A), local_name!("a"), Namespace::Html, range);
        self.insert(block, parent, before);
        self.insert(link, block, NodeId::NONE);
        self.insert_text(&name, link, NodeId::NONE);
    }
}

/// Returns whether an address is that of a PDF file.
fn is_pdf(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or(address).as_bytes();
    path.len() >= 4 && path[path.len() - 4..].eq_ignore_ascii_case(b".pdf")
}

/// Returns the PDF file in the query of the address of a viewer: `viewer.html?file=/a.pdf`.
fn file_of_viewer(address: &str) -> Option<String> {
    let query = address.split_once('?')?.1;
    url::form_urlencoded::parse(query.as_bytes())
        .take(20)
        .find(|(name, value)| {
            matches!(&**name, "file" | "url" | "src" | "pdf" | "document" | "doc") && is_pdf(value)
        })
        .map(|(_, value)| value.into_owned())
}

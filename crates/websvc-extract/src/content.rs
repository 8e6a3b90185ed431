//! The asked-for part of a page, written in any format.

use crate::atomic_blocks;
use crate::content_kind::ContentKind;
use crate::content_view::ContentView;
use crate::document::{Anchor, Document};
use crate::dom::{Dom, MatchScope, NodeId, NodeKind, Tag};
use crate::limits::{
    MAX_CAPTION_CHARS, MAX_CONTENT_LINKS, MAX_JUDGED_NODES, MAX_LABEL_BYTES, MAX_LIST_BYTES,
    MAX_OUTPUT_BYTES, MAX_SOURCE_BYTES,
};
use crate::main_content;
use crate::options::{Base64Images, ContentOptions, ContentScope};
use crate::output::{self, OutputContext};
use crate::text::{collapsed, shorten};
use crate::{links, xml};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use url::Url;

/// A part of a page; each format is written when asked for.
#[derive(Debug)]
pub struct Content<'a> {
    document: &'a Document,
    view: ContentView,
    base64_images: Base64Images,
    warnings: Vec<String>,
    /// A format came out longer than it may be.
    is_cut: Cell<bool>,
}

impl<'a> Content<'a> {
    /// Applies the options: what is hidden goes first, then what the caller excludes, then what is not main content.
    pub(crate) fn select(document: &'a Document, options: &ContentOptions) -> Content<'a> {
        let dom = &document.dom;
        let mut warnings = Vec::new();
        let mut view = document.visible();
        let (excluded, extent) = options.exclude_tags.0.matches(dom, NodeId::ROOT);
        excluded.into_iter().for_each(|id| view.leave_out(id));
        if extent == MatchScope::Beginning {
            warnings
                .push("excludeTags cost too much on this page; it was applied to its beginning".to_owned());
        }
        let (banners, _) = options.banners.0.matches(dom, NodeId::ROOT);
        banners.into_iter().filter(|&id| !holds_content(dom, id)).for_each(|id| view.leave_out(id));
        if !options.include_tags.is_empty() {
            include(document, options, &mut view, &mut warnings);
        } else if options.scope == ContentScope::Main && document.kind.is_html() {
            let found = if dom.len() > MAX_JUDGED_NODES { None } else { main_content::find(document, &view) };
            match found {
                Some(mut main) => {
                    atomic_blocks::keep_atomic_blocks(dom, &view, &mut main);
                    view = main;
                }
                None if dom.len() > MAX_JUDGED_NODES => {
                    warnings.push(
                        "the page is too large to tell its main content; the full page is returned"
                            .to_owned(),
                    );
                }
                None => warnings.push("no main content was found; the full page is returned".to_owned()),
            }
        }
        if document.is_cut {
            warnings.push(format!(
                "the page is longer than {MAX_SOURCE_BYTES} bytes; the rest of it was left out"
            ));
        }
        if dom.truncated() {
            warnings
                .push("the page is too large or too deeply nested; the rest of it was left out".to_owned());
        }
        Content { document, view, base64_images: options.base64_images, warnings, is_cut: Cell::new(false) }
    }

    fn page(&self) -> OutputContext<'_> {
        OutputContext {
            dom: &self.document.dom,
            view: &self.view,
            base: &self.document.base,
            base64_images: self.base64_images,
        }
    }

    /// Writes markdown (CommonMark with GFM tables), links absolute. JSON becomes a fenced block, plain text stays as
    /// it is.
    pub fn markdown(&self) -> String {
        match self.document.kind {
            ContentKind::Html | ContentKind::Xhtml => self.record_truncation(output::markdown(self.page())),
            ContentKind::Json => format!("```json\n{}\n```\n", self.document.raw.trim_end()),
            ContentKind::Text => self.document.raw.clone(),
            ContentKind::Xml => xml::text(&self.document.raw),
        }
    }

    /// Writes cleaned HTML: no scripts, styles, comments or event handlers, links absolute.
    pub fn html(&self) -> String {
        if self.document.kind.is_html() {
            self.record_truncation(output::html(self.page()))
        } else {
            self.document.raw.clone()
        }
    }

    /// Writes plain text, one line per block.
    pub fn text(&self) -> String {
        match self.document.kind {
            ContentKind::Html | ContentKind::Xhtml => self.record_truncation(output::plain(self.page())),
            ContentKind::Json | ContentKind::Text => self.document.raw.clone(),
            ContentKind::Xml => xml::text(&self.document.raw),
        }
    }

    /// Returns the absolute links, each once, in document order (clients.md 6.5): links within the page are left out,
    /// fragments of others dropped, `mailto:` kept.
    pub fn links(&self) -> Vec<String> {
        let dom = &self.document.dom;
        // Of each only the hash is remembered, by a hasher that no page can know: the URLs would be there twice.
        let hasher = RandomState::new();
        let mut seen = HashSet::new();
        let mut list = Vec::new();
        let mut bytes = 0;
        for id in self.view.nodes(dom).filter(|&id| dom.is(id, Tag::A)) {
            let Some(href) = dom.attribute(id, "href") else { continue };
            if dom.attribute(id, "href").is_some_and(|href| href.trim().starts_with('#')) {
                continue;
            }
            let Some(url) = links::resolve(&self.document.base, href) else { continue };
            let url: String = links::without_fragment(url).into();
            if seen.insert(hasher.hash_one(&url)) {
                bytes += url.len();
                list.push(url);
            }
            if bytes > MAX_LIST_BYTES {
                self.is_cut.set(true);
                break;
            }
        }
        list
    }

    /// Returns the links to other pages with their texts, each URL once, in document order, at most
    /// [`MAX_CONTENT_LINKS`]. A link of which an image is the text has that image's alternative text.
    pub fn anchors(&self) -> Vec<Anchor> {
        let dom = &self.document.dom;
        let mut at: HashMap<Url, usize> = HashMap::new();
        let mut list: Vec<Anchor> = Vec::new();
        for id in self.view.nodes(dom).filter(|&id| dom.is(id, Tag::A)) {
            let Some(mut anchor) = self.document.anchor(id).filter(|anchor| anchor.url != self.document.url)
            else {
                continue;
            };
            if anchor.text.is_empty() {
                let image = self.view.below(dom, id).find_map(|inner| dom.attribute(inner, "alt"));
                anchor.text = image.map(collapsed).unwrap_or_default();
            }
            shorten(&mut anchor.text, MAX_CAPTION_CHARS);
            match at.get(&anchor.url) {
                Some(&known) if list[known].text.is_empty() => list[known].text = anchor.text,
                Some(_) => {}
                None if list.len() >= MAX_CONTENT_LINKS => {}
                None => {
                    at.insert(anchor.url.clone(), list.len());
                    list.push(anchor);
                }
            }
        }
        list
    }

    /// Returns the texts of the headings in document order.
    pub fn headings(&self) -> Vec<String> {
        let dom = &self.document.dom;
        let is_heading = |kind| matches!(kind, NodeKind::Element(tag) if tag.heading_level().is_some());
        let headings = self.view.nodes(dom).filter(|&id| is_heading(dom.kind(id)));
        let texts = headings.map(|id| self.view.text_up_to(dom, id, MAX_LABEL_BYTES));
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Notes whether a format was cut at the bound, which the warnings then say.
    fn record_truncation(&self, (text, is_cut): (String, bool)) -> String {
        self.is_cut.set(self.is_cut.get() || is_cut);
        text
    }

    /// Returns what the caller should be told about this content and the formats that were written of it so far.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        if self.is_cut.get() {
            warnings.push(format!(
                "a format of the page is longer than {MAX_OUTPUT_BYTES} bytes; the rest of it was left out"
            ));
        }
        warnings
    }
}

/// Tells whether an element has the content of its page inside, whatever it is called.
fn holds_content(dom: &Dom, top: NodeId) -> bool {
    dom.descendants(top).any(|id| [Tag::Main, Tag::Article, Tag::H1].into_iter().any(|tag| dom.is(id, tag)))
}

/// Narrows the view to the elements asked for; one inside another is not written twice.
fn include(
    document: &Document,
    options: &ContentOptions,
    view: &mut ContentView,
    warnings: &mut Vec<String>,
) {
    let dom = &document.dom;
    let (matches, extent) = options.include_tags.0.matches(dom, NodeId::ROOT);
    if extent == MatchScope::Beginning {
        warnings.push("includeTags cost too much on this page; it was applied to its beginning".to_owned());
    }
    let mut roots = Vec::new();
    let mut end = None;
    for id in matches {
        let inside = end.is_some_and(|top| dom.ancestors(id).any(|ancestor| ancestor == top));
        let left_out = view.is_left_out(id) || dom.ancestors(id).any(|ancestor| view.is_left_out(ancestor));
        if !inside && !left_out {
            roots.push(id);
            end = Some(id);
        }
    }
    if roots.is_empty() {
        warnings.push("no element matches includeTags; the full page is returned".to_owned());
    } else {
        view.roots = roots;
    }
}

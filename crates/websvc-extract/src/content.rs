//! The selected part of a page, which can be written in each format.

use crate::atomic_blocks;
use crate::content_kind::ContentKind;
use crate::content_view::ContentView;
use crate::document::{Anchor, Document};
use crate::dom::{MatchScope, NodeId, NodeKind, Tag};
use crate::limits::{
    MAX_CAPTION_CHARS, MAX_CONTENT_LINKS, MAX_LABEL_BYTES, MAX_LIST_BYTES, MAX_OUTPUT_BYTES,
    MAX_SCORED_NODES, MAX_SOURCE_BYTES,
};
use crate::main_content;
use crate::options::{Base64Images, ContentOptions, ContentScope};
use crate::output::{self, FormattedText, OutputContext};
use crate::text::{collapsed, shorten};
use crate::{links, xml};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use url::Url;

/// A part of a page. Each format is written on request.
#[derive(Debug)]
pub struct Content<'a> {
    document: &'a Document,
    view: ContentView,
    /// The heading that is in the view only as the title of the page.
    title: Option<NodeId>,
    base64_images: Base64Images,
    warnings: Vec<String>,
    /// True if a format exceeded the size limit.
    is_truncated: Cell<bool>,
}

impl<'a> Content<'a> {
    /// Applies the options: removes hidden elements, then elements that the caller excludes, then everything outside
    /// the main content.
    pub(crate) fn select(document: &'a Document, options: &ContentOptions) -> Content<'a> {
        let dom = &document.dom;
        let mut warnings = Vec::new();
        let (mut view, mut title) = (document.visible(), None);
        let (excluded, scope) = options.exclude_tags.0.matches(dom, NodeId::ROOT);
        excluded.into_iter().for_each(|id| view.exclude(id));
        if scope == MatchScope::Beginning {
            warnings.push(
                "excludeTags cost too much on this page; they were applied to its beginning only".to_owned(),
            );
        }
        let (banners, _) = options.banners.0.matches(dom, NodeId::ROOT);
        banners.into_iter().filter(|&id| !dom.has_page_content(id)).for_each(|id| view.exclude(id));
        if !options.include_tags.is_empty() {
            include(document, options, &mut view, &mut warnings);
        } else if options.scope == ContentScope::Main && document.kind.is_html() {
            let found = if dom.len() > MAX_SCORED_NODES { None } else { main_content::find(document, &view) };
            match found {
                Some(mut main) => {
                    atomic_blocks::keep_atomic_blocks(dom, &view, &mut main.view);
                    (view, title) = (main.view, main.title);
                }
                None if dom.len() > MAX_SCORED_NODES => {
                    warnings.push(
                        "the page is too large to find its main content; the full page is returned"
                            .to_owned(),
                    );
                }
                None => warnings.push("no main content was found; the full page is returned".to_owned()),
            }
        }
        if document.is_truncated {
            warnings.push(format!("the page is longer than {MAX_SOURCE_BYTES} bytes; the rest was ignored"));
        }
        if dom.is_truncated() {
            warnings.push("the page is too large or too deeply nested; the rest was ignored".to_owned());
        }
        Content {
            document,
            view,
            title,
            base64_images: options.base64_images,
            warnings,
            is_truncated: Cell::new(false),
        }
    }

    fn context(&self) -> OutputContext<'_> {
        OutputContext {
            dom: &self.document.dom,
            view: &self.view,
            base: &self.document.base,
            base64_images: self.base64_images,
        }
    }

    /// Writes markdown (CommonMark with GFM tables) with absolute links. A feed has a heading per entry, JSON becomes a
    /// fenced block, plain text is unchanged.
    pub fn markdown(&self) -> String {
        match self.document.kind {
            ContentKind::Html | ContentKind::Xhtml => {
                self.record_truncation(output::markdown(self.context()))
            }
            ContentKind::Xml if self.document.is_feed => {
                self.record_truncation(output::markdown(self.context()))
            }
            ContentKind::Json => format!("```json\n{}\n```\n", self.document.raw.trim_end()),
            ContentKind::Text => self.document.raw.clone(),
            ContentKind::Xml => xml::text(&self.document.raw),
        }
    }

    /// Writes cleaned HTML: without scripts, styles, comments and event handlers, with absolute links.
    pub fn html(&self) -> String {
        if self.document.kind.is_html() || self.document.is_feed {
            self.record_truncation(output::html(self.context()))
        } else {
            self.document.raw.clone()
        }
    }

    /// Writes plain text for the index, one line per block. The title of the page is left out, because the index has it, if
    /// it is not part of the text.
    pub fn text(&self) -> String {
        match self.document.kind {
            ContentKind::Html | ContentKind::Xhtml => {
                let without_title = self.title.map(|title| {
                    let mut view = self.view.clone();
                    view.exclude(title);
                    view
                });
                let view = without_title.as_ref().unwrap_or(&self.view);
                self.record_truncation(output::plain(OutputContext { view, ..self.context() }))
            }
            ContentKind::Xml if self.document.is_feed => {
                self.record_truncation(output::plain(self.context()))
            }
            ContentKind::Json | ContentKind::Text => self.document.raw.clone(),
            ContentKind::Xml => xml::text(&self.document.raw),
        }
    }

    /// Returns the absolute links in document order, each once (clients.md 6.5). Links within the page are skipped,
    /// fragments of other links are removed, and `mailto:` links are included.
    pub fn links(&self) -> Vec<String> {
        let dom = &self.document.dom;
        // Only hashes are stored, because the URLs are in the list already. A page cannot know the keys of the hasher.
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
                self.is_truncated.set(true);
                break;
            }
        }
        list
    }

    /// Returns the links to other pages with their texts, in document order, each URL once, at most
    /// [`MAX_CONTENT_LINKS`]. The text of a link that is an image is the image's alternative text.
    pub fn anchors(&self) -> Vec<Anchor> {
        let dom = &self.document.dom;
        let mut positions: HashMap<Url, usize> = HashMap::new();
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
            match positions.get(&anchor.url) {
                Some(&index) if list[index].text.is_empty() => list[index].text = anchor.text,
                Some(_) => {}
                None if list.len() >= MAX_CONTENT_LINKS => {}
                None => {
                    positions.insert(anchor.url.clone(), list.len());
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

    /// Returns the text of a format, and records for the warnings whether it was cut off.
    fn record_truncation(&self, formatted: FormattedText) -> String {
        self.is_truncated.set(self.is_truncated.get() || formatted.truncated);
        formatted.text
    }

    /// Returns the warnings about this content and about the formats that were written so far.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        if self.is_truncated.get() {
            warnings.push(format!(
                "a format of the page is longer than {MAX_OUTPUT_BYTES} bytes; the rest was cut off"
            ));
        }
        warnings
    }
}

/// Narrows the view to the elements that match `includeTags`. An element inside another match is not written twice.
fn include(
    document: &Document,
    options: &ContentOptions,
    view: &mut ContentView,
    warnings: &mut Vec<String>,
) {
    let dom = &document.dom;
    let (matches, scope) = options.include_tags.0.matches(dom, NodeId::ROOT);
    if scope == MatchScope::Beginning {
        warnings.push(
            "includeTags cost too much on this page; they were applied to its beginning only".to_owned(),
        );
    }
    let mut roots = Vec::new();
    let mut last_root = None;
    for id in matches {
        let inside = last_root.is_some_and(|top| dom.ancestors(id).any(|ancestor| ancestor == top));
        let excluded = view.is_excluded(id) || dom.ancestors(id).any(|ancestor| view.is_excluded(ancestor));
        if !inside && !excluded {
            roots.push(id);
            last_root = Some(id);
        }
    }
    if roots.is_empty() {
        warnings.push("no element matches includeTags; the full page is returned".to_owned());
    } else {
        view.roots = roots;
    }
}

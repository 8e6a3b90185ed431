//! A parsed page, its links, and its directives for crawlers.

use crate::content_kind::ContentKind;
use crate::content_view::ContentView;
use crate::dom::{self, Dom, NodeId, NodeKind, Tag};
use crate::error::ExtractError;
use crate::limits::{MAX_KEPT_JSON_LD_BYTES, MAX_LABEL_BYTES, MAX_LIST_BYTES, MAX_SOURCE_BYTES};
use crate::structured::{self, StructuredData};
use crate::text::collapsed;
use crate::{charset, feed, json_ld_content, links, meta_tags};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::OnceLock;
use url::Url;

/// A page that shows fewer letters than this around an embedded document is only its frame.
const MAX_FRAME_LETTERS: usize = 400;

/// The bytes of a page and their origin.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The body as received, after content decoding.
    pub bytes: &'a [u8],
    /// The `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// The final URL, after redirects.
    pub url: &'a Url,
}

/// A link of the page, for crawling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    /// Absolute http(s) URL without fragment.
    pub url: Url,
    /// The text of the link with collapsed white space.
    pub text: String,
    /// True if the page forbids following its links (`rel="nofollow"`).
    pub nofollow: bool,
}

/// Directives of the page's robots meta tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Robots {
    /// True if the page may be indexed.
    pub index: bool,
    /// True if the links of the page may be followed.
    pub follow: bool,
}

/// A parsed page: the decoded source and the one DOM that all formats are written from.
#[derive(Debug)]
pub struct Document {
    pub(crate) kind: ContentKind,
    /// True for a feed, whose DOM is that of a page with its entries.
    pub(crate) is_feed: bool,
    pub(crate) raw: String,
    /// True if the source was longer than `MAX_SOURCE_BYTES`.
    pub(crate) is_truncated: bool,
    pub(crate) dom: Dom,
    /// The element that was added for content which only the page's JSON-LD has.
    pub(crate) json_ld_content: Option<NodeId>,
    pub(crate) url: Url,
    pub(crate) base: Url,
    pub(crate) content_type: Option<String>,
    /// The JSON-LD blocks, once a reader has asked for them, unless they are large.
    json_ld: OnceLock<Vec<Value>>,
    /// The structured data, once a reader has asked for it.
    structured_data: OnceLock<StructuredData>,
}

impl Document {
    /// Parses a page, up to [`MAX_SOURCE_BYTES`]. Time and memory are linear in the size.
    ///
    /// # Errors
    /// [`ExtractError::Unsupported`] when the bytes are not text of a known kind.
    pub fn parse(source: Source<'_>) -> Result<Document, ExtractError> {
        let bytes = &source.bytes[..source.bytes.len().min(MAX_SOURCE_BYTES)];
        let is_truncated = bytes.len() < source.bytes.len();
        let kind = ContentKind::sniff(bytes, source.content_type)?;
        let raw = charset::decode(bytes, source.content_type.and_then(charset_parameter));
        let feed = if kind == ContentKind::Xml { feed::to_html(&raw, source.url) } else { None };
        let html = if kind.is_html() { raw.as_str() } else { feed.as_deref().unwrap_or_default() };
        let mut dom = dom::parse(html);
        let json_ld_content = json_ld_content::add_json_ld_content(&mut dom, html);
        let is_feed = feed.is_some();
        let base = links::base_url(&dom, source.url);
        let url = links::without_fragment(source.url.clone());
        let content_type = source.content_type.map(str::to_owned);
        Ok(Document {
            kind,
            is_feed,
            raw,
            is_truncated,
            dom,
            json_ld_content,
            url,
            base,
            content_type,
            json_ld: OnceLock::new(),
            structured_data: OnceLock::new(),
        })
    }

    /// Returns the parsed JSON-LD blocks of the page. Large ones are parsed for each reader: parsed JSON may take many times
    /// the memory of its text, and would stay until the page is formatted.
    pub(crate) fn json_ld(&self) -> Cow<'_, [Value]> {
        if let Some(blocks) = self.json_ld.get() {
            return Cow::Borrowed(blocks);
        }
        let blocks = structured::blocks(&self.dom);
        if blocks.bytes > MAX_KEPT_JSON_LD_BYTES {
            return Cow::Owned(blocks.values);
        }
        Cow::Borrowed(self.json_ld.get_or_init(|| blocks.values))
    }

    /// Returns the structured data of the page. The readers of products, menus and brands share it.
    pub(crate) fn structured_data(&self) -> &StructuredData {
        self.structured_data.get_or_init(|| StructuredData::read(&self.dom, &self.json_ld()))
    }

    /// Returns the kind of the content.
    pub fn kind(&self) -> ContentKind {
        self.kind
    }

    /// Returns the decoded source of the page.
    pub fn raw_html(&self) -> &str {
        &self.raw
    }

    /// Converts the page into its decoded source.
    pub fn into_raw_html(self) -> String {
        self.raw
    }

    /// Returns the URL that relative links are resolved against.
    pub fn base_url(&self) -> &Url {
        &self.base
    }

    /// Returns the http(s) links of the whole page in document order, including hidden ones.
    pub fn anchors(&self) -> Vec<Anchor> {
        let anchors = self.dom.elements(Tag::A).filter_map(|id| self.anchor(id));
        let mut bytes = 0;
        let fits = |anchor: &Anchor| {
            bytes += anchor.url.as_str().len() + anchor.text.len();
            bytes <= MAX_LIST_BYTES
        };
        anchors.take_while(fits).collect()
    }

    /// Returns the targets of [`anchors`](Self::anchors) except for `nofollow` links, without the work of collecting
    /// their texts.
    pub fn followed_links(&self) -> Vec<Url> {
        let mut elements = self.dom.descendants(NodeId::ROOT);
        let (mut links, mut bytes) = (Vec::new(), 0);
        while let Some(id) = elements.next() {
            if self.dom.is(id, Tag::Template) {
                // It is not a part of the page until a script copies and fills it.
                elements.skip_children(id);
            } else if self.dom.is(id, Tag::A)
                && !self.is_nofollow(id)
                && let Some(url) = self.target(id)
            {
                bytes += url.as_str().len();
                if bytes > MAX_LIST_BYTES {
                    break;
                }
                links.push(url);
            }
        }
        links
    }

    /// Returns the http(s) target of a link without its fragment.
    fn target(&self, id: NodeId) -> Option<Url> {
        links::resolve_web(&self.base, self.dom.attribute(id, "href")?).map(links::without_fragment)
    }

    fn is_nofollow(&self, id: NodeId) -> bool {
        self.dom.has_word(id, "rel", "nofollow")
    }

    pub(crate) fn anchor(&self, id: NodeId) -> Option<Anchor> {
        let url = self.target(id)?;
        let mut text = String::new();
        for child in self.dom.descendants(id) {
            if text.len() > MAX_LABEL_BYTES {
                break;
            }
            match self.dom.kind(child) {
                NodeKind::Text => {
                    let start = crate::text::start_of(self.dom.text(child), MAX_LABEL_BYTES);
                    crate::text::push_collapsed(&mut text, start);
                }
                NodeKind::Element(tag) if tag.is_block() => crate::text::push_collapsed(&mut text, " "),
                NodeKind::Element(_) | NodeKind::Document | NodeKind::Nothing => {}
            }
        }
        Some(Anchor { url, text: collapsed(&text), nofollow: self.is_nofollow(id) })
    }

    /// Returns the directives of the page's robots meta tags.
    pub fn robots(&self) -> Robots {
        let mut robots = Robots { index: true, follow: true };
        for value in meta_tags::values(&self.dom, "robots") {
            for directive in value.split(',') {
                match directive.trim().to_ascii_lowercase().as_str() {
                    "noindex" => robots.index = false,
                    "nofollow" => robots.follow = false,
                    "none" => robots = Robots { index: false, follow: false },
                    _ => {}
                }
            }
        }
        robots
    }

    /// Returns the canonical URL of the page.
    pub fn canonical(&self) -> Option<Url> {
        links::resolve_web(&self.base, meta_tags::link_hrefs(&self.dom, "canonical").next()?)
    }

    /// Returns the absolute URLs of the page's RSS and Atom feeds.
    pub fn feeds(&self) -> Vec<Url> {
        let feeds = self.dom.elements(Tag::Link).filter(|&id| {
            let kind = self.dom.attribute(id, "type").unwrap_or("").trim().to_ascii_lowercase();
            self.dom.has_word(id, "rel", "alternate")
                && matches!(kind.as_str(), "application/rss+xml" | "application/atom+xml")
        });
        feeds.filter_map(|id| links::resolve_web(&self.base, self.dom.attribute(id, "href")?)).collect()
    }

    /// Returns the delay in seconds and the target of the page's meta refresh.
    pub fn refresh(&self) -> Option<(u64, Url)> {
        let content = meta_tags::http_equiv(&self.dom, "refresh")?;
        let (delay, target) = content.split_once([';', ','])?;
        let delay = delay.trim().split('.').next()?.parse().ok()?;
        let target = target.trim();
        let target = if crate::text::starts_with_ignore_case(target, "url") {
            target[3..].trim_start().strip_prefix('=').unwrap_or(target).trim()
        } else {
            target
        };
        Some((delay, links::resolve_web(&self.base, target.trim_matches(['"', '\'']))?))
    }

    /// Returns the address of the document, such as a PDF file, that the page only embeds: it shows next to nothing else.
    pub fn embedded_document(&self) -> Option<Url> {
        if !self.dom.has_embedded_documents() {
            return None;
        }
        let is_link = |&id: &NodeId| {
            self.dom.is_embedded_document(id)
                && self.dom.attribute(id, dom::EMBEDDED_DOCUMENT) == Some("document")
        };
        let link = self.dom.descendants(NodeId::ROOT).find(is_link)?;
        if self.visible().letters(&self.dom, MAX_FRAME_LETTERS) >= MAX_FRAME_LETTERS {
            return None;
        }
        self.target(link)
    }

    /// Returns a view of the visible part of the page.
    pub(crate) fn visible(&self) -> ContentView {
        ContentView::visible(&self.dom)
    }
}

fn charset_parameter(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1);
    parameters
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches(['"', '\'']))
}

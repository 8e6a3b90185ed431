//! Parser state within an XML file, and the fields of the current entry.

use std::mem;
use std::ops::ControlFlow;

use quick_xml::events::BytesStart;
use url::Url;

use super::entry::{Entry, Image};
use super::output::{Item, MAX_VALUE_BYTES, Output, is_http};

/// Maximum number of images of one page; more are ignored.
const MAX_IMAGES: usize = 20;

/// Maximum number of alternates of one page; more are ignored.
const MAX_ALTERNATES: usize = 100;

/// State of the parser between two events.
#[derive(Debug, Default)]
pub(crate) struct ParserState {
    /// Text of the current element.
    pub(crate) value: String,
    /// True if the file has an element that only sitemaps and feeds have.
    is_list: bool,
    has_root: bool,
    in_index: bool,
    container: Option<Container>,
    nested: Option<NestedElement>,
    /// True if the current element is a `guid` that is a URL.
    is_permalink: bool,
    entry: EntryBuilder,
}

/// Element of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// `url` in a sitemap.
    Page,
    /// `sitemap` in an index.
    Sitemap,
    /// `item` or `entry` in a feed.
    Item,
}

/// Element within an entry whose children have the same names as those of the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NestedElement {
    Image,
    News,
    Video,
    /// `source`, `author` or `contributor` of an entry. Their children are ignored.
    Metadata,
}

/// Fields of the current entry that have been read.
#[derive(Debug, Default)]
struct EntryBuilder {
    location: Option<Url>,
    /// `guid` of a feed, used if the entry has no link.
    permalink: Option<Url>,
    title: Option<String>,
    description: Option<String>,
    published: Option<String>,
    updated: Option<String>,
    feed_image: Option<Url>,
    images: Vec<Image>,
    /// The page in other languages (`xhtml:link`).
    alternates: Vec<Url>,
    /// URL, title and caption of the current image of the image extension.
    image: (Option<Url>, String, String),
}

impl ParserState {
    /// Returns whether the file has an element that only sitemaps and feeds have.
    pub(crate) fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns whether this is the root element and that of an HTML page.
    pub(crate) fn is_html_root(&mut self, name: &str) -> bool {
        !mem::replace(&mut self.has_root, true) && name.eq_ignore_ascii_case("html")
    }

    /// Handles the start of an element.
    pub(crate) fn open(&mut self, tag: &BytesStart<'_>, output: &mut Output<'_>) -> ControlFlow<()> {
        let name = tag.local_name();
        let name: &str = name.as_ref();
        self.value.clear();
        match (self.container, name) {
            (_, "urlset" | "rss" | "feed" | "RDF") => (self.is_list, self.in_index) = (true, false),
            (_, "sitemapindex") => (self.is_list, self.in_index) = (true, true),
            (None | Some(Container::Page | Container::Sitemap), "url") => {
                self.enter(Container::Page, output)?;
            }
            (None | Some(Container::Page | Container::Sitemap), "sitemap") => {
                self.enter(Container::Sitemap, output)?;
            }
            (None | Some(Container::Item), "item" | "entry") => self.enter(Container::Item, output)?,
            (Some(Container::Page), "image") => {
                (self.nested, self.entry.image) = (Some(NestedElement::Image), Default::default());
            }
            (Some(Container::Page), "link") if self.nested.is_none() => self.entry.add_alternate(tag, output),
            (Some(Container::Page), "news") => self.nested = Some(NestedElement::News),
            (Some(Container::Page), "video") => self.nested = Some(NestedElement::Video),
            (Some(Container::Item), "source" | "author" | "contributor") => {
                self.nested.get_or_insert(NestedElement::Metadata);
            }
            (Some(Container::Item), _) if self.nested.is_none() => {
                self.is_permalink =
                    name == "guid" && attribute(tag, "isPermaLink").as_deref() != Some("false");
                self.entry.open_item_element(name, tag, output);
            }
            (Some(_) | None, _) => {}
        }
        ControlFlow::Continue(())
    }

    /// Handles the end of an element.
    pub(crate) fn close(&mut self, name: &str, output: &mut Output<'_>) -> ControlFlow<()> {
        let value = mem::take(&mut self.value);
        let text = value.trim();
        match (self.container, self.nested, name) {
            (Some(Container::Page), None, "url")
            | (Some(Container::Sitemap), None, "sitemap")
            | (Some(Container::Item), None, "item" | "entry") => {
                self.flush(output)?;
                self.container = None;
            }
            (_, Some(NestedElement::Image), "image") => {
                self.nested = None;
                self.entry.finish_image();
            }
            (_, Some(NestedElement::News), "news")
            | (_, Some(NestedElement::Video), "video")
            | (_, Some(NestedElement::Metadata), "source" | "author" | "contributor") => self.nested = None,
            (_, Some(nested), _) => self.entry.close_nested_element(nested, name, text, output),
            (Some(Container::Item), None, _) => {
                self.entry.close_item_element(name, text, self.is_permalink, output);
            }
            (Some(Container::Page | Container::Sitemap) | None, None, "loc") => {
                // A second location starts another entry.
                self.is_list = true;
                if self.entry.location.is_some() {
                    self.flush(output)?;
                }
                self.entry.location = output.resolve(text);
                if self.container.is_none() {
                    self.flush(output)?;
                }
            }
            (Some(Container::Page | Container::Sitemap) | None, None, _) => {}
        }
        // The text after a child element does not belong to the text of its parent.
        self.value = value;
        self.value.clear();
        ControlFlow::Continue(())
    }

    /// Passes the current entry to the visitor, if it has a location.
    pub(crate) fn flush(&mut self, output: &mut Output<'_>) -> ControlFlow<()> {
        self.nested = None;
        let is_sitemap = match self.container {
            Some(container) => container == Container::Sitemap,
            None => self.in_index,
        };
        let alternates = mem::take(&mut self.entry.alternates);
        match mem::take(&mut self.entry).finish() {
            Some(entry) if is_sitemap => return output.emit(Item::Sitemap(entry.url)),
            Some(entry) => output.emit(Item::Page(Box::new(entry)))?,
            None => {}
        }
        // Each should have an entry of its own, but many sitemaps name them only here.
        alternates.into_iter().try_for_each(|url| output.emit(Item::Page(Box::new(Entry::new(url)))))
    }

    /// Starts an entry. Finishes the previous one if its element was not closed.
    fn enter(&mut self, container: Container, output: &mut Output<'_>) -> ControlFlow<()> {
        self.is_list = true;
        self.flush(output)?;
        self.container = Some(container);
        ControlFlow::Continue(())
    }
}

impl EntryBuilder {
    /// Adds a page in another language.
    fn add_alternate(&mut self, tag: &BytesStart<'_>, output: &Output<'_>) {
        let is_alternate = attribute(tag, "rel").is_some_and(|rel| rel.eq_ignore_ascii_case("alternate"));
        let has_language = attribute(tag, "hreflang").is_some();
        if is_alternate && has_language && self.alternates.len() < MAX_ALTERNATES {
            let url = attribute(tag, "href").and_then(|text| output.resolve(&text));
            self.alternates.extend(url.filter(|url| !self.alternates.contains(url)));
        }
    }

    /// Reads the attributes of an element in an entry of a feed.
    fn open_item_element(&mut self, name: &str, tag: &BytesStart<'_>, output: &Output<'_>) {
        let url = |name: &str| attribute(tag, name).and_then(|text| output.resolve(&text));
        let is = |name: &str, value: &str| attribute(tag, name).is_some_and(|text| text.starts_with(value));
        match name {
            "link" if attribute(tag, "rel").is_none_or(|rel| rel == "alternate") => {
                self.location = self.location.take().or_else(|| url("href"));
            }
            "enclosure" if is("type", "image/") => {
                self.feed_image = self.feed_image.take().or_else(|| url("url"));
            }
            "content" if is("type", "image/") || is("medium", "image") => {
                self.feed_image = self.feed_image.take().or_else(|| url("url"));
            }
            "thumbnail" => self.feed_image = self.feed_image.take().or_else(|| url("url")),
            _ => {}
        }
    }

    /// Reads the text of an element in an entry of a feed.
    fn close_item_element(&mut self, name: &str, text: &str, is_permalink: bool, output: &Output<'_>) {
        if text.is_empty() {
            return;
        }
        match name {
            "link" => self.location = self.location.take().or_else(|| output.resolve(text)),
            "guid" if is_permalink => self.permalink = Url::parse(text).ok().filter(is_http),
            "title" => set(&mut self.title, text),
            "description" | "summary" => set(&mut self.description, text),
            "pubDate" | "published" | "date" | "issued" => set(&mut self.published, text),
            "updated" | "modified" => set(&mut self.updated, text),
            _ => {}
        }
    }

    /// Reads the text of an element of an extension.
    fn close_nested_element(&mut self, nested: NestedElement, name: &str, text: &str, output: &Output<'_>) {
        match (nested, name) {
            (NestedElement::Image, "loc") => self.image.0 = Url::parse(text).ok().filter(is_http),
            (NestedElement::Image, "title") => text.clone_into(&mut self.image.1),
            (NestedElement::Image, "caption") => text.clone_into(&mut self.image.2),
            (NestedElement::News, "publication_date") => set(&mut self.published, text),
            (NestedElement::News | NestedElement::Video, "title") => set(&mut self.title, text),
            (NestedElement::Video, "description") => set(&mut self.description, text),
            // The element of the extension was not closed before the location of the page.
            (NestedElement::News | NestedElement::Video, "loc") if self.location.is_none() => {
                self.location = output.resolve(text);
            }
            (
                NestedElement::Image | NestedElement::News | NestedElement::Video | NestedElement::Metadata,
                _,
            ) => {}
        }
    }

    /// Adds the current image, if it has a URL and the maximum is not reached.
    fn finish_image(&mut self) {
        let (url, title, caption) = mem::take(&mut self.image);
        if let Some(url) = url.filter(|_| self.images.len() < MAX_IMAGES) {
            self.images.push(Image { url, title, caption });
        }
    }

    /// Returns the entry, or `None` without a URL.
    fn finish(self) -> Option<Entry> {
        let Self { location, permalink, title, description, published, updated, feed_image, images, .. } =
            self;
        let url = location.or(permalink)?;
        let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        Some(Entry { url, title, description, date: published.or(updated), image: feed_image, images })
    }
}

/// Sets a field to the first text that is not empty.
fn set(field: &mut Option<String>, text: &str) {
    if field.is_none() && !text.is_empty() {
        *field = Some(text.to_owned());
    }
}

/// Returns the value of an attribute, truncated and with its references resolved.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute =
        tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value: &str = &attribute.value;
    let value = &value[..value.floor_char_boundary(MAX_VALUE_BYTES)];
    Some(quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned))
}

//! State of a parser within a file, and the fields of the current entry.

use std::mem;
use std::ops::ControlFlow;

use quick_xml::events::BytesStart;
use url::Url;

use crate::entry::{Entry, Image};
use crate::reading::{Item, MAX_VALUE_BYTES, Output, is_of_web};

/// Of the images that a sitemap names of one page, so many are taken.
const MAX_IMAGES: usize = 20;

/// State of a parser.
#[derive(Debug, Default)]
pub(crate) struct ParserState {
    /// The text of the element that is open.
    pub(crate) value: String,
    /// An element was met that only such files have.
    is_list: bool,
    has_root: bool,
    in_index: bool,
    container: Option<Container>,
    part: Option<EntryField>,
    is_permalink: bool,
    draft: EntryBuilder,
}

/// The elements that stand for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// `url` of a sitemap.
    Page,
    /// `sitemap` of an index.
    Sitemap,
    /// `item` and `entry` of feeds.
    Item,
}

/// Elements within an entry whose children have the same names as those of the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryField {
    Image,
    News,
    Video,
    /// The feed that an entry was taken from (Atom), and who wrote it.
    Aside,
}

/// An entry as far as it was read.
#[derive(Debug, Default)]
struct EntryBuilder {
    location: Option<Url>,
    permalink: Option<Url>,
    title: Option<String>,
    description: Option<String>,
    published: Option<String>,
    updated: Option<String>,
    picture: Option<Url>,
    images: Vec<Image>,
    image: (Option<Url>, String, String),
}

impl ParserState {
    /// Returns whether an element was met that only such files have.
    pub(crate) fn is_list(&self) -> bool {
        self.is_list
    }

    /// Returns whether the first element is that of a web page.
    pub(crate) fn is_page_of_html(&mut self, name: &str) -> bool {
        !mem::replace(&mut self.has_root, true) && name.eq_ignore_ascii_case("html")
    }

    /// Enters an element.
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
                (self.part, self.draft.image) = (Some(EntryField::Image), Default::default());
            }
            (Some(Container::Page), "news") => self.part = Some(EntryField::News),
            (Some(Container::Page), "video") => self.part = Some(EntryField::Video),
            (Some(Container::Item), "source" | "author" | "contributor") => {
                self.part.get_or_insert(EntryField::Aside);
            }
            (Some(Container::Item), _) if self.part.is_none() => {
                self.is_permalink =
                    name == "guid" && attribute(tag, "isPermaLink").as_deref() != Some("false");
                self.draft.item_opened(name, tag, output);
            }
            (Some(_) | None, _) => {}
        }
        ControlFlow::Continue(())
    }

    /// Leaves an element.
    pub(crate) fn close(&mut self, name: &str, output: &mut Output<'_>) -> ControlFlow<()> {
        let value = mem::take(&mut self.value);
        let text = value.trim();
        match (self.container, self.part, name) {
            (Some(Container::Page), None, "url")
            | (Some(Container::Sitemap), None, "sitemap")
            | (Some(Container::Item), None, "item" | "entry") => {
                self.flush(output)?;
                self.container = None;
            }
            (_, Some(EntryField::Image), "image") => {
                self.part = None;
                self.draft.keep_image();
            }
            (_, Some(EntryField::News), "news")
            | (_, Some(EntryField::Video), "video")
            | (_, Some(EntryField::Aside), "source" | "author" | "contributor") => self.part = None,
            (_, Some(part), _) => self.draft.part_closed(part, name, text, output),
            (Some(Container::Item), None, _) => {
                self.draft.item_closed(name, text, self.is_permalink, output);
            }
            (Some(Container::Page | Container::Sitemap) | None, None, "loc") => {
                // A second location is a second entry.
                self.is_list = true;
                if self.draft.location.is_some() {
                    self.flush(output)?;
                }
                self.draft.location = output.resolve(text);
                if self.container.is_none() {
                    self.flush(output)?;
                }
            }
            (Some(Container::Page | Container::Sitemap) | None, None, _) => {}
        }
        // Text behind an element is not the text of the one around it.
        self.value = value;
        self.value.clear();
        ControlFlow::Continue(())
    }

    /// Hands over the entry that was read, if it has a location.
    pub(crate) fn flush(&mut self, output: &mut Output<'_>) -> ControlFlow<()> {
        self.part = None;
        let is_sitemap = match self.container {
            Some(container) => container == Container::Sitemap,
            None => self.in_index,
        };
        match mem::take(&mut self.draft).finish() {
            Some(entry) if is_sitemap => output.give(Item::Sitemap(entry.url)),
            Some(entry) => output.give(Item::Page(Box::new(entry))),
            None => ControlFlow::Continue(()),
        }
    }

    /// Enters an entry; one before it that was not closed ends here.
    fn enter(&mut self, container: Container, output: &mut Output<'_>) -> ControlFlow<()> {
        self.is_list = true;
        self.flush(output)?;
        self.container = Some(container);
        ControlFlow::Continue(())
    }
}

impl EntryBuilder {
    /// Reads what an element of a feed's entry says in its attributes.
    fn item_opened(&mut self, name: &str, tag: &BytesStart<'_>, output: &Output<'_>) {
        let url = |name: &str| attribute(tag, name).and_then(|text| output.resolve(&text));
        let is = |name: &str, value: &str| attribute(tag, name).is_some_and(|text| text.starts_with(value));
        match name {
            "link" if attribute(tag, "rel").is_none_or(|rel| rel == "alternate") => {
                self.location = self.location.take().or_else(|| url("href"));
            }
            "enclosure" if is("type", "image/") => self.picture = self.picture.take().or_else(|| url("url")),
            "content" if is("type", "image/") || is("medium", "image") => {
                self.picture = self.picture.take().or_else(|| url("url"));
            }
            "thumbnail" => self.picture = self.picture.take().or_else(|| url("url")),
            _ => {}
        }
    }

    /// Reads what an element of a feed's entry says in its text.
    fn item_closed(&mut self, name: &str, text: &str, is_permalink: bool, output: &Output<'_>) {
        if text.is_empty() {
            return;
        }
        match name {
            "link" => self.location = self.location.take().or_else(|| output.resolve(text)),
            "guid" if is_permalink => self.permalink = Url::parse(text).ok().filter(is_of_web),
            "title" => set(&mut self.title, text),
            "description" | "summary" => set(&mut self.description, text),
            "pubDate" | "published" | "date" | "issued" => set(&mut self.published, text),
            "updated" | "modified" => set(&mut self.updated, text),
            _ => {}
        }
    }

    /// Reads what an element of an extension says in its text.
    fn part_closed(&mut self, part: EntryField, name: &str, text: &str, output: &Output<'_>) {
        match (part, name) {
            (EntryField::Image, "loc") => self.image.0 = Url::parse(text).ok().filter(is_of_web),
            (EntryField::Image, "title") => text.clone_into(&mut self.image.1),
            (EntryField::Image, "caption") => text.clone_into(&mut self.image.2),
            (EntryField::News, "publication_date") => set(&mut self.published, text),
            (EntryField::News | EntryField::Video, "title") => set(&mut self.title, text),
            (EntryField::Video, "description") => set(&mut self.description, text),
            // A location that an extension was not closed before.
            (EntryField::News | EntryField::Video, "loc") if self.location.is_none() => {
                self.location = output.resolve(text);
            }
            (EntryField::Image | EntryField::News | EntryField::Video | EntryField::Aside, _) => {}
        }
    }

    fn keep_image(&mut self) {
        let (url, title, caption) = mem::take(&mut self.image);
        if let Some(url) = url.filter(|_| self.images.len() < MAX_IMAGES) {
            self.images.push(Image { url, title, caption });
        }
    }

    fn finish(self) -> Option<Entry> {
        let Self { location, permalink, title, description, published, updated, picture, images, .. } = self;
        let url = location.or(permalink)?;
        let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        Some(Entry { url, title, description, date: published.or(updated), image: picture, images })
    }
}

/// The first text that says something counts.
fn set(place: &mut Option<String>, text: &str) {
    if place.is_none() && !text.is_empty() {
        *place = Some(text.to_owned());
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value: &str = &found.value;
    let value = &value[..value.floor_char_boundary(MAX_VALUE_BYTES)];
    Some(quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned))
}

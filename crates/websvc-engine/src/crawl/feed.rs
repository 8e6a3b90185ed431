//! Feeds: the newest pages of a site with their dates (RSS 0.9 to 2.0, RFC 4287 Atom).

use jiff::Timestamp;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use url::Url;
use websvc_scrape::date;
use websvc_types::index::{IndexDocument, IndexImage, IndexNews};

use super::xml;

/// Most entries that are read of one feed.
const MAX_ENTRIES: usize = 1_000;

/// What a feed or a sitemap says of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) url: Url,
    /// When it was published, else last changed.
    pub(super) date: Option<Timestamp>,
    /// Its picture.
    pub(super) image: Option<Url>,
    /// Images on it, by the site's own list of them.
    pub(super) images: Vec<IndexImage>,
}

impl Entry {
    /// Returns whether it says more than that there is a page.
    pub(super) fn tells(&self) -> bool {
        self.date.is_some() || !self.images.is_empty()
    }

    /// Takes over what another list says and this one does not.
    pub(super) fn join(&mut self, other: Self) {
        let Self { url: _, date, image, images } = other;
        self.date = self.date.or(date);
        self.image = self.image.take().or(image);
        if self.images.is_empty() {
            self.images = images;
        }
    }

    /// Adds to a page what is said of it: to be in a feed or a news sitemap with a date makes it news.
    pub(super) fn complete(&self, copy: &mut IndexDocument) {
        if let Some(date) = self.date {
            copy.published.get_or_insert_with(|| date.to_string());
            let news = copy.news.get_or_insert_with(IndexNews::default);
            if let (None, Some(image)) = (&news.image_url, &self.image) {
                news.image_url = Some(image.to_string());
            }
        }
        for image in &self.images {
            if !copy.images.iter().any(|known| known.url == image.url) {
                copy.images.push(image.clone());
            }
        }
    }
}

/// An entry as far as it was read.
#[derive(Debug, Default)]
struct Draft {
    link: Option<Url>,
    permalink: Option<Url>,
    published: Option<Timestamp>,
    updated: Option<Timestamp>,
    image: Option<Url>,
}

/// Returns the entries of a feed at `base`; what is broken ends the reading, and what came before it counts.
pub(super) fn parse(text: &str, base: &Url) -> Vec<Entry> {
    let mut reader = Reader::from_str(text);
    let mut entries = Vec::new();
    let mut draft: Option<Draft> = None;
    let mut value = String::new();
    let mut is_permalink = false;
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) => {
                value.clear();
                is_permalink = tag.local_name().as_ref() == "guid"
                    && attribute(&tag, "isPermaLink") != Some("false".to_owned());
                match tag.local_name().as_ref() {
                    "item" | "entry" => draft = Some(Draft::default()),
                    _ => draft.iter_mut().for_each(|draft| draft.opened(&tag, base)),
                }
            }
            Event::Empty(tag) => draft.iter_mut().for_each(|draft| draft.opened(&tag, base)),
            Event::Text(text) => value.push_str(&text),
            Event::CData(text) => value.push_str(&text),
            Event::GeneralRef(reference) => xml::resolve(&reference, &mut value),
            Event::End(tag) => match tag.local_name().as_ref() {
                "item" | "entry" => entries.extend(draft.take().and_then(Draft::finish)),
                name => draft.iter_mut().for_each(|draft| draft.closed(name, &value, is_permalink, base)),
            },
            Event::Eof => break,
            _ => {}
        }
        if entries.len() >= MAX_ENTRIES {
            break;
        }
    }
    entries
}

impl Draft {
    /// Reads what an element says in its attributes.
    fn opened(&mut self, tag: &BytesStart<'_>, base: &Url) {
        let url = |name: &str| attribute(tag, name).and_then(|text| base.join(text.trim()).ok());
        let is = |name: &str, value: &str| attribute(tag, name).is_some_and(|text| text.starts_with(value));
        match tag.local_name().as_ref() {
            "link" if attribute(tag, "rel").is_none_or(|rel| rel == "alternate") => {
                self.link = self.link.take().or_else(|| url("href"));
            }
            "enclosure" if is("type", "image/") => self.image = self.image.take().or_else(|| url("url")),
            "content" if is("type", "image/") || is("medium", "image") => {
                self.image = self.image.take().or_else(|| url("url"));
            }
            "thumbnail" => self.image = self.image.take().or_else(|| url("url")),
            _ => {}
        }
    }

    /// Reads what an element says in its text.
    fn closed(&mut self, name: &str, text: &str, is_permalink: bool, base: &Url) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match name {
            "link" => self.link = self.link.take().or_else(|| base.join(text).ok()),
            "guid" if is_permalink => self.permalink = Url::parse(text).ok(),
            "pubDate" | "published" | "date" | "issued" => {
                self.published = self.published.or_else(|| date::read(text));
            }
            "updated" | "modified" => self.updated = self.updated.or_else(|| date::read(text)),
            _ => {}
        }
    }

    fn finish(self) -> Option<Entry> {
        let Self { link, permalink, published, updated, image } = self;
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
        Some(Entry {
            url: link.or(permalink).filter(is_web)?,
            date: published.or(updated),
            image: image.filter(is_web),
            images: Vec::new(),
        })
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value: &str = &found.value;
    Some(quick_xml::escape::unescape(value).map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the entries as `URL DATE IMAGE`.
    fn read(text: &str) -> Vec<String> {
        let base = Url::parse("http://a.test/feed.xml").unwrap();
        let line = |entry: Entry| {
            let image = entry.image.map_or("-".to_owned(), String::from);
            format!("{} {} {image}", entry.url, entry.date.map_or("-".to_owned(), |date| date.to_string()))
        };
        parse(text, &base).into_iter().map(line).collect()
    }

    #[test]
    fn items_of_rss_are_read() {
        let text = "<?xml version='1.0'?><rss version='2.0'><channel><title>Tea</title><link>http://a.test/</link>\
            <item><title>A &amp; B</title><link> http://a.test/x?a=1&#38;b&#x3d;2 </link>\
            <pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate><enclosure url='/pot.jpg' type='image/jpeg'/></item>\
            <item><guid>http://a.test/y</guid><pubDate>once</pubDate><enclosure url='/a.mp3' type='audio/mpeg'/></item>\
            <item><guid isPermaLink='false'>7</guid></item><item><link><![CDATA[/z]]></link>\
            <media:thumbnail url='http://a.test/z.png'/></item></channel></rss>";
        let expected = [
            "http://a.test/x?a=1&b=2 2026-01-02T10:00:00Z http://a.test/pot.jpg",
            "http://a.test/y - -",
            "http://a.test/z - http://a.test/z.png",
        ];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn entries_of_atom_are_read() {
        let text = "<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://a.test/'/><updated>2026-02-01T00:00:00Z\
            </updated><entry><link rel='self' href='/self'/><link href='x'/><updated>2026-01-03T00:00:00Z</updated>\
            <published>2026-01-02T12:00:00+02:00</published></entry>\
            <entry><link rel='alternate' href='/y'/><updated>2026-01-03T00:00:00Z</updated></entry></feed>";
        let expected = ["http://a.test/x 2026-01-02T10:00:00Z -", "http://a.test/y 2026-01-03T00:00:00Z -"];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn what_comes_before_a_break_counts() {
        let text = "<rss><item><link>http://a.test/1</link><date>2026-01-02</date></item><item><link>http://a.test/2<";
        assert_eq!(read(text), ["http://a.test/1 2026-01-02T00:00:00Z -"]);
        assert!(read("<html><body>no feed").is_empty());
    }
}

//! Sitemaps: the URLs a site names of itself (sitemaps.org), with the extensions for images and news.

use std::io::Read;

use flate2::read::GzDecoder;
use quick_xml::Reader;
use quick_xml::events::Event;
use url::Url;
use websvc_scrape::date;
use websvc_types::index::IndexImage;

use super::feed::Entry;
use super::xml;

/// The largest sitemap file that is read, unpacked (the protocol's own bound).
pub(super) const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// The protocol's own bound on the entries of one file.
const MAX_ENTRIES: usize = 50_000;

/// Of the images that a sitemap names of one page, so many are taken.
const MAX_IMAGES: usize = 20;

/// What a sitemap file names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sitemap {
    /// Pages.
    pub(super) pages: Vec<Url>,
    /// Further sitemap files.
    pub(super) sitemaps: Vec<Url>,
    /// What is said of some of the pages: that they are news of a date, and which images are on them.
    pub(super) told: Vec<Entry>,
}

/// Returns the text of a file that lists pages, unpacked when it is gzip as a whole; what is broken or too long is cut.
pub(super) fn text(body: &[u8]) -> String {
    let mut unpacked = Vec::new();
    let body = if body.starts_with(&[0x1f, 0x8b]) {
        // A file that breaks off has still given what came before.
        let _cut_short = GzDecoder::new(body).take(MAX_BYTES).read_to_end(&mut unpacked);
        &unpacked
    } else {
        body
    };
    String::from_utf8_lossy(body).into_owned()
}

/// Reads a sitemap that is a list of URLs, one a line.
fn lines(text: &str) -> Sitemap {
    let pages = text.lines().filter_map(|line| Url::parse(line.trim()).ok());
    Sitemap { pages: pages.take(MAX_ENTRIES).collect(), ..Sitemap::default() }
}

/// Reads a sitemap or a sitemap index; what is broken ends the reading, and what came before it counts.
pub(super) fn parse(text: &str) -> Sitemap {
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return lines(text);
    }
    let mut reader = Reader::from_str(text);
    let mut sitemap = Sitemap::default();
    let mut place = Place::default();
    let mut value = String::new();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) => {
                value.clear();
                place.open(tag.local_name().as_ref());
            }
            Event::Text(text) => value.push_str(&text),
            Event::CData(text) => value.push_str(&text),
            Event::GeneralRef(reference) => xml::resolve(&reference, &mut value),
            Event::End(tag) => {
                place.close(tag.local_name().as_ref(), value.trim(), &mut sitemap);
                value.clear();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    sitemap
}

/// Where in a sitemap the reading is, and what was read of the page there.
#[derive(Debug, Default)]
struct Place {
    in_index: bool,
    extension: Option<Extension>,
    page: Option<Entry>,
    image: IndexImage,
}

/// The extensions of the protocol; their elements have names that the protocol has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extension {
    Image,
    News,
    Video,
}

impl Place {
    fn open(&mut self, name: &str) {
        match name {
            "sitemap" => self.in_index = true,
            "url" => (self.in_index, self.page) = (false, None),
            "image" => (self.extension, self.image) = (Some(Extension::Image), IndexImage::default()),
            "news" => self.extension = Some(Extension::News),
            "video" => self.extension = Some(Extension::Video),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, value: &str, sitemap: &mut Sitemap) {
        match (self.extension, name) {
            (Some(Extension::Image), "image") => {
                self.extension = None;
                let image = std::mem::take(&mut self.image);
                let images = self.page.as_mut().map(|page| &mut page.images);
                if let Some(images) =
                    images.filter(|images| images.len() < MAX_IMAGES && !image.url.is_empty())
                {
                    images.push(image);
                }
            }
            (Some(Extension::News), "news") | (Some(Extension::Video), "video") => self.extension = None,
            (Some(Extension::Image), "loc") => {
                self.image.url = web_url(value).map(String::from).unwrap_or_default();
            }
            (Some(Extension::Image), "title") => value.clone_into(&mut self.image.alt),
            (Some(Extension::Image), "caption") => value.clone_into(&mut self.image.caption),
            (Some(Extension::News), "publication_date") => {
                self.page.iter_mut().for_each(|page| page.date = date::read(value));
            }
            (None, "loc") => self.location(value, sitemap),
            (None, "url") => sitemap.told.extend(self.page.take().filter(Entry::tells)),
            (Some(_) | None, _) => {}
        }
    }

    fn location(&mut self, value: &str, sitemap: &mut Sitemap) {
        let list = if self.in_index { &mut sitemap.sitemaps } else { &mut sitemap.pages };
        let Some(url) = Url::parse(value).ok().filter(|_| list.len() < MAX_ENTRIES) else { return };
        if !self.in_index {
            self.page = Some(Entry { url: url.clone(), date: None, image: None, images: Vec::new() });
        }
        list.push(url);
    }
}

fn web_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_with_their_entities() {
        let text = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
            <url><loc> http://a.test/x?a=1&amp;b=2 </loc><lastmod>2026-01-01</lastmod></url>\
            <url><loc><![CDATA[http://a.test/y]]></loc></url><url><loc>not a url</loc></url></urlset>";
        let pages: Vec<String> = parse(text).pages.iter().map(Url::to_string).collect();
        assert_eq!(pages, ["http://a.test/x?a=1&b=2", "http://a.test/y"]);
    }

    #[test]
    fn an_index_names_further_files() {
        let text = "<sitemapindex><sitemap><loc>http://a.test/1.xml</loc></sitemap></sitemapindex>";
        let sitemap = parse(text);
        assert_eq!(sitemap.sitemaps.len(), 1);
        assert!(sitemap.pages.is_empty());
    }

    #[test]
    fn lines_of_text_are_pages() {
        let pages = parse("http://a.test/1\r\n\nnot a url\nhttp://a.test/2").pages;
        assert_eq!(pages.len(), 2);
    }

    #[test]
    fn packed_files_are_unpacked_as_far_as_they_go() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(b"http://a.test/1\n").unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(text(&packed), "http://a.test/1\n");
        assert_eq!(text(&packed[..packed.len() - 4]), "http://a.test/1\n");
        assert_eq!(text(b"plain"), "plain");
    }

    #[test]
    fn what_comes_before_a_break_counts() {
        assert_eq!(parse("<urlset><url><loc>http://a.test/1</loc></url><url></urlset").pages.len(), 1);
    }

    #[test]
    fn extensions_tell_of_pages_and_are_no_pages() {
        let text = "<urlset xmlns:image='http://www.google.com/schemas/sitemap-image/1.1' xmlns:n='x'>\
            <url><loc>http://a.test/1</loc><image:image><image:loc>http://cdn.test/a.jpg?x=1&amp;y=2</image:loc>\
            <image:title>Pot</image:title><image:caption>A pot of tea</image:caption></image:image>\
            <image:image><image:loc>data:x</image:loc></image:image></url>\
            <url><n:news><n:title>Tea</n:title><n:publication_date>2026-01-02</n:publication_date></n:news>\
            <loc>http://a.test/2</loc></url>\
            <url><loc>http://a.test/3</loc><n:news><n:publication_date>2026-01-02T10:00+01:00</n:publication_date>\
            </n:news></url>\
            <url><loc>http://a.test/4</loc><video:video><video:title>x</video:title>\
            <video:publication_date>2026-01-02</video:publication_date></video:video></url></urlset>";
        let sitemap = parse(text);
        let pages: Vec<&str> = sitemap.pages.iter().map(Url::path).collect();
        assert_eq!(pages, ["/1", "/2", "/3", "/4"]);
        let told: Vec<(&str, Option<String>, usize)> = (sitemap.told.iter())
            .map(|page| (page.url.path(), page.date.map(|date| date.to_string()), page.images.len()))
            .collect();
        assert_eq!(told, [("/1", None, 1), ("/3", Some("2026-01-02T09:00:00Z".to_owned()), 0)]);
        let image = &sitemap.told[0].images[0];
        assert_eq!(image.url, "http://cdn.test/a.jpg?x=1&y=2");
        assert_eq!((image.alt.as_str(), image.caption.as_str()), ("Pot", "A pot of tea"));
    }
}

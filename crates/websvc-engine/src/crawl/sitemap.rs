//! Sitemaps: the URLs a site names of itself (sitemaps.org).

use std::io::Read;

use flate2::read::GzDecoder;
use quick_xml::Reader;
use quick_xml::events::Event;
use url::Url;

/// The largest sitemap file that is read, unpacked (the protocol's own bound).
pub(super) const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// The protocol's own bound on the entries of one file.
const MAX_ENTRIES: usize = 50_000;

/// What a sitemap file names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sitemap {
    /// Pages.
    pub(super) pages: Vec<Url>,
    /// Further sitemap files.
    pub(super) sitemaps: Vec<Url>,
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
    Sitemap { pages: pages.take(MAX_ENTRIES).collect(), sitemaps: Vec::new() }
}

/// Reads a sitemap or a sitemap index; what is broken ends the reading, and what came before it counts.
pub(super) fn parse(text: &str) -> Sitemap {
    if !text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        return lines(text);
    }
    let mut reader = Reader::from_str(text);
    let mut sitemap = Sitemap::default();
    let mut in_index = false;
    let mut location: Option<String> = None;
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) => match tag.local_name().as_ref() {
                "sitemap" => in_index = true,
                "url" => in_index = false,
                "loc" => location = Some(String::new()),
                _ => {}
            },
            Event::Text(text) => {
                if let Some(location) = &mut location {
                    location.push_str(&text);
                }
            }
            Event::GeneralRef(entity) => {
                if let Some(location) = &mut location {
                    location.push_str(resolve(&entity));
                }
            }
            Event::CData(text) => {
                if let Some(location) = &mut location {
                    location.push_str(&text);
                }
            }
            Event::End(tag) if tag.local_name().as_ref() == "loc" => {
                let url = location.take().and_then(|text| Url::parse(text.trim()).ok());
                let list = if in_index { &mut sitemap.sitemaps } else { &mut sitemap.pages };
                list.extend(url.filter(|_| list.len() < MAX_ENTRIES));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    sitemap
}

fn resolve(entity: &str) -> &'static str {
    quick_xml::escape::resolve_predefined_entity(entity).unwrap_or_default()
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
}

//! Sitemaps: the URLs a site names of itself (sitemaps.org).

use quick_xml::Reader;
use quick_xml::events::Event;
use url::Url;

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

/// Reads a sitemap or a sitemap index; what is broken ends the reading, and what came before it counts.
pub(super) fn parse(text: &str) -> Sitemap {
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
    fn what_comes_before_a_break_counts() {
        assert_eq!(parse("<urlset><url><loc>http://a.test/1</loc></url><url></urlset").pages.len(), 1);
    }
}

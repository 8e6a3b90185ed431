//! The manual (the pages of `docs/`) as a small website.
//!
//! The build script embeds the pages into the program, compressed.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use http::StatusCode;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A page of the manual.
struct Page {
    name: &'static str,
    markdown: String,
}

/// The names of the pages and their compressed content, in the order in which the start page links to them.
const COMPRESSED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/manual/pages.rs"));

/// The pages in reading order. The first one is the start page.
static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    COMPRESSED.iter().map(|(name, gzip)| Page { name, markdown: decompress(gzip) }).collect()
});

fn decompress(gzip: &[u8]) -> String {
    let mut markdown = String::new();
    GzDecoder::new(gzip).read_to_string(&mut markdown).expect("the build script writes complete pages");
    markdown
}

/// Returns the page at a path.
pub(crate) fn respond(path: &str) -> (StatusCode, String) {
    let name = path.trim_start_matches('/').trim_end_matches(".html");
    let name = if name.is_empty() { PAGES[0].name } else { name };
    match PAGES.iter().find(|page| page.name == name) {
        Some(page) => (StatusCode::OK, render(page)),
        None => (StatusCode::NOT_FOUND, not_found()),
    }
}

fn not_found() -> String {
    document("Not found", "", "<p>This page does not exist.</p>")
}

fn render(page: &Page) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(&page.markdown, options).map(to_page_link);
    let mut body = String::new();
    html::push_html(&mut body, events);
    document(&title(&page.markdown), page.name, &body)
}

/// Replaces a link to another file of the manual by a link to its page.
fn to_page_link(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = match dest_url.split_once(".md") {
                Some((name, rest)) if !name.contains('/') => format!("{name}.html{rest}").into(),
                Some(_) | None => dest_url,
            };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        other => other,
    }
}

/// Returns the text of the first heading.
fn title(markdown: &str) -> String {
    let mut title = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => break,
            Event::Text(text) | Event::Code(text) => title.push_str(&text),
            _ => {}
        }
    }
    title
}

fn document(title: &str, name: &str, body: &str) -> String {
    let link = |page: &Page| {
        format!("<li><a href=\"/{}.html\">{}</a></li>", page.name, escape(&self::title(&page.markdown)))
    };
    let links: String = PAGES.iter().map(link).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{} - websvc manual</title>\
         <link rel=\"canonical\" href=\"/{name}.html\"></head><body><nav><ul>{links}</ul></nav><main>{body}</main><footer>websvc manual</footer></body></html>",
        escape(title)
    )
}

/// Returns the text as HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    html::push_html(&mut escaped, std::iter::once(Event::Text(text.into())));
    escaped
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn manual_contains_every_page_of_the_docs() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        let files: BTreeSet<String> = std::fs::read_dir(docs)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".md").map(str::to_owned))
            .collect();
        let pages: BTreeSet<String> = PAGES.iter().map(|page| page.name.to_owned()).collect();
        assert_eq!(files, pages);
    }

    #[test]
    fn links_between_pages_are_valid() {
        for page in PAGES.iter() {
            let html = render(page);
            for link in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let name = link.split('#').next().unwrap_or_default();
                let Some(name) = name.trim_start_matches('/').strip_suffix(".html") else { continue };
                if !name.contains("://") {
                    assert!(PAGES.iter().any(|page| page.name == name), "{}: {link}", page.name);
                }
            }
        }
    }

    #[test]
    fn root_is_the_first_page_and_unknown_pages_are_not_found() {
        assert_eq!(respond("/").0, StatusCode::OK);
        assert_eq!(respond("/nothing.html").0, StatusCode::NOT_FOUND);
    }

    #[test]
    fn titles_are_escaped_as_html() {
        let html = document("a <b> & c", "page", "");
        assert!(html.contains("<title>a &lt;b&gt; &amp; c - websvc manual</title>"), "{html}");
    }
}

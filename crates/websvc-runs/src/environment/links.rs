//! The links of a page, with their texts.

use std::collections::HashSet;

use url::Url;
use websvc_agent::Link;
use websvc_extract::{ContentOptions, ContentScope, Document, Source};
use websvc_types::limits::URL_MAX_CHARS;

/// The maximum number of links of a page.
const MAX_LINKS: usize = 2_000;

/// The maximum length of the text of a link, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// The maximum number of brackets that are open at a position.
const MAX_OPEN: usize = 64;

/// Returns the links of a page, each URL once: those of `markdown`, its main content, in their order, then those of `whole`, the
/// whole page, and then those of `urls`. The main content leaves out the links to the next page of a list, and menus.
pub(super) fn page_links(markdown: &str, whole: &str, urls: &[String]) -> Vec<Link> {
    let mut links = Vec::new();
    let mut seen = HashSet::new();
    let written = markdown_links(markdown);
    let others = urls.iter().map(|url| (String::new(), url.as_str()));
    for (text, url) in written.into_iter().chain(markdown_links(whole)).chain(others) {
        if links.len() == MAX_LINKS {
            break;
        }
        if url.len() <= URL_MAX_CHARS as usize && is_web_url(url) && seen.insert(url) {
            links.push(Link { url: url.to_owned(), text });
        }
    }
    links
}

/// Returns the markdown of all visible content of an HTML page; empty if it cannot be read.
pub(super) fn whole_page(html: &str, url: &Url) -> String {
    let source = Source { bytes: html.as_bytes(), content_type: Some("text/html; charset=utf-8"), url };
    let options = ContentOptions { scope: ContentScope::Full, ..ContentOptions::default() };
    // Such a page has no links outside its main content either.
    Document::parse(source).map(|page| page.content(&options).markdown()).unwrap_or_default()
}

fn is_web_url(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Returns the texts and destinations of the inline links of a markdown text (CommonMark, section 6.3).
fn markdown_links(markdown: &str) -> Vec<(String, &str)> {
    let bytes = markdown.as_bytes();
    let mut links = Vec::new();
    // The positions after the open brackets, and whether they are those of images.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut position = 0;
    while position < bytes.len() {
        match bytes[position] {
            b'\\' => position += 1,
            b'[' => {
                if open.len() == MAX_OPEN {
                    open.remove(0);
                }
                open.push((position + 1, position > 0 && bytes[position - 1] == b'!'));
            }
            b']' => {
                let start = open.pop();
                if let (Some((start, is_image)), Some(b'(')) = (start, bytes.get(position + 1)) {
                    let destination = destination(&markdown[position + 2..]);
                    if !is_image {
                        links.push((text(&markdown[start..position]), destination));
                    }
                    position += 1 + destination.len();
                }
            }
            _ => {}
        }
        position += 1;
    }
    links
}

/// Returns the destination at the start of the text after an opening parenthesis.
fn destination(rest: &str) -> &str {
    if let Some(rest) = rest.strip_prefix('<') {
        return rest.split(['>', '\n']).next().unwrap_or_default();
    }
    let mut depth = 0_usize;
    for (index, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return &rest[..index],
            b')' => depth -= 1,
            b' ' | b'\n' | b'\t' => return &rest[..index],
            _ => {}
        }
    }
    rest
}

/// Returns the text of a link in one line: of an image, its description.
fn text(markdown: &str) -> String {
    let plain = match markdown.split_once("![") {
        Some((before, image)) => {
            format!("{before} {}", image.split(']').next().unwrap_or_default())
        }
        None => markdown.to_owned(),
    };
    let plain = plain.replace(['*', '`', '\\', '#'], "");
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, urls: &[&str], expected: &[(&str, &str)]) {
        let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
        let links = page_links(markdown, "", &urls);
        let found: Vec<_> = links.iter().map(|link| (link.text.as_str(), link.url.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn links_have_texts_and_the_order_of_the_page() {
        check(
            "See [the *Prices*](http://a.test/p \"title\") and [more](http://a.test/m_(x)).\n[again](http://a.test/p)",
            &["http://a.test/nav", "http://a.test/m_(x)"],
            &[("the Prices", "http://a.test/p"), ("more", "http://a.test/m_(x)"), ("", "http://a.test/nav")],
        );
        check("[![Logo](http://a.test/i.png)](http://a.test/)", &[], &[("Logo", "http://a.test/")]);
        check("[a\nb](<http://a.test/x y>)", &[], &[("a b", "http://a.test/x y")]);
        check("![image](http://a.test/i.png) [mail](mailto:a@a.test) \\[no](http://a.test/)", &[], &[]);
        check("[[1]](http://a.test/1) [x](", &[], &[("[1]", "http://a.test/1")]);
    }

    #[test]
    fn links_outside_the_main_content_have_texts() {
        let url = Url::parse("http://a.test/list").unwrap();
        let html = "<nav><a href=/menu>Menu</a></nav><main><p>Text <a href=/item>Item</a></p></main>\
                    <p><a href='?page=2'>Next page</a></p>";
        let links = page_links("[Item](http://a.test/item)", &whole_page(html, &url), &[]);
        let found: Vec<_> = links.iter().map(|link| (link.text.as_str(), link.url.as_str())).collect();
        let expected = [
            ("Item", "http://a.test/item"),
            ("Menu", "http://a.test/menu"),
            ("Next page", "http://a.test/list?page=2"),
        ];
        assert_eq!(found, expected);
        assert!(!whole_page("%PDF-1.7\0\0", &url).contains("http"));
    }

    #[test]
    fn brackets_and_links_are_limited() {
        check(&"[".repeat(100_000), &[], &[]);
        check(&"[x](".repeat(50_000), &[], &[]);
        let many: String = (0..MAX_LINKS + 5).map(|number| format!("[x](http://a.test/{number}) ")).collect();
        assert_eq!(page_links(&many, "", &[]).len(), MAX_LINKS);
        let long = "ö".repeat(MAX_TEXT_CHARS + 1);
        assert_eq!(
            page_links(&format!("[{long}](http://a.test/)"), "", &[])[0].text.chars().count(),
            MAX_TEXT_CHARS
        );
    }
}

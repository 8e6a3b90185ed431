//! The markdown means what the page says: read by another parser, its text is the text of the page.

use crate::corpus::data;
use crate::page::{full, parse};
use crate::scoring::{self, word_scores};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use websvc_extract::{Content, ContentOptions, Document, Source};

/// Reads markdown with the reference parser and returns its text, a space between blocks, without the alternative texts
/// of images, and the raw HTML in it.
fn read(markdown: &str) -> (String, Vec<String>) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES;
    let (mut text, mut html, mut images) = (String::new(), Vec::new(), 0);
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images -= 1,
            Event::Text(part) | Event::Code(part) if images == 0 => text.push_str(&part),
            Event::Html(part) | Event::InlineHtml(part) => {
                if part.starts_with("<br") {
                    text.push(' ');
                }
                html.push(part.trim().to_owned());
            }
            Event::Start(Tag::Link { .. } | Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            | Event::End(TagEnd::Link | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough)
            | Event::Text(_)
            | Event::Code(_) => {}
            _ => text.push(' '),
        }
    }
    (text, html)
}

/// Returns how far the text that the markdown means is from the text of the content: 0 for the same words.
fn distance(content: &Content<'_>) -> f64 {
    let (meant, html) = read(&content.markdown());
    let ours = ["<br>", "<sub>", "</sub>", "<sup>", "</sup>", "<Base64-Image-Removed>"];
    if !html.iter().all(|tag| ours.contains(&tag.as_str())) {
        // The page's own markup shows through.
        return 1.0;
    }
    1.0 - word_scores(&meant, &content.text())[2]
}

#[test]
fn fixtures_read_back_as_the_text_of_the_page() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // Formulas are written as LaTeX, images and footnotes by signs that plain text does not have, code without its
        // line numbers, and a cell over several rows in each of them.
        let otherwise = ["math.html", "images.html", "footnotes.html", "code.html", "tables.html"];
        if !name.ends_with(".html") || otherwise.contains(&name.as_str()) {
            continue;
        }
        let page = parse(&std::fs::read_to_string(&path).unwrap());
        let apart = distance(&page.content(&full()));
        assert!(apart < 0.02, "{name}: {apart:.3}");
        read += 1;
    }
    assert!(read >= 3, "only {read} fixtures were read");
}

#[test]
fn development_pages_read_back_as_the_text_of_the_page() {
    let Some(folder) = data("development_pages_read_back") else { return };
    let mut far = Vec::new();
    let mut count = 0;
    for set in ["readability", "wcxb-test", "aeb"] {
        for page in scoring::read_set(&folder.join(set)).unwrap() {
            let source = Source { bytes: &page.html, content_type: Some("text/html"), url: &page.url };
            let document = Document::parse(source).unwrap();
            let apart = distance(&document.content(&ContentOptions::default()));
            count += 1;
            if apart > 0.02 {
                far.push(format!("{set}/{}: {apart:.3}", page.id));
            }
        }
    }
    assert!(far.is_empty(), "{} of {count} pages differ: {far:#?}", far.len());
}

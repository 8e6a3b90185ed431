//! Feeds as pages: RSS, Atom and RDF become HTML with a heading, a date and the content of each entry.
//!
//! All formats of a feed are then written as those of a page. The content of an entry is parsed by itself first, so
//! that its unclosed tags do not reach the next entry, and its links are relative to the entry.

use crate::content_view::ContentView;
use crate::options::Base64Images;
use crate::output::{self, OutputContext};
use crate::xml::Token;
use crate::{dom, links, xml};
use std::fmt::Write as _;
use url::Url;

/// Maximum number of entries and of links of an entry that are read.
const MAX_ENTRIES: usize = 5_000;
const MAX_LINKS: usize = 20;

/// Maximum depth of elements whose names are stored.
const MAX_DEPTH: usize = 64;

/// The feed itself or one of its entries.
#[derive(Debug, Default)]
struct Entry {
    title: String,
    link: String,
    id: String,
    date: String,
    author: String,
    summary: String,
    content: String,
    /// Addresses of files: sounds of podcasts, for example.
    files: Vec<String>,
}

/// A feed.
#[derive(Debug, Default)]
struct Feed {
    own: Entry,
    entries: Vec<Entry>,
}

/// Returns whether a text begins as a feed does.
pub(crate) fn is_feed(source: &str) -> bool {
    let mut tokens = xml::tokens(source);
    let root = tokens.find_map(|token| match token {
        Token::Open { name, .. } => Some(name),
        Token::Text(text) | Token::Data(text) if !text.trim().is_empty() => Some(""),
        _ => None,
    });
    root.is_some_and(|name| matches!(local(name), "rss" | "feed" | "RDF"))
}

/// Converts a feed to HTML. `None` for other XML.
pub(crate) fn to_html(source: &str, url: &Url) -> Option<String> {
    if !is_feed(source) {
        return None;
    }
    let feed = read(source);
    // Other RDF and other vocabularies have elements of the same names.
    if feed.entries.is_empty() && feed.own.title.is_empty() {
        return None;
    }
    let base = links::resolve(url, &feed.own.link).unwrap_or_else(|| url.clone());
    let mut out = String::from("<!DOCTYPE html><html><head><title>");
    let _ = write!(out, "{}</title></head><body>", text(&feed.own.title));
    heading(&mut out, 1, &feed.own, &base);
    body(&mut out, &feed.own, &base);
    for entry in &feed.entries {
        out.push_str("<article>");
        heading(&mut out, 2, entry, &base);
        body(&mut out, entry, &base);
        out.push_str("</article>");
    }
    out.push_str("</body></html>");
    Some(out)
}

fn heading(out: &mut String, level: u8, entry: &Entry, base: &Url) {
    let address = address(entry, base);
    let title = [entry.title.trim(), entry.date.trim()].into_iter().find(|title| !title.is_empty());
    let title = title.map(text).or_else(|| address.as_ref().map(|url| text(url.as_str())));
    let Some(title) = title else { return };
    let _ = match address {
        Some(url) => write!(out, "<h{level}><a href=\"{}\">{title}</a></h{level}>", attribute(url.as_str())),
        None => write!(out, "<h{level}>{title}</h{level}>"),
    };
}

/// Returns the address of an entry: its link, or its ID if that is one.
fn address(entry: &Entry, base: &Url) -> Option<Url> {
    let id = entry.id.trim();
    let is_address = id.starts_with("http://") || id.starts_with("https://");
    links::resolve(base, &entry.link).or_else(|| is_address.then(|| links::resolve(base, id))?)
}

fn body(out: &mut String, entry: &Entry, base: &Url) {
    let facts: Vec<String> = [&entry.date, &entry.author]
        .into_iter()
        .map(|fact| text(fact.trim()))
        .filter(|f| !f.is_empty())
        .collect();
    if !facts.is_empty() && !entry.title.trim().is_empty() {
        let _ = write!(out, "<p>{}</p>", facts.join(" · "));
    }
    let base = address(entry, base).unwrap_or_else(|| base.clone());
    let summary = markup(&entry.summary, &base);
    let content = markup(&entry.content, &base);
    if !contains_words(&content, &summary) {
        let _ = write!(out, "<div>{summary}</div>");
    }
    let _ = write!(out, "<div>{content}</div>");
    for file in entry.files.iter().filter_map(|file| links::resolve(&base, file)) {
        let name = file.path_segments().and_then(Iterator::last).filter(|name| !name.is_empty());
        let name = name.unwrap_or(file.as_str()).to_owned();
        let _ = write!(out, "<p><a href=\"{}\">{}</a></p>", attribute(file.as_str()), text(&name));
    }
}

/// Returns whether a content begins with its summary, or has it somewhere.
fn contains_words(content: &str, summary: &str) -> bool {
    let words = |html: &str| {
        let mut text = String::new();
        let mut in_tag = false;
        for c in html.chars() {
            match c {
                '<' => in_tag = true,
                '>' => in_tag = false,
                c if !in_tag && c.is_alphanumeric() => text.push(c),
                _ => {}
            }
        }
        text
    };
    words(content).contains(&words(summary))
}

/// Parses the markup of an entry, and writes it with all tags closed and absolute links.
fn markup(html: &str, base: &Url) -> String {
    if html.trim().is_empty() {
        return String::new();
    }
    let dom = dom::parse(html);
    let view = ContentView::visible(&dom);
    output::html(OutputContext { dom: &dom, view: &view, base, base64_images: Base64Images::Keep }).text
}

/// Escapes a title. Its character references stay, because titles are often escaped twice.
fn text(title: &str) -> String {
    title.replace('<', "&lt;").replace('>', "&gt;")
}

fn attribute(value: &str) -> String {
    value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

/// Returns a name without the prefix of the feed's own vocabulary.
fn local(name: &str) -> &str {
    match name.split_once(':') {
        Some(("atom" | "atom10" | "a10" | "a" | "rss" | "rdf" | "feed", local)) => local,
        _ => name,
    }
}

fn read(source: &str) -> Feed {
    let mut feed = Feed::default();
    let mut path: Vec<&str> = Vec::new();
    let mut value = String::new();
    let (mut is_full, mut has_tags) = (false, false);
    let mut tokens = xml::tokens(source);
    while let Some(token) = tokens.next() {
        match token {
            Token::Open { name, attributes, is_empty } => {
                let name = local(name);
                if matches!(name, "item" | "entry") {
                    is_full = feed.entries.len() >= MAX_ENTRIES;
                    if !is_full {
                        feed.entries.push(Entry::default());
                    }
                }
                if is_full {
                    continue;
                }
                open(&mut feed, &path, name, attributes);
                value.clear();
                if is_empty || path.len() >= MAX_DEPTH {
                    continue;
                }
                path.push(name);
                let kind = xml::attribute(attributes, "type").unwrap_or_default();
                has_tags = matches!(kind, "html" | "xhtml");
                if matches!(name, "content" | "summary" | "title") && kind == "xhtml" {
                    value.push_str(tokens.raw_until_end(name));
                }
            }
            Token::Close(name) => {
                let name = local(name);
                if let Some(at) = path.iter().rposition(|open| *open == name) {
                    path.truncate(at);
                    let mut value = std::mem::take(&mut value);
                    if has_tags && name == "title" {
                        value = without_tags(&value);
                    }
                    close(&mut feed, &path, name, value);
                }
            }
            Token::Text(text) => xml::decode(&mut value, text),
            Token::Data(text) => value.push_str(text),
        }
    }
    feed
}

/// Returns a title without its tags.
fn without_tags(title: &str) -> String {
    let mut out = String::new();
    for token in xml::tokens(title) {
        if let Token::Text(text) | Token::Data(text) = token {
            out.push_str(text);
        }
    }
    out
}

/// Returns the entry that an element belongs to.
fn entry_of<'a>(feed: &'a mut Feed, path: &[&str]) -> Option<&'a mut Entry> {
    if path.iter().any(|name| matches!(*name, "item" | "entry")) {
        return feed.entries.last_mut();
    }
    (!path.iter().any(|name| matches!(*name, "image" | "textinput" | "textInput"))).then_some(&mut feed.own)
}

/// Reads the attributes of an element: links of Atom, and files.
fn open(feed: &mut Feed, path: &[&str], name: &str, attributes: &str) {
    let Some(entry) = entry_of(feed, path) else { return };
    let value = |name| {
        let mut out = String::new();
        xml::decode(&mut out, xml::attribute(attributes, name).unwrap_or_default());
        out
    };
    let is_file = name == "enclosure" || name == "link" && value("rel") == "enclosure";
    if is_file && entry.files.len() < MAX_LINKS {
        entry.files.extend([value("url"), value("href")].into_iter().find(|url| !url.is_empty()));
    } else if name == "link" && matches!(value("rel").as_str(), "" | "alternate") && entry.link.is_empty() {
        entry.link = value("href");
    }
}

/// Stores the text of an element that has ended.
fn close(feed: &mut Feed, path: &[&str], name: &str, value: String) {
    let parent = path.last().copied().unwrap_or_default();
    let Some(entry) = entry_of(feed, path) else { return };
    // Elements of the same names are in others: the source of an entry has a title, too.
    let is_own = matches!(parent, "item" | "entry" | "channel" | "feed" | "rss" | "RDF");
    let slot = match name {
        "title" if is_own => &mut entry.title,
        "link" if is_own => &mut entry.link,
        "guid" | "id" if is_own => &mut entry.id,
        "pubDate" | "published" | "updated" | "dc:date" | "issued" | "modified" if is_own => &mut entry.date,
        "author" | "dc:creator" if is_own => &mut entry.author,
        "name" if parent == "author" => &mut entry.author,
        "description" | "summary" | "subtitle" | "tagline" if is_own => &mut entry.summary,
        "content:encoded" | "content" if is_own => &mut entry.content,
        _ => return,
    };
    if slot.trim().is_empty() && !value.trim().is_empty() {
        *slot = value;
    }
}

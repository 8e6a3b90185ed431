//! Converts Atom feeds (RFC 4287) to JSON, which JSON Pointers can refer to.
//!
//! The result is `{"title": .., "entries": [{"id": .., "title": .., "summary": .., "published": .., "link": ..,
//! "links": {"alternate": ..}, "authors": [..], "categories": [..]}]}`. Elements have their name without prefix, and of
//! several elements with one name the first is used.

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value, json};

use crate::error::SourceError;

/// The maximum number of entries that are read.
const MAX_ENTRIES: usize = 1_000;

/// The maximum depth of elements.
const MAX_DEPTH: usize = 64;

/// Converts a feed.
///
/// # Errors
/// [`SourceError::Unreadable`] if it is not a feed or incomplete. The missing part of an incomplete feed may contain
/// results.
pub(super) fn read(body: &[u8]) -> Result<Value, SourceError> {
    let unreadable = |what: String| SourceError::Unreadable { what };
    let text = std::str::from_utf8(body).map_err(|error| unreadable(format!("not UTF-8, {error}")))?;
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let mut feed = Feed::default();
    loop {
        let event = reader.read_event().map_err(|error| unreadable(format!("not valid XML, {error}")))?;
        match event {
            Event::Start(tag) => feed.open(&tag),
            Event::Empty(tag) => {
                feed.open(&tag);
                feed.close();
            }
            Event::Text(text) => feed.text.push_str(&text),
            Event::CData(text) => feed.text.push_str(&text),
            Event::GeneralRef(name) => {
                let name: &str = &name;
                feed.text.push_str(&unescape(&format!("&{name};")).unwrap_or_default());
            }
            Event::End(_) => feed.close(),
            Event::Eof => break,
            _ => {}
        }
        if feed.path.len() > MAX_DEPTH {
            return Err(unreadable("its elements are nested too deeply".to_owned()));
        }
    }
    feed.finish().map_err(unreadable)
}

/// The state while a feed is parsed.
#[derive(Default)]
struct Feed {
    /// The names of the open elements.
    path: Vec<String>,
    is_feed: bool,
    feed_fields: Map<String, Value>,
    entries: Vec<Value>,
    entry: Option<Map<String, Value>>,
    /// The text since the start of the current value, including the text of nested elements.
    text: String,
}

impl Feed {
    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name().as_ref().to_owned();
        match (self.path.len(), name.as_str()) {
            (0, "feed") => self.is_feed = true,
            (1, "entry") => self.entry = Some(Map::new()),
            (2, "link") => self.link(tag),
            (2, "category") => {
                if let Some(term) = attribute(tag, "term") {
                    self.append("categories", term);
                }
            }
            _ => {}
        }
        if self.path.len() == self.value_depth() || name == "name" {
            self.text.clear();
        }
        self.path.push(name);
    }

    fn close(&mut self) {
        let Some(name) = self.path.pop() else { return };
        let depth = self.path.len();
        match self.path.last().map(String::as_str) {
            Some("feed") if depth == 1 && name == "entry" => {
                let entry = self.entry.take().filter(|_| self.entries.len() < MAX_ENTRIES);
                self.entries.extend(entry.map(Value::Object));
            }
            Some("author") if depth == 3 && name == "name" => {
                let text = self.text.trim().to_owned();
                self.append("authors", text);
            }
            _ if depth == self.value_depth() => {
                let text = self.text.trim().to_owned();
                let target = self.entry.as_mut().unwrap_or(&mut self.feed_fields);
                if !text.is_empty() && !target.contains_key(&name) && name != "author" {
                    target.insert(name, text.into());
                }
            }
            _ => {}
        }
    }

    /// Returns the number of open elements around an element whose text is a value.
    fn value_depth(&self) -> usize {
        if self.entry.is_some() { 2 } else { 1 }
    }

    fn link(&mut self, tag: &BytesStart<'_>) {
        let Some(entry) = &mut self.entry else { return };
        let Some(href) = attribute(tag, "href") else { return };
        let relation = attribute(tag, "rel").unwrap_or_else(|| "alternate".to_owned());
        if relation == "alternate" && !entry.contains_key("link") {
            entry.insert("link".to_owned(), href.clone().into());
        }
        let links = entry.entry("links").or_insert_with(|| json!({}));
        if links.get(&relation).is_none() {
            links[&relation] = href.into();
        }
    }

    fn append(&mut self, name: &str, text: String) {
        let Some(entry) = &mut self.entry else { return };
        if let Value::Array(list) = entry.entry(name).or_insert_with(|| json!([])) {
            list.push(text.into());
        }
    }

    fn finish(self) -> Result<Value, String> {
        let Self { path, is_feed, mut feed_fields, entries, .. } = self;
        if !is_feed {
            return Err("it is not an Atom feed".to_owned());
        }
        if !path.is_empty() {
            return Err("it is incomplete".to_owned());
        }
        feed_fields.insert("entries".to_owned(), entries.into());
        Ok(Value::Object(feed_fields))
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    let value: &str = &found.value;
    Some(unescape(value).map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feed_entries_become_json_objects() {
        let feed = "<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom' xmlns:x='urn:x'>\
            <title>Found</title><link href='http://a.test/self' rel='self'/><x:total>1</x:total>\
            <entry><id>http://a.test/1</id><title type='html'>Tea &amp;lt;b&amp;gt; &#233;</title>\
            <summary>\n  All <b>about</b> tea. </summary><published>2024-05-01T08:30:00Z</published>\
            <author><name>Ann</name></author><author><name>Bob</name></author>\
            <link href='http://a.test/1?a=1&amp;b=2'/><link rel='related' href='http://a.test/1.pdf'/>\
            <category term='tea'/><x:note>first</x:note><x:note>second</x:note></entry><entry/></feed>";
        let expected = json!({
            "title": "Found",
            "total": "1",
            "entries": [{
                "id": "http://a.test/1",
                "title": "Tea &lt;b&gt; \u{e9}",
                "summary": "All about tea.",
                "published": "2024-05-01T08:30:00Z",
                "authors": ["Ann", "Bob"],
                "link": "http://a.test/1?a=1&b=2",
                "links": {"alternate": "http://a.test/1?a=1&b=2", "related": "http://a.test/1.pdf"},
                "categories": ["tea"],
                "note": "first",
            }, {}],
        });
        assert_eq!(read(feed.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn documents_that_are_not_complete_feeds_are_rejected() {
        let check = |body: &[u8], expected: &str| {
            let error = read(body).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(b"<html><body/></html>", "it is not an Atom feed");
        check(b"<feed><entry><title>Tea</title>", "it is incomplete");
        check(b"<feed></entry>", "not valid XML");
        check(b"", "not an Atom feed");
        check(b"\xff\xfe", "not UTF-8");
        check("<feed>".repeat(100).as_bytes(), "nested too deeply");
    }
}

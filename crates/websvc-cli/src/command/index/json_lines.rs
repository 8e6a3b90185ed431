//! JSON lines: one document in each.

use std::io::{BufRead, ErrorKind};

use anyhow::Result;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;
use websvc::types::index::IndexDocument;

use super::item::{Item, ReadFailure, SkipReason};
use super::lines::{Line, read_line};
use super::page::{Origin, page, rendered};
use super::reader::{DocumentVisitor, MAX_BYTES};

const HTML: &str = "text/html; charset=utf-8";

/// Reads all lines of a stream that is called `name`; lines and parts of the stream that are broken are told.
pub(super) fn read(name: &str, mut from: impl BufRead, take: &mut DocumentVisitor<'_>) -> Result<()> {
    let mut line = Vec::new();
    let limit = usize::try_from(MAX_BYTES)?;
    for number in 1_u64.. {
        let document = match read_line(&mut from, &mut line, limit) {
            Ok(Line::End) => break,
            Ok(Line::Whole) if line.trim_ascii().is_empty() => continue,
            Ok(Line::Whole) => document(&line),
            Ok(Line::TooLong) => Err(ReadFailure::too_large(MAX_BYTES)),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(ReadFailure::broken(&error)),
            Err(error) => return Err(error.into()),
        };
        take(match document {
            Ok(document) => Item::Document(document),
            Err(fault) => Item::Failed { what: format!("{name}:{number}"), fault },
        })?;
    }
    Ok(())
}

/// Reads a document: as this program exports it, or under the names that others use.
fn document(line: &[u8]) -> Result<Box<IndexDocument>, ReadFailure> {
    let object: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| ReadFailure::broken(&error))?;
    let text = |names: &[&str]| {
        names.iter().find_map(|name| object.get(*name)?.as_str()).filter(|text| !text.trim().is_empty())
    };
    let url = text(&["url", "link", "sourceURL"]).ok_or_else(|| ReadFailure::broken(&"it has no url"))?;
    let url = Url::parse(url).map_err(|error| ReadFailure::broken(&format!("its url: {error}")))?;
    if !matches!(url.scheme(), "http" | "https" | "file") {
        return Err(ReadFailure::broken(&format!("its url: nothing is found under {}:", url.scheme())));
    }
    let mut copy = if let Some(html) = text(&["html", "rawHtml"]) {
        page(&url, html.as_bytes(), HTML, Origin::Own)?
    } else if let Some(markdown) = text(&["markdown"]) {
        page(&url, rendered(markdown).as_bytes(), HTML, Origin::Own)?
    } else {
        let body = text(&["text", "body", "content"]).unwrap_or_default().to_owned();
        Box::new(IndexDocument { url: url.to_string(), body, ..IndexDocument::default() })
    };
    let own = |names: &[&str]| text(names).map(str::to_owned);
    copy.title = own(&["title"]).unwrap_or(copy.title);
    copy.description = own(&["description"]).or(copy.description);
    copy.language = own(&["language", "lang"]).or(copy.language);
    copy.published = own(&["published", "publishedTime", "date"]).or(copy.published);
    copy.modified = own(&["modified", "modifiedTime"]).or(copy.modified);
    copy.content_type = own(&["contentType"]).or(copy.content_type);
    copy.country = own(&["country"]).or(copy.country);
    copy.headings = field(&object, "headings").unwrap_or(copy.headings);
    copy.explicit = field(&object, "explicit").unwrap_or(copy.explicit);
    copy.images = field(&object, "images").unwrap_or(copy.images);
    copy.links = field(&object, "links").unwrap_or(copy.links);
    copy.news = field(&object, "news").or(copy.news);
    if copy.title.trim().is_empty() && copy.body.trim().is_empty() {
        return Err(ReadFailure::new(SkipReason::NoText, "it has neither title nor text"));
    }
    Ok(copy)
}

/// Reads a field; one that others use for something else is none.
fn field<T: DeserializeOwned>(object: &Map<String, Value>, name: &str) -> Option<T> {
    T::deserialize(object.get(name)?).ok()
}

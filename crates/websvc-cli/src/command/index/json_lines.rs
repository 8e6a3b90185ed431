//! JSON lines with one document each.

use std::io::{BufRead, ErrorKind};

use anyhow::Result;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::Url;
use websvc::types::index::IndexDocument;

use super::item::{DocumentVisitor, Item, MAX_BYTES, ReadFailure, SkipReason};
use super::lines::{Line, read_line};
use super::page::{Origin, markdown_to_html, page};

const HTML: &str = "text/html; charset=utf-8";

/// Visits the lines of the stream `name` after the first `skip` ones that are not blank. Malformed lines and damaged parts
/// are visited as failures.
pub(super) fn read(
    name: &str,
    mut input: impl BufRead,
    mut skip: u64,
    visit: &mut DocumentVisitor<'_>,
) -> Result<()> {
    let mut line = Vec::new();
    let limit = usize::try_from(MAX_BYTES)?;
    for number in 1_u64.. {
        let document = match read_line(&mut input, &mut line, limit) {
            Ok(Line::End) => break,
            Ok(Line::Complete) if line.trim_ascii().is_empty() => continue,
            Ok(Line::Complete | Line::TooLong) if skip > 0 => {
                skip -= 1;
                continue;
            }
            Ok(Line::Complete) => document(&line),
            Ok(Line::TooLong) => Err(ReadFailure::too_large(MAX_BYTES)),
            Err(error) if error.kind() == ErrorKind::InvalidData && skip > 0 => {
                skip -= 1;
                continue;
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(ReadFailure::broken(&error)),
            Err(error) => return Err(error.into()),
        };
        visit(match document {
            Ok(document) => Item::Document(document),
            Err(failure) => Item::Failed { subject: format!("{name}:{number}"), failure },
        })?;
    }
    Ok(())
}

/// Parses a document: as exported by websvc, or with the field names of other programs.
fn document(line: &[u8]) -> Result<Box<IndexDocument>, ReadFailure> {
    let object: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| ReadFailure::broken(&error))?;
    let text = |names: &[&str]| {
        names.iter().find_map(|name| object.get(*name)?.as_str()).filter(|text| !text.trim().is_empty())
    };
    let url = text(&["url", "link", "sourceURL"]).ok_or_else(|| ReadFailure::broken(&"no url"))?;
    let url = Url::parse(url).map_err(|error| ReadFailure::broken(&format!("invalid url: {error}")))?;
    if !matches!(url.scheme(), "http" | "https" | "file") {
        return Err(ReadFailure::broken(&format!("invalid url: unsupported scheme {}:", url.scheme())));
    }
    let mut document = if let Some(html) = text(&["html", "rawHtml"]) {
        page(&url, html.as_bytes(), HTML, Origin::LocalFile)?
    } else if let Some(markdown) = text(&["markdown"]) {
        page(&url, markdown_to_html(markdown).as_bytes(), HTML, Origin::LocalFile)?
    } else {
        let body = text(&["text", "body", "content"]).unwrap_or_default().to_owned();
        Box::new(IndexDocument { url: url.to_string(), body, ..IndexDocument::default() })
    };
    let owned = |names: &[&str]| text(names).map(str::to_owned);
    document.title = owned(&["title"]).unwrap_or(document.title);
    document.description = owned(&["description"]).or(document.description);
    document.language = owned(&["language", "lang"]).or(document.language);
    document.published = owned(&["published", "publishedTime", "date"]).or(document.published);
    document.modified = owned(&["modified", "modifiedTime"]).or(document.modified);
    document.content_type = owned(&["contentType"]).or(document.content_type);
    document.country = owned(&["country"]).or(document.country);
    document.headings = field(&object, "headings").unwrap_or(document.headings);
    document.explicit = field(&object, "explicit").unwrap_or(document.explicit);
    document.images = field(&object, "images").unwrap_or(document.images);
    document.links = field(&object, "links").unwrap_or(document.links);
    document.news = field(&object, "news").or(document.news);
    if document.title.trim().is_empty() && document.body.trim().is_empty() {
        return Err(ReadFailure::new(SkipReason::NoText, "neither title nor text"));
    }
    Ok(document)
}

/// Parses a field. A field of another type is ignored, because other programs may use the name differently.
fn field<T: DeserializeOwned>(object: &Map<String, Value>, name: &str) -> Option<T> {
    T::deserialize(object.get(name)?).ok()
}

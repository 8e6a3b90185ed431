//! From the bytes of a page to what the index takes of it.

use jiff::Timestamp;
use pulldown_cmark::{Options, Parser, html};
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_extract::{ContentOptions, Document, Source};
use websvc_scrape::{RobotsRules, index_document, known_url};

use super::item::{ReadFailure, SkipReason};

/// Whose word counts for what becomes of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin<'a> {
    /// The user's own file: it is indexed whatever it says of itself, under the URL given.
    Own,
    /// Fetched from the web: the page may ask not to be indexed, also by its headers (the values of `X-Robots-Tag`),
    /// and name its canonical URL.
    Web(&'a [String]),
}

/// Returns what the index takes of a page; a page without text has an empty body.
pub(super) fn page(
    url: &Url,
    bytes: &[u8],
    content_type: &str,
    origin: Origin<'_>,
) -> Result<Box<IndexDocument>, ReadFailure> {
    let page = Document::parse(Source { bytes, content_type: Some(content_type), url })
        .map_err(|error| ReadFailure::broken(&error))?;
    let metadata = page.metadata();
    if let Origin::Web(headers) = origin {
        let headers = headers.iter().map(String::as_str);
        if !RobotsRules::read(headers, Some(&metadata), Timestamp::now()).index {
            return Err(ReadFailure::new(SkipReason::Noindex, "it asks not to be indexed"));
        }
    }
    let content = page.content(&ContentOptions::default());
    let known = match origin {
        Origin::Own => url.to_string(),
        Origin::Web(_) => known_url(url, page.canonical()),
    };
    let mut document = index_document(known, &page, &content, metadata);
    document.content_type = Some(content_type.to_owned());
    if document.title.is_empty() {
        let name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
        document.title = document.headings.first().cloned().unwrap_or_else(|| name.to_owned());
    }
    Ok(Box::new(document))
}

/// Returns Markdown as HTML.
pub(super) fn rendered(markdown: &str) -> String {
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    format!("<main>{out}</main>")
}

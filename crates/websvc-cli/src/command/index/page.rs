//! Conversion of a page to a document of the index.

use jiff::Timestamp;
use pulldown_cmark::{Options, Parser, html};
use url::Url;
use websvc::types::index::IndexDocument;
use websvc_extract::{ContentOptions, Document, Source};
use websvc_scrape::{RobotsRules, index_document, known_url};

use super::item::{ReadFailure, SkipReason};

/// The origin of a page, which decides whether its robots rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin<'a> {
    /// A file of the user. It is indexed under the given URL, and its robots rules are ignored.
    LocalFile,
    /// A page of the web. Its robots rules apply, including its `X-Robots-Tag` headers, and so does its canonical URL.
    Web(&'a [String]),
}

/// Converts a page to a document. A page without text has an empty body.
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
            return Err(ReadFailure::new(SkipReason::Noindex, "the page has the robots rule noindex"));
        }
    }
    let content = page.content(&ContentOptions::default());
    let url_of_document = match origin {
        Origin::LocalFile => url.to_string(),
        Origin::Web(_) => known_url(url, page.canonical()),
    };
    let mut document = index_document(url_of_document, &page, &content, metadata);
    document.content_type = Some(content_type.to_owned());
    if document.title.is_empty() {
        let name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
        document.title = document.headings.first().cloned().unwrap_or_else(|| name.to_owned());
    }
    Ok(Box::new(document))
}

/// Converts Markdown to HTML.
pub(super) fn markdown_to_html(markdown: &str) -> String {
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    format!("<main>{out}</main>")
}

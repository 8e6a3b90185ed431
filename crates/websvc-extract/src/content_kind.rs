//! The kind of a page's content, detected from its first bytes and its declared type.

use crate::error::ExtractError;
use crate::{binary, feed};

/// Kinds of content that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    /// HTML, parsed as browsers do.
    Html,
    /// XHTML, parsed like HTML.
    Xhtml,
    /// Plain text, returned verbatim.
    Text,
    /// JSON, returned verbatim.
    Json,
    /// XML and feeds, returned as text.
    Xml,
}

/// Number of first bytes that are checked.
const SNIFF_BYTES: usize = 2048;

impl ContentKind {
    /// Returns whether the content is markup with a tree.
    pub fn is_html(self) -> bool {
        matches!(self, ContentKind::Html | ContentKind::Xhtml)
    }

    /// Detects the kind of `bytes`.
    ///
    /// # Errors
    /// [`ExtractError::Unsupported`] for binary content.
    pub(crate) fn sniff(bytes: &[u8], content_type: Option<&str>) -> Result<ContentKind, ExtractError> {
        let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
        let declared = content_type.unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        if let Some(kind) = binary::binary_kind(bytes, content_type) {
            // The declared type is more precise, unless it is a text type.
            let is_text = ["xml", "json"].iter().any(|text| declared.ends_with(text));
            let is_vague = kind == "binary" && is_binary_type(&declared) && !is_text;
            return Err(unsupported(if is_vague { name_of(&declared) } else { kind }));
        }
        match declared.as_str() {
            // Many servers declare feeds as HTML.
            "text/html" | "application/xhtml+xml" if starts_feed(head) => return Ok(ContentKind::Xml),
            "text/html" => return Ok(ContentKind::Html),
            "application/xhtml+xml" => return Ok(ContentKind::Xhtml),
            "application/json" | "text/json" => return Ok(ContentKind::Json),
            declared if declared.ends_with("+json") => return Ok(ContentKind::Json),
            _ => {}
        }
        let by_content = sniff_text(head);
        match declared.as_str() {
            "application/xml" | "text/xml" => {
                Ok(by_content.filter(|kind| kind.is_html()).unwrap_or(ContentKind::Xml))
            }
            declared if declared.ends_with("+xml") && declared != "image/svg+xml" => Ok(ContentKind::Xml),
            declared if declared.starts_with("text/") => Ok(ContentKind::Text),
            declared => match by_content {
                Some(kind) => Ok(kind),
                None if is_binary_type(declared) => Err(unsupported(name_of(declared))),
                None => Ok(ContentKind::Text),
            },
        }
    }
}

fn unsupported(kind: &str) -> ExtractError {
    ExtractError::Unsupported { kind: kind.to_owned() }
}

/// Returns a short name for a declared media type.
fn name_of(declared: &str) -> &str {
    match declared.split_once('/') {
        Some((_, "octet-stream")) | None => "binary",
        Some((_, subtype)) => subtype,
    }
}

fn is_binary_type(declared: &str) -> bool {
    ["image/", "audio/", "video/", "font/"].iter().any(|prefix| declared.starts_with(prefix))
        || (declared.starts_with("application/")
            && !matches!(
                declared,
                "application/octet-stream"
                    | "application/javascript"
                    | "application/yaml"
                    | "application/toml"
            ))
}

/// Recognizes markup and JSON by their first characters.
fn sniff_text(head: &[u8]) -> Option<ContentKind> {
    let mut text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let lower = text.to_ascii_lowercase();
    if lower.starts_with(b"<?xml") {
        let xhtml = !starts_feed(text) && lower.windows(5).any(|w| w == b"<html");
        return Some(if xhtml { ContentKind::Xhtml } else { ContentKind::Xml });
    }
    while text.starts_with(b"<!--") {
        text = text
            .windows(3)
            .position(|w| w == b"-->")
            .map_or(&[][..], |end| text[end + 3..].trim_ascii_start());
    }
    match text.first()? {
        b'<' => {
            let name: Vec<u8> = text[1..]
                .iter()
                .take(16)
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'!' | b'/' | b'-'))
                .map(u8::to_ascii_lowercase)
                .collect();
            match name.as_slice() {
                b"rss" | b"rdf" | b"feed" | b"urlset" | b"sitemapindex" | b"opml" | b"svg" => {
                    Some(ContentKind::Xml)
                }
                b"" => None,
                _ => Some(ContentKind::Html),
            }
        }
        b'{' | b'[' if text.get(1..).is_some_and(starts_json) => Some(ContentKind::Json),
        _ => None,
    }
}

/// Returns whether the first element is that of a feed.
fn starts_feed(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let may_be_feed =
        [&b"<?xml"[..], b"<rss", b"<feed", b"<rdf", b"<!--"].iter().any(|start| text.starts_with(start));
    may_be_feed && feed::is_feed(&String::from_utf8_lossy(text))
}

/// Returns whether the text after an opening bracket can be JSON.
fn starts_json(rest: &[u8]) -> bool {
    matches!(
        rest.trim_ascii_start().first(),
        Some(b'"' | b'{' | b'[' | b'}' | b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    )
}

//! Uploaded files: read in the same way as pages, without a URL.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use url::Url;
use websvc_documents::DocumentKind;
use websvc_extract::binary_kind;
use websvc_transport::BoxFuture;
use websvc_types::{ParseFormat, ProxyUsed};
use websvc_validate::ScrapePlan;

use crate::error::ScrapeError;
use crate::page::Page;
use crate::raw::{CacheState, RawPage};
use crate::scraper::Scraper;

/// The maximum length of a file name, in characters; a longer name is cut.
const NAME_MAX_CHARS: usize = 255;

/// The text formats that can be read without a document worker.
const TEXT_FORMATS: [TextFormat; 5] = [
    TextFormat { name: "html", kind: "page", extensions: &["html", "htm"], media_type: "text/html" },
    TextFormat {
        name: "xhtml",
        kind: "page",
        extensions: &["xhtml", "xht"],
        media_type: "application/xhtml+xml",
    },
    TextFormat { name: "txt", kind: "text", extensions: &["txt", "text"], media_type: "text/plain" },
    TextFormat { name: "md", kind: "text", extensions: &["md", "markdown"], media_type: "text/markdown" },
    TextFormat { name: "json", kind: "text", extensions: &["json"], media_type: "application/json" },
];

/// A text format, with the extensions and the media type of its files.
struct TextFormat {
    name: &'static str,
    kind: &'static str,
    extensions: &'static [&'static str],
    media_type: &'static str,
}

/// A file that a client uploaded.
#[derive(Debug, Clone)]
pub struct FileUpload {
    /// The name, which is untrusted: only the part after the last path separator counts.
    pub name: String,
    /// The declared media type, if any.
    pub media_type: Option<String>,
    /// The content.
    pub bytes: Bytes,
}

impl FileUpload {
    /// Returns the name without directories and control characters; `upload` if nothing is left.
    pub fn file_name(&self) -> String {
        let last = self.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let printable: String = last.chars().filter(|char| !char.is_control()).take(NAME_MAX_CHARS).collect();
        match printable.trim() {
            "" | "." | ".." => "upload".to_owned(),
            name => name.to_owned(),
        }
    }

    fn is_binary(&self) -> bool {
        binary_kind(&self.bytes, self.media_type.as_deref()).is_some()
    }

    /// Returns the error for a file that cannot be read, with its detected type.
    fn unsupported(&self) -> ScrapeError {
        let detected = match DocumentKind::detect(&self.bytes, None) {
            Some(kind) => kind.name(),
            None => binary_kind(&self.bytes, self.media_type.as_deref()).unwrap_or("unknown"),
        };
        ScrapeError::UnsupportedFile { name: self.file_name(), detected }
    }

    /// Returns the media type that the file is read as; `None` if it is of no readable kind.
    fn readable_media_type(&self) -> Option<String> {
        let declared = self.media_type.as_deref().unwrap_or_default();
        let essence = declared.split(';').next().unwrap_or_default().trim();
        let name = self.file_name();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let by_extension = Kind::from_extension(extension);
        // `text/plain` is declared for any text file, so the extension comes before it.
        let by_type = Kind::from_media_type(essence);
        let kind = DocumentKind::detect(&self.bytes, Some(essence))
            .map(Kind::Document)
            .or_else(|| by_type.filter(|_| !matches!(essence, "text/plain")))
            .or(by_extension)
            .or(by_type)?;
        match kind {
            Kind::Document(kind) if !is_readable(kind) => None,
            Kind::Text(_) | Kind::Document(DocumentKind::Csv) if self.is_binary() => None,
            Kind::Document(kind) => Some(kind.media_type().to_owned()),
            Kind::Text(text) if essence.eq_ignore_ascii_case(text.media_type) => Some(declared.to_owned()),
            Kind::Text(text) => Some(text.media_type.to_owned()),
        }
    }
}

/// A kind of file.
#[derive(Clone, Copy)]
enum Kind {
    Document(DocumentKind),
    Text(&'static TextFormat),
}

impl Kind {
    fn from_extension(extension: &str) -> Option<Self> {
        let is_equal = |other: &&str| other.eq_ignore_ascii_case(extension);
        let kind = DocumentKind::ALL.into_iter().find(|kind| extensions(*kind).iter().any(&is_equal));
        let text = || TEXT_FORMATS.iter().find(|text| text.extensions.iter().any(&is_equal));
        kind.map(Self::Document).or_else(|| text().map(Self::Text))
    }

    fn from_media_type(essence: &str) -> Option<Self> {
        TEXT_FORMATS.iter().find(|text| text.media_type.eq_ignore_ascii_case(essence)).map(Self::Text)
    }
}

/// Returns whether there is a reader for a kind of document.
fn is_readable(kind: DocumentKind) -> bool {
    !matches!(kind, DocumentKind::Doc | DocumentKind::Ppt)
}

/// Returns the file extensions of a kind of document, also those of files with macros and of variants.
fn extensions(kind: DocumentKind) -> Vec<&'static str> {
    let mut extensions = vec![kind.name()];
    extensions.extend(match kind {
        DocumentKind::Docx => Some("docm"),
        DocumentKind::Xlsx => Some("xlsm"),
        DocumentKind::Pptx => Some("pptm"),
        DocumentKind::Csv => Some("tsv"),
        DocumentKind::Jats => Some("nxml"),
        DocumentKind::DocBook => Some("docbook"),
        _ => None,
    });
    extensions
}

/// Returns the group of a kind of document in the list of supported formats.
fn group(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Pdf
        | DocumentKind::Docx
        | DocumentKind::Odt
        | DocumentKind::Rtf
        | DocumentKind::Doc
        | DocumentKind::Eml
        | DocumentKind::Msg
        | DocumentKind::Ipynb
        | DocumentKind::Jats
        | DocumentKind::DocBook
        | DocumentKind::Tei
        | DocumentKind::Protected => "document",
        DocumentKind::Xlsx
        | DocumentKind::Ods
        | DocumentKind::Csv
        | DocumentKind::Xls
        | DocumentKind::Xlsb => "spreadsheet",
        DocumentKind::Pptx | DocumentKind::Odp | DocumentKind::Ppt => "presentation",
        DocumentKind::Epub => "book",
    }
}

impl Scraper {
    /// Reads a file in the formats of `plan`, until `deadline`.
    ///
    /// # Errors
    /// [`ScrapeError::UnsupportedFile`], or the error of reading the file.
    pub fn read_file<'a>(
        &'a self,
        file: FileUpload,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Page, ScrapeError>> {
        Box::pin(async move {
            let name = file.file_name();
            let media_type = file.readable_media_type().ok_or_else(|| file.unsupported())?;
            let mut headers = HeaderMap::new();
            headers.extend(HeaderValue::from_str(&media_type).ok().map(|value| (CONTENT_TYPE, value)));
            let url = placeholder_url(&name);
            let raw = RawPage {
                source_url: url.clone(),
                url,
                status: StatusCode::OK,
                headers,
                body: file.bytes,
                truncated: false,
                is_rendered: false,
                warnings: Vec::new(),
                proxy_used: ProxyUsed::Basic,
                unverified: false,
                sent_credentials: false,
                depends_on_cookies: false,
                cache_state: CacheState::Miss,
                elapsed: Duration::ZERO,
                artifacts: None,
                is_shell: OnceLock::new(),
            };
            let formatting = self.format(raw, None, plan.clone(), deadline);
            let formatted = tokio::time::timeout_at(deadline.into(), formatting).await;
            let mut page = formatted.unwrap_or(Err(ScrapeError::Timeout))?;
            page.metadata.source_url = Some(name);
            Ok(page)
        })
    }

    /// Returns the supported file formats, and whether this installation can read them.
    pub fn file_formats(&self) -> Vec<ParseFormat> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let documents = DocumentKind::ALL.into_iter().map(|kind| ParseFormat {
            format: kind.name().to_owned(),
            kind: group(kind).to_owned(),
            extensions: texts(&extensions(kind)),
            mime_types: texts(&[kind.media_type()]),
            available: is_readable(kind) && self.documents().has_workers(),
        });
        let pages = TEXT_FORMATS.iter().map(|text| ParseFormat {
            format: text.name.to_owned(),
            kind: text.kind.to_owned(),
            extensions: texts(text.extensions),
            mime_types: texts(&[text.media_type]),
            available: true,
        });
        documents.chain(pages).collect()
    }
}

/// Returns a `file:` URL that takes the place of the URL of an uploaded file.
fn placeholder_url(name: &str) -> Url {
    let mut url = Url::parse("file:///").expect("the constant is a valid URL");
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push(name);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, media_type: Option<&str>, bytes: &'static [u8]) -> FileUpload {
        let media_type = media_type.map(str::to_owned);
        FileUpload { name: name.to_owned(), media_type, bytes: Bytes::from_static(bytes) }
    }

    #[test]
    fn error_names_the_detected_type() {
        for (name, declared, bytes, expected) in [
            ("a.html", Some("text/html"), &b"\x89PNG\r\n\x1a\n\0\0"[..], "png"),
            ("a.doc", None, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
            ("a.xyz", None, b"<?xml?>\0\x01\x02\x03", "binary"),
            ("a.xyz", None, b"words", "unknown"),
        ] {
            let text = file(name, declared, bytes).unsupported().to_string();
            assert!(text.ends_with(&format!("(detected type: {expected})")), "{text}");
        }
    }

    #[test]
    fn file_name_has_no_directories_and_no_control_characters() {
        for (given, expected) in [
            ("a.pdf", "a.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\a b.html", "a b.html"),
            ("..", "upload"),
            ("a/", "upload"),
            ("", "upload"),
            ("a\r\n\0b.html", "ab.html"),
        ] {
            assert_eq!(file(given, None, b"").file_name(), expected, "{given:?}");
        }
        assert_eq!(file(&"a".repeat(1000), None, b"").file_name().len(), NAME_MAX_CHARS);
        assert_eq!(placeholder_url("a?b#c/d e.html").as_str(), "file:///a%3Fb%23c%2Fd%20e.html");
    }

    #[test]
    fn kind_is_decided_by_content_then_declared_type_then_extension() {
        for (name, declared, bytes, expected) in [
            ("a.html", Some("text/html"), &b"<p>a"[..], Some("text/html")),
            ("a.html", Some("text/html; charset=latin1"), b"<p>a", Some("text/html; charset=latin1")),
            ("a.html", Some("application/octet-stream"), b"<p>a", Some("text/html")),
            ("a.HTM", None, b"<p>a", Some("text/html")),
            ("a.bin", Some("application/octet-stream"), b"%PDF-1.7", Some("application/pdf")),
            ("a.html", Some("text/html"), b"%PDF-1.7", Some("application/pdf")),
            ("a.csv", None, b"a,b\n1,2", Some("text/csv")),
            ("a.csv", Some("text/plain"), b"a,b\n1,2", Some("text/csv")),
            ("a.tsv", None, b"a\tb\n1\t2", Some("text/csv")),
            ("a.csv", Some("text/csv"), b"\xff\xfea\0;\0b\0", Some("text/csv")),
            ("a.eml", Some("text/plain"), b"Subject: a\n\nb", Some("message/rfc822")),
            ("a", None, b"From: a\nTo: b\nSubject: c\n\nd", Some("message/rfc822")),
            (
                "a.ipynb",
                Some("application/json"),
                b"{\"cells\": [], \"nbformat\": 4}",
                Some("application/x-ipynb+json"),
            ),
            (
                "a.xml",
                Some("text/xml"),
                b"<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"/>",
                Some("application/tei+xml"),
            ),
            ("a.xml", Some("text/xml"), b"<rss/>", None),
            ("a.md", Some("text/plain"), b"# a", Some("text/markdown")),
            ("notes", Some("text/plain"), b"a", Some("text/plain")),
            ("a.txt", Some("text/plain"), b"\xff\xfea\0", Some("text/plain")),
            (
                "a.html",
                Some("text/html"),
                b"<?xml version=\"1.0\"?>\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f",
                None,
            ),
            ("a.csv", Some("text/csv"), b"a,b\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f", None),
            ("a.png", Some("image/png"), b"\x89PNG\r\n\x1a\n\0\0", None),
            ("a.html", Some("text/html"), b"\x89PNG\r\n\x1a\n\0\0", None),
            ("a.doc", Some("application/msword"), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", None),
            ("a.exe", None, b"MZ", None),
            ("a", None, b"", None),
        ] {
            assert_eq!(
                file(name, declared, bytes).readable_media_type().as_deref(),
                expected,
                "{name} {declared:?}"
            );
        }
    }
}

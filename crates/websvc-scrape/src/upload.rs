//! Files that callers bring themselves: read as pages are, without an address.

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

/// A longer name is cut, in characters.
const NAME_MAX_CHARS: usize = 255;

/// What is no document and can be read: the endings of such files, and the media type by which they are.
const PAGES: [Text; 5] = [
    Text { name: "html", kind: "page", endings: &["html", "htm"], media_type: "text/html" },
    Text { name: "xhtml", kind: "page", endings: &["xhtml", "xht"], media_type: "application/xhtml+xml" },
    Text { name: "txt", kind: "text", endings: &["txt", "text"], media_type: "text/plain" },
    Text { name: "md", kind: "text", endings: &["md", "markdown"], media_type: "text/markdown" },
    Text { name: "json", kind: "text", endings: &["json"], media_type: "application/json" },
];

/// A kind of file that is read as it is.
struct Text {
    name: &'static str,
    kind: &'static str,
    endings: &'static [&'static str],
    media_type: &'static str,
}

/// A file as its owner sent it.
#[derive(Debug, Clone)]
pub struct FileUpload {
    /// Its name, which may be anything: only what follows the last separator of folders counts.
    pub name: String,
    /// Its media type, if it was declared.
    pub media_type: Option<String>,
    /// Its content.
    pub bytes: Bytes,
}

impl FileUpload {
    /// Returns the name without folders and what cannot be shown; `upload` when nothing is left.
    pub fn file_name(&self) -> String {
        let last = self.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let shown: String = last.chars().filter(|sign| !sign.is_control()).take(NAME_MAX_CHARS).collect();
        match shown.trim() {
            "" | "." | ".." => "upload".to_owned(),
            name => name.to_owned(),
        }
    }

    fn is_binary(&self) -> bool {
        binary_kind(&self.bytes, self.media_type.as_deref()).is_some()
    }

    /// Returns the error that says what the file is instead of something that can be read.
    fn unsupported(&self) -> ScrapeError {
        let detected = match DocumentKind::of(&self.bytes, None) {
            Some(kind) => kind.name(),
            None => binary_kind(&self.bytes, self.media_type.as_deref()).unwrap_or("unknown"),
        };
        ScrapeError::UnsupportedFile { name: self.file_name(), detected }
    }

    /// Returns the media type by which the file is read; `None` when it is of no kind that can be.
    fn read_as(&self) -> Option<String> {
        let declared = self.media_type.as_deref().unwrap_or_default();
        let essence = declared.split(';').next().unwrap_or_default().trim();
        let name = self.file_name();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let of_ending = Kind::of_ending(ending);
        // A declared type says nothing when it is that of any file.
        let by_type = Kind::of_media_type(essence);
        let kind = DocumentKind::of(&self.bytes, Some(essence))
            .map(Kind::Document)
            .or_else(|| by_type.filter(|_| !matches!(essence, "text/plain")))
            .or(of_ending)
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
    Text(&'static Text),
}

impl Kind {
    fn of_ending(ending: &str) -> Option<Self> {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(ending);
        let kind = DocumentKind::ALL.into_iter().find(|kind| endings(*kind).iter().any(&is_it));
        kind.map(Self::Document)
            .or_else(|| PAGES.iter().find(|text| text.endings.iter().any(&is_it)).map(Self::Text))
    }

    fn of_media_type(essence: &str) -> Option<Self> {
        PAGES.iter().find(|text| text.media_type.eq_ignore_ascii_case(essence)).map(Self::Text)
    }
}

/// Returns whether there is a reader of a kind.
fn is_readable(kind: DocumentKind) -> bool {
    !matches!(kind, DocumentKind::Doc | DocumentKind::Ppt)
}

/// Returns the endings of the files of a kind: those with macros are of the kind without.
fn endings(kind: DocumentKind) -> Vec<&'static str> {
    let mut endings = vec![kind.name()];
    endings.extend(match kind {
        DocumentKind::Docx => Some("docm"),
        DocumentKind::Xlsx => Some("xlsm"),
        DocumentKind::Pptx => Some("pptm"),
        _ => None,
    });
    endings
}

fn group(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Pdf
        | DocumentKind::Docx
        | DocumentKind::Odt
        | DocumentKind::Rtf
        | DocumentKind::Doc
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
    /// [`ScrapeError::UnsupportedFile`], and what is wrong with the file.
    pub fn read_file<'a>(
        &'a self,
        file: FileUpload,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Page, ScrapeError>> {
        Box::pin(async move {
            let name = file.file_name();
            let media_type = file.read_as().ok_or_else(|| file.unsupported())?;
            let mut headers = HeaderMap::new();
            headers.extend(HeaderValue::from_str(&media_type).ok().map(|value| (CONTENT_TYPE, value)));
            let url = address(&name);
            let raw = RawPage {
                source_url: url.clone(),
                url,
                status: StatusCode::OK,
                headers,
                body: file.bytes,
                truncated: false,
                warnings: Vec::new(),
                proxy_used: ProxyUsed::Basic,
                unverified: false,
                sent_credentials: false,
                cache_state: CacheState::Miss,
                took: Duration::ZERO,
                takings: None,
            };
            let reading = self.render(raw, None, plan.clone(), deadline);
            let read = tokio::time::timeout_at(deadline.into(), reading).await;
            let mut page = read.unwrap_or(Err(ScrapeError::Timeout))?;
            page.metadata.source_url = Some(name);
            Ok(page)
        })
    }

    /// Returns the kinds of files, and whether they can be read here.
    pub fn file_formats(&self) -> Vec<ParseFormat> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let documents = DocumentKind::ALL.into_iter().map(|kind| ParseFormat {
            format: kind.name().to_owned(),
            kind: group(kind).to_owned(),
            extensions: texts(&endings(kind)),
            mime_types: texts(&[kind.media_type()]),
            available: is_readable(kind) && self.documents().has_workers(),
        });
        let pages = PAGES.iter().map(|text| ParseFormat {
            format: text.name.to_owned(),
            kind: text.kind.to_owned(),
            extensions: texts(text.endings),
            mime_types: texts(&[text.media_type]),
            available: true,
        });
        documents.chain(pages).collect()
    }
}

/// Returns what stands for the address that a file has not.
fn address(name: &str) -> Url {
    let mut url = Url::parse("file:///").expect("it is a URL");
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
    fn names_have_no_folders() {
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
        assert_eq!(address("a?b#c/d e.html").as_str(), "file:///a%3Fb%23c%2Fd%20e.html");
    }

    #[test]
    fn content_decides_then_the_declared_type_then_the_ending() {
        for (name, declared, bytes, expected) in [
            ("a.html", Some("text/html"), &b"<p>a"[..], Some("text/html")),
            ("a.html", Some("text/html; charset=latin1"), b"<p>a", Some("text/html; charset=latin1")),
            ("a.html", Some("application/octet-stream"), b"<p>a", Some("text/html")),
            ("a.HTM", None, b"<p>a", Some("text/html")),
            ("a.bin", Some("application/octet-stream"), b"%PDF-1.7", Some("application/pdf")),
            ("a.html", Some("text/html"), b"%PDF-1.7", Some("application/pdf")),
            ("a.csv", None, b"a,b\n1,2", Some("text/csv")),
            ("a.csv", Some("text/plain"), b"a,b\n1,2", Some("text/csv")),
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
            assert_eq!(file(name, declared, bytes).read_as().as_deref(), expected, "{name} {declared:?}");
        }
    }
}

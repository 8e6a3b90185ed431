//! The URLs of documents: those of the web, and those of this machine and of the browser itself, which no page may show.

use url::Url;

/// The kind of the URL of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentUrl {
    /// The browser does not know it yet: a new window has none before its first document.
    Unknown,
    /// It is on the web, or its content comes from a page: `about:blank`, `data:`, `blob:`.
    Web,
    /// The document that Chromium shows in place of one that could not be loaded.
    Error,
    /// It belongs to this machine or to the browser: `file:`, `chrome:`, `devtools:`, `view-source:`.
    Server,
    /// It belongs to another program, such as `mailto:`. A tab has it while the program is asked to open it.
    Other,
}

impl DocumentUrl {
    /// Returns the kind of a URL.
    pub(crate) fn from_url(url: &str) -> Self {
        if url.is_empty() {
            return Self::Unknown;
        }
        let Ok(url) = Url::parse(url) else { return Self::Other };
        match url.scheme() {
            "http" | "https" | "data" => Self::Web,
            "about" if matches!(url.path(), "blank" | "srcdoc") => Self::Web,
            "blob" if ["http://", "https://", "null/"].iter().any(|start| url.path().starts_with(start)) => {
                Self::Web
            }
            "chrome-error" => Self::Error,
            "about" | "blob" | "content" | "devtools" | "externalfile" | "file" | "filesystem"
            | "isolated-app" | "view-source" => Self::Server,
            scheme if scheme.starts_with("chrome") => Self::Server,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_the_server_differ_from_those_of_the_web() {
        for (urls, kind) in [
            (&[""][..], DocumentUrl::Unknown),
            (
                &[
                    "http://a.test/",
                    "https://a.test/",
                    "about:blank",
                    "about:blank#x",
                    "about:srcdoc",
                    "data:text/html,x",
                    "blob:https://a.test/1",
                    "blob:null/1",
                ],
                DocumentUrl::Web,
            ),
            (&["chrome-error://chromewebdata/"], DocumentUrl::Error),
            (
                &[
                    "file:///etc/passwd",
                    "FILE:///etc/passwd",
                    " file:///etc/passwd",
                    "view-source:file:///etc/passwd",
                    "view-source:http://a.test/",
                    "chrome://version/",
                    "chrome://omnibox-popup.top-chrome/",
                    "chrome-untrusted://a/",
                    "chrome-extension://a/b.html",
                    "chrome-search://a/",
                    "devtools://devtools/bundled/inspector.html",
                    "filesystem:http://a.test/temporary/a",
                    "blob:file:///1",
                    "blob:chrome://version/1",
                    "about:version",
                    "isolated-app://a/",
                ],
                DocumentUrl::Server,
            ),
            (&["mailto:a@b.test", "javascript:alert(1)", "ftp://a.test/", "relative"], DocumentUrl::Other),
        ] {
            for url in urls {
                assert_eq!(DocumentUrl::from_url(url), kind, "{url}");
            }
        }
    }
}

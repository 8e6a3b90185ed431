//! What came of a page.

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use crate::egress::Refusal;
use crate::request::Cookie;
use crate::state::State;

/// A page as it was in the end, and what its actions gave, in their order.
#[derive(Debug, Clone, Default)]
pub struct RenderedPage {
    /// Where the page is now, scripts that changed its address included.
    pub url: String,
    /// The status of the last document that was loaded.
    pub status: Option<u16>,
    /// Its headers.
    pub headers: HeaderMap,
    /// The document as it is now, the open shadow roots in their places.
    pub html: String,
    /// All cookies of the context.
    pub cookies: Vec<SetCookie>,
    /// The picture that the request asked for.
    pub screenshot: Option<Picture>,
    /// Of the actions `screenshot`.
    pub screenshots: Vec<Picture>,
    /// Of the actions `scrape`.
    pub scrapes: Vec<Scraped>,
    /// Of the actions `executeJavascript`.
    pub returns: Vec<Returned>,
    /// Of the actions `pdf`.
    pub pdfs: Vec<Bytes>,
    /// Files that the page wanted to save, in their order; none was.
    pub downloads: Vec<Download>,
    /// What went wrong without failing, in words for whoever asked.
    pub warnings: Vec<String>,
    /// Connections that the guard did not allow.
    pub refused: Vec<Refusal>,
    /// The document came over https, and its certificate could not be verified.
    pub unverified: bool,
    /// The cookies and the storage as the page leaves them, when the request wants them kept and there was time.
    pub state: Option<State>,
}

/// A cookie that the page has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// For whom; with a leading dot for all hosts below.
    pub domain: String,
    /// For which paths.
    pub path: String,
}

/// A file that a page wanted to save, and could not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Where it is, after all redirects.
    pub url: String,
    /// What it would have been called.
    pub name: String,
    /// Why it was begun.
    pub cause: DownloadCause,
    /// What the page's context would send there, for those that an action led to.
    pub cookies: Vec<Cookie>,
}

/// Why a download was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadCause {
    /// An action led the page there, and it can be asked for again.
    Action,
    /// The page itself, one of its frames, a form with a body, or something that its scripts have made.
    Page,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file.
    pub bytes: Bytes,
    /// What kind of file.
    pub kind: ImageKind,
}

/// The kind of a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
}

/// A page at the time of an action `scrape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scraped {
    /// Where the page was.
    pub url: String,
    /// The document.
    pub html: String,
}

/// What a script gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Returned {
    /// Its type in JavaScript, with `null` and `array` told from `object`.
    pub kind: String,
    /// Its value; numbers that JSON does not know are their names, such as `NaN`.
    pub value: Value,
}

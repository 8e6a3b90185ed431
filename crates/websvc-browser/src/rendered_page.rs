//! The result of a rendered page.

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use crate::egress::Refusal;
use crate::request::Cookie;
use crate::state::State;

/// A rendered page at its end, and the results of its actions in their order.
#[derive(Debug, Clone, Default)]
pub struct RenderedPage {
    /// The final URL, including changes by scripts.
    pub url: String,
    /// The status of the last document.
    pub status: Option<u16>,
    /// The response headers of the last document.
    pub headers: HeaderMap,
    /// The final document, with its open shadow roots inlined.
    pub html: String,
    /// All cookies of the browser context.
    pub cookies: Vec<SetCookie>,
    /// The computed styles of the final document, if the request wants them: the value of `read_styles.js`.
    pub styles: Option<Value>,
    /// The screenshot of the request.
    pub screenshot: Option<Image>,
    /// The results of the actions `screenshot`.
    pub screenshots: Vec<Image>,
    /// The results of the actions `scrape`.
    pub scrapes: Vec<PageSnapshot>,
    /// The results of the actions `executeJavascript`.
    pub returns: Vec<ScriptValue>,
    /// The results of the actions `pdf`.
    pub pdfs: Vec<Bytes>,
    /// The downloads that the page started, in their order. The browser refused all of them.
    pub downloads: Vec<Download>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The connections that the address guard refused.
    pub refused: Vec<Refusal>,
    /// True if the document came over HTTPS and its certificate was not verified.
    pub unverified: bool,
    /// The final cookies and storage, if the request wants them and there was enough time.
    pub state: Option<State>,
}

/// A cookie in the browser context of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetCookie {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
    /// The host, or with a leading dot the domain with all its subdomains.
    pub domain: String,
    /// The path prefix.
    pub path: String,
    /// It is sent over https only.
    pub is_secure: bool,
}

/// A download that a page started and the browser refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The URL after all redirects.
    pub url: String,
    /// The suggested file name.
    pub name: String,
    /// The cause.
    pub cause: DownloadCause,
    /// The cookies that the page's context would send to the URL, if an action caused the download.
    pub cookies: Vec<Cookie>,
}

/// The cause of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadCause {
    /// An action caused it, and it can be requested again.
    Action,
    /// Any other cause: the page itself, one of its frames, a form with a body, or data from a script.
    Page,
}

/// An image file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The content of the file.
    pub bytes: Bytes,
    /// The format.
    pub kind: ImageKind,
}

/// The format of an image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
}

/// A page at one point in time, such as that of an action `scrape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSnapshot {
    /// The URL.
    pub url: String,
    /// The document as HTML.
    pub html: String,
}

/// The value of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptValue {
    /// Its JavaScript type as of `typeof`, or `null` or `array` in place of `object`.
    pub kind: String,
    /// The value. Numbers that JSON lacks are their names, such as `NaN`.
    pub value: Value,
}

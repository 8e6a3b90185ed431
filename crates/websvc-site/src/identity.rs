//! Identity of a page, by which different URLs of it are recognized.

use std::fmt;

use url::Url;

use crate::percent_encoding;
use crate::tracking_params::{is_tracking_param, session_in_path, truncate_path};

/// Files that a server usually returns for their directory.
const INDEX_FILES: &[&str] = &["/index.html", "/index.htm", "/index.php"];

/// Identity of a page, which is equal for all common spellings of its URL.
///
/// The following parts of an http or https URL are ignored:
///
/// - the scheme, the user name, `www.`, a default port and the dot after the host;
/// - trailing slashes and an index file such as `/index.html`;
/// - parameters without a name, session IDs and campaign parameters;
/// - the fragment, unless it is a `#!` path;
/// - differences in percent-encoding.
///
/// All other parts are significant, including the order of parameters and the letter case of paths. The identity of a
/// URL with another scheme is its text without the fragment. The identity of a text that is not a URL is the text.
///
/// An identity is a key to compare by. It is not a URL and cannot be fetched.
///
/// ```
/// use websvc_site::PageIdentity;
///
/// let page = PageIdentity::from_address("https://www.example.org/docs/?utm_source=mail&page=2#top");
/// assert_eq!(page, PageIdentity::from_address("http://example.org/docs?page=2"));
/// assert_ne!(page, PageIdentity::from_address("http://example.org/docs?page=3"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageIdentity {
    text: String,
    /// Length of the host at the start of `text`, in bytes; 0 without a host.
    host_len: usize,
}

impl PageIdentity {
    /// Returns the identity of an address, in linear time.
    pub fn from_address(address: &str) -> Self {
        match Url::parse(address) {
            Ok(url) => Self::of_url(&url),
            Err(_) => Self { text: address.to_owned(), host_len: 0 },
        }
    }

    /// Returns the identity of a URL.
    pub fn of_url(url: &Url) -> Self {
        let (true, Some(host)) = (matches!(url.scheme(), "http" | "https"), url.host_str()) else {
            return Self { text: url[..url::Position::AfterQuery].to_owned(), host_len: 0 };
        };
        let mut text = strip_www(host.trim_end_matches('.')).to_owned();
        let host_len = text.len();
        if let Some(port) = url.port().filter(|port| !matches!(port, 80 | 443)) {
            text.push_str(&format!(":{port}"));
        }
        match session_in_path(url.path()) {
            Some(end) => push_path(truncate_path(url, end).path(), &mut text),
            None => push_path(url.path(), &mut text),
        }
        push_query(url.query().unwrap_or_default(), &mut text);
        if let Some(path) = url.fragment().filter(|fragment| fragment.starts_with('!')) {
            text.push('#');
            percent_encoding::push_normalized(path, &mut text);
        }
        Self { text, host_len }
    }

    /// Returns the host without `www.`; empty if the address has no host.
    pub fn host(&self) -> &str {
        &self.text[..self.host_len]
    }

    /// Returns the identity as text. Texts are equal if and only if the identities are.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl From<PageIdentity> for String {
    fn from(identity: PageIdentity) -> Self {
        identity.text
    }
}

impl fmt::Display for PageIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Removes `www.`, unless only one label would remain: `www.test` is a site of its own.
fn strip_www(mut host: &str) -> &str {
    while let Some(rest) = host.strip_prefix("www.")
        && rest.contains('.')
        && !rest.starts_with('.')
    {
        host = rest;
    }
    host
}

/// Adds a path without trailing slashes and index files.
fn push_path(path: &str, text: &mut String) {
    let start = text.len();
    percent_encoding::push_normalized(path, text);
    loop {
        let path = text[start..].trim_end_matches('/');
        let stripped = INDEX_FILES.iter().find_map(|file| path.strip_suffix(file)).unwrap_or(path);
        if stripped.len() == text.len() - start {
            return;
        }
        text.truncate(start + stripped.len());
    }
}

/// Adds the parameters that identify the page.
fn push_query(query: &str, text: &mut String) {
    let mut separator = '?';
    for parameter in query.split('&') {
        let mut normalized = String::with_capacity(parameter.len());
        percent_encoding::push_normalized(parameter, &mut normalized);
        if !normalized.is_empty() && !normalized.starts_with('=') && !is_tracking_param(&normalized) {
            text.push(separator);
            text.push_str(&normalized);
            separator = '&';
        }
    }
}

//! The key by which addresses of one page are the same.

use std::fmt;

use url::Url;

use crate::percent_encoding;
use crate::tracking_params::{cut, is_tracking_param, session_in_path};

/// Files that are what their directory shows.
const INDEX_FILES: &[&str] = &["/index.html", "/index.htm", "/index.php"];

/// Identity of a page, equal for all common spellings of its URL.
///
/// It forgets scheme (http or https), user name, `www.`, a default port, the dot behind a host, the fragment (unless it
/// is a `#!` path), the slash at the end, an index file, parameters without a name, session ids and campaign
/// parameters, and how characters are percent-encoded. Everything else counts, also the order of parameters and letter
/// case in paths. An address with another scheme is known by its whole text, without its fragment; what is no URL, by
/// itself.
///
/// It is no URL: nothing can be fetched by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageIdentity {
    text: String,
    /// How much of the text is the host; nothing for what has none.
    host_len: usize,
}

impl PageIdentity {
    /// Returns the identity of an address. Takes time linear in its length.
    pub fn of(address: &str) -> Self {
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
        let mut text = without_www(host.trim_end_matches('.')).to_owned();
        let host_len = text.len();
        if let Some(port) = url.port().filter(|port| !matches!(port, 80 | 443)) {
            text.push_str(&format!(":{port}"));
        }
        match session_in_path(url.path()) {
            Some(at) => push_path(cut(url, at).path(), &mut text),
            None => push_path(url.path(), &mut text),
        }
        push_query(url.query().unwrap_or_default(), &mut text);
        if let Some(path) = url.fragment().filter(|fragment| fragment.starts_with('!')) {
            text.push('#');
            percent_encoding::push(path, &mut text);
        }
        Self { text, host_len }
    }

    /// Returns the host without `www.`; empty for what has none.
    pub fn host(&self) -> &str {
        &self.text[..self.host_len]
    }

    /// Returns the whole as a text, which is the same for the same page and no other.
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

/// A name of two labels is a site of its own, even when the first is `www`.
fn without_www(mut host: &str) -> &str {
    while let Some(rest) = host.strip_prefix("www.")
        && rest.contains('.')
        && !rest.starts_with('.')
    {
        host = rest;
    }
    host
}

fn push_path(path: &str, text: &mut String) {
    let start = text.len();
    percent_encoding::push(path, text);
    loop {
        let path = text[start..].trim_end_matches('/');
        let kept = INDEX_FILES.iter().find_map(|file| path.strip_suffix(file)).unwrap_or(path);
        if kept.len() == text.len() - start {
            return;
        }
        text.truncate(start + kept.len());
    }
}

fn push_query(query: &str, text: &mut String) {
    let mut before = '?';
    for parameter in query.split('&') {
        let mut one = String::with_capacity(parameter.len());
        percent_encoding::push(parameter, &mut one);
        if !one.is_empty() && !one.starts_with('=') && !is_tracking_param(&one) {
            text.push(before);
            text.push_str(&one);
            before = '&';
        }
    }
}

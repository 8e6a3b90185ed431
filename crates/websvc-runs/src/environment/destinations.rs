//! The URLs that a run may open.
//!
//! A model that obeys a page could put what it has read into a URL of the page's host. So a run opens only URLs that exist
//! without it:
//!
//! - the URLs of the request, and those in the texts of the user;
//! - URLs that a search or a map has returned, and URLs on pages that the run has read, exactly as they are written there;
//! - the root of a host of such a URL;
//! - any URL of a host that the user names, because the user trusts it with the question. Another port of the host is another
//!   server, often one that is not meant for readers, so it is not named with it.
//!
//! A strict run opens only the URLs of the request. Its boundary applies to redirects and rendered pages as well.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::Mutex;
use url::Url;
use websvc_scrape::UrlBoundary;
use websvc_site::{is_public_suffix, registrable_domain};
use websvc_types::limits::URL_MAX_CHARS;

/// The maximum number of known URLs. Further ones are not opened.
const MAX_KNOWN: usize = 50_000;

/// The maximum number of URLs and hosts in the texts of the user.
const MAX_NAMED: usize = 1_000;

/// The maximum number of URLs in one word of a text.
const MAX_IN_WORD: usize = 64;

const NOT_A_URL: &str = "it is not an absolute http or https URL without a password";
const OUTSIDE: &str = "it is not one of the URLs that the run may open";
const UNKNOWN: &str = "no result and no page that was read has this URL, and the user does not name its host: choose a known \
    URL, or search";

/// The URLs that a run may open.
pub(super) struct Destinations {
    /// The URLs of a strict run; `None` for other runs.
    strict: Option<StrictUrls>,
    /// The URLs of the user that have a user name or a password, by their keys.
    credentials: HashMap<String, Url>,
    /// The hosts that the user names, with their ports: the keys of [`host_key`].
    named_hosts: HashSet<String>,
    known: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

/// The URLs of a strict run.
struct StrictUrls {
    urls: HashSet<String>,
    boundary: UrlBoundary,
}

impl Destinations {
    pub(super) fn new(urls: &[Url], is_strict: bool, user_texts: &[String]) -> Self {
        let plain: Vec<Url> = urls.iter().map(without_credentials).collect();
        let mut destinations = Self {
            strict: is_strict.then(|| StrictUrls::new(&plain)),
            credentials: HashMap::new(),
            named_hosts: HashSet::new(),
            known: Mutex::default(),
            hasher: RandomState::new(),
        };
        for url in urls {
            destinations.name(url);
        }
        for text in user_texts {
            destinations.name_all(text);
        }
        destinations
    }

    /// Adds a URL of the user.
    fn name(&mut self, url: &Url) {
        if self.named_hosts.len() < MAX_NAMED
            && let Some(host) = host_key(url)
        {
            self.named_hosts.insert(host);
        }
        let plain = without_credentials(url);
        if self.credentials.len() < MAX_NAMED
            && plain != *url
            && let Some(key) = page_key(&plain)
        {
            self.credentials.insert(key, url.clone());
        }
        self.learn(&plain);
    }

    /// Adds the URLs and the host names in a text of the user.
    fn name_all(&mut self, text: &str) {
        for url in urls_in(text) {
            self.name(&url);
        }
        let words = text.split(|c: char| !(is_of_name(c) || matches!(c, '.' | '-' | '_' | ':')));
        for word in words {
            let mut parts = word.split(':').map(|part| part.trim_matches(['.', '-', '_'])).peekable();
            while let Some(part) = parts.next() {
                // A file name such as `notes.txt` becomes a host that does not exist.
                if !part.contains('.') || part.parse::<f64>().is_ok() {
                    continue;
                }
                let port = parts.peek().and_then(|port| port.parse::<u16>().ok());
                let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                if let Ok(url) = Url::parse(&format!("http://{part}{port}/")) {
                    self.name(&url);
                }
            }
        }
    }

    /// Adds a URL of a result or of a page that was read.
    pub(super) fn learn(&self, url: &Url) {
        let Some(key) = page_key(url) else { return };
        let mut known = self.known.lock();
        if known.len() + 3 > MAX_KNOWN {
            return;
        }
        if let Some(fragment) = url.fragment() {
            known.insert(self.hasher.hash_one(format!("{key}#{fragment}")));
        }
        known.insert(self.hasher.hash_one(root_key(&key)));
        known.insert(self.hasher.hash_one(key));
    }

    /// Adds the URLs in a text of a page or a result.
    pub(super) fn learn_all(&self, text: &str) {
        for url in urls_in(text) {
            self.learn(&url);
        }
    }

    /// Returns the URL to open for a URL of the model: with the user name and password that the user gave for it, and without
    /// an unknown fragment, which scripts of the page would see.
    ///
    /// # Errors
    /// The reason why the run may not open it, in words without text of a page.
    pub(super) fn check(&self, text: &str) -> Result<Url, &'static str> {
        if text.len() > URL_MAX_CHARS as usize {
            return Err("it is too long");
        }
        let given = Url::parse(text.trim()).map_err(|_| NOT_A_URL)?;
        let plain = without_credentials(&given);
        let has_credentials = plain != given;
        let key = page_key(&plain).ok_or(NOT_A_URL)?;
        let checked = self.check_plain(plain, &key)?;
        match self.credentials.get(&key) {
            Some(of_user) if !has_credentials || has_same_credentials(of_user, &given) => Ok(of_user.clone()),
            Some(_) | None if has_credentials => Err(NOT_A_URL),
            Some(_) | None => Ok(checked),
        }
    }

    /// Returns the URL to open for a URL without credentials, which has this key.
    fn check_plain(&self, mut url: Url, key: &str) -> Result<Url, &'static str> {
        if let Some(strict) = &self.strict {
            if strict.urls.contains(&with_fragment(key, &url)) {
                return Ok(url);
            }
            url.set_fragment(None);
            return if strict.urls.contains(key) { Ok(url) } else { Err(OUTSIDE) };
        }
        if self.is_known(&with_fragment(key, &url)) || self.is_named(&url) {
            return Ok(url);
        }
        url.set_fragment(None);
        if self.is_known(key) { Ok(url) } else { Err(UNKNOWN) }
    }

    /// Returns the boundary of a strict run.
    pub(super) fn boundary(&self) -> Option<&UrlBoundary> {
        self.strict.as_ref().map(|strict| &strict.boundary)
    }

    fn is_known(&self, key: &str) -> bool {
        self.known.lock().contains(&self.hasher.hash_one(key))
    }

    /// Returns whether the user names the host of a URL, or the domain that it belongs to, with the port of the URL.
    fn is_named(&self, url: &Url) -> bool {
        let Some(host) = url.host_str().map(without_www) else { return false };
        let port = port_key(url);
        let shortest = registrable_domain(host).len();
        let mut domain = host;
        loop {
            if self.named_hosts.contains(&format!("{domain}{port}")) {
                return domain == host || !is_public_suffix(domain);
            }
            match domain.split_once('.') {
                Some((_, parent)) if parent.len() >= shortest => domain = parent,
                Some(_) | None => return false,
            }
        }
    }
}

impl StrictUrls {
    fn new(urls: &[Url]) -> Self {
        let keys = urls.iter().filter_map(|url| Some((page_key(url)?, url)));
        let mut all = HashSet::new();
        for (key, url) in keys {
            all.insert(with_fragment(&key, url));
            all.insert(key);
        }
        let pages: HashSet<String> = urls.iter().filter_map(path_key).collect();
        let hosts: HashSet<String> =
            urls.iter().filter_map(Url::host_str).map(|host| without_www(host).to_owned()).collect();
        let boundary = UrlBoundary {
            page: Arc::new(move |url| path_key(url).is_some_and(|key| pages.contains(&key))),
            host: Arc::new(move |host| hosts.contains(without_www(host))),
        };
        Self { urls: all, boundary }
    }
}

/// Returns whether a character can be part of a host name in a text of the user: a part of a name would name another host, as
/// `cher.example` in `bücher.example`. Characters of scripts from Hebrew on end a name, because some have no spaces.
fn is_of_name(c: char) -> bool {
    c < '\u{590}' && (c.is_alphanumeric() || ('\u{300}'..'\u{370}').contains(&c))
}

/// Returns the URLs in a text, without the punctuation that follows them. A URL may begin within another one, so each word is
/// searched once: a page can consist of one long word with many beginnings.
fn urls_in(text: &str) -> impl Iterator<Item = Url> {
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | '|' | '\\' | '^' | '{' | '}');
    text.split(is_end).flat_map(urls_in_word)
}

fn urls_in_word(word: &str) -> impl Iterator<Item = Url> {
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')', ']', '*', '_']);
    let starts = word.match_indices("http").map(move |(start, _)| &word[start..]);
    let urls = starts.filter(|rest| rest.starts_with("http://") || rest.starts_with("https://"));
    let short = urls.filter(|rest| rest.len() <= URL_MAX_CHARS as usize);
    short.take(MAX_IN_WORD).filter_map(|rest| Url::parse(rest).ok())
}

/// Returns a key that is equal for the spellings of a page that differ in scheme, `www.` and a trailing slash. Everything else
/// is significant, also campaign parameters: a model can write into them. `None` for URLs that a run never opens.
fn page_key(url: &Url) -> Option<String> {
    let path = path_key(url)?;
    Some(match url.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    })
}

/// Returns the key of a page without its parameters.
fn path_key(url: &Url) -> Option<String> {
    let is_open =
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    let host = host_key(url).filter(|_| is_open)?;
    let path = url.path().strip_suffix('/').unwrap_or(url.path());
    Some(format!("{host}{path}"))
}

/// Returns a key of the host and the port of a URL, which is equal for the spellings that differ in `www.`, and for the default
/// ports of http and https.
fn host_key(url: &Url) -> Option<String> {
    url.host_str().map(|host| format!("{}{}", without_www(host), port_key(url)))
}

/// Returns the port of a URL with a colon before it; empty for 80 and 443.
fn port_key(url: &Url) -> String {
    let port = url.port().filter(|port| !matches!(port, 80 | 443));
    port.map(|port| format!(":{port}")).unwrap_or_default()
}

/// Returns the key of the root of the host of a page.
fn root_key(key: &str) -> &str {
    key.split(['/', '?']).next().unwrap_or_default()
}

fn with_fragment(key: &str, url: &Url) -> String {
    url.fragment().map_or_else(|| key.to_owned(), |fragment| format!("{key}#{fragment}"))
}

fn without_credentials(url: &Url) -> Url {
    let mut url = url.clone();
    // They fail for URLs without a host, which have no credentials.
    let _ = (url.set_username(""), url.set_password(None));
    url
}

fn has_same_credentials(one: &Url, other: &Url) -> bool {
    (one.username(), one.password()) == (other.username(), other.password())
}

fn without_www(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests;

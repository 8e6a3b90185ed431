//! The URLs that a run may open.
//!
//! A model that obeys a page could put what it has read into a URL of the page's host. So a run opens only URLs that exist
//! without it:
//!
//! - the URLs of the request, and those in the texts of the user;
//! - URLs that a search or a map has returned, and URLs on pages that the run has read, exactly as they are written there;
//! - the root of a host of such a URL;
//! - any URL of a host that the user names, because the user trusts it with the question.
//!
//! A strict run opens only the URLs of the request. Its boundary applies to redirects and rendered pages as well.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::Mutex;
use url::Url;
use websvc_address::{is_public_suffix, registrable_domain};
use websvc_scrape::UrlBoundary;
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
    /// The hosts that the user names, without `www.`.
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
            && let Some(host) = url.host_str()
        {
            self.named_hosts.insert(without_www(host).to_owned());
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
        let words = text.split(|c: char| !(is_of_name(c) || matches!(c, '.' | '-' | '_')));
        for word in words.map(|word| word.trim_matches(['.', '-', '_'])) {
            // A file name such as `notes.txt` becomes a host that does not exist.
            if word.contains('.')
                && word.parse::<f64>().is_err()
                && let Ok(url) = Url::parse(&format!("http://{word}/"))
            {
                self.name(&url);
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

    /// Returns whether the user names the host of a URL, or the domain that it belongs to.
    fn is_named(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let mut domain = without_www(host);
        let shortest = registrable_domain(domain).len();
        loop {
            if self.named_hosts.contains(domain) {
                return domain == without_www(host) || !is_public_suffix(domain);
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
    let host = url.host_str().filter(|_| is_open)?;
    let port = url.port().filter(|port| !matches!(port, 80 | 443)).map(|port| format!(":{port}"));
    let path = url.path().strip_suffix('/').unwrap_or(url.path());
    Some(format!("{}{}{path}", without_www(host), port.unwrap_or_default()))
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
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[track_caller]
    fn check(destinations: &Destinations, text: &str, expected: Option<&str>) {
        let found = destinations.check(text);
        assert_eq!(found.as_ref().map(Url::as_str).ok(), expected, "{text}: {found:?}");
    }

    #[test]
    fn strict_run_opens_only_its_urls() {
        let urls = [url("https://www.a.test/x?id=1"), url("http://b.test/")];
        let strict = Destinations::new(&urls, true, &["See http://c.test/ and a.test".to_owned()]);
        check(&strict, "http://a.test/x/?id=1", Some("http://a.test/x/?id=1"));
        check(&strict, "https://www.a.test/x?id=1#data", Some("https://www.a.test/x?id=1"));
        check(&strict, "http://b.test", Some("http://b.test/"));
        for outside in [
            "http://a.test/x",
            "http://a.test/x?id=2",
            "http://a.test/x?id=1&utm_source=data",
            "http://a.test/y?id=1",
            "http://a.test:8080/x?id=1",
            "http://sub.b.test/",
            "http://c.test/",
            "http://b.test.evil.test/",
            "http://b.test@evil.test/",
            "ftp://b.test/",
            "b.test",
        ] {
            check(&strict, outside, None);
        }
        strict.learn(&url("http://evil.test/"));
        check(&strict, "http://evil.test/", None);
        let boundary = strict.boundary().unwrap();
        for (text, is_inside) in [
            ("https://a.test/x?id=1&lang=en", true),
            ("http://www.a.test/x/", true),
            ("http://a.test/y", false),
            ("http://evil.test/x", false),
        ] {
            assert_eq!((boundary.page)(&url(text)), is_inside, "{text}");
        }
        assert!((boundary.host)("www.b.test") && !(boundary.host)("b.test.evil.test"));
    }

    #[test]
    fn urls_of_pages_are_opened_as_they_are_written() {
        let run = Destinations::new(&[], false, &[]);
        run.learn(&url("http://evil.test/collect?d="));
        run.learn_all("See (https://docs.test/a.pdf), or \"http://docs.test/b#top\".");
        check(&run, "https://docs.test/a.pdf", Some("https://docs.test/a.pdf"));
        check(&run, "http://docs.test/b#top", Some("http://docs.test/b#top"));
        check(&run, "http://docs.test/b#stolen", Some("http://docs.test/b"));
        check(&run, "http://docs.test/", Some("http://docs.test/"));
        check(&run, "http://evil.test/collect?d=", Some("http://evil.test/collect?d="));
        for unknown in [
            "http://evil.test/collect?d=data",
            "http://evil.test/data",
            "http://evil.test/?data",
            "http://data.evil.test/",
            "http://data@evil.test/",
            "http://evil.test:81/",
            "https://docs.test/a.pdf?utm_source=data",
            "http://other.test/",
        ] {
            check(&run, unknown, None);
        }
        assert!(run.boundary().is_none());
    }

    #[test]
    fn hosts_that_the_user_names_are_trusted() {
        let prompt =
            "Compare example.com, https://shop.test/x?y=1 and v1.2 of co.uk (see notes.txt).".to_owned();
        let run = Destinations::new(&[url("http://www.start.test/")], false, &[prompt]);
        for named in [
            "https://example.com/prices?page=2",
            "https://www.example.com/",
            "https://docs.example.com/a",
            "http://shop.test/any",
            "http://start.test/more#part",
        ] {
            check(&run, named, Some(named));
        }
        for other in [
            "http://example.com.evil.test/",
            "http://myexample.com/",
            "http://bbc.co.uk/",
            "http://evil.test/",
        ] {
            check(&run, other, None);
        }
    }

    #[test]
    fn part_of_a_named_host_is_not_trusted() {
        let prompt = "Compare bücher.example, mu\u{308}ller.test, my_shop.test, 请看shop.example的价格 and _tea.test_.";
        let run = Destinations::new(&[], false, &[prompt.to_owned()]);
        for (named, found) in [
            ("http://bücher.example/x", "http://xn--bcher-kva.example/x"),
            ("http://müller.test/x", "http://xn--mller-kva.test/x"),
            ("http://my_shop.test/x", "http://my_shop.test/x"),
            ("http://shop.example/x", "http://shop.example/x"),
            ("http://tea.test/x", "http://tea.test/x"),
        ] {
            check(&run, named, Some(found));
        }
        for part in ["http://cher.example/x", "http://ller.test/x", "http://shop.test/x"] {
            check(&run, part, None);
        }
    }

    /// A change of a known URL that is opened changes nothing that the host of the page learns: only spellings of the same
    /// page, and the root, are among the URLs that pass.
    #[test]
    fn no_change_of_a_known_url_is_opened() {
        let known = "http://evil.test/a/b?x=1";
        let run = Destinations::new(&[], false, &[]);
        run.learn(&url(known));
        let mut allowed = HashSet::new();
        for origin in ["http://", "https://", "http://www.", "https://www."] {
            for host in [
                "evil.test",
                "evil.test.",
                "evil.test:80",
                "evil.test:443",
                "evil.test.:80",
                "evil.test.:443",
            ] {
                for path in ["/a/b?x=1", "/a/b/?x=1", "/"] {
                    allowed.insert(url(&format!("{origin}{host}{path}")));
                }
            }
        }
        let parts = [
            "x", "0", "-", "/", ".", "?", "&", "=", "@", ":", ":80", ":81", "#", "#x", "%41", "\t", "\\",
            "ä", "www.",
        ];
        let mut opened = 0;
        for position in 0..=known.len() {
            for part in parts {
                for rest in [&known[position..], known.get(position + 1..).unwrap_or_default(), ""] {
                    let changed = format!("{}{part}{rest}", &known[..position]);
                    if let Ok(found) = run.check(&changed) {
                        opened += 1;
                        assert!(allowed.contains(&found), "{changed}: {found}");
                    }
                }
            }
        }
        assert!(opened > 10, "{opened}");
    }

    #[test]
    fn credentials_are_those_of_the_user() {
        let secured = url("http://user:pass@a.test/x");
        let texts = ["And http://user:pass@c.test/.".to_owned()];
        for is_strict in [true, false] {
            let run = Destinations::new(std::slice::from_ref(&secured), is_strict, &texts);
            check(&run, "http://a.test/x", Some("http://user:pass@a.test/x"));
            check(&run, "http://user:pass@a.test/x#part", Some("http://user:pass@a.test/x"));
            check(&run, "http://c.test/", (!is_strict).then_some("http://user:pass@c.test/"));
            for other in [
                "http://user:other@a.test/x",
                "http://data@a.test/x",
                "http://user:pass@a.test/y",
                "http://user@b.test/",
            ] {
                check(&run, other, None);
            }
            let page = url("http://a.test/x");
            assert_eq!(run.boundary().is_some_and(|boundary| (boundary.page)(&page)), is_strict);
        }
    }

    #[test]
    fn urls_within_a_word_are_found_up_to_a_limit() {
        let found = |text: &str| urls_in(text).map(String::from).collect::<Vec<_>>();
        assert_eq!(
            found("(http://a.test/1),[https://b.test/2]."),
            ["http://a.test/1),[https://b.test/2", "https://b.test/2"]
        );
        assert_eq!(found("http://a.test/http httpx://b.test/ http://"), ["http://a.test/http"]);
        let longest = format!("http://a.test/{}", "x".repeat(URL_MAX_CHARS as usize - 14));
        assert_eq!(found(&format!("{longest}... {longest}x")), [longest]);
        let nested = "http://a.test/".repeat(30_000);
        let urls = found(&nested);
        assert_eq!(urls.len(), MAX_IN_WORD);
        assert!(urls.iter().all(|url| url.len() <= URL_MAX_CHARS as usize));
    }

    #[test]
    fn known_urls_are_limited() {
        let run = Destinations::new(&[], false, &[]);
        for number in 0..MAX_KNOWN {
            run.learn(&url(&format!("http://h{number}.test/x")));
        }
        assert!(run.known.lock().len() <= MAX_KNOWN);
        check(&run, "http://h0.test/x", Some("http://h0.test/x"));
        check(&run, &format!("http://h{}.test/x", MAX_KNOWN - 1), None);
    }
}

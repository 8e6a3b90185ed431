//! Which pages belong to a crawl that was asked for over HTTP (clients.md, section 2.4), and how they are told apart.

use std::sync::OnceLock;

use url::Url;
use websvc_address::{PageIdentity, strip_tracking_params};
use websvc_validate::CrawlPlan;

use super::scope::{host_key, is_page};
use super::trap::is_trap;

/// The pages of a site.
#[derive(Debug)]
pub struct CrawlScope {
    plan: CrawlPlan,
    start: Directory,
    /// Where the start led, when that is a place of the same site.
    led_to: OnceLock<Directory>,
}

/// A directory of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Directory {
    /// The host and its port, without `www.`.
    host: String,
    /// The path without the slash at its end: empty for all of the host.
    directory: String,
}

impl CrawlScope {
    /// Makes the site of a start.
    #[must_use]
    pub fn new(plan: CrawlPlan) -> Self {
        let start = Directory::of(plan.url());
        Self { plan, start, led_to: OnceLock::new() }
    }

    /// Takes over where the start led: another directory of the host, or a host above or below it, whose pages are pages of
    /// the crawl from now on. Tells whether that is so; other hosts are other sites.
    pub fn follow_start_redirect(&self, reached: &Url) -> bool {
        let mut place = Directory::of(reached);
        if place.directory.is_empty() && place.host == self.start.host {
            // A start that leads to the top, such as to a sign-in, does not open the whole host.
            place.directory.clone_from(&self.start.directory);
        }
        let is_near = place.host == self.start.host
            || is_below(&place.host, &self.start.host)
            || is_below(&self.start.host, &place.host);
        // A start that is got again leads to the same place.
        is_near && place != self.start && *self.led_to.get_or_init(|| place.clone()) == place
    }

    fn places(&self) -> impl Iterator<Item = &Directory> {
        std::iter::once(&self.start).chain(self.led_to.get())
    }

    /// Returns the plan.
    #[must_use]
    pub fn plan(&self) -> &CrawlPlan {
        &self.plan
    }

    /// Returns an address as it is fetched: without fragment, without the query where that is ignored, and without what
    /// names a visit where similar addresses are one.
    #[must_use]
    pub fn fetched(&self, mut url: Url) -> Url {
        url.set_fragment(None);
        if self.plan.ignores_query() {
            url.set_query(None);
        }
        if self.plan.deduplicates() { strip_tracking_params(url) } else { url }
    }

    /// Returns what tells an address, as it is fetched, from others.
    #[must_use]
    pub fn key(&self, url: &Url) -> String {
        if self.plan.deduplicates() { PageIdentity::of_url(url).as_str().to_owned() } else { url.to_string() }
    }

    /// Returns whether an address is one of a page of the crawl. Whether its like were met too often is asked apart.
    #[must_use]
    pub fn contains(&self, url: &Url) -> bool {
        matches!(url.scheme(), "http" | "https")
            && self.reaches(url)
            && !is_trap(url)
            && is_page(url)
            && self.plan.paths().matches(url)
    }

    /// Returns whether an address is on the host of the start.
    #[must_use]
    pub fn is_start_host(&self, url: &Url) -> bool {
        let host = bare_host(url);
        matches!(url.scheme(), "http" | "https") && self.places().any(|place| place.host == host)
    }

    /// Returns whether the host and the directory are those of the crawl.
    fn reaches(&self, url: &Url) -> bool {
        let host = bare_host(url);
        let mut at_home = self.places().filter(|place| place.host == host).peekable();
        if at_home.peek().is_some() {
            return self.plan.entire_domain() || at_home.any(|place| place.has(url.path()));
        }
        if self.places().any(|place| is_below(&host, &place.host)) {
            self.plan.subdomains() || self.plan.external_links()
        } else {
            self.plan.external_links()
        }
    }
}

/// Returns a host with its port, without `www.`.
fn bare_host(url: &Url) -> String {
    let host = host_key(url);
    host.strip_prefix("www.").map_or_else(|| host.clone(), str::to_owned)
}

/// Returns whether a host is a subdomain of another.
fn is_below(host: &str, other: &str) -> bool {
    host.strip_suffix(other).is_some_and(|rest| rest.ends_with('.'))
}

impl Directory {
    /// Returns the place of an address: its path, or that of its parent when its last segment looks like a document.
    fn of(url: &Url) -> Self {
        let path = url.path();
        let (above, last) = path.rsplit_once('/').unwrap_or_default();
        let path = if is_document(last) { above } else { path };
        Self { host: bare_host(url), directory: path.trim_end_matches('/').to_owned() }
    }

    /// Returns whether a path is in the directory.
    fn has(&self, path: &str) -> bool {
        path.strip_prefix(&self.directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Returns whether a segment of a path has an extension, and not the dot of a version as in `v1.2`.
fn is_document(segment: &str) -> bool {
    segment.rsplit_once('.').is_some_and(|(_, ending)| {
        ending.starts_with(|first: char| first.is_ascii_alphabetic())
            && ending.len() <= 5
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_validate::{Policy, read_crawl};

    use super::*;

    fn site(mut request: Value, start: &str) -> CrawlScope {
        request["url"] = json!(start);
        let checked = read_crawl(request.to_string().as_bytes(), &Policy::default()).expect("a crawl");
        CrawlScope::new(checked.plan)
    }

    #[track_caller]
    fn check(request: &Value, start: &str, url: &str, expected: bool) {
        let taken = site(request.clone(), start).contains(&url.parse().expect("a URL"));
        assert_eq!(taken, expected, "{request} {start} {url}");
    }

    #[test]
    fn the_directory_of_the_start_is_the_site() {
        let none = json!({});
        check(&none, "http://a.test/docs", "http://a.test/docs/x", true);
        check(&none, "http://a.test/docs/index.html", "https://www.a.test/docs/x", true);
        check(&none, "http://a.test/docs/", "http://a.test/blog/x", false);
        check(&none, "http://a.test/docs/", "http://a.test/", false);
        check(&none, "http://a.test/docs", "http://a.test/docsearch", false);
        check(&none, "http://a.test/docs/", "http://a.test/docs", true);
        check(&none, "http://a.test/3.12", "http://a.test/3.11/x", false);
        check(&none, "http://a.test/v1.2/", "http://a.test/v1.2/x", true);
        check(&none, "http://a.test/index.php5", "http://a.test/x", true);
        check(&json!({ "crawlEntireDomain": true }), "http://a.test/docs/", "http://a.test/", true);
        check(&none, "http://a.test", "http://a.test/logo.png", false);
        check(&none, "http://a.test", "http://a.test:8080/", false);
        check(&none, "http://a.test", "mailto:b@a.test", false);
    }

    #[test]
    fn where_the_start_led_is_the_site_too() {
        let check = |start: &str, reached: &str, url: &str, expected: bool| {
            let site = site(json!({}), start);
            let reached = reached.parse().expect("a URL");
            assert_eq!(
                site.follow_start_redirect(&reached),
                site.follow_start_redirect(&reached),
                "{start} {reached}"
            );
            assert_eq!(site.contains(&url.parse().expect("a URL")), expected, "{start} {reached} {url}");
        };
        check("http://a.test/docs", "http://a.test/manual/", "http://a.test/manual/x", true);
        check("http://a.test/docs", "http://a.test/manual/", "http://a.test/docs/x", true);
        check("http://a.test/docs", "http://docs.a.test/en/", "http://docs.a.test/en/x", true);
        check("http://a.test/docs", "http://docs.a.test/", "http://docs.a.test/x", true);
        check("http://docs.a.test/", "http://a.test/docs/", "http://a.test/docs/x", true);
        check("http://docs.a.test/", "http://a.test/docs/", "http://a.test/x", false);
        check("http://a.test/docs", "http://a.test/", "http://a.test/x", false);
        check("http://a.test/", "http://signin.test/", "http://signin.test/x", false);
    }

    #[test]
    fn other_hosts_come_when_they_are_asked_for() {
        let none = json!({});
        check(&none, "http://a.test", "http://b.a.test/", false);
        check(&none, "http://a.test", "http://b.test/", false);
        check(&json!({ "allowSubdomains": true }), "http://a.test", "http://b.a.test/x", true);
        check(&json!({ "allowSubdomains": true }), "http://a.test", "http://ba.test/", false);
        check(&json!({ "allowExternalLinks": true }), "http://a.test", "http://b.test/", true);
        check(&json!({ "allowExternalLinks": true }), "http://a.test/x/", "http://a.test/y", false);
    }

    #[test]
    fn patterns_are_found_in_the_path_or_in_all() {
        let include = json!({ "includePaths": ["^/blog/.*"], "excludePaths": ["/old/"] });
        check(&include, "http://a.test", "http://a.test/blog/x", true);
        check(&include, "http://a.test", "http://a.test/docs/blog/x", false);
        check(&include, "http://a.test", "http://a.test/blog/old/x", false);
        check(&json!({ "excludePaths": ["page="] }), "http://a.test", "http://a.test/?page=2", true);
        let full = json!({ "excludePaths": ["page="], "regexOnFullURL": true });
        check(&full, "http://a.test", "http://a.test/?page=2", false);
    }

    #[test]
    fn spellings_are_one_page_unless_that_is_not_wanted() {
        let key = |request: Value, url: &str| {
            let site = site(request, "http://a.test");
            site.key(&site.fetched(url.parse().expect("a URL")))
        };
        let first = key(json!({}), "http://a.test/x/");
        assert_eq!(first, key(json!({}), "https://www.a.test/x#part"));
        assert_ne!(first, key(json!({}), "http://a.test/x?page=2"));
        assert_eq!(first, key(json!({ "ignoreQueryParameters": true }), "http://a.test/x?page=2"));
        let exact = json!({ "deduplicateSimilarURLs": false });
        assert_ne!(key(exact.clone(), "http://a.test/x"), key(exact, "http://a.test/x/"));
    }
}

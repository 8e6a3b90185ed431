//! The scope of a crawl (clients.md, section 2.4): the pages that belong to it, and the identity of pages.

use std::sync::OnceLock;

use url::Url;
use websvc_site::{
    PageIdentity, bare_host_key, is_below_path, is_subdomain, is_web, may_be_page, strip_tracking_params,
};
use websvc_validate::CrawlPlan;

/// The scope of one crawl job.
#[derive(Debug)]
pub(crate) struct CrawlScope {
    plan: CrawlPlan,
    start: Directory,
    /// The directory that the start URL redirected to, if it belongs to the same site.
    redirect_target: OnceLock<Directory>,
}

/// A directory of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Directory {
    /// The host with its port, without `www.`.
    host: String,
    /// The path without a trailing slash; empty for the whole host.
    path: String,
}

impl CrawlScope {
    /// Creates the scope of a plan.
    pub(crate) fn new(plan: CrawlPlan) -> Self {
        let start = Directory::from_url(&plan.url);
        Self { plan, start, redirect_target: OnceLock::new() }
    }

    /// Extends the scope to the target of a redirect of the start URL, if the target is another directory of the host,
    /// or on a parent domain or a subdomain of the host. Returns whether the target is now the second directory of the
    /// scope. Other hosts are other sites.
    pub(crate) fn follow_start_redirect(&self, reached: &Url) -> bool {
        let mut target = Directory::from_url(reached);
        if target.path.is_empty() && target.host == self.start.host {
            // A redirect to the root, such as to a sign-in page, does not open the whole host.
            target.path.clone_from(&self.start.path);
        }
        let is_near = target.host == self.start.host
            || is_subdomain(&target.host, &self.start.host)
            || is_subdomain(&self.start.host, &target.host);
        // A start page that is fetched again redirects to the same directory.
        is_near && target != self.start && *self.redirect_target.get_or_init(|| target.clone()) == target
    }

    fn directories(&self) -> impl Iterator<Item = &Directory> {
        std::iter::once(&self.start).chain(self.redirect_target.get())
    }

    /// Returns the plan.
    pub(crate) fn plan(&self) -> &CrawlPlan {
        &self.plan
    }

    /// Returns a URL as it is fetched: without fragment, without query if the plan ignores queries, and without
    /// tracking parameters if the plan deduplicates similar URLs.
    pub(crate) fn normalize(&self, mut url: Url) -> Url {
        url.set_fragment(None);
        if self.plan.ignores_query {
            url.set_query(None);
        }
        if self.plan.deduplicates { strip_tracking_params(url) } else { url }
    }

    /// Returns the identity of a normalized URL. URLs with equal keys are the same page.
    pub(crate) fn key(&self, url: &Url) -> String {
        if self.plan.deduplicates { PageIdentity::of_url(url).as_str().to_owned() } else { url.to_string() }
    }

    /// Returns whether a URL is that of a page of the crawl. Budgets for traps are checked separately.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        self.is_in_reach(url) && may_be_page(url) && self.plan.paths.matches(url)
    }

    /// Returns whether a URL is on the host of the start URL.
    pub(crate) fn is_start_host(&self, url: &Url) -> bool {
        let host = bare_host_key(url);
        is_web(url) && self.directories().any(|directory| directory.host == host)
    }

    /// Returns whether the host and the directory of a URL belong to the crawl.
    fn is_in_reach(&self, url: &Url) -> bool {
        let host = bare_host_key(url);
        let mut same_host = self.directories().filter(|directory| directory.host == host).peekable();
        if same_host.peek().is_some() {
            return self.plan.entire_domain
                || same_host.any(|directory| is_below_path(url.path(), &directory.path));
        }
        if self.directories().any(|directory| is_subdomain(&host, &directory.host)) {
            self.plan.subdomains || self.plan.external_links
        } else {
            self.plan.external_links
        }
    }
}

impl Directory {
    /// Returns the directory of a URL: its path, or the parent path if the last segment looks like a document.
    fn from_url(url: &Url) -> Self {
        let path = url.path();
        let (above, last) = path.rsplit_once('/').unwrap_or_default();
        let path = if is_document(last) { above } else { path };
        Self { host: bare_host_key(url), path: path.trim_end_matches('/').to_owned() }
    }
}

/// Returns whether a path segment has a file name extension. The dot of a version, as in `v1.2`, is not one.
fn is_document(segment: &str) -> bool {
    segment.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.starts_with(|first: char| first.is_ascii_alphabetic())
            && extension.len() <= 5
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_types::job::CrawlRequest;
    use websvc_validate::{Policy, read_request};

    use super::*;

    fn scope(mut request: Value, start: &str) -> CrawlScope {
        request["url"] = json!(start);
        let checked = read_request::<CrawlRequest>(request.to_string().as_bytes(), &Policy::default())
            .expect("a crawl");
        CrawlScope::new(checked.plan)
    }

    #[track_caller]
    fn check(request: &Value, start: &str, url: &str, expected: bool) {
        let contained = scope(request.clone(), start).contains(&url.parse().expect("a URL"));
        assert_eq!(contained, expected, "{request} {start} {url}");
    }

    #[test]
    fn crawl_scope_without_options_is_the_start_directory() {
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
    fn crawl_scope_includes_the_redirect_target_of_the_start() {
        let check = |start: &str, reached: &str, url: &str, expected: bool| {
            let scope = scope(json!({}), start);
            let reached = reached.parse().expect("a URL");
            assert_eq!(
                scope.follow_start_redirect(&reached),
                scope.follow_start_redirect(&reached),
                "{start} {reached}"
            );
            assert_eq!(scope.contains(&url.parse().expect("a URL")), expected, "{start} {reached} {url}");
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
    fn other_hosts_are_included_only_if_requested() {
        let none = json!({});
        check(&none, "http://a.test", "http://b.a.test/", false);
        check(&none, "http://a.test", "http://b.test/", false);
        check(&json!({ "allowSubdomains": true }), "http://a.test", "http://b.a.test/x", true);
        check(&json!({ "allowSubdomains": true }), "http://a.test", "http://ba.test/", false);
        check(&json!({ "allowExternalLinks": true }), "http://a.test", "http://b.test/", true);
        check(&json!({ "allowExternalLinks": true }), "http://a.test/x/", "http://a.test/y", false);
    }

    #[test]
    fn path_patterns_match_the_path_or_the_full_url() {
        let include = json!({ "includePaths": ["^/blog/.*"], "excludePaths": ["/old/"] });
        check(&include, "http://a.test", "http://a.test/blog/x", true);
        check(&include, "http://a.test", "http://a.test/docs/blog/x", false);
        check(&include, "http://a.test", "http://a.test/blog/old/x", false);
        check(&json!({ "excludePaths": ["page="] }), "http://a.test", "http://a.test/?page=2", true);
        let full = json!({ "excludePaths": ["page="], "regexOnFullURL": true });
        check(&full, "http://a.test", "http://a.test/?page=2", false);
    }

    #[test]
    fn url_spellings_have_one_key_unless_deduplication_is_off() {
        let key = |request: Value, url: &str| {
            let scope = scope(request, "http://a.test");
            scope.key(&scope.normalize(url.parse().expect("a URL")))
        };
        let reference = key(json!({}), "http://a.test/x/");
        assert_eq!(reference, key(json!({}), "https://www.a.test/x#part"));
        assert_ne!(reference, key(json!({}), "http://a.test/x?page=2"));
        assert_eq!(reference, key(json!({ "ignoreQueryParameters": true }), "http://a.test/x?page=2"));
        let exact = json!({ "deduplicateSimilarURLs": false });
        assert_ne!(key(exact.clone(), "http://a.test/x"), key(exact, "http://a.test/x/"));
    }
}

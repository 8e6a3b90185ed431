//! The scope of a crawl: the URLs that belong to it.

use std::collections::HashSet;

use url::Url;
use websvc_site::{host_key, is_web, may_be_page};
use websvc_validate::PathFilter;

/// The hosts and ports of the seeds, and the path patterns of a crawl.
#[derive(Debug, Default)]
pub(super) struct SeedScope {
    hosts: HashSet<String>,
    paths: PathFilter,
}

impl SeedScope {
    /// Creates a scope without hosts. `paths` selects the pages.
    pub(super) fn new(paths: PathFilter) -> Self {
        Self { hosts: HashSet::new(), paths }
    }

    /// Returns whether the path patterns select `url`.
    pub(super) fn matches_patterns(&self, url: &Url) -> bool {
        self.paths.matches(url)
    }

    /// Adds the host of `url`.
    pub(super) fn add(&mut self, url: &Url) {
        self.hosts.insert(host_key(url));
    }

    /// Returns whether `url` may be fetched as a page of the crawl.
    pub(super) fn contains(&self, url: &Url) -> bool {
        self.contains_file(url) && may_be_page(url) && self.matches_patterns(url)
    }

    /// Returns whether `url` may be fetched as a file of the site, such as a sitemap.
    pub(super) fn contains_file(&self, url: &Url) -> bool {
        is_web(url) && self.hosts.contains(&host_key(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_contains_pages_of_the_seed_host_and_port() {
        let mut scope = SeedScope::default();
        scope.add(&Url::parse("http://site.test/start").unwrap());
        for (url, expected) in [
            ("http://site.test/a.html", true),
            ("https://site.test/", true),
            ("http://site.test/logo.PNG", false),
            ("http://other.test/", false),
            ("http://site.test:8080/", false),
        ] {
            assert_eq!(scope.contains(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn path_patterns_select_pages_of_the_site() {
        let pattern = |text: &str| vec![text.to_owned()];
        let mut scope = SeedScope::new(PathFilter::new(pattern("^/docs/"), pattern("/old/"), false).unwrap());
        scope.add(&Url::parse("http://site.test/").unwrap());
        let contains = |url: &str| scope.contains(&Url::parse(url).unwrap());
        assert!(contains("http://site.test/docs/new/x"));
        assert!(!contains("http://site.test/docs/old/x"));
        assert!(!contains("http://site.test/blog"));
    }
}

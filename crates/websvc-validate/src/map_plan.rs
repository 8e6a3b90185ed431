//! Plan of a map.

use std::time::Duration;

use url::Url;
use websvc_types::SitemapMode;

use crate::path_filter::PathFilter;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;

/// A checked map with every default filled in.
#[derive(Debug, Clone)]
pub struct MapPlan {
    pub(crate) url: Url,
    pub(crate) search: Option<String>,
    pub(crate) sitemap: SitemapMode,
    pub(crate) subdomains: bool,
    pub(crate) other_sites: bool,
    pub(crate) queries: bool,
    pub(crate) every_spelling: bool,
    pub(crate) by_path: bool,
    pub(crate) limit: usize,
    pub(crate) timeout: Duration,
    pub(crate) delay: Duration,
    pub(crate) paths: PathFilter,
    pub(crate) links: bool,
    pub(crate) index: bool,
    pub(crate) retention: RetentionMode,
    pub(crate) page: ScrapePlan,
    /// As `page`, without the headers of the caller.
    pub(crate) elsewhere: ScrapePlan,
}

impl MapPlan {
    /// Returns where the site begins.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the words that the URLs are ranked by.
    #[must_use]
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Returns what sitemaps are used for.
    #[must_use]
    pub fn sitemap(&self) -> SitemapMode {
        self.sitemap
    }

    /// Returns whether URLs of subdomains are listed.
    #[must_use]
    pub fn subdomains(&self) -> bool {
        self.subdomains
    }

    /// Returns whether URLs of other sites are listed.
    #[must_use]
    pub fn other_sites(&self) -> bool {
        self.other_sites
    }

    /// Returns whether URLs are listed with their queries.
    #[must_use]
    pub fn queries(&self) -> bool {
        self.queries
    }

    /// Returns whether every spelling of an address is listed.
    #[must_use]
    pub fn includes_url_variants(&self) -> bool {
        self.every_spelling
    }

    /// Returns whether only URLs below the path of the start page are listed.
    #[must_use]
    pub fn by_path(&self) -> bool {
        self.by_path
    }

    /// Returns how many URLs are listed at most, 1 to 100000.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the time for the whole request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the wait before each request to the site.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns which URLs are wanted by their paths.
    #[must_use]
    pub fn paths(&self) -> &PathFilter {
        &self.paths
    }

    /// Returns whether the links of the start page are listed.
    #[must_use]
    pub fn links(&self) -> bool {
        self.links && self.sitemap != SitemapMode::Only
    }

    /// Returns whether what the index knows of the site is listed.
    #[must_use]
    pub fn index(&self) -> bool {
        self.index && self.sitemap != SitemapMode::Only
    }

    /// Returns what may be kept of the map.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns how the start page is fetched.
    #[must_use]
    pub fn page(&self) -> &ScrapePlan {
        &self.page
    }

    /// Returns how a file is fetched: the headers of the caller are for the host that they were given for, and not for a
    /// less secure way to it.
    #[must_use]
    pub fn fetching(&self, url: &Url) -> &ScrapePlan {
        let is_same_host = url.host() == self.url.host();
        let is_same_way = url.origin() == self.url.origin()
            || (url.scheme() == "https" && url.port().is_none() && self.url.port().is_none());
        if is_same_host && is_same_way { &self.page } else { &self.elsewhere }
    }
}

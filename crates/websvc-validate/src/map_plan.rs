//! Plan of a map.

use std::time::Duration;

use url::Url;
use websvc_types::SitemapMode;

use crate::path_filter::PathFilter;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;

/// Plan of a map: all values are valid, all defaults are filled in.
#[derive(Debug, Clone)]
pub struct MapPlan {
    pub(crate) url: Url,
    pub(crate) search: Option<String>,
    pub(crate) sitemap: SitemapMode,
    pub(crate) subdomains: bool,
    pub(crate) other_sites: bool,
    pub(crate) includes_queries: bool,
    pub(crate) url_variants: bool,
    pub(crate) by_path: bool,
    pub(crate) limit: usize,
    pub(crate) timeout: Duration,
    pub(crate) delay: Duration,
    pub(crate) paths: PathFilter,
    pub(crate) links: bool,
    pub(crate) index: bool,
    pub(crate) retention: RetentionMode,
    pub(crate) page: ScrapePlan,
    /// The same as `page`, without the headers of the caller.
    pub(crate) page_without_headers: ScrapePlan,
}

impl MapPlan {
    /// Returns the start URL, without user name and password.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the words to rank the URLs by.
    #[must_use]
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Returns the use of sitemaps.
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

    /// Returns whether URLs are listed with their query.
    #[must_use]
    pub fn includes_queries(&self) -> bool {
        self.includes_queries
    }

    /// Returns whether all spellings of a URL are listed, instead of one.
    #[must_use]
    pub fn includes_url_variants(&self) -> bool {
        self.url_variants
    }

    /// Returns whether only URLs below the path of the start page are listed.
    #[must_use]
    pub fn by_path(&self) -> bool {
        self.by_path
    }

    /// Returns the maximum number of URLs, 1 to 100000.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the time limit of the whole request.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the delay before each request to the site.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the filter of URLs by path.
    #[must_use]
    pub fn paths(&self) -> &PathFilter {
        &self.paths
    }

    /// Returns whether the links of the start page are listed.
    #[must_use]
    pub fn links(&self) -> bool {
        self.links && self.sitemap != SitemapMode::Only
    }

    /// Returns whether URLs of the index are listed.
    #[must_use]
    pub fn index(&self) -> bool {
        self.index && self.sitemap != SitemapMode::Only
    }

    /// Returns the data retention of the request.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }

    /// Returns the plan for fetching the start page.
    #[must_use]
    pub fn page(&self) -> &ScrapePlan {
        &self.page
    }

    /// Returns the plan for fetching the file at this URL. The headers of the caller are sent only to the host of the
    /// start URL, and not over a less secure connection.
    #[must_use]
    pub fn scrape_plan_for(&self, url: &Url) -> &ScrapePlan {
        let is_same_host = url.host() == self.url.host();
        let is_secure_enough = url.origin() == self.url.origin()
            || (url.scheme() == "https" && url.port().is_none() && self.url.port().is_none());
        if is_same_host && is_secure_enough { &self.page } else { &self.page_without_headers }
    }
}

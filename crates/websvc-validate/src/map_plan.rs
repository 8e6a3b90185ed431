//! Plan of a map.

use std::time::Duration;

use url::Url;
use websvc_types::SitemapMode;

use crate::path_filter::PathFilter;
use crate::retention::RetentionMode;
use crate::scrape_plan::ScrapePlan;

/// Plan of a map: all values are valid, all defaults are filled in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MapPlan {
    /// The start URL, without user name and password.
    pub url: Url,
    /// The words to rank the URLs by.
    pub search: Option<String>,
    /// The use of sitemaps.
    pub sitemap: SitemapMode,
    /// True if URLs of subdomains are listed.
    pub subdomains: bool,
    /// True if URLs of other sites are listed.
    pub other_sites: bool,
    /// True if URLs are listed with their query.
    pub includes_queries: bool,
    /// True if all spellings of a URL are listed, instead of one.
    pub url_variants: bool,
    /// True if only URLs below the path of the start page are listed.
    pub by_path: bool,
    /// The maximum number of URLs, 1 to 100000.
    pub limit: usize,
    /// The time limit of the whole request.
    pub timeout: Duration,
    /// The delay before each request to the site.
    pub delay: Duration,
    /// The filter of URLs by path.
    pub paths: PathFilter,
    /// True if the links of the start page are listed.
    pub links: bool,
    /// True if URLs of the index are listed.
    pub index: bool,
    /// The data retention of the request.
    pub retention: RetentionMode,
    /// The plan for fetching the start page.
    pub page: ScrapePlan,
    /// The same as `page`, without the headers of the caller.
    pub(crate) page_without_headers: ScrapePlan,
}

impl MapPlan {
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

//! The scrape of one page for a crawl: its index document, links and feeds.

use std::time::Duration;

use http::StatusCode;
use url::Url;
use websvc_types::index::IndexDocument;

use crate::documents::ConvertedDocument;
use crate::error::ScrapeError;
use crate::format;
use crate::index_copy::index_copy;
use crate::out_links::links;
use crate::raw::{CacheState, RawPage};
use crate::robots::RobotsRules;

/// The parts of a page that a crawl uses.
#[derive(Debug)]
pub struct CrawlPage {
    /// The URL after redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// The delay that an overloaded host requests by `Retry-After`.
    pub retry_after: Option<Duration>,
    /// The document for the index; `None` if the page must not be indexed or has no text.
    pub index_copy: Option<Box<IndexDocument>>,
    /// The links that may be followed; none with `nofollow`.
    pub links: Vec<Url>,
    /// The feeds that the page declares.
    pub feeds: Vec<Url>,
    /// True if the page came from the cache.
    pub from_cache: bool,
    /// True if the host confirmed the cached copy by 304 Not Modified.
    pub not_modified: bool,
}

impl CrawlPage {
    /// Returns whether the host responded that it is overloaded (429 or 503).
    pub fn is_overload(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Extracts the parts of a page that a crawl uses.
pub(crate) fn to_crawl_page(
    page: &RawPage,
    converted: Option<&ConvertedDocument>,
) -> Result<CrawlPage, ScrapeError> {
    let mut crawl_page = CrawlPage {
        url: page.url.clone(),
        status: page.status,
        retry_after: page.retry_after(),
        index_copy: None,
        links: Vec::new(),
        feeds: Vec::new(),
        not_modified: false,
        from_cache: matches!(page.cache_state, CacheState::Hit(_)),
    };
    if !page.status.is_success() || page.challenge_vendor().is_some() {
        return Ok(crawl_page);
    }
    let document = format::parse(page, converted)?;
    let content = document.content(&format::index_options(page, converted)?);
    let metadata = document.metadata();
    let follow = RobotsRules::from_headers(&page.headers, Some(&metadata)).follow;
    crawl_page.index_copy = index_copy(page, &document, &content, metadata);
    if follow {
        crawl_page.links = links(page, &document);
        crawl_page.feeds = document.feeds();
    }
    Ok(crawl_page)
}

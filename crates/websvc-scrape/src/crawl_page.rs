//! What a crawl learns of a page.

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

/// A page as a crawl sees it.
#[derive(Debug)]
pub struct CrawlPage {
    /// The URL after redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// How long an overloaded host asks to be left alone.
    pub retry_after: Option<Duration>,
    /// What the index takes of it; `None` when it is not to be indexed or has no text.
    pub index_copy: Option<Box<IndexDocument>>,
    /// Where it leads, without what it asks not to follow.
    pub links: Vec<Url>,
    /// The feeds it names.
    pub feeds: Vec<Url>,
    /// The cache answered.
    pub from_cache: bool,
    /// The host was asked, and said that the page is as the cache has it.
    pub unchanged: bool,
}

impl CrawlPage {
    /// Returns whether the host said that it has too much to do.
    pub fn is_overload(&self) -> bool {
        matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Reads a page for a crawl.
pub(crate) fn to_crawl_page(
    page: &RawPage,
    converted: Option<&ConvertedDocument>,
) -> Result<CrawlPage, ScrapeError> {
    let mut survey = CrawlPage {
        url: page.url.clone(),
        status: page.status,
        retry_after: page.retry_after(),
        index_copy: None,
        links: Vec::new(),
        feeds: Vec::new(),
        unchanged: false,
        from_cache: matches!(page.cache_state, CacheState::Hit(_)),
    };
    if !page.status.is_success() || page.challenge_vendor().is_some() {
        return Ok(survey);
    }
    let document = format::parse(page, converted)?;
    let content = document.content(&format::index_options(page, converted)?);
    let metadata = document.metadata();
    let follow = RobotsRules::of(&page.headers, Some(&metadata)).follow;
    survey.index_copy = index_copy(page, &document, &content, metadata);
    if follow {
        survey.links = links(page, &document);
        survey.feeds = document.feeds();
    }
    Ok(survey)
}

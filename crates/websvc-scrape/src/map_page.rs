//! The scrape of one page for a map: its title, description, links and feeds.

use std::time::Instant;

use http::StatusCode;
use url::Url;
use websvc_transport::BoxFuture;
use websvc_validate::ScrapePlan;

use crate::browse::RenderMode;
use crate::cache_lookup::{CacheSlot, CacheStatus};
use crate::documents::{ConvertedDocument, options_of};
use crate::error::ScrapeError;
use crate::format;
use crate::freshness::Freshness;
use crate::raw::RawPage;
use crate::scraper::Scraper;

/// The parts of a page that a map uses.
#[derive(Debug)]
pub struct MapPage {
    /// The URL after redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// The title.
    pub title: Option<String>,
    /// The description that the page declares.
    pub description: Option<String>,
    /// The links in document order.
    pub links: Vec<MapPageLink>,
    /// The feeds that the page declares.
    pub feeds: Vec<Url>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapPageLink {
    /// The target, without fragment.
    pub url: Url,
    /// The link text; may be empty.
    pub text: String,
}

impl Scraper {
    /// Scrapes one page for a map, by the same rules of cache, network, browser and threat protection as its content.
    ///
    /// # Errors
    /// [`ScrapeError`]; a response with a status of 400 and above is a page, not an error.
    pub fn scrape_for_map<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<MapPage, ScrapeError>> {
        Box::pin(async move {
            self.check_url(url).await?;
            let page = Box::pin(self.get_raw_page(url, plan, deadline)).await?;
            let converted = self.convert_document(&page, options_of(plan), deadline).await?;
            let permit = self.acquire_large_page_permit(&page, converted.as_ref()).await?;
            self.run_cpu_task(move |_| {
                let _permit = permit;
                to_map_page(page, converted.as_ref())
            })
            .await
        })
    }

    /// Returns a page as received, from the cache by its rules, else from the network.
    async fn get_raw_page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        // Links do not depend on the location or the wait time of the plan: only a shell page needs the browser.
        let mode = RenderMode::IfShell;
        let key = self.page_key(url, plan, mode);
        let keys = self.lookup_keys(url, plan, mode);
        let known_absent = match self.lookup_response(url, &keys, Freshness::from_plan(plan)).await? {
            CacheStatus::Fresh(page, _) => {
                self.check_final_url(url, &page.url).await?;
                return Ok(*page);
            }
            CacheStatus::Stale => false,
            CacheStatus::Miss => true,
        };
        match &key {
            Some(key) => {
                let slot = CacheSlot { key, known_absent };
                Ok(self.fetch_coalesced(url, slot, plan, mode, deadline).await?.page)
            }
            None => Ok(self.fetch_uncached(url, None, plan, mode, deadline).await?.page),
        }
    }
}

fn to_map_page(page: RawPage, converted: Option<&ConvertedDocument>) -> Result<MapPage, ScrapeError> {
    let document = format::parse(&page, converted)?;
    let metadata = document.metadata();
    let links = document.anchors().into_iter();
    Ok(MapPage {
        title: document.title(),
        description: metadata.description,
        links: links.map(|anchor| MapPageLink { url: anchor.url, text: anchor.text }).collect(),
        feeds: document.feeds(),
        status: page.status,
        url: page.url,
    })
}

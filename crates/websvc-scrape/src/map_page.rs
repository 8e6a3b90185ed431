//! Where a page leads, and what it says of itself: what a map takes of it.

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

/// A page as a map sees it.
#[derive(Debug)]
pub struct MapPage {
    /// The URL after redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// Its title.
    pub title: Option<String>,
    /// Its own description.
    pub description: Option<String>,
    /// Its links in document order.
    pub links: Vec<MapPageLink>,
    /// The feeds it names.
    pub feeds: Vec<Url>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapPageLink {
    /// Where it leads, without fragment.
    pub url: Url,
    /// Its text; may be empty.
    pub text: String,
}

impl Scraper {
    /// Gets the outline of a page, by the same rules of cache, network, browser and threat protection as its content.
    ///
    /// # Errors
    /// [`ScrapeError`]; an answer of 400 and above is a page too.
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
            let turn = self.acquire_large_page_permit(&page, converted.as_ref()).await?;
            self.run_cpu_task(move |_| {
                let _turn = turn;
                to_map_page(page, converted.as_ref())
            })
            .await
        })
    }

    /// Gets a page as received, from the cache by its rules, else from the network.
    async fn get_raw_page(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        // Where links lead does not depend on who looks at them: a browser is for empty shells alone.
        let need = RenderMode::IfShell;
        let key = self.page_key(url, plan, need);
        let is_empty = match self.lookup_response(url, key.as_ref(), Freshness::of(plan)).await? {
            CacheStatus::Fresh(page, _) => {
                self.check_final_url(url, &page.url).await?;
                return Ok(*page);
            }
            CacheStatus::Stale => false,
            CacheStatus::Miss => true,
        };
        match &key {
            Some(key) => {
                let slot = CacheSlot { key, is_empty };
                Ok(self.fetch_coalesced(url, slot, plan, need, deadline).await?.0)
            }
            None => Ok(self.fetch_uncached(url, None, plan, need, deadline).await?.0),
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

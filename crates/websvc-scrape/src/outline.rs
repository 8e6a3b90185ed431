//! Where a page leads, and what it says of itself: what a map takes of it.

use std::time::Instant;

use http::StatusCode;
use url::Url;
use websvc_transport::BoxFuture;
use websvc_validate::ScrapePlan;

use crate::browse::Need;
use crate::documents::{Converted, options_of};
use crate::error::ScrapeError;
use crate::freshness::Freshness;
use crate::lookup::{Found, Slot};
use crate::raw::RawPage;
use crate::render;
use crate::scraper::Scraper;

/// A page as a map sees it.
#[derive(Debug)]
pub struct Outline {
    /// The URL after redirects.
    pub url: Url,
    /// The HTTP status.
    pub status: StatusCode,
    /// Its title.
    pub title: Option<String>,
    /// Its own description.
    pub description: Option<String>,
    /// Its links in document order.
    pub links: Vec<OutlineLink>,
    /// The feeds it names.
    pub feeds: Vec<Url>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineLink {
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
    pub fn outline<'a>(
        &'a self,
        url: &'a Url,
        plan: &'a ScrapePlan,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Outline, ScrapeError>> {
        Box::pin(async move {
            self.inspect(url).await?;
            let page = Box::pin(self.received(url, plan, deadline)).await?;
            let converted = self.convert(&page, options_of(plan), deadline).await?;
            let turn = self.turn(&page, converted.as_ref()).await?;
            self.work(move |_| {
                let _turn = turn;
                outline(page, converted.as_ref())
            })
            .await
        })
    }

    /// Gets a page as received, from the cache by its rules, else from the network.
    async fn received(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        deadline: Instant,
    ) -> Result<RawPage, ScrapeError> {
        // Where links lead does not depend on who looks at them: a browser is for empty shells alone.
        let need = Need::IfShell;
        let key = self.page_key(url, plan, need);
        let is_empty = match self.cached(url, key.as_ref(), Freshness::of(plan)).await? {
            Found::Fresh(page, _) => {
                self.admit_end(url, &page.url).await?;
                return Ok(*page);
            }
            Found::NotFresh => false,
            Found::Nothing => true,
        };
        match &key {
            Some(key) => {
                let slot = Slot { key, is_empty };
                Ok(self.fetch_once(url, slot, plan, need, deadline).await?.0)
            }
            None => Ok(self.fetch_anew(url, None, plan, need, deadline).await?.0),
        }
    }
}

fn outline(page: RawPage, converted: Option<&Converted>) -> Result<Outline, ScrapeError> {
    let document = render::parse(&page, converted)?;
    let metadata = document.metadata();
    let links = document.anchors().into_iter();
    Ok(Outline {
        title: document.title(),
        description: metadata.description,
        links: links.map(|anchor| OutlineLink { url: anchor.url, text: anchor.text }).collect(),
        feeds: document.feeds(),
        status: page.status,
        url: page.url,
    })
}

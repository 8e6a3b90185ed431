//! The engine: what every operation needs, and the stages of a search in their order.

use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use url::Url;
use websvc_scrape::{Page, Scraper};
use websvc_validate::{ScrapePlan, SearchPlan};

use crate::error::EngineError;
use crate::ingest::ingest;
use crate::pricing::Pricing;
use crate::search::{Review, SearchOutcome, assemble, charge, find, gather, review, review_page};
use crate::source::SearchSource;

/// What an engine is built of.
#[derive(Debug)]
pub struct EngineConfig {
    /// The sources that are asked, in order of preference.
    pub sources: Vec<Arc<dyn SearchSource>>,
    /// What gets pages.
    pub scraper: Scraper,
    /// Where scraped pages go to be searched; `None` when this process may not write.
    pub index: Option<Arc<websvc_index::Index>>,
    /// The price list.
    pub pricing: Pricing,
}

/// The operations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    config: Arc<EngineConfig>,
}

impl Engine {
    /// Builds an engine.
    pub fn new(config: EngineConfig) -> Self {
        Self { config: Arc::new(config) }
    }

    /// Returns what gets pages.
    pub fn scraper(&self) -> &Scraper {
        &self.config.scraper
    }

    /// Returns the sources that are asked, in order of preference.
    pub fn sources(&self) -> &[Arc<dyn SearchSource>] {
        &self.config.sources
    }

    /// Returns the index that scraped pages go to.
    pub fn index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.index.as_ref()
    }

    /// Gets one page, and hands it to the index when it may be kept.
    ///
    /// # Errors
    /// [`EngineError::NotSupported`], or [`EngineError::Page`].
    pub async fn scrape(&self, url: &Url, plan: &ScrapePlan, deadline: Instant) -> Result<Page, EngineError> {
        let Review { warnings } = review_page(plan, self.config.scraper.proxies())?;
        let page = self.config.scraper.scrape(url, plan, deadline).await;
        let mut page = page.map_err(EngineError::Page)?;
        page.warnings.splice(..0, warnings);
        let copies: Vec<_> = page.index_copy.take().into_iter().map(|copy| *copy).collect();
        if let Some(index) = self.config.index.as_ref().filter(|_| !copies.is_empty())
            && let Err(error) = ingest(index, copies).await
        {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a scraped page did not reach the index"
            );
            page.warnings.push("the page could not be added to the index".to_owned());
        }
        Ok(page)
    }

    /// Runs a search: finds the hits, gets their pages when the plan asks for formats, and counts the credits.
    ///
    /// One deadline, the plan's timeout from `started`, bounds it all. When only pages are late, their results
    /// say so and the search succeeds.
    ///
    /// # Errors
    /// [`EngineError`], when the search as a whole has no answer.
    pub async fn search(&self, plan: &SearchPlan, started: Instant) -> Result<SearchOutcome, EngineError> {
        let deadline = started + plan.timeout();
        let Review { mut warnings } = review(plan, self.config.scraper.proxies())?;
        let found = find(&self.config.sources, plan, deadline, Timestamp::now()).await?;
        warnings.extend(found.warnings.iter().cloned());
        let pages = gather(&self.config, plan, &found, deadline, &mut warnings).await?;
        let credits = charge(&self.config.pricing, plan, &found, &pages);
        Ok(SearchOutcome { data: assemble(plan, found, pages), warnings, credits })
    }
}

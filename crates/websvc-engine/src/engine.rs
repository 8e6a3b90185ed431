//! The engine: what every operation needs, and the stages of a search in their order.

use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use url::Url;
use websvc_scrape::{Files, Page, Scraper};
use websvc_validate::{ScrapePlan, SearchPlan};

use crate::error::EngineError;
use crate::ingest::ingest;
use crate::mirror::{self, Mirror};
use crate::pricing::Pricing;
use crate::search::{Review, SearchOutcome, assemble, charge, find, gather, review, review_page};
use crate::source::{Counted, SearchSource, SourceFigures};

/// What becomes of the embedded index when pages come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUse {
    /// They go to it.
    Filled,
    /// They go to its mirrors alone: nobody searches it, and it would fill the disk.
    Bypassed,
}

/// What an engine is built of.
#[derive(Debug)]
pub struct EngineConfig {
    /// The sources that are asked, in order of preference.
    pub sources: Vec<Arc<dyn SearchSource>>,
    /// What gets pages.
    pub scraper: Scraper,
    /// Where scraped pages go to be searched; `None` when this process may not write.
    pub index: Option<Arc<websvc_index::Index>>,
    /// Whether they go there.
    pub index_use: IndexUse,
    /// Where they are written, too.
    pub mirrors: Vec<Arc<Mirror>>,
    /// The price list.
    pub pricing: Pricing,
}

impl EngineConfig {
    /// Returns the index when pages are to go to it.
    pub(crate) fn filled_index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.index.as_ref().filter(|_| self.index_use == IndexUse::Filled)
    }
}

/// The operations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    config: Arc<EngineConfig>,
    /// The sources of the configuration with their counters.
    counted: Arc<[Arc<Counted>]>,
}

impl Engine {
    /// Builds an engine.
    pub fn new(mut config: EngineConfig) -> Self {
        let counted: Arc<[_]> =
            config.sources.drain(..).map(|source| Arc::new(Counted::new(source))).collect();
        config.sources = counted.iter().map(|source| Arc::clone(source) as Arc<dyn SearchSource>).collect();
        Self { config: Arc::new(config), counted }
    }

    /// Returns what gets pages.
    pub fn scraper(&self) -> &Scraper {
        &self.config.scraper
    }

    /// Returns the sources that are asked, in order of preference.
    pub fn sources(&self) -> &[Arc<dyn SearchSource>] {
        &self.config.sources
    }

    /// Returns the figures of the sources, in order of preference.
    pub fn source_figures(&self) -> Vec<SourceFigures> {
        self.counted.iter().map(|source| source.figures()).collect()
    }

    /// Returns the places beside the index that pages are written to.
    pub fn mirrors(&self) -> &[Arc<Mirror>] {
        &self.config.mirrors
    }

    /// Returns the index when pages that come in are to go to it.
    pub fn filled_index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.filled_index()
    }

    /// Returns the index of this process, when it may write.
    pub fn index(&self) -> Option<&Arc<websvc_index::Index>> {
        self.config.index.as_ref()
    }

    /// Gets one page, and hands it to the index when it may be kept.
    ///
    /// # Errors
    /// [`EngineError::NotSupported`], or [`EngineError::Page`].
    pub async fn scrape(
        &self,
        url: &Url,
        plan: &ScrapePlan,
        files: &Files,
        deadline: Instant,
    ) -> Result<Page, EngineError> {
        let Review { warnings } = review_page(plan, &self.config.scraper)?;
        let page = self.config.scraper.scrape(url, plan, deadline).await;
        let mut page = page.map_err(EngineError::Page)?;
        page.warnings.splice(..0, warnings);
        files.publish(&mut page).await;
        let copies: Vec<_> = page.index_copy.take().into_iter().map(|copy| *copy).collect();
        page.warnings.extend(mirror::offer(&self.config.mirrors, &copies));
        if let Some(index) = self.config.filled_index().filter(|_| !copies.is_empty())
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
    pub async fn search(
        &self,
        plan: &SearchPlan,
        files: &Files,
        started: Instant,
    ) -> Result<SearchOutcome, EngineError> {
        let deadline = started + plan.timeout();
        let Review { mut warnings } = review(plan, &self.config.scraper)?;
        let found = find(&self.config.sources, plan, deadline, Timestamp::now()).await?;
        warnings.extend(found.warnings.iter().cloned());
        let pages = gather(&self.config, plan, &found, files, deadline, &mut warnings).await?;
        let credits = charge(&self.config.pricing, plan, &found, &pages);
        Ok(SearchOutcome { data: assemble(plan, found, pages), warnings, credits })
    }
}

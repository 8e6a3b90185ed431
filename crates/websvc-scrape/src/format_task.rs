//! Formatting of a received page as a task of the blocking pool, within the limits for CPU work, documents and memory.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use websvc_documents::DocumentKind;
use websvc_stage::Stage;
use websvc_validate::ScrapePlan;

use crate::background_limits::BackgroundPool;
use crate::cache::StoredCopy;
use crate::documents::{ConvertedDocument, ReadOptions, document_kind, options_of};
use crate::error::ScrapeError;
use crate::format;
use crate::output_cache::OutputKey;
use crate::page::Page;
use crate::raw::{CacheState, RawPage};
use crate::scraper::Scraper;

/// The size in bytes above which a page is large.
const LARGE_PAGE_BYTES: usize = 1024 * 1024;

impl Scraper {
    /// Writes a page in the formats of the plan. Stores the result in the output cache if the page cache has a `copy`
    /// of the page and the plan allows storing.
    pub(crate) async fn format(
        &self,
        page: RawPage,
        copy: Option<StoredCopy>,
        plan: ScrapePlan,
        deadline: Instant,
    ) -> Result<Page, ScrapeError> {
        let now_ms = self.now_ms();
        let output_key = OutputKey::from_plan(&plan);
        let copy = copy.filter(|_| plan.store_in_cache);
        let fetched_at_ms = copy.as_ref().map_or(now_ms, |copy| copy.fetched_at_ms);
        let for_index = self.is_for_index(page.cache_state, copy.as_ref(), now_ms);
        let converted = if format::is_only_bytes(&plan) {
            None
        } else {
            self.convert_document(&page, options_of(&plan), deadline).await?
        };
        let permit = self.acquire_large_page_permit(&page, converted.as_ref()).await?;
        let formatting = self.run_cpu_task(move |_| {
            let _permit = permit;
            let page = format::format_page(page, converted, &plan, for_index)?;
            Ok(Page { fetched_at_ms, ..page })
        });
        let mut page = self.stages().run(Stage::Extract, formatting).await?;
        page.metadata.scrape_id = Some(self.new_scrape_id());
        if let Some(copy) = copy.filter(|_| page.artifacts.is_none()) {
            self.inner.output_cache.insert(copy, output_key, &page);
        }
        Ok(page)
    }

    /// Returns true if a page is new for the index, or may be missing there.
    fn is_for_index(&self, cache_state: CacheState, copy: Option<&StoredCopy>, now_ms: u64) -> bool {
        let unindexed = &self.inner.unindexed_pages;
        match (cache_state, copy) {
            (CacheState::Miss, copy) => {
                if let Some(copy) = copy {
                    unindexed.note(copy);
                }
                true
            }
            (CacheState::Hit(_), Some(copy)) => unindexed.take(copy, now_ms),
            (CacheState::Hit(_), None) => false,
        }
    }

    /// Returns the ID of a new scrape. It contains the time, by which other replicas see whether the scrape is recent.
    pub(crate) fn new_scrape_id(&self) -> String {
        let now_ms = self.now_ms();
        let nanos = u32::try_from(now_ms % 1000 * 1_000_000).unwrap_or_default();
        let time = uuid::Timestamp::from_unix(uuid::NoContext, now_ms / 1000, nanos);
        uuid::Uuid::new_v7(time).to_string()
    }

    /// Waits for the permit of a large page; other pages need none. The blocking task has to own it, because the task
    /// outlives a cancelled caller.
    pub(crate) async fn acquire_large_page_permit(
        &self,
        page: &RawPage,
        converted: Option<&ConvertedDocument>,
    ) -> Result<Option<OwnedSemaphorePermit>, ScrapeError> {
        let bytes = converted.map_or(page.body.len(), |converted| converted.html.len());
        if bytes <= LARGE_PAGE_BYTES {
            return Ok(None);
        }
        let permits = Arc::clone(&self.inner.large_page_permits);
        permits.acquire_owned().await.map(Some).map_err(|_closed| ScrapeError::Stopping)
    }

    /// Converts a document to an HTML page; `None` for pages that are not documents, and for PDFs without options.
    pub(crate) async fn convert_document(
        &self,
        page: &RawPage,
        options: Option<ReadOptions>,
        deadline: Instant,
    ) -> Result<Option<ConvertedDocument>, ScrapeError> {
        let Some(kind) = document_kind(page) else { return Ok(None) };
        let options = match options {
            Some(options) => options,
            None if kind == DocumentKind::Pdf => return Ok(None),
            None => ReadOptions::default(),
        };
        let _permit = self.acquire(BackgroundPool::Documents).await;
        let reading = self.inner.documents.read(kind, page.body.clone(), &options, deadline);
        let parsed = self.stages().run(Stage::Document, reading).await;
        Ok(Some(ConvertedDocument::new(kind, parsed.map_err(ScrapeError::Document)?)))
    }
}

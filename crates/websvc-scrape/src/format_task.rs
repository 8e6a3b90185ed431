//! A page that was received to the formats that are asked for, within the bounds of the CPU.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use websvc_documents::DocumentKind;
use websvc_stage::Stage;
use websvc_store::PageKey;
use websvc_validate::ScrapePlan;

use crate::background_limits::BackgroundPool;
use crate::documents::{ConvertedDocument, ReadOptions, document_kind, options_of};
use crate::error::ScrapeError;
use crate::format;
use crate::output_cache::OutputKey;
use crate::page::Page;
use crate::raw::RawPage;
use crate::scraper::Scraper;

/// A page of more bytes than this is large.
const LARGE_PAGE_BYTES: usize = 1024 * 1024;

impl Scraper {
    /// Writes a page in the formats of the plan, and keeps the result when the page is cached and anything may be kept.
    pub(crate) async fn render(
        &self,
        page: RawPage,
        kept: Option<(PageKey, u64)>,
        plan: ScrapePlan,
        deadline: Instant,
    ) -> Result<Page, ScrapeError> {
        let recipe = OutputKey::of(&plan);
        let kept = kept.filter(|_| plan.store_in_cache());
        let converted = self.convert_document(&page, options_of(&plan), deadline).await?;
        let turn = self.acquire_large_page_permit(&page, converted.as_ref()).await?;
        let writing = self.run_cpu_task(move |_| {
            let _turn = turn;
            format::format_page(page, converted, &plan)
        });
        let page = self.stages().run(Stage::Extract, writing).await?;
        if let Some((key, fetched_at_ms)) = kept.filter(|_| page.takings.is_none()) {
            self.inner.rendered.keep(key, recipe, fetched_at_ms, &page);
        }
        Ok(page)
    }

    /// Waits for the turn of a large page; others need none. It goes with the work, which outlives who waits for it.
    pub(crate) async fn acquire_large_page_permit(
        &self,
        page: &RawPage,
        converted: Option<&ConvertedDocument>,
    ) -> Result<Option<OwnedSemaphorePermit>, ScrapeError> {
        let bytes = converted.map_or(page.body.len(), |converted| converted.html.len());
        if bytes <= LARGE_PAGE_BYTES {
            return Ok(None);
        }
        Arc::clone(&self.inner.large).acquire_owned().await.map(Some).map_err(|_closed| ScrapeError::Stopping)
    }

    /// Turns a document into a page; `None` for what is a page already, and for PDFs without options.
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
        let _place = self.acquire(BackgroundPool::Documents).await?;
        let reading = self.inner.documents.read(kind, page.body.clone(), &options, deadline);
        let parsed = self.stages().run(Stage::Document, reading).await;
        Ok(Some(ConvertedDocument::new(kind, parsed.map_err(ScrapeError::Document)?)))
    }
}

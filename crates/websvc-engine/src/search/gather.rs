//! Stage 8, gather: scrapes the pages of the hits, several at a time, within the deadline of the request.

use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream;
use url::Url;
use websvc_scrape::{FilePublisher, OpenProfile, ScrapeError, Scraper};
use websvc_stage::Stage;
use websvc_store::PageScope;
use websvc_types::{ErrorCode, counted};
use websvc_validate::{ScrapePlan, SearchPlan, SourceKind};

use super::charge::charge_misses;
use super::find::SearchHits;
use super::page_result::{PageResult, PageResults};
use crate::change_tracking::{SnapshotWriteMode, TrackingContext, track_changes};
use crate::engine_config::EngineConfig;
use crate::error::EngineError;
use crate::generated;
use crate::ingest::IndexCopy;
use crate::media::{self, MediaContext};

/// The maximum number of pages of one request that are scraped at a time.
const MAX_CONCURRENT_PAGES: usize = 16;

/// The dependencies and limits of scraping the pages of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GatherContext<'a> {
    pub(crate) engine: &'a EngineConfig,
    /// The scraper with the rules of the request.
    pub(crate) scraper: &'a Scraper,
    /// The copies of pages that the request reads and stores.
    pub(crate) scope: PageScope,
    /// The team whose earlier scrapes the pages are compared with.
    pub(crate) team: &'a str,
    pub(crate) profile: Option<&'a OpenProfile>,
    pub(crate) files: &'a FilePublisher,
    pub(crate) deadline: Instant,
}

impl GatherContext<'_> {
    /// Returns the number of pages that are scraped at a time. It is one if the profile is saved, so that each page
    /// sees the changes of the page before.
    fn concurrency(self) -> usize {
        if self.profile.is_some_and(OpenProfile::can_save) { 1 } else { MAX_CONCURRENT_PAGES }
    }
}

/// Scrapes the page of every hit if the plan has formats.
///
/// # Errors
/// [`EngineError::CacheMiss`] if the plan reads only from the cache, and none of the pages is cached.
pub(crate) async fn gather(
    context: GatherContext<'_>,
    plan: &SearchPlan,
    found: &SearchHits,
    warnings: &mut Vec<String>,
) -> Result<PageResults, EngineError> {
    let mut pages = Vec::with_capacity(found.verticals.len());
    for vertical in &found.verticals {
        let scrape = plan.scrape.as_ref().filter(|_| has_pages(vertical.kind));
        let urls = vertical.hits.iter().map(|hit| hit.url.as_str());
        pages.push(match scrape {
            Some(scrape) => {
                let scraping: Vec<_> = urls.map(|url| scrape_hit(context, url, scrape)).collect();
                stream::iter(scraping).buffered(context.concurrency()).collect().await
            }
            None => urls.map(|_| PageResult::NotRequested).collect(),
        });
    }
    if let Some(miss) = cache_miss(context.engine, plan, &pages) {
        return Err(miss);
    }
    collect_warnings(&pages, warnings);
    index_pages(context, &mut pages, warnings).await;
    Ok(pages)
}

fn has_pages(kind: SourceKind) -> bool {
    match kind {
        SourceKind::Web | SourceKind::News => true,
        SourceKind::Images => false,
    }
}

async fn scrape_hit(context: GatherContext<'_>, url: &str, plan: &ScrapePlan) -> PageResult {
    let GatherContext { engine, scraper, scope: _, team, profile, files, deadline } = context;
    let deadline = deadline.min(Instant::now() + plan.timeout);
    let Ok(url) = Url::parse(url) else {
        return PageResult::Failed(ScrapeError::BadUrl { url: url.to_owned() });
    };
    let model = engine.completion_model();
    let scrape_plan = plan.for_scraper(model.is_some());
    let scraping = scraper.scrape_with(&url, &scrape_plan, profile, deadline);
    match tokio::time::timeout_at(deadline.into(), scraping).await {
        Ok(Ok(mut page)) => {
            let media = MediaContext { tools: &engine.media, scraper, team, url: &url, files, deadline };
            if let Err(error) = media::download(media, plan, &mut page).await {
                return PageResult::Failed(error);
            }
            if let Err(error) = generated::write(model, scraper.stages(), plan, &mut page, deadline).await {
                return PageResult::Failed(error);
            }
            let limits = engine.snapshots;
            let write_mode = SnapshotWriteMode::Immediate;
            let tracking = TrackingContext { scraper, model, limits, write_mode, team, url: &url, deadline };
            track_changes(tracking, plan, &mut page).await;
            scraper.stages().run(Stage::Publish, files.publish(&mut page)).await;
            PageResult::Page(Box::new(page))
        }
        Ok(Err(error)) => PageResult::Failed(error),
        Err(_elapsed) => PageResult::Failed(ScrapeError::Timeout),
    }
}

/// Returns the 404 error of `minAge` and lockdown if no page at all is cached.
fn cache_miss(engine: &EngineConfig, plan: &SearchPlan, pages: &PageResults) -> Option<EngineError> {
    let scrape = plan.scrape.as_ref()?;
    if scrape.min_age.is_none() && !scrape.lockdown {
        return None;
    }
    let mut miss = None;
    for result in pages.iter().flatten() {
        match result {
            PageResult::Failed(error @ (ScrapeError::NoCachedData | ScrapeError::LockdownMiss)) => {
                miss = Some(error);
            }
            PageResult::Failed(_) => {}
            PageResult::Page(_) | PageResult::NotRequested => return None,
        }
    }
    miss.map(|error| EngineError::CacheMiss {
        code: error.code(),
        message: error.to_string(),
        bill: charge_misses(&engine.pricing, scrape, pages),
    })
}

fn collect_warnings(pages: &PageResults, warnings: &mut Vec<String>) {
    let late = pages.iter().flatten().filter(
        |result| matches!(result, PageResult::Failed(error) if error.code() == ErrorCode::ScrapeTimeout),
    );
    let late = late.count();
    if late > 0 {
        let late = counted(late, "result was", "results were");
        warnings.push(format!("{late} not scraped in time, see metadata.error"));
    }
    for result in pages.iter().flatten() {
        let PageResult::Page(page) = result else { continue };
        for warning in &page.warnings {
            let url = page.metadata.url.as_deref().unwrap_or_default();
            warnings.push(format!("{url}: {warning}"));
        }
    }
}

/// Adds new pages to the index.
async fn index_pages(context: GatherContext<'_>, pages: &mut PageResults, warnings: &mut Vec<String>) {
    let GatherContext { engine, scraper, scope, .. } = context;
    let documents: Vec<_> = pages
        .iter_mut()
        .flatten()
        .filter_map(|result| match result {
            PageResult::Page(page) => IndexCopy::take(page),
            PageResult::NotRequested | PageResult::Failed(_) => None,
        })
        .collect();
    let failure_warning = "the scraped pages could not be added to the index";
    warnings.extend(engine.index_pages(scraper, scope, documents, failure_warning).await.warnings);
}

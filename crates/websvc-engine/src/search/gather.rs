//! Stage 8, gather: hits to pages, several at a time, under the deadline of the request.

use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream;
use url::Url;
use websvc_scrape::{FilePublisher, OpenProfile, Page, ScrapeError, Scraper};
use websvc_stage::Stage;
use websvc_store::PageScope;
use websvc_types::ErrorCode;
use websvc_validate::{ScrapePlan, SearchPlan, SourceKind};

use super::charge::charge_misses;
use super::find::SearchHits;
use crate::engine::EngineConfig;
use crate::error::EngineError;
use crate::generated;

/// How many pages of one request are got at one time.
const PAGES_AT_ONCE: usize = 16;

/// What pages are got with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GatherContext<'a> {
    pub(crate) engine: &'a EngineConfig,
    /// What gets them by the rules of the request.
    pub(crate) scraper: &'a Scraper,
    /// The copies of pages that the request reads and stores.
    pub(crate) scope: PageScope,
    pub(crate) profile: Option<&'a OpenProfile>,
    pub(crate) files: &'a FilePublisher,
    pub(crate) deadline: Instant,
}

impl GatherContext<'_> {
    /// Returns how many pages are got at one time: one, where each finds what the one before has left.
    fn pages_at_once(self) -> usize {
        if self.profile.is_some_and(OpenProfile::can_save) { 1 } else { PAGES_AT_ONCE }
    }
}

/// What became of one hit's page.
#[derive(Debug)]
pub(crate) enum PageResult {
    /// Nobody asked for it.
    NotAsked,
    /// It was got.
    Page(Box<Page>),
    /// It was not; the result stays and says why.
    Failed(ScrapeError),
}

/// The pages of the hits: one list per vertical, one entry per hit, in their order.
pub(crate) type PageResults = Vec<Vec<PageResult>>;

/// Gets the page of every hit when the plan asks for formats.
///
/// # Errors
/// [`EngineError::CacheMiss`] when only the cache was to be asked and it had none of the pages.
pub(crate) async fn gather(
    means: GatherContext<'_>,
    plan: &SearchPlan,
    found: &SearchHits,
    warnings: &mut Vec<String>,
) -> Result<PageResults, EngineError> {
    let mut pages = Vec::with_capacity(found.verticals.len());
    for vertical in &found.verticals {
        let scrape = plan.scrape().filter(|_| has_pages(vertical.kind));
        let urls = vertical.hits.iter().map(|hit| hit.url.as_str());
        pages.push(match scrape {
            Some(scrape) => {
                let getting: Vec<_> = urls.map(|url| scrape_hit(means, url, scrape)).collect();
                stream::iter(getting).buffered(means.pages_at_once()).collect().await
            }
            None => urls.map(|_| PageResult::NotAsked).collect(),
        });
    }
    if let Some(miss) = cache_miss(means.engine, plan, &pages) {
        return Err(miss);
    }
    collect_warnings(&pages, warnings);
    index_pages(means, &mut pages, warnings).await;
    Ok(pages)
}

fn has_pages(kind: SourceKind) -> bool {
    match kind {
        SourceKind::Web | SourceKind::News => true,
        SourceKind::Images => false,
    }
}

async fn scrape_hit(means: GatherContext<'_>, url: &str, plan: &ScrapePlan) -> PageResult {
    let GatherContext { engine, scraper, scope: _, profile, files, deadline } = means;
    let deadline = deadline.min(Instant::now() + plan.timeout());
    let Ok(url) = Url::parse(url) else {
        return PageResult::Failed(ScrapeError::BadUrl { url: url.to_owned() });
    };
    let reading = plan.without_generated_formats();
    let scraping = scraper.scrape_with(&url, &reading, profile, deadline);
    match tokio::time::timeout_at(deadline.into(), scraping).await {
        Ok(Ok(mut page)) => {
            generated::write(engine.completion_model(), scraper.stages(), plan, &mut page, deadline).await;
            scraper.stages().run(Stage::Publish, files.publish(&mut page)).await;
            PageResult::Page(Box::new(page))
        }
        Ok(Err(error)) => PageResult::Failed(error),
        Err(_elapsed) => PageResult::Failed(ScrapeError::Timeout),
    }
}

/// Returns the 404 of `minAge` and lockdown, when no page at all could be served.
fn cache_miss(engine: &EngineConfig, plan: &SearchPlan, pages: &PageResults) -> Option<EngineError> {
    let scrape = plan.scrape()?;
    if scrape.min_age().is_none() && !scrape.lockdown() {
        return None;
    }
    let mut miss = None;
    for gathered in pages.iter().flatten() {
        match gathered {
            PageResult::Failed(error @ (ScrapeError::NoCachedData | ScrapeError::LockdownMiss)) => {
                miss = Some(error);
            }
            PageResult::Failed(_) => {}
            PageResult::Page(_) | PageResult::NotAsked => return None,
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
        |gathered| matches!(gathered, PageResult::Failed(error) if error.code() == ErrorCode::ScrapeTimeout),
    );
    let late = late.count();
    if late > 0 {
        warnings
            .push(format!("{late} of the results were not scraped in time; their metadata.error says so"));
    }
    for gathered in pages.iter().flatten() {
        let PageResult::Page(page) = gathered else { continue };
        for warning in &page.warnings {
            let url = page.metadata.url.as_deref().unwrap_or_default();
            warnings.push(format!("{url}: {warning}"));
        }
    }
}

/// Hands fresh pages to the index.
async fn index_pages(means: GatherContext<'_>, pages: &mut PageResults, warnings: &mut Vec<String>) {
    let GatherContext { engine, scraper, scope, .. } = means;
    let copies: Vec<_> = pages
        .iter_mut()
        .flatten()
        .filter_map(|gathered| match gathered {
            PageResult::Page(page) => page.index_copy.take().map(|copy| *copy),
            PageResult::NotAsked | PageResult::Failed(_) => None,
        })
        .collect();
    let failed = "the scraped pages could not be added to the index";
    warnings.extend(engine.keep(scope, copies, scraper.stages(), failed).await);
}

//! Reading pages: scrapes in the policy of the team, each page once per run.

use std::sync::Arc;

use url::Url;
use websvc_agent::{ReadPage, Stop, ToolFailure, ToolOutput};
use websvc_engine::{Engine, EngineError, run_blocking};
use websvc_scrape::{FilePublisher, Page};
use websvc_types::format::{Links, Markdown, RawHtml};
use websvc_types::limits::SCRAPE_TIMEOUT_MIN_MS;
use websvc_types::{ErrorCode, Format, Parser, ParserKind, Proxy, ScrapeOptions, ScrapeRequest};
use websvc_validate::{Checked, PagePlan, check_request};

use super::RunEnvironment;
use super::destinations::Destinations;
use super::links::{page_links, whole_page};
use crate::budget::{Price, Reservation};

/// The maximum length of a page, in bytes. The rest is cut.
const MAX_MARKDOWN_BYTES: usize = 400_000;

/// The maximum number of pages of a document that are read.
const MAX_DOCUMENT_PAGES: u64 = 50;

/// The maximum time of one page, in milliseconds.
const TIMEOUT_MS: u64 = 60_000;

/// The maximum length of the reason of a failure, in characters.
const MAX_REASON_CHARS: usize = 300;

/// The elements whose text is left out. Their links are listed nevertheless.
const EXCLUDED_TAGS: [&str; 2] = ["nav", "footer"];

/// The name that the boundaries of strict runs share. Each run checks the final URL of a fetch that it shares with another.
const BOUNDARY: &str = "the URLs of a run";

impl RunEnvironment {
    /// Reads one page.
    pub(super) async fn scrape(&self, url: &str) -> Result<ToolOutput, ToolFailure> {
        let url = self.destination(url)?;
        let page = self.read(&url, self.budget.remaining()).await?;
        Ok(ToolOutput::Read { pages: vec![(*page).clone()], failures: Vec::new(), answer: String::new() })
    }

    /// Reads a page that the run may open, for at most `share` credits. A page that the run has read before costs nothing.
    pub(super) async fn read(&self, url: &Url, share: u64) -> Result<Arc<ReadPage>, ToolFailure> {
        if let Some(page) = self.memory.lock().get(url) {
            return Ok(page);
        }
        let Some(_permit) = self.tools.read_permit().await else {
            return Err(ToolFailure::Failed("the service is stopping".to_owned()));
        };
        let (plan, reservation) = self.reserve_page(url, share).await?;
        let (target, scrape) = (&plan.target, &plan.scrape);
        let (engine, files) = (self.page_engine(), FilePublisher::inline());
        let deadline = self.call_deadline().min(std::time::Instant::now() + scrape.timeout);
        let outcome = engine.scrape(&target.url, scrape, &self.setup.team, &files, deadline).await;
        reservation.settle(&outcome.bill);
        let page = outcome.page.map_err(|error| failure(&error))?;
        let page = Arc::new(self.to_read_page(&target.url, page).await?);
        self.memory.lock().insert(url, &page);
        Ok(page)
    }

    /// Returns the engine for the pages of this run.
    fn page_engine(&self) -> Engine {
        match self.destinations.boundary() {
            Some(boundary) => self.tools.engine.with_url_boundary(BOUNDARY, boundary.clone()),
            None => self.tools.engine.clone(),
        }
    }

    /// Returns the plan for a page that costs at most `share` credits, which are reserved: without an enhanced proxy if that
    /// would be too expensive, and with as many pages of a document as the credits suffice for.
    async fn reserve_page(&self, url: &Url, share: u64) -> Result<(PagePlan, Reservation<'_>), ToolFailure> {
        let engine = &self.tools.engine;
        let mut stop = Stop::CreditLimit;
        for proxy in [Proxy::Auto, Proxy::Basic] {
            let held = engine.max_page_credits(&self.plan_with(url, proxy, 1)?.scrape);
            if held > share {
                continue;
            }
            let price = engine.document_page_price();
            let further = (share - held).checked_div(price).unwrap_or(u64::MAX);
            let further = further.min(MAX_DOCUMENT_PAGES - 1);
            let plan = self.plan_with(url, proxy, u32::try_from(1 + further).unwrap_or(1))?;
            match self.budget.reserve(Price { held, max: held + further * price }).await {
                Ok(reservation) => return Ok((plan, reservation)),
                Err(reason) => stop = reason,
            }
        }
        Err(ToolFailure::Stopped(stop))
    }

    fn plan_with(&self, url: &Url, proxy: Proxy, max_pages: u32) -> Result<PagePlan, ToolFailure> {
        let options = ScrapeOptions {
            formats: Some(vec![
                Format::Markdown(Markdown::default()),
                Format::Links(Links::default()),
                Format::RawHtml(RawHtml::default()),
            ]),
            // The main content leaves out prices of cards and lists of links, which tasks ask for. The agent retrieves
            // the passages that it needs, so that the rest does no harm.
            only_main_content: Some(false),
            exclude_tags: Some(EXCLUDED_TAGS.map(str::to_owned).to_vec()),
            parsers: Some(vec![Parser { max_pages: Some(max_pages), ..Parser::new(ParserKind::Pdf) }]),
            proxy: Some(proxy),
            ..self.scrape_options()
        };
        let request = ScrapeRequest { options, ..ScrapeRequest::new(url.as_str()) };
        match check_request(&request, &self.setup.policy) {
            Ok(Checked { plan, warnings: _ }) => Ok(plan),
            Err(rejection) => Err(refused(&rejection.to_string())),
        }
    }

    /// Returns the options that all pages of the run share.
    pub(super) fn scrape_options(&self) -> ScrapeOptions {
        ScrapeOptions {
            timeout: Some(self.timeout_ms(SCRAPE_TIMEOUT_MIN_MS, TIMEOUT_MS)),
            location: self.setup.location.clone(),
            threat_protection: self.setup.threat_protection.clone(),
            ..ScrapeOptions::default()
        }
    }

    /// Returns the time of a request that begins now: what remains of the run, between two limits.
    pub(super) fn timeout_ms(&self, min: u64, max: u64) -> u64 {
        let remaining = self.setup.deadline.saturating_duration_since(std::time::Instant::now());
        u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX).clamp(min, max)
    }

    /// Converts a page, and makes its URLs known to the run.
    async fn to_read_page(&self, requested: &Url, page: Page) -> Result<ReadPage, ToolFailure> {
        if let Some(status) = page.metadata.status_code.filter(|status| *status >= 400) {
            return Err(ToolFailure::Failed(format!("the page has status {status}")));
        }
        let markdown = page.markdown.unwrap_or_default();
        let url = page.metadata.url.unwrap_or_else(|| requested.to_string());
        let base = Url::parse(&url).unwrap_or_else(|_| requested.clone());
        let (html, urls) = (page.raw_html.unwrap_or_default(), page.links.unwrap_or_default());
        let title = page.metadata.title.unwrap_or_default();
        let destinations = Arc::clone(&self.destinations);
        let work = move || {
            let links = page_links(&markdown, &whole_page(&html, &base), &urls);
            known_page(&destinations, ReadPage { url, title, markdown, links })
        };
        run_blocking(self.call_deadline(), work)
            .await
            .map_err(|error| ToolFailure::Failed(format!("the links of the page cannot be read: {error}")))
    }
}

/// Cuts a page that was read, and makes its URLs known to the run. Takes CPU time, because a page may be long.
pub(super) fn known_page(destinations: &Destinations, mut page: ReadPage) -> ReadPage {
    page.markdown.truncate(page.markdown.floor_char_boundary(MAX_MARKDOWN_BYTES));
    let urls = page.links.iter().map(|link| &link.url).chain([&page.url]);
    for url in urls.filter_map(|url| Url::parse(url).ok()) {
        destinations.learn(&url);
    }
    destinations.learn_all(&page.markdown);
    page
}

/// Returns the failure of a call. A refusal has no text of a page; other reasons can name what a host responded with.
pub(super) fn failure(error: &EngineError) -> ToolFailure {
    if let EngineError::Page(page) | EngineError::Profile(page) = error {
        match page.code() {
            ErrorCode::UnsafeDomainBlocked => {
                return refused(
                    "the URL or one that it leads to is blocked: by threat protection or the rules of the run",
                );
            }
            ErrorCode::ScrapeForbiddenUrl => return refused("the service may not connect to this address"),
            _ => {}
        }
    }
    ToolFailure::Failed(error.to_string().chars().take(MAX_REASON_CHARS).collect())
}

pub(super) fn refused(reason: &str) -> ToolFailure {
    ToolFailure::Refused(reason.chars().take(MAX_REASON_CHARS).collect())
}

//! The data of an extraction: pages are read and extracted concurrently, and their data is merged in their order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::json;
use url::Url;
use websvc_agent::{Collected, Draft, ReadPage, Stop, collect_page, has_values};
use websvc_engine::ChargeKind;
use websvc_model::{Model, ModelError, Usage};
use websvc_scrape::{FilePublisher, Page};
use websvc_transport::{BoxFuture, text_without_credentials, without_credentials};
use websvc_types::extract::{ExtractUrl, ExtractUrlStatus};
use websvc_validate::{ExtractPlan, ScrapePlan};

use super::budget::page_credits;
use super::discover::Discovered;
use super::{Extraction, Outcome, StoredExtraction};
use crate::budget::Price;

/// The maximum number of pages of an extraction that are read concurrently.
const MAX_CONCURRENT_PAGES: usize = 4;

/// The time at the end of an extraction that is left for merging.
const RESERVED_TIME: Duration = Duration::from_millis(200);

/// The maximum length of the reason why a page was not read, in characters.
const MAX_REASON_CHARS: usize = 300;

/// The maximum number of pages or hosts that a warning names.
const MAX_NAMED: usize = 5;

/// The reason why a page has no data, or the data no correction.
const TIME_IS_OVER: &str = "the time of the extraction is over";

/// The data of one page.
struct PageData {
    url: String,
    collected: Collected,
}

/// The reason why a page has no data.
enum PageFailure {
    /// It could not be paid.
    Stopped(Stop),
    /// The page was read, but the model failed.
    Model(String),
    /// Another reason.
    Failed(String),
}

/// The pages so far.
#[derive(Default)]
pub(super) struct Pages {
    pub(super) draft: Draft,
    pub(super) usage: Usage,
    trace: Vec<ExtractUrl>,
    failures: Vec<String>,
    /// The pages that were read and have no values.
    empty: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// The number of pages that were read.
    pub(super) read: u64,
    /// The model failed for a page.
    has_model_failed: bool,
}

impl Extraction<'_> {
    /// Extracts the data.
    pub(super) async fn extract(&self, mut warnings: Vec<String>) -> Outcome {
        let Some(model) = self.runs.inner.engine.completion_model() else {
            return Outcome::failed("no language model is configured in [llm]");
        };
        let Discovered { urls, warnings: more, stop } = self.discover().await;
        if let Some(stop) = stop {
            return self.stopped(stop, Pages::default());
        }
        if urls.is_empty() {
            let reason = if more.is_empty() { "no page was found".to_owned() } else { more.join("; ") };
            return Outcome::failed(reason);
        }
        warnings.extend(more);
        warnings.extend(self.withheld_headers(&urls));
        let mut pages = Pages { warnings, ..Pages::default() };
        let mut all: Vec<BoxFuture<'_, Result<PageData, PageFailure>>> = Vec::with_capacity(urls.len());
        for url in &urls {
            all.push(Box::pin(self.page(model, url)));
        }
        let mut reading = stream::iter(all).buffered(MAX_CONCURRENT_PAGES);
        let mut read = urls.iter();
        while let (Some(result), Some(url)) = (reading.next().await, read.next()) {
            let url = without_credentials(url).to_string();
            match result {
                Ok(page) => pages.add(url, page),
                Err(PageFailure::Stopped(stop)) => return self.stopped(stop, pages),
                Err(PageFailure::Model(reason)) => {
                    pages.has_model_failed = true;
                    pages.add_failure(url, reason);
                }
                Err(PageFailure::Failed(reason)) => pages.add_failure(url, reason),
            }
        }
        self.finish_data(model, pages).await
    }

    fn stopped(&self, stop: Stop, pages: Pages) -> Outcome {
        Outcome::stopped(stop, pages.into_extraction(self, false))
    }

    /// Reads a page and extracts its data, within the time of the extraction.
    async fn page(&self, model: &dyn Model, url: &Url) -> Result<PageData, PageFailure> {
        let reading = self.read_page(model, url);
        match tokio::time::timeout_at(self.pages_deadline().into(), reading).await {
            Ok(result) => result,
            Err(_elapsed) => Err(PageFailure::Failed(TIME_IS_OVER.to_owned())),
        }
    }

    /// Reads a page and extracts its data.
    async fn read_page(&self, model: &dyn Model, url: &Url) -> Result<PageData, PageFailure> {
        let engine = &self.runs.inner.engine;
        let Some(_permit) = self.runs.inner.tools.read_permit().await else {
            return Err(PageFailure::Failed("the service is stopping".to_owned()));
        };
        let reserved = self.budget.reserve(Price::from_credits(page_credits(engine, self.plan))).await;
        let reservation = reserved.map_err(PageFailure::Stopped)?;
        let deadline = self.pages_deadline().min(Instant::now() + self.plan.scrape.timeout);
        let files = FilePublisher::inline();
        let outcome = engine.scrape(url, &self.scrape_plan(url), self.team, &files, deadline).await;
        let mut bill = outcome.bill;
        let page = match outcome.page {
            Ok(page) => to_read_page(url, page),
            Err(error) => Err(cut(&error.to_string())),
        };
        let page = match page {
            Ok(page) => page,
            Err(reason) => {
                reservation.settle(&bill);
                return Err(PageFailure::Failed(reason));
            }
        };
        let url = page.url.clone();
        let (prompt, schema) = (&self.prompt, self.plan.schema.as_ref());
        let collected = collect_page(model, prompt, schema, page, self.pages_deadline()).await;
        if collected.as_ref().is_ok_and(|collected| !collected.data.is_null()) {
            bill.add_line(ChargeKind::Json, 1, engine.json_price());
        }
        reservation.settle(&bill);
        match collected {
            Ok(mut collected) => {
                let is_object = collected.data.is_object() || collected.data.is_null();
                if self.plan.schema.is_none() && !is_object {
                    collected.data = json!({ "value": collected.data });
                }
                Ok(PageData { url, collected })
            }
            Err(error) => {
                let reason = model_failure(&error, self.pages_deadline());
                Err(PageFailure::Model(cut(&format!("the language model failed: {reason}"))))
            }
        }
    }

    /// Returns the plan for a page: with the headers of the request only if the page is of a host that the caller named.
    fn scrape_plan(&self, url: &Url) -> Cow<'_, ScrapePlan> {
        let plan = &self.plan.scrape;
        if plan.headers.is_empty() || self.header_hosts.contains(url) {
            return Cow::Borrowed(plan);
        }
        Cow::Owned(plan.without_headers())
    }

    /// Returns the warning about the hosts that do not get the headers of the request.
    fn withheld_headers(&self, urls: &[Url]) -> Option<String> {
        if self.plan.scrape.headers.is_empty() {
            return None;
        }
        let others = urls.iter().filter(|url| !self.header_hosts.contains(url));
        // The host alone would not show a port that differs, or that a URL is of http only.
        let origins: BTreeSet<String> = others.map(|url| url.origin().ascii_serialization()).collect();
        let origins: Vec<String> = origins.into_iter().collect();
        (!origins.is_empty()).then(|| {
            let origins = named(&origins, "; ");
            format!("scrapeOptions.headers are only sent to the hosts of urls, not to {origins}")
        })
    }

    /// Returns the end of the time for pages.
    fn pages_deadline(&self) -> Instant {
        self.deadline.checked_sub(RESERVED_TIME).unwrap_or(self.deadline)
    }
}

impl Pages {
    fn add(&mut self, requested: String, page: PageData) {
        let PageData { url, collected: Collected { data, problem, usage, is_cut } } = page;
        self.read += 1;
        self.usage.add(usage);
        if is_cut {
            self.warnings.push(format!("{url} is too long: its end was not read"));
        }
        let reason = problem.map(|reason| format!(": {reason}")).unwrap_or_default();
        if data.is_null() {
            self.failures.push(format!("{url}: the language model gave no usable answer{reason}"));
        } else {
            if problem.is_some() {
                let what = "a part is missing, the language model gave no usable answer";
                self.warnings.push(format!("{url}: {what}{reason}"));
            }
            if !has_values(&data) {
                self.empty.push(format!("{url}: it states none of the values"));
            }
        }
        let used_in_completion = self.draft.add(&url, data);
        let status = ExtractUrlStatus::Scraped;
        self.trace.push(ExtractUrl { url: requested, status, error: None, used_in_completion });
    }

    fn add_failure(&mut self, url: String, reason: String) {
        self.failures.push(format!("{url}: {reason}"));
        let status = ExtractUrlStatus::Error;
        self.trace.push(ExtractUrl { url, status, error: Some(reason), used_in_completion: false });
    }

    /// Returns the error of an extraction without data.
    pub(super) fn no_data(&self) -> String {
        let is_unread = self.read == 0 && !self.has_model_failed;
        let what = if is_unread { "no page could be read" } else { "no page has data" };
        let reasons: Vec<String> = self.failures.iter().chain(&self.empty).cloned().collect();
        format!("{what}: {}", named(&reasons, "; "))
    }

    pub(super) fn warn_of_failures(&mut self) {
        if !self.failures.is_empty() {
            let count = self.failures.len();
            let are_missing = if count == 1 { "page is missing" } else { "pages are missing" };
            self.warnings.push(format!("{count} {are_missing}: {}", named(&self.failures, "; ")));
        }
    }

    /// Returns the result, with the data only if it has passed its checks.
    pub(super) fn into_extraction(self, extraction: &Extraction<'_>, has_data: bool) -> StoredExtraction {
        let Self { draft, usage, trace, failures: _, empty: _, warnings, read: _, has_model_failed: _ } =
            self;
        let plan = extraction.plan;
        let (data, sources) = draft.into_parts();
        StoredExtraction {
            data: has_data.then_some(data),
            sources: (plan.show_sources && has_data).then_some(sources),
            url_trace: plan.url_trace.then_some(trace),
            tokens: usage.total(),
            warnings,
        }
    }
}

/// Returns the task for the model: what the caller wrote, without passwords of URLs. Texts of pages are never part of it.
pub(super) fn prompt(plan: &ExtractPlan) -> String {
    let task = match (plan.prompt.as_deref(), &plan.schema) {
        (Some(prompt), _) => prompt,
        (None, Some(_)) => "Extract the data that the fields describe.",
        (None, None) => "Extract the main facts, as an object with short names.",
    };
    let prompt = match &plan.system_prompt {
        Some(system_prompt) => format!("{system_prompt}\n\n{task}"),
        None => task.to_owned(),
    };
    text_without_credentials(&prompt).into_owned()
}

/// Returns the first of several texts.
pub(super) fn named(texts: &[String], separator: &str) -> String {
    let mut text = texts.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(separator);
    if texts.len() > MAX_NAMED {
        text.push_str(&format!("{separator}and {} more", texts.len() - MAX_NAMED));
    }
    text
}

/// Returns the reason why the model failed, which may be the end of the time of the extraction.
pub(super) fn model_failure(error: &ModelError, deadline: Instant) -> String {
    match error {
        error if error.is_late() && Instant::now() >= deadline => TIME_IS_OVER.to_owned(),
        error => error.with_advice(),
    }
}

fn to_read_page(requested: &Url, page: Page) -> Result<ReadPage, String> {
    if let Some(status) = page.metadata.status_code.filter(|status| *status >= 400) {
        return Err(format!("the page has status {status}"));
    }
    let markdown = page.markdown.unwrap_or_default();
    if markdown.trim().is_empty() {
        return Err("the page has no text".to_owned());
    }
    let url = page.metadata.url.unwrap_or_else(|| without_credentials(requested).to_string());
    let title = page.metadata.title.unwrap_or_default();
    Ok(ReadPage { url, title, markdown, links: Vec::new() })
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_REASON_CHARS).collect()
}

//! The rules of a batch: request in, plan out.

use url::Url;
use websvc_types::job::{BatchScrapeRequest, WebhookJobType};
use websvc_types::limits::{BATCH_URLS_MAX, BATCH_URLS_MIN};
use websvc_types::{ScrapeOptions, ViolationCode};

use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::scrape;
use crate::scrape_plan::ScrapePlan;
use crate::target::Target;
use crate::webhook::{self, WebhookPlan};
use crate::{bounds, job, target};

/// A page of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPage {
    pub(crate) url: Url,
    pub(crate) given: String,
    pub(crate) index: u64,
}

impl BatchPage {
    /// Returns the address that is fetched, with the user name and password it was given with.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the address as it was sent; without its user name and password, if it has them.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.given
    }

    /// Returns its index in the list as sent, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }
}

/// A checked batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchPlan {
    pub(crate) pages: Vec<BatchPage>,
    pub(crate) listed: u64,
    pub(crate) invalid_urls: Option<Vec<String>>,
    pub(crate) append_to: Option<String>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) webhook: Option<WebhookPlan>,
    pub(crate) options: ScrapeOptions,
    pub(crate) scrape: ScrapePlan,
}

impl BatchPlan {
    /// Returns the pages in their order, also those that are named several times; at least one.
    #[must_use]
    pub fn pages(&self) -> &[BatchPage] {
        &self.pages
    }

    /// Returns how many URLs were sent, those that are no address of a page among them.
    #[must_use]
    pub fn listed(&self) -> u64 {
        self.listed
    }

    /// Returns what is no address of a page; `None` when the request wanted all of them to be.
    #[must_use]
    pub fn invalid_urls(&self) -> Option<&[String]> {
        self.invalid_urls.as_deref()
    }

    /// Returns the batch that the pages are added to.
    #[must_use]
    pub fn append_to(&self) -> Option<&str> {
        self.append_to.as_deref()
    }

    /// Returns how many pages are worked on at one time, when that is said.
    #[must_use]
    pub fn max_concurrency(&self) -> Option<usize> {
        self.max_concurrency
    }

    /// Returns the options as they were sent: they are checked again when the work begins, or goes on.
    #[must_use]
    pub fn options(&self) -> &ScrapeOptions {
        &self.options
    }

    /// Returns where its events are sent.
    #[must_use]
    pub fn webhook(&self) -> Option<&WebhookPlan> {
        self.webhook.as_ref()
    }

    /// Returns how each page is scraped.
    #[must_use]
    pub fn scrape(&self) -> &ScrapePlan {
        &self.scrape
    }
}

/// Checks a batch. The plan holds only if the report has no violation.
pub(crate) fn check(report: &mut Report, request: BatchScrapeRequest, policy: &Policy) -> BatchPlan {
    let BatchScrapeRequest {
        urls,
        ignore_invalid_urls,
        append_to_id,
        max_concurrency,
        zero_data_retention,
        webhook,
        options,
    } = request;
    job::check_retention(report, zero_data_retention, &Path::Root.key("lockdown"), &options, policy);
    if append_to_id.is_some() && webhook.is_some() {
        report.violation(&Path::Root.key("webhook"), ViolationCode::Conflict, |name| {
            format!(
                "{name} cannot be given together with appendToId: the events of that batch go where it says"
            )
        });
    }
    let webhook = webhook::check(report, webhook, WebhookJobType::Batch);
    let max_concurrency = job::check_concurrency(report, max_concurrency);
    let scrape = scrape::check_single(report, options.clone(), policy);
    let listed = urls.len() as u64;
    let (pages, invalid_urls) = pages(report, urls, ignore_invalid_urls.unwrap_or(true));
    BatchPlan {
        pages,
        listed,
        invalid_urls,
        append_to: append_to_id,
        max_concurrency,
        webhook,
        options,
        scrape,
    }
}

fn pages(report: &mut Report, given: Vec<String>, ignores: bool) -> (Vec<BatchPage>, Option<Vec<String>>) {
    let body = Path::Root;
    let path = body.key("urls");
    if !bounds::items(report, &path, given.len(), BATCH_URLS_MAX) {
        return (Vec::new(), None);
    }
    if given.len() < BATCH_URLS_MIN && !report.has(&path) {
        report.violation(&path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least {BATCH_URLS_MIN} item")
        });
        return (Vec::new(), None);
    }
    let (mut pages, mut invalid) = (Vec::new(), Vec::new());
    let count = given.len();
    for (index, text) in given.into_iter().enumerate() {
        let target = match ignores {
            true => target::read(&text),
            false => target::check(report, &path.index(index), &text),
        };
        match target {
            Some(target) => pages.push(page(target, &text, index)),
            None if ignores => invalid.push(text),
            None => {}
        }
    }
    if ignores && count > 0 && pages.is_empty() {
        report.violation(&path, ViolationCode::InvalidFormat, |_| "No valid URLs provided".to_owned());
    }
    (pages, ignores.then_some(invalid))
}

fn page(target: Target, text: &str, index: usize) -> BatchPage {
    let given = match target.credentials() {
        Some(_) => target.url().to_string(),
        None => text.trim().to_owned(),
    };
    BatchPage { url: target.into_whole_url(), given, index: index as u64 }
}

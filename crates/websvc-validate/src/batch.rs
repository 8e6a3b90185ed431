//! Rules of a batch: converts a request to a plan.

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

/// Page of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchPage {
    /// The URL to fetch, including user name and password.
    pub url: Url,
    /// The URL as it was sent, without user name and password.
    pub url_as_sent: String,
    /// The index in `urls` of the request, from 0.
    pub index: u64,
}

/// Plan of a batch: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BatchPlan {
    /// The pages in the order of the request: at least one, with duplicates.
    pub pages: Vec<BatchPage>,
    /// The number of URLs in the request, including invalid ones.
    pub url_count: u64,
    /// The invalid URLs. `None` if the request does not allow any.
    pub invalid_urls: Option<Vec<String>>,
    /// The ID of the running batch that the pages are added to.
    pub append_to: Option<String>,
    /// The maximum number of concurrent pages, if the request sets one.
    pub max_concurrency: Option<usize>,
    /// The webhook for the events of the job.
    pub webhook: Option<WebhookPlan>,
    /// The scrape options as they were sent. A job checks them again when it starts or resumes.
    pub options: ScrapeOptions,
    /// The plan for scraping each page.
    pub scrape: ScrapePlan,
}

/// Checks a batch. The plan is valid only if the report has no violation.
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
                "{name} cannot be combined with appendToId: events go to the webhook of the batch with that ID"
            )
        });
    }
    let webhook = webhook::check(report, webhook, WebhookJobType::Batch);
    let scrape = scrape::check_single(report, options.clone(), policy);
    let url_count = urls.len() as u64;
    let (pages, invalid_urls) = check_urls(report, urls, ignore_invalid_urls.unwrap_or(true));
    BatchPlan {
        pages,
        url_count,
        invalid_urls,
        append_to: append_to_id,
        max_concurrency: max_concurrency.map(|max| max as usize),
        webhook,
        options,
        scrape,
    }
}

fn check_urls(
    report: &mut Report,
    urls: Vec<String>,
    ignores_invalid: bool,
) -> (Vec<BatchPage>, Option<Vec<String>>) {
    let path = Path::Root.key("urls");
    if !bounds::items(report, &path, urls.len(), BATCH_URLS_MAX) {
        return (Vec::new(), None);
    }
    if urls.len() < BATCH_URLS_MIN && !report.has(&path) {
        report.violation(&path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least {BATCH_URLS_MIN} item")
        });
        return (Vec::new(), None);
    }
    let (mut pages, mut invalid) = (Vec::new(), Vec::new());
    let count = urls.len();
    for (index, text) in urls.into_iter().enumerate() {
        let target = match ignores_invalid {
            true => target::parse_if_valid(&text),
            false => target::check(report, &path.index(index), &text),
        };
        match target {
            Some(target) => pages.push(page(target, &text, index)),
            None if ignores_invalid => invalid.push(text),
            None => {}
        }
    }
    if ignores_invalid && count > 0 && pages.is_empty() {
        report.violation(&path, ViolationCode::InvalidFormat, |_| "No valid URLs provided".to_owned());
    }
    (pages, ignores_invalid.then_some(invalid))
}

fn page(target: Target, text: &str, index: usize) -> BatchPage {
    let url_as_sent = match target.credentials() {
        Some(_) => target.url.to_string(),
        None => text.trim().to_owned(),
    };
    BatchPage { url: target.into_url_with_credentials(), url_as_sent, index: index as u64 }
}

//! The request of a job, as the store keeps it.

use serde::{Deserialize, Serialize};
use websvc_store::{JobUrl, ListEntry};
use websvc_types::ScrapeOptions;
use websvc_types::job::CrawlRequest;
use websvc_validate::{BatchPage, CrawlPlan};

use crate::crawl_scope::CrawlScope;

/// The request of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRequest {
    /// Scrape options of each page. They are checked against the policy of the team whenever the job starts or resumes.
    pub options: ScrapeOptions,
    /// Public base URL of the service, as the client addressed it, for the URLs of artifacts. Without it, files are
    /// embedded in the documents.
    pub base_url: Option<String>,
    /// Maximum of concurrent pages of this job; `None` sets no limit of its own.
    pub max_concurrency: Option<usize>,
    /// Warnings that every response about the job repeats.
    pub warnings: Vec<String>,
    /// The whole request of a crawl, including `options`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl: Option<Box<CrawlRequest>>,
    /// Options of the llms.txt that the documents of a crawl become; `None` for other jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llms_txt: Option<LlmsTxtOptions>,
}

impl JobRequest {
    /// Returns the request of a crawl, without base URL and warnings.
    #[must_use]
    pub fn of_crawl(request: CrawlRequest, plan: &CrawlPlan) -> Self {
        Self {
            options: request.scrape_options.clone().unwrap_or_default(),
            max_concurrency: plan.max_concurrency,
            // The webhook may contain secrets. It is stored only in its own table.
            crawl: Some(Box::new(CrawlRequest { webhook: None, ..request })),
            ..Self::default()
        }
    }
}

/// Options of an llms.txt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmsTxtOptions {
    /// True also returns the text of the pages.
    pub full_text: bool,
}

/// Returns the job URL of a page of a batch.
#[must_use]
pub fn batch_url(page: &BatchPage) -> JobUrl {
    let entry = ListEntry { original_url: page.url_as_sent.clone(), index: page.index };
    JobUrl { url: page.url.to_string(), key: page.url.to_string(), depth: 0, entry: Some(entry) }
}

/// Returns the job URL of the start of a crawl.
#[must_use]
pub fn crawl_start_url(plan: CrawlPlan) -> JobUrl {
    let scope = CrawlScope::new(plan);
    let url = scope.normalize(scope.plan().url.clone());
    JobUrl { key: scope.key(&url), url: url.into(), depth: 0, entry: None }
}

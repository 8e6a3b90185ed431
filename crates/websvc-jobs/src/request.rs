//! Request of a job, as the store holds it.

use serde::{Deserialize, Serialize};
use websvc_store::{JobUrl, ListEntry};
use websvc_types::ScrapeOptions;
use websvc_types::job::CrawlRequest;
use websvc_validate::BatchPage;

/// Request of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRequest {
    /// How each page is scraped. It is checked by the rules of the team as they are when the work begins, or goes on.
    pub options: ScrapeOptions,
    /// Base URL by which the sender reached the service, for the URLs of files; without it, files are embedded in
    /// the documents.
    pub base_url: Option<String>,
    /// Pages of this job at one time; `None` for as many as there may be.
    pub max_concurrency: Option<usize>,
    /// Warnings that every response to the sender repeats.
    pub warnings: Vec<String>,
    /// The whole request of a crawl, `options` among it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl: Option<Box<CrawlRequest>>,
}

/// Returns the URL of a job for a page of a batch.
#[must_use]
pub fn batch_url(page: &BatchPage) -> JobUrl {
    let entry = ListEntry { given: page.url_as_sent().to_owned(), index: page.index() };
    JobUrl { url: page.url().to_string(), key: page.url().to_string(), depth: 0, entry: Some(entry) }
}

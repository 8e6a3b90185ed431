//! What a job was asked for, as the store keeps it.

use serde::{Deserialize, Serialize};
use websvc_store::{JobUrl, ListEntry};
use websvc_types::ScrapeOptions;
use websvc_types::job::CrawlRequest;
use websvc_validate::BatchPage;

/// What a job was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRequest {
    /// How each page is scraped. It is checked by the rules of the team as they are when the work begins, or goes on.
    pub options: ScrapeOptions,
    /// Where the sender reached the service, for the URLs of files; without it files are in the documents.
    pub base_url: Option<String>,
    /// Pages of this job at one time; `None` for as many as there may be.
    pub max_concurrency: Option<usize>,
    /// What the sender is told with every answer.
    pub warnings: Vec<String>,
    /// The whole request of a crawl, `options` among it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crawl: Option<Box<CrawlRequest>>,
}

/// Returns the URL of a job for a page of a batch.
#[must_use]
pub fn batch_url(page: &BatchPage) -> JobUrl {
    let entry = ListEntry { given: page.given().to_owned(), index: page.index() };
    JobUrl { url: page.url().to_string(), key: page.url().to_string(), depth: 0, entry: Some(entry) }
}

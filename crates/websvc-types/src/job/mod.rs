//! Jobs: requests whose pages are got after they were answered (clients.md, sections 2.4 to 2.7).

mod batch;
mod crawl;
mod crawl_params;
mod status;
mod webhook;

pub use batch::BatchScrapeRequest;
pub use crawl::{ActiveCrawl, ActiveCrawls, CrawlRequest, SitemapMode};
pub use crawl_params::{CrawlParams, CrawlParamsData, CrawlParamsRequest, CrawlParamsResponse};
pub use status::{JobCancelled, JobDocument, JobErrors, JobFailure, JobPhase, JobStarted, JobStatusResponse};
pub use webhook::{
    JobMoment, Webhook, WebhookDeadLetter, WebhookDeadLetters, WebhookEvent, WebhookKind, WebhookLetterDone,
    WebhookOptions,
};

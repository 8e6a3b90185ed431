//! Jobs: crawls and batches, whose pages are scraped in the background (clients.md, sections 2.4 to 2.7).

mod batch;
mod crawl;
mod crawl_params;
mod status;
mod webhook;

pub use batch::BatchScrapeRequest;
pub use crawl::{ActiveCrawl, ActiveCrawls, CrawlRequest};
pub use crawl_params::{CrawlParams, CrawlParamsData, CrawlParamsRequest, CrawlParamsResponse};
pub use status::{
    CancelJobResponse, JobDocument, JobErrorsResponse, JobFailure, JobStatus, JobStatusResponse,
    StartJobResponse,
};
pub use webhook::{
    DeadLetterActionResponse, DeadLettersResponse, JobEventKind, Webhook, WebhookDeadLetter, WebhookEvent,
    WebhookJobType, WebhookOptions,
};

pub use crate::sitemap_mode::SitemapMode;

//! Webhook events of jobs: enqueued with the change that they report, deleted after delivery.
//!
//! An event is a row that is written in the transaction of its change, for example together with the document of a
//! page. So a crash cannot lose one. An event that could not be delivered, or was pending for too long, becomes a dead
//! letter, which is stored for a while. The pending events of a cancelled job are dropped. The event of a page refers
//! to its document, so a job is not deleted before its events.

mod dead_letters;
mod deliver;
mod enqueue;
mod secret;
mod sweep;

use crate::job::JobKind;

pub use dead_letters::{DeadLetter, DeadLetterFilter, DeadLetterPage};
pub use deliver::{DeliveryOutcome, DueWebhook, WebhookDelivery, WebhookQueue, WebhookStats};
pub(crate) use enqueue::{abandon, enqueue, register};
pub use sweep::WebhookSweepReport;

/// The kind of an event of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// The job was created.
    Started,
    /// The job has another document.
    Page,
    /// The job is completed.
    Completed,
    /// The job failed.
    Failed,
}

impl JobEvent {
    /// Returns the name of the event on the wire.
    #[must_use]
    pub fn wire_name(self, kind: JobKind) -> &'static str {
        match (kind, self) {
            (JobKind::Crawl, Self::Started) => "crawl.started",
            (JobKind::Crawl, Self::Page) => "crawl.page",
            (JobKind::Crawl, Self::Completed) => "crawl.completed",
            (JobKind::Crawl, Self::Failed) => "crawl.failed",
            (JobKind::Batch, Self::Started) => "batch_scrape.started",
            (JobKind::Batch, Self::Page) => "batch_scrape.page",
            (JobKind::Batch, Self::Completed) => "batch_scrape.completed",
            (JobKind::Batch, Self::Failed) => "batch_scrape.failed",
        }
    }
}

/// Webhook of a new job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// Destination URL.
    pub url: String,
    /// Host of the URL, for the limit of concurrent deliveries per host.
    pub host: String,
    /// Additional request headers, as a JSON object of strings.
    pub headers: String,
    /// Values repeated in every event, as a JSON object.
    pub metadata: String,
    /// The events to deliver.
    pub events: Vec<JobEvent>,
}

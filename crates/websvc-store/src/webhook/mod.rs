//! Webhooks: the events of jobs, from the transaction that makes one happen until its receiver has it.
//!
//! An event is a row that is written with what it tells of: the event of a page with its document, that of an end with the
//! end. Nothing that happens between them can lose one. It is removed when it was delivered; one that could not be, or waited
//! for too long, is a dead letter, and kept for a time. Those that wait when their job is cancelled are dropped. The row of a
//! page names its document and does not repeat it, so a job is not forgotten before its events are.

mod dead_letters;
mod deliver;
mod enqueue;
mod secret;
mod sweep;

use crate::job::JobKind;

pub use dead_letters::{DeadLetter, DeadLetterFilter, DeadLetterPage};
pub use deliver::{DeliveryOutcome, DueWebhook, WebhookDelivery, WebhookQueue, WebhookStats};
pub(crate) use enqueue::{abandon, begin, enqueue};
pub use sweep::WebhookSweepReport;

/// Kinds of job events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobEvent {
    /// It began.
    Started,
    /// There is a document.
    Page,
    /// All of it is done.
    Completed,
    /// It could not go on.
    Failed,
}

impl JobEvent {
    /// Returns what its receiver knows it as.
    #[must_use]
    pub fn full_name(self, kind: JobKind) -> &'static str {
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
    /// The address.
    pub url: String,
    /// Its host: those of one host share a bound.
    pub host: String,
    /// Headers of the owner's, as a JSON object of texts.
    pub headers: String,
    /// Values repeated in every event, as a JSON object.
    pub metadata: String,
    /// The events that are wanted.
    pub events: Vec<JobEvent>,
}

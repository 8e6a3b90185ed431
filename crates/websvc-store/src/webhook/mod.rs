//! Webhook events of jobs, of checks of monitors and of runs: enqueued with the change that they report, deleted after delivery.
//!
//! An event is a row that is written in the transaction of its change, for example together with the document of a
//! page. So a crash cannot lose one. An event that could not be delivered, or was pending for too long, becomes a dead
//! letter, which is stored for a while. The pending events of a cancelled job are dropped. The event of a page of a job
//! refers to its document; the events of checks and runs contain their data. No job, check or run is
//! deleted before its events.

mod dead_letters;
mod deliver;
mod enqueue;
mod queue;
mod secret;
mod sweep;

use crate::sql::names;

pub use dead_letters::{DeadLetter, DeadLetterFilter, DeadLetterPage};
pub use deliver::{DeliveryOutcome, WebhookAttempt, WebhookDelivery, WebhookStats};
pub(crate) use enqueue::{
    DataEvent, WebhookSubject, abandon, contains_event, enqueue_data, enqueue_event, enqueue_of_job,
    register, subscribed_webhook, subscribed_webhook_of_run,
};
pub use queue::{DueWebhook, WebhookQueue};
pub use sweep::WebhookSweepReport;
pub(crate) use sweep::{WebhookOwner, delete_delivered, has_no_events};

/// The kind of an event of a job, of a check of a monitor or of a run.
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
    /// The check has another page.
    MonitorPage,
    /// The check has ended.
    MonitorCheckCompleted,
    /// The run has begun to work.
    RunStarted,
    /// The run calls a tool.
    RunAction,
    /// The run has its result.
    RunCompleted,
    /// The run failed.
    RunFailed,
    /// A request cancelled the run.
    RunCancelled,
}

names!(JobEvent:
    Started = "started",
    Page = "page",
    Completed = "completed",
    Failed = "failed",
    MonitorPage = "monitor.page",
    MonitorCheckCompleted = "monitor.check.completed",
    RunStarted = "run.started",
    RunAction = "run.action",
    RunCompleted = "run.completed",
    RunFailed = "run.failed",
    RunCancelled = "run.cancelled",
);

impl JobEvent {
    /// Returns the name of the event on the wire.
    #[must_use]
    pub fn wire_name(self, source: WebhookSource) -> &'static str {
        match (self, source) {
            (Self::Started, WebhookSource::Crawl) => "crawl.started",
            (Self::Page, WebhookSource::Crawl) => "crawl.page",
            (Self::Completed, WebhookSource::Crawl) => "crawl.completed",
            (Self::Failed, WebhookSource::Crawl) => "crawl.failed",
            (Self::Started, WebhookSource::Batch) => "batch_scrape.started",
            (Self::Page, WebhookSource::Batch) => "batch_scrape.page",
            (Self::Completed, WebhookSource::Batch) => "batch_scrape.completed",
            (Self::Failed, WebhookSource::Batch) => "batch_scrape.failed",
            (Self::RunStarted, WebhookSource::Agent) => "agent.started",
            (Self::RunAction, WebhookSource::Agent) => "agent.action",
            (Self::RunCompleted, WebhookSource::Agent) => "agent.completed",
            (Self::RunFailed, WebhookSource::Agent) => "agent.failed",
            (Self::RunCancelled, WebhookSource::Agent) => "agent.cancelled",
            (Self::RunStarted, WebhookSource::Extract) => "extract.started",
            (Self::RunCompleted, WebhookSource::Extract) => "extract.completed",
            (Self::RunFailed, WebhookSource::Extract) => "extract.failed",
            (Self::MonitorPage | Self::MonitorCheckCompleted, WebhookSource::Monitor) => self.as_str(),
            // No kind of work has events of another kind, and extractions have neither actions nor cancellations.
            (
                Self::Started | Self::Page | Self::Completed | Self::Failed,
                WebhookSource::Monitor | WebhookSource::Agent | WebhookSource::Extract,
            )
            | (
                Self::MonitorPage | Self::MonitorCheckCompleted,
                WebhookSource::Batch | WebhookSource::Crawl | WebhookSource::Agent | WebhookSource::Extract,
            )
            | (
                Self::RunStarted
                | Self::RunAction
                | Self::RunCompleted
                | Self::RunFailed
                | Self::RunCancelled,
                WebhookSource::Batch | WebhookSource::Crawl | WebhookSource::Monitor,
            )
            | (Self::RunAction | Self::RunCancelled, WebhookSource::Extract) => self.as_str(),
        }
    }
}

/// The kind of work that events report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebhookSource {
    /// A batch.
    Batch,
    /// A crawl.
    Crawl,
    /// A check of a monitor.
    Monitor,
    /// An agent run.
    Agent,
    /// An extraction.
    Extract,
}

names!(WebhookSource:
    Batch = "batch",
    Crawl = "crawl",
    Monitor = "monitor",
    Agent = "agent",
    Extract = "extract",
);

impl WebhookSource {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Batch, Self::Crawl, Self::Monitor, Self::Agent, Self::Extract];
}

/// Webhook of a new job or check.
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

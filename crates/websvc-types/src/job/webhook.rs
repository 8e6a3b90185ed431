//! Webhooks of jobs (clients.md, section 2.8), and events that could not be delivered (dead letters).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;
#[cfg(feature = "schemars")]
use crate::scrape::add_header_patterns;
use crate::url_or_options::UrlOrOptions;

/// Webhook of a job: a URL, or an object with options.
///
/// # Examples
///
/// ```
/// use websvc_types::job::{Webhook, WebhookEvent, WebhookOptions};
///
/// let webhook: Webhook = serde_json::from_str(r#"{"url": "https://hooks.example/", "events": ["page"]}"#)?;
/// assert_eq!(
///     webhook,
///     Webhook::Options(WebhookOptions {
///         url: "https://hooks.example/".to_owned(),
///         events: Some(vec![WebhookEvent::Page]),
///         ..WebhookOptions::default()
///     })
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
pub type Webhook = UrlOrOptions<WebhookOptions>;

/// URL and options of a webhook.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct WebhookOptions {
    /// URL that events are posted to, http or https, at most 8192 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub url: String,
    /// Headers of every event, at most 65536 bytes. `Content-Type`, connection headers and the signature headers are
    /// not allowed.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns))]
    pub headers: Option<BTreeMap<String, String>>,
    /// Object that every event repeats, at most 16384 bytes of JSON.
    pub metadata: Option<Map<String, Value>>,
    /// Events to send, by short or full name; at least one. Default: all.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1)))]
    pub events: Option<Vec<WebhookEvent>>,
}

/// Names of job events, for the selection of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub enum WebhookEvent {
    /// The job has started.
    #[serde(rename = "started")]
    Started,
    /// A document is available.
    #[serde(rename = "page")]
    Page,
    /// The job is complete.
    #[serde(rename = "completed")]
    Completed,
    /// The job could not continue.
    #[serde(rename = "failed")]
    Failed,
    /// `started`, of a crawl.
    #[serde(rename = "crawl.started")]
    CrawlStarted,
    /// `page`, of a crawl.
    #[serde(rename = "crawl.page")]
    CrawlPage,
    /// `completed`, of a crawl.
    #[serde(rename = "crawl.completed")]
    CrawlCompleted,
    /// `failed`, of a crawl.
    #[serde(rename = "crawl.failed")]
    CrawlFailed,
    /// `started`, of a batch.
    #[serde(rename = "batch_scrape.started")]
    BatchStarted,
    /// `page`, of a batch.
    #[serde(rename = "batch_scrape.page")]
    BatchPage,
    /// `completed`, of a batch.
    #[serde(rename = "batch_scrape.completed")]
    BatchCompleted,
    /// `failed`, of a batch.
    #[serde(rename = "batch_scrape.failed")]
    BatchFailed,
}

/// Kinds of job events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobEventKind {
    /// The job has started.
    Started,
    /// A document is available.
    Page,
    /// The job is complete.
    Completed,
    /// The job could not continue.
    Failed,
}

/// Types of jobs, by the prefix of their event names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebhookJobType {
    /// `crawl`.
    Crawl,
    /// `batch_scrape`.
    Batch,
}

impl JobEventKind {
    /// All kinds, in the order in which they may happen.
    pub const ALL: [Self; 4] = [Self::Started, Self::Page, Self::Completed, Self::Failed];
}

impl WebhookJobType {
    /// Returns the prefix of the event names.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Batch => "batch_scrape",
        }
    }
}

impl WebhookEvent {
    /// Returns the kind of the event, without the type of the job.
    ///
    /// ```
    /// use websvc_types::job::{JobEventKind, WebhookEvent};
    ///
    /// assert_eq!(WebhookEvent::CrawlPage.event_kind(), JobEventKind::Page);
    /// ```
    #[must_use]
    pub fn event_kind(self) -> JobEventKind {
        match self {
            Self::Started | Self::CrawlStarted | Self::BatchStarted => JobEventKind::Started,
            Self::Page | Self::CrawlPage | Self::BatchPage => JobEventKind::Page,
            Self::Completed | Self::CrawlCompleted | Self::BatchCompleted => JobEventKind::Completed,
            Self::Failed | Self::CrawlFailed | Self::BatchFailed => JobEventKind::Failed,
        }
    }

    /// Returns the type of the job, if the full name of the event contains one.
    ///
    /// ```
    /// use websvc_types::job::{WebhookEvent, WebhookJobType};
    ///
    /// assert_eq!(WebhookEvent::CrawlPage.job_type(), Some(WebhookJobType::Crawl));
    /// assert_eq!(WebhookEvent::Page.job_type(), None);
    /// ```
    #[must_use]
    pub fn job_type(self) -> Option<WebhookJobType> {
        match self {
            Self::Started | Self::Page | Self::Completed | Self::Failed => None,
            Self::CrawlStarted | Self::CrawlPage | Self::CrawlCompleted | Self::CrawlFailed => {
                Some(WebhookJobType::Crawl)
            }
            Self::BatchStarted | Self::BatchPage | Self::BatchCompleted | Self::BatchFailed => {
                Some(WebhookJobType::Batch)
            }
        }
    }
}

/// Response of `GET /v2/webhooks/dead-letters`: events of the team that could not be delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeadLettersResponse {
    /// Always true.
    pub success: bool,
    /// Undelivered events, the oldest first.
    pub dead_letters: Vec<WebhookDeadLetter>,
    /// Number of all dead letters of the team.
    pub total: u64,
}

/// Dead letter: an event that could not be delivered.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WebhookDeadLetter {
    /// ID of the event: `webhookId` of the event, and its header `webhook-id`.
    pub id: String,
    /// ID of the job, or of the check of a monitor.
    pub job_id: String,
    /// Full name of the event, such as `crawl.page` or `monitor.page`.
    #[serde(rename = "type")]
    pub event: String,
    /// URL of the webhook, without user name, password, query and fragment.
    pub url: String,
    /// Number of delivery attempts.
    pub attempts: u32,
    /// HTTP status of the last attempt. Absent if there was no response.
    #[cfg_attr(feature = "schemars", schemars(with = "u16"))]
    pub last_status: Option<u16>,
    /// Reason why the last attempt failed.
    pub last_error: String,
    /// Time of the event, ISO 8601.
    pub created_at: String,
    /// Time of the last attempt, ISO 8601.
    pub last_attempt_at: String,
    /// Time when the dead letter is deleted, ISO 8601.
    pub expires_at: String,
}

/// Response of the operations that retry or delete a dead letter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct DeadLetterActionResponse {
    /// Always true.
    pub success: bool,
    /// ID of the event.
    pub id: String,
}

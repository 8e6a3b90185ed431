//! Webhooks of jobs (clients.md, section 2.8), and events that could not be delivered.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::limits::URL_MAX_CHARS;
use crate::pattern::NOT_BLANK;
use crate::scrape::add_header_patterns;

/// Webhook of a job: a URL, or an object with options.
#[derive(Debug, Clone, PartialEq)]
pub enum Webhook {
    /// All events go to this URL.
    Url(String),
    /// As the object says.
    Options(WebhookOptions),
}

/// URL of a webhook, and its events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookOptions {
    /// The address, http or https.
    #[schemars(length(max = URL_MAX_CHARS), regex(pattern = NOT_BLANK))]
    pub url: String,
    /// Headers sent with every event. They cannot be those of the signature, nor the content type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BTreeMap<String, Option<String>>>", transform = add_header_patterns)]
    pub headers: Option<BTreeMap<String, String>>,
    /// Values repeated in every event, at most 16384 bytes of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The events that are wanted, by short name or in full. Default: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub events: Option<Vec<WebhookEvent>>,
}

/// An event of a job by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum WebhookEvent {
    /// The job began.
    #[serde(rename = "started")]
    Started,
    /// There is a document.
    #[serde(rename = "page")]
    Page,
    /// All is done.
    #[serde(rename = "completed")]
    Completed,
    /// The job could not go on.
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
    /// It began.
    Started,
    /// There is a document.
    Page,
    /// All is done.
    Completed,
    /// It could not go on.
    Failed,
}

/// A kind of job, as the names of its events begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebhookJobType {
    /// `crawl`.
    Crawl,
    /// `batch_scrape`.
    Batch,
}

impl JobEventKind {
    /// All of them, in the order in which they may happen.
    pub const ALL: [Self; 4] = [Self::Started, Self::Page, Self::Completed, Self::Failed];
}

impl WebhookJobType {
    /// Returns how the names of its events begin.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Batch => "batch_scrape",
        }
    }
}

impl WebhookEvent {
    /// Returns what happens.
    #[must_use]
    pub fn moment(self) -> JobEventKind {
        match self {
            Self::Started | Self::CrawlStarted | Self::BatchStarted => JobEventKind::Started,
            Self::Page | Self::CrawlPage | Self::BatchPage => JobEventKind::Page,
            Self::Completed | Self::CrawlCompleted | Self::BatchCompleted => JobEventKind::Completed,
            Self::Failed | Self::CrawlFailed | Self::BatchFailed => JobEventKind::Failed,
        }
    }

    /// Returns the only kind of job that it can happen to, if its name says one.
    #[must_use]
    pub fn kind(self) -> Option<WebhookJobType> {
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

impl Serialize for Webhook {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Url(url) => serializer.serialize_str(url),
            Self::Options(options) => options.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Webhook {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WebhookVisitor)
    }
}

struct WebhookVisitor;

impl<'de> Visitor<'de> for WebhookVisitor {
    type Value = Webhook;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a URL or an object with a url")
    }

    fn visit_str<E: Error>(self, url: &str) -> Result<Webhook, E> {
        Ok(Webhook::Url(url.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Webhook, A::Error> {
        WebhookOptions::deserialize(MapAccessDeserializer::new(map)).map(Webhook::Options)
    }
}

impl JsonSchema for Webhook {
    fn schema_name() -> Cow<'static, str> {
        "Webhook".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let options = generator.subschema_for::<WebhookOptions>();
        json_schema!({ "anyOf": [
            { "type": "string", "maxLength": URL_MAX_CHARS, "pattern": NOT_BLANK },
            options,
        ] })
    }
}

/// The events of a team that could not be delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeadLettersResponse {
    /// True.
    pub success: bool,
    /// The events, in the order in which they happened.
    pub dead_letters: Vec<WebhookDeadLetter>,
    /// How many there are in all.
    pub total: u64,
}

/// An event that could not be delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDeadLetter {
    /// ID of the event at the receiver: `webhookId`, and the header `webhook-id`.
    pub id: String,
    /// Identifier of the job.
    pub job_id: String,
    /// The event in full, such as `crawl.page`.
    #[serde(rename = "type")]
    pub event: String,
    /// URL of the webhook, without user, password, query and fragment.
    pub url: String,
    /// How often it was tried.
    pub attempts: u32,
    /// The status of the last answer; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u16")]
    pub last_status: Option<u16>,
    /// Why it was not taken.
    pub last_error: String,
    /// When it happened, ISO 8601.
    pub created_at: String,
    /// When it was tried last, ISO 8601.
    pub last_attempt_at: String,
    /// When it is forgotten, ISO 8601.
    pub expires_at: String,
}

/// The answer to a request that has dead letters tried anew, or forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetterActionResponse {
    /// True.
    pub success: bool,
    /// Which one.
    pub id: String,
}

/// Old name of [`JobEventKind`].
#[deprecated(note = "renamed to `JobEventKind`")]
pub type JobMoment = JobEventKind;

/// Old name of [`WebhookJobType`].
#[deprecated(note = "renamed to `WebhookJobType`")]
pub type WebhookKind = WebhookJobType;

/// Old name of [`DeadLetterActionResponse`].
#[deprecated(note = "renamed to `DeadLetterActionResponse`")]
pub type WebhookLetterDone = DeadLetterActionResponse;

/// Old name of [`DeadLettersResponse`].
#[deprecated(note = "renamed to `DeadLettersResponse`")]
pub type WebhookDeadLetters = DeadLettersResponse;

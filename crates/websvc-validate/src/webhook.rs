//! Rules of webhooks.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;
use websvc_types::ViolationCode;
use websvc_types::job::{JobEventKind, Webhook, WebhookEvent, WebhookJobType, WebhookOptions};
use websvc_types::limits::WEBHOOK_METADATA_MAX_BYTES;

use crate::json_size::json_bytes;
use crate::path::Path;
use crate::report::Report;
use crate::{header, target};

/// Headers that the service sets to identify the event and its sender. Callers must not set them.
const SERVICE_HEADERS: &[&str] =
    &["content-type", "webhook-id", "webhook-signature", "webhook-timestamp", "x-firecrawl-signature"];

/// Webhook of a job, a run or a monitor, with events of the type `E`: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WebhookPlan<E = JobEventKind> {
    /// The URL, http or https, including user name and password. The address guard checks it later, at each connection.
    pub url: Url,
    /// The JSON Pointer of the URL in the request.
    pub url_pointer: &'static str,
    /// The headers that the caller sets. Names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// The object that every event repeats.
    pub metadata: Map<String, Value>,
    /// The events to send, each once.
    pub events: Vec<E>,
}

/// Options of a webhook.
pub(crate) struct Options<E> {
    pub(crate) url: String,
    pub(crate) headers: Option<BTreeMap<String, String>>,
    pub(crate) metadata: Option<Map<String, Value>>,
    /// The checked events.
    pub(crate) events: Vec<E>,
}

impl<E: Copy> WebhookPlan<E> {
    /// Checks a webhook that is only a URL. It gets all events.
    pub(crate) fn from_url(report: &mut Report, url: &str, all: &[E]) -> Option<Self> {
        Some(Self {
            url: target::check(report, &Path::Root.key("webhook"), url)?.into_url_with_credentials(),
            url_pointer: "/webhook",
            headers: BTreeMap::new(),
            metadata: Map::new(),
            events: all.to_vec(),
        })
    }

    /// Checks a webhook with options. The plan is valid only if the report has no violation.
    pub(crate) fn from_options(report: &mut Report, options: Options<E>) -> Option<Self> {
        let Options { url, headers, metadata, events } = options;
        let path = Path::Root.key("webhook");
        let headers = check_headers(report, &path.key("headers"), headers.unwrap_or_default());
        let metadata = check_metadata(report, &path.key("metadata"), metadata.unwrap_or_default());
        let url = target::check(report, &path.key("url"), &url)?.into_url_with_credentials();
        Some(Self { url, url_pointer: "/webhook/url", headers, metadata, events })
    }
}

/// Checks the webhook of a job of this type. The plan is valid only if the report has no violation.
pub(crate) fn check(
    report: &mut Report,
    webhook: Option<Webhook>,
    job_type: WebhookJobType,
) -> Option<WebhookPlan> {
    match webhook? {
        Webhook::Url(url) => WebhookPlan::from_url(report, &url, &JobEventKind::ALL),
        Webhook::Options(WebhookOptions { url, headers, metadata, events }) => {
            let events = check_events(report, events, job_type);
            WebhookPlan::from_options(report, Options { url, headers, metadata, events })
        }
    }
}

/// Returns the events to send, each once, in the order in which they may happen: all if the request selects none.
pub(crate) fn selected_events<E: Copy + PartialEq>(
    report: &mut Report,
    events: Option<Vec<E>>,
    all: &[E],
) -> Vec<E> {
    let Some(events) = events else { return all.to_vec() };
    let webhook = Path::Root.key("webhook");
    let path = webhook.key("events");
    if events.is_empty() && !report.has_within(&path) {
        report.violation(&path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least 1 item; to get no events, omit webhook")
        });
    }
    all.iter().copied().filter(|event| events.contains(event)).collect()
}

/// Checks the headers of a webhook, and converts their names to lower case.
pub(crate) fn check_headers(
    report: &mut Report,
    path: &Path<'_>,
    headers: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let headers = header::check(report, path, headers);
    for name in headers.keys().filter(|name| SERVICE_HEADERS.contains(&name.as_str())) {
        report.violation(&path.key(name), ViolationCode::NotSupported, |key| {
            format!("{key} cannot be set by a request: it identifies the event and its sender")
        });
    }
    headers
}

/// Checks the size of the object that every event repeats.
pub(crate) fn check_metadata(
    report: &mut Report,
    path: &Path<'_>,
    metadata: Map<String, Value>,
) -> Map<String, Value> {
    let bytes = json_bytes(&metadata);
    if bytes > WEBHOOK_METADATA_MAX_BYTES {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {WEBHOOK_METADATA_MAX_BYTES} bytes of JSON, not {bytes}")
        });
    }
    metadata
}

fn check_events(
    report: &mut Report,
    names: Option<Vec<WebhookEvent>>,
    job_type: WebhookJobType,
) -> Vec<JobEventKind> {
    let Some(names) = names else { return JobEventKind::ALL.to_vec() };
    let webhook = Path::Root.key("webhook");
    let path = &webhook.key("events");
    if names.is_empty() && !report.has(path) {
        report.violation(path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least 1 item; to get no events, omit webhook")
        });
    }
    let mut events = Vec::new();
    for (index, event) in names.into_iter().enumerate() {
        if event.job_type().is_some_and(|other| other != job_type) {
            report.violation(&path.index(index), ViolationCode::UnknownValue, |name| {
                format!(
                    "{name} must be an event of this job, which begins with \"{}.\", or a short name",
                    job_type.as_str()
                )
            });
        }
        if !events.contains(&event.event_kind()) {
            events.push(event.event_kind());
        }
    }
    events
}

//! Rules of the webhook of a job.

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

/// Webhook of a job: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookPlan {
    url: Url,
    url_pointer: &'static str,
    headers: BTreeMap<String, String>,
    metadata: Map<String, Value>,
    events: Vec<JobEventKind>,
}

impl WebhookPlan {
    /// Returns the URL, http or https, including user name and password. The address guard checks it later, at each
    /// connection.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the JSON Pointer of the URL in the request.
    #[must_use]
    pub fn url_pointer(&self) -> &'static str {
        self.url_pointer
    }

    /// Returns the headers that the caller sets. Names are in lower case.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }

    /// Returns the object that every event repeats.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// Returns the events to send, each once.
    #[must_use]
    pub fn events(&self) -> &[JobEventKind] {
        &self.events
    }
}

/// Checks the webhook of a job of this type. The plan is valid only if the report has no violation.
pub(crate) fn check(
    report: &mut Report,
    webhook: Option<Webhook>,
    job_type: WebhookJobType,
) -> Option<WebhookPlan> {
    let body = Path::Root;
    let path = body.key("webhook");
    match webhook? {
        Webhook::Url(url) => Some(WebhookPlan {
            url: target::check(report, &path, &url)?.into_url_with_credentials(),
            url_pointer: "/webhook",
            headers: BTreeMap::new(),
            metadata: Map::new(),
            events: JobEventKind::ALL.to_vec(),
        }),
        Webhook::Options(WebhookOptions { url, headers, metadata, events }) => {
            let headers = check_headers(report, &path.key("headers"), headers.unwrap_or_default());
            let metadata = check_metadata(report, &path.key("metadata"), metadata.unwrap_or_default());
            let events = check_events(report, &path.key("events"), events, job_type);
            let url = target::check(report, &path.key("url"), &url)?.into_url_with_credentials();
            Some(WebhookPlan { url, url_pointer: "/webhook/url", headers, metadata, events })
        }
    }
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
    path: &Path<'_>,
    names: Option<Vec<WebhookEvent>>,
    job_type: WebhookJobType,
) -> Vec<JobEventKind> {
    let Some(names) = names else { return JobEventKind::ALL.to_vec() };
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

//! The rules of where the events of a job are sent.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;
use websvc_types::ViolationCode;
use websvc_types::job::{JobEventKind, Webhook, WebhookEvent, WebhookJobType, WebhookOptions};
use websvc_types::limits::WEBHOOK_METADATA_MAX_BYTES;

use crate::path::Path;
use crate::report::Report;
use crate::{header, target};

/// Headers that identify a body and its sender; headers of the caller cannot replace them.
const OUR_OWN: &[&str] =
    &["content-type", "webhook-id", "webhook-signature", "webhook-timestamp", "x-firecrawl-signature"];

/// Validated webhook of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookPlan {
    url: Url,
    place: &'static str,
    headers: BTreeMap<String, String>,
    metadata: Map<String, Value>,
    events: Vec<JobEventKind>,
}

impl WebhookPlan {
    /// Returns the address, http or https. Whether it may be connected to is known where it is.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns where the request has the address, as a JSON Pointer.
    #[must_use]
    pub fn place(&self) -> &'static str {
        self.place
    }

    /// Returns the headers of the caller's, their names in lower case.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }

    /// Returns what every event repeats.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// Returns the events that are wanted, each once.
    #[must_use]
    pub fn events(&self) -> &[JobEventKind] {
        &self.events
    }
}

/// Checks where the events of a job of a kind are sent. The plan holds only if the report has no violation.
pub(crate) fn check(
    report: &mut Report,
    given: Option<Webhook>,
    kind: WebhookJobType,
) -> Option<WebhookPlan> {
    let body = Path::Root;
    let path = body.key("webhook");
    match given? {
        Webhook::Url(url) => Some(WebhookPlan {
            url: target::check(report, &path, &url)?.into_whole_url(),
            place: "/webhook",
            headers: BTreeMap::new(),
            metadata: Map::new(),
            events: JobEventKind::ALL.to_vec(),
        }),
        Webhook::Options(WebhookOptions { url, headers, metadata, events }) => {
            let headers = check_headers(report, &path.key("headers"), headers.unwrap_or_default());
            let metadata = check_metadata(report, &path.key("metadata"), metadata.unwrap_or_default());
            let events = check_events(report, &path.key("events"), events, kind);
            let url = target::check(report, &path.key("url"), &url)?.into_whole_url();
            Some(WebhookPlan { url, place: "/webhook/url", headers, metadata, events })
        }
    }
}

fn check_headers(
    report: &mut Report,
    path: &Path<'_>,
    given: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let headers = header::check(report, path, given);
    for name in headers.keys().filter(|name| OUR_OWN.contains(&name.as_str())) {
        report.violation(&path.key(name), ViolationCode::NotSupported, |key| {
            format!("{key} cannot be set by a request: it says what is sent, and who sends it")
        });
    }
    headers
}

fn check_metadata(report: &mut Report, path: &Path<'_>, given: Map<String, Value>) -> Map<String, Value> {
    let bytes = serde_json::to_vec(&given).map_or(usize::MAX, |json| json.len());
    if bytes > WEBHOOK_METADATA_MAX_BYTES {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {WEBHOOK_METADATA_MAX_BYTES} bytes of JSON, not {bytes}")
        });
    }
    given
}

fn check_events(
    report: &mut Report,
    path: &Path<'_>,
    given: Option<Vec<WebhookEvent>>,
    kind: WebhookJobType,
) -> Vec<JobEventKind> {
    let Some(given) = given else { return JobEventKind::ALL.to_vec() };
    if given.is_empty() && !report.has(path) {
        report.violation(path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least 1 item: without webhook there are no events")
        });
    }
    let mut events = Vec::new();
    for (index, event) in given.into_iter().enumerate() {
        if event.job_type().is_some_and(|job_type| job_type != kind) {
            report.violation(&path.index(index), ViolationCode::UnknownValue, |name| {
                format!(
                    "{name} must be an event of this job, which begins with {}., or a short name",
                    kind.as_str()
                )
            });
        }
        if !events.contains(&event.event_kind()) {
            events.push(event.event_kind());
        }
    }
    events
}

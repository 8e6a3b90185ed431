//! Rules of the webhook of a monitor.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;
use websvc_types::ViolationCode;
use websvc_types::monitor::{MonitorEventKind, MonitorWebhook, MonitorWebhookOptions};

use crate::path::Path;
use crate::report::Report;
use crate::target;
use crate::webhook::{check_headers, check_metadata};

/// Webhook of a monitor: all values are valid, all defaults are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorWebhookPlan {
    url: Url,
    headers: BTreeMap<String, String>,
    metadata: Map<String, Value>,
    events: Vec<MonitorEventKind>,
}

impl MonitorWebhookPlan {
    /// Returns the URL, http or https, including user name and password. The address guard checks it later, at each
    /// connection.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the headers that the caller sets. Names are in lower case.
    #[must_use]
    pub fn headers(&self) -> &BTreeMap<String, String> {
        &self.headers
    }

    /// Returns the texts that every event repeats.
    #[must_use]
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// Returns the events to send, each once.
    #[must_use]
    pub fn events(&self) -> &[MonitorEventKind] {
        &self.events
    }
}

/// Checks a webhook, and returns it as an object with its events.
pub(super) fn check(report: &mut Report, webhook: MonitorWebhook) -> MonitorWebhookOptions {
    let body = Path::Root;
    let path = body.key("webhook");
    match webhook {
        MonitorWebhook::Url(url) => {
            let url = check_url(report, &path, url);
            let events = Some(MonitorEventKind::ALL.to_vec());
            MonitorWebhookOptions { url, headers: None, metadata: None, events }
        }
        MonitorWebhook::Options(MonitorWebhookOptions { url, headers, metadata, events }) => {
            check_headers(report, &path.key("headers"), headers.clone().unwrap_or_default());
            check_metadata(report, &path.key("metadata"), to_object(metadata.as_ref()));
            let events = Some(check_events(report, &path.key("events"), events));
            MonitorWebhookOptions { url: check_url(report, &path.key("url"), url), headers, metadata, events }
        }
    }
}

fn check_url(report: &mut Report, path: &Path<'_>, url: String) -> String {
    target::check(report, path, &url).map_or(url, |target| target.text().to_owned())
}

fn check_events(
    report: &mut Report,
    path: &Path<'_>,
    events: Option<Vec<MonitorEventKind>>,
) -> Vec<MonitorEventKind> {
    let Some(events) = events else { return MonitorEventKind::ALL.to_vec() };
    if events.is_empty() && !report.has_within(path) {
        report.violation(path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least 1 item; to get no events, omit webhook")
        });
    }
    MonitorEventKind::ALL.into_iter().filter(|event| events.contains(event)).collect()
}

/// Returns the plan of a checked webhook. `None` means that the report has a violation.
pub(super) fn plan(report: &mut Report, webhook: &MonitorWebhookOptions) -> Option<MonitorWebhookPlan> {
    let body = Path::Root;
    let path = body.key("webhook");
    let MonitorWebhookOptions { url, headers, metadata, events } = webhook;
    Some(MonitorWebhookPlan {
        headers: check_headers(report, &path.key("headers"), headers.clone().unwrap_or_default()),
        metadata: to_object(metadata.as_ref()),
        events: check_events(report, &path.key("events"), events.clone()),
        url: target::check(report, &path.key("url"), url)?.into_url_with_credentials(),
    })
}

fn to_object(metadata: Option<&BTreeMap<String, String>>) -> Map<String, Value> {
    metadata.into_iter().flatten().map(|(key, text)| (key.clone(), Value::String(text.clone()))).collect()
}

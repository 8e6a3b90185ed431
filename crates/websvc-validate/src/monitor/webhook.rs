//! Rules of the webhook of a monitor.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use websvc_types::monitor::{MonitorEventKind, MonitorWebhook, MonitorWebhookOptions};

use super::channel;
use crate::path::Path;
use crate::report::Report;
use crate::target;
use crate::webhook::{Options, WebhookPlan, check_headers, check_metadata, selected_events};

/// Webhook of a monitor.
pub type MonitorWebhookPlan = WebhookPlan<MonitorEventKind>;

/// Checks a webhook, and returns it as an object with its events.
pub(super) fn check(report: &mut Report, webhook: MonitorWebhook) -> MonitorWebhookOptions {
    let path = Path::Root.key("webhook");
    match webhook {
        MonitorWebhook::Url(url) => {
            let url = check_url(report, &path, url);
            let events = Some(MonitorEventKind::ALL.to_vec());
            MonitorWebhookOptions { url, headers: None, metadata: None, events, statuses: None }
        }
        MonitorWebhook::Options(MonitorWebhookOptions { url, headers, metadata, events, statuses }) => {
            check_headers(report, &path.key("headers"), headers.clone().unwrap_or_default());
            check_metadata(report, &path.key("metadata"), to_object(metadata.as_ref()));
            let events = Some(selected_events(report, events, &MonitorEventKind::ALL));
            let url = check_url(report, &path.key("url"), url);
            if let Some(statuses) = &statuses {
                channel::check_not_empty(report, &path.key("statuses"), statuses);
            }
            MonitorWebhookOptions { url, headers, metadata, events, statuses }
        }
    }
}

fn check_url(report: &mut Report, path: &Path<'_>, url: String) -> String {
    target::check(report, path, &url).map_or(url, |target| target.text)
}

/// Returns the plan of a checked webhook. `None` means that the report has a violation.
pub(super) fn plan(report: &mut Report, webhook: &MonitorWebhookOptions) -> Option<MonitorWebhookPlan> {
    let MonitorWebhookOptions { url, headers, metadata, events, statuses: _ } = webhook.clone();
    let events = selected_events(report, events, &MonitorEventKind::ALL);
    let metadata = Some(to_object(metadata.as_ref()));
    WebhookPlan::from_options(report, Options { url, headers, metadata, events })
}

fn to_object(metadata: Option<&BTreeMap<String, String>>) -> Map<String, Value> {
    metadata.into_iter().flatten().map(|(key, text)| (key.clone(), Value::String(text.clone()))).collect()
}

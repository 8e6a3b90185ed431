//! Rules of the channels of notifications.

use serde_json::{Map, Value};
use websvc_types::ViolationCode;
use websvc_types::limits::{CHANNEL_TEMPLATE_MAX_BYTES, CHANNELS_MAX, URL_MAX_CHARS};
use websvc_types::monitor::{MonitorPageStatus, NotificationChannel};

use crate::bounds;
use crate::channel::{Channel, ChannelService, PLACEHOLDERS};
use crate::json_size::json_bytes;
use crate::path::Path;
use crate::report::Report;

/// The statuses of pages that people can be notified of.
const REPORTED: [MonitorPageStatus; 4] = [
    MonitorPageStatus::Changed,
    MonitorPageStatus::New,
    MonitorPageStatus::Removed,
    MonitorPageStatus::Error,
];

/// Checks a channel that gets a test message, and returns it with its address.
pub(crate) fn check_test(
    report: &mut Report,
    channel: NotificationChannel,
) -> Option<(NotificationChannel, Channel)> {
    let channel = check(report, &Path::Root, channel);
    let parsed = Channel::parse(&channel.url).ok()?;
    Some((channel, parsed))
}

/// Checks all channels, and returns them with their statuses.
pub(super) fn check_all(
    report: &mut Report,
    path: &Path<'_>,
    channels: Vec<NotificationChannel>,
) -> Vec<NotificationChannel> {
    if !bounds::items(report, path, channels.len(), CHANNELS_MAX) {
        return Vec::new();
    }
    let mut checked: Vec<NotificationChannel> = Vec::with_capacity(channels.len());
    for (index, channel) in channels.into_iter().enumerate() {
        let path = path.index(index);
        let channel = check(report, &path, channel);
        if checked.iter().any(|other| other.url == channel.url) {
            report.violation(&path.key("url"), ViolationCode::Conflict, |name| {
                format!("{name} must differ from the URLs of the other channels")
            });
        }
        checked.push(channel);
    }
    checked
}

fn check(report: &mut Report, path: &Path<'_>, channel: NotificationChannel) -> NotificationChannel {
    let NotificationChannel { url, statuses, template } = channel;
    let url = url.trim().to_owned();
    let url_path = path.key("url");
    let is_text = bounds::not_blank(report, &url_path, &url)
        && bounds::chars(report, &url_path, &url, 1, URL_MAX_CHARS);
    match Channel::parse(&url) {
        Ok(parsed) => {
            if let Some(template) = &template {
                check_template(report, &path.key("template"), template, parsed.service);
            }
        }
        // The message does not repeat the URL, which has secrets.
        Err(error) if is_text => report.violation(&url_path, ViolationCode::InvalidFormat, |name| {
            format!("{name} is not the URL of a notification channel: {error}")
        }),
        Err(_) => {}
    }
    let statuses = check_statuses(report, &path.key("statuses"), statuses);
    NotificationChannel { url, statuses, template }
}

/// Checks the statuses of pages that people are notified of, and returns each once.
pub(super) fn check_statuses(
    report: &mut Report,
    path: &Path<'_>,
    statuses: Option<Vec<MonitorPageStatus>>,
) -> Option<Vec<MonitorPageStatus>> {
    let statuses = statuses?;
    check_not_empty(report, path, &statuses);
    if let Some(index) = statuses.iter().position(|status| *status == MonitorPageStatus::Same) {
        report.violation(&path.index(index), ViolationCode::UnknownValue, |name| {
            format!("{name} must be changed, new, removed or error: pages without a change are not reported")
        });
    }
    Some(REPORTED.into_iter().filter(|status| statuses.contains(status)).collect())
}

/// Checks that a list selects a status.
pub(super) fn check_not_empty(report: &mut Report, path: &Path<'_>, statuses: &[MonitorPageStatus]) {
    if statuses.is_empty() {
        report.violation(path, ViolationCode::TooShort, |name| {
            format!("{name} must have at least 1 item; without it, all statuses are reported")
        });
    }
}

fn check_template(
    report: &mut Report,
    path: &Path<'_>,
    template: &Map<String, Value>,
    service: ChannelService,
) {
    if service != ChannelService::Json {
        report.violation(path, ViolationCode::NotSupported, |name| {
            let service = service.as_str();
            format!("{name} is only for receivers of JSON (json, jsons, http, https): {service} has a form of its own")
        });
    }
    let bytes = json_bytes(template);
    if bytes > CHANNEL_TEMPLATE_MAX_BYTES {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {CHANNEL_TEMPLATE_MAX_BYTES} bytes of JSON, not {bytes}")
        });
    }
    for (key, value) in template {
        check_texts(report, &path.key(key), value);
    }
}

/// Checks the placeholders of all texts in a value.
fn check_texts(report: &mut Report, path: &Path<'_>, value: &Value) {
    match value {
        Value::String(text) => {
            for name in
                text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}")).map(|(name, _)| name)
            {
                if !PLACEHOLDERS.contains(&name.trim()) {
                    report.violation(path, ViolationCode::UnknownValue, |field| {
                        let known = PLACEHOLDERS.join(", ");
                        format!("{field} has the unknown name {{{{{name}}}}}; the names are {known}")
                    });
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_texts(report, &path.index(index), item);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                check_texts(report, &path.key(key), field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

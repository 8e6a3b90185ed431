//! The webhook of a monitor, as the store keeps it for a check.

use websvc_store::{JobEvent, NewWebhook};
use websvc_types::monitor::MonitorEventKind;
use websvc_validate::MonitorDefinition;

/// Returns the webhook of a check; `None` if the monitor has none.
pub(crate) fn new_webhook(definition: &MonitorDefinition) -> Option<NewWebhook> {
    let webhook = definition.webhook.as_ref()?;
    let url = url::Url::parse(&webhook.url).ok()?;
    let events = webhook.events.as_deref().unwrap_or(&MonitorEventKind::ALL);
    let object = |map: &Option<std::collections::BTreeMap<String, String>>| {
        serde_json::to_string(&map.clone().unwrap_or_default()).unwrap_or_else(|_| "{}".to_owned())
    };
    Some(NewWebhook {
        host: url.host_str().unwrap_or_default().to_ascii_lowercase(),
        url: url.into(),
        headers: object(&webhook.headers),
        metadata: object(&webhook.metadata),
        events: events.iter().map(|event| job_event(*event)).collect(),
    })
}

fn job_event(event: MonitorEventKind) -> JobEvent {
    match event {
        MonitorEventKind::Page => JobEvent::MonitorPage,
        MonitorEventKind::CheckCompleted => JobEvent::MonitorCheckCompleted,
    }
}

//! The request body of a webhook event (docs/webhooks.md).

use serde::Serialize;
use websvc_store::WebhookDelivery;

/// Returns an event as JSON. Documents and metadata are JSON already, and are inserted unchanged.
///
/// # Errors
/// Failures of the JSON serializer, which do not occur for strings and booleans.
pub(super) fn body(delivery: &WebhookDelivery) -> serde_json::Result<Vec<u8>> {
    let WebhookDelivery {
        id,
        source_id,
        team: _,
        source,
        event,
        url: _,
        headers: _,
        metadata,
        is_success,
        error,
        attempts: _,
        secret: _,
        document,
    } = delivery;
    let document = document.as_deref().unwrap_or_default();
    let mut out = Vec::with_capacity(document.len() + metadata.len() + 512);
    out.extend_from_slice(b"{\"success\":");
    write(&mut out, is_success)?;
    for (name, text) in
        [("type", event.wire_name(*source)), ("id", source_id.as_str()), ("webhookId", id.as_str())]
    {
        field(&mut out, name, text)?;
    }
    out.extend_from_slice(b",\"data\":[");
    out.extend_from_slice(document);
    out.push(b']');
    if let Some(error) = error {
        field(&mut out, "error", error)?;
    }
    out.extend_from_slice(b",\"metadata\":");
    out.extend_from_slice(metadata.as_bytes());
    out.push(b'}');
    Ok(out)
}

fn field(out: &mut Vec<u8>, name: &str, text: &str) -> serde_json::Result<()> {
    out.push(b',');
    write(out, name)?;
    out.push(b':');
    write(out, text)
}

fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    serde_json::to_writer(out, value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use websvc_store::{JobEvent, WebhookSource};

    use super::*;

    fn delivery(source: WebhookSource, event: JobEvent) -> WebhookDelivery {
        WebhookDelivery {
            id: "msg_1".to_owned(),
            source_id: "j".to_owned(),
            team: "tea".to_owned(),
            source,
            event,
            url: "http://hook.test/?token=secret".to_owned(),
            headers: r#"{"authorization":"secret"}"#.to_owned(),
            metadata: r#"{"of":"\"tea\""}"#.to_owned(),
            is_success: true,
            error: None,
            attempts: 3,
            secret: None,
            document: None,
        }
    }

    #[track_caller]
    fn check(delivery: WebhookDelivery, document: Option<&str>, expected: &Value) {
        let document = document.map(|text| text.as_bytes().to_vec());
        let written: Value =
            serde_json::from_slice(&body(&WebhookDelivery { document, ..delivery }).unwrap()).unwrap();
        let mut expected = expected.clone();
        expected["metadata"] = json!({ "of": "\"tea\"" });
        expected["webhookId"] = json!("msg_1");
        assert_eq!(written, expected);
    }

    #[test]
    fn event_body_has_the_documented_shape() {
        check(
            delivery(WebhookSource::Crawl, JobEvent::Page),
            Some(r#"{"markdown":"x"}"#),
            &json!({ "success": true, "type": "crawl.page", "id": "j", "data": [{ "markdown": "x" }] }),
        );
        let error = Some("no \"credits\"".to_owned());
        check(
            WebhookDelivery { is_success: false, error, ..delivery(WebhookSource::Batch, JobEvent::Failed) },
            None,
            &json!({ "success": false, "type": "batch_scrape.failed", "id": "j", "data": [],
                "error": "no \"credits\"" }),
        );
    }

    #[test]
    fn event_body_of_a_check_has_the_name_of_the_monitor_event() {
        check(
            WebhookDelivery { is_success: false, ..delivery(WebhookSource::Monitor, JobEvent::MonitorPage) },
            Some(r#"{"url":"http://a.test/","status":"error"}"#),
            &json!({ "success": false, "type": "monitor.page", "id": "j",
                "data": [{ "url": "http://a.test/", "status": "error" }] }),
        );
        check(
            WebhookDelivery {
                is_success: false,
                error: Some("too slow".to_owned()),
                ..delivery(WebhookSource::Monitor, JobEvent::MonitorCheckCompleted)
            },
            Some(r#"{"status":"failed"}"#),
            &json!({ "success": false, "type": "monitor.check.completed", "id": "j",
                "data": [{ "status": "failed" }], "error": "too slow" }),
        );
    }
}

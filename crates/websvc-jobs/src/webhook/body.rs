//! The request body of a webhook event (docs/webhooks.md).

use serde::Serialize;
use websvc_store::{JobEvent, WebhookDelivery};

/// Returns an event as JSON. Documents and metadata are JSON already, and are inserted unchanged.
///
/// # Errors
/// Failures of the JSON serializer, which do not occur for strings and booleans.
pub(super) fn body(delivery: &WebhookDelivery) -> serde_json::Result<Vec<u8>> {
    let WebhookDelivery {
        id,
        job,
        team: _,
        kind,
        event,
        url: _,
        headers: _,
        metadata,
        error,
        attempts: _,
        document,
    } = delivery;
    let document = document.as_deref().unwrap_or_default();
    let mut out = Vec::with_capacity(document.len() + metadata.len() + 512);
    out.extend_from_slice(b"{\"success\":");
    write(&mut out, &(*event != JobEvent::Failed))?;
    for (name, text) in [("type", event.wire_name(*kind)), ("id", job.as_str()), ("webhookId", id.as_str())] {
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
    use websvc_store::JobKind;

    use super::*;

    #[track_caller]
    fn check(kind: JobKind, event: JobEvent, document: Option<&str>, error: Option<&str>, expected: &Value) {
        let delivery = WebhookDelivery {
            id: "msg_1".to_owned(),
            job: "j".to_owned(),
            team: "tea".to_owned(),
            kind,
            event,
            url: "http://hook.test/?token=secret".to_owned(),
            headers: r#"{"authorization":"secret"}"#.to_owned(),
            metadata: r#"{"of":"\"tea\""}"#.to_owned(),
            error: error.map(str::to_owned),
            attempts: 3,
            document: document.map(|text| text.as_bytes().to_vec()),
        };
        let written: Value = serde_json::from_slice(&body(&delivery).unwrap()).unwrap();
        assert_eq!(written, *expected);
    }

    #[test]
    fn event_body_has_the_documented_shape() {
        let metadata = json!({ "of": "\"tea\"" });
        check(
            JobKind::Crawl,
            JobEvent::Page,
            Some(r#"{"markdown":"x"}"#),
            None,
            &json!({ "success": true, "type": "crawl.page", "id": "j", "webhookId": "msg_1",
                "data": [{ "markdown": "x" }], "metadata": metadata }),
        );
        check(
            JobKind::Batch,
            JobEvent::Failed,
            None,
            Some("no \"credits\""),
            &json!({ "success": false, "type": "batch_scrape.failed", "id": "j", "webhookId": "msg_1",
                "data": [], "error": "no \"credits\"", "metadata": metadata }),
        );
    }
}

//! Encodes spans as OTLP/JSON (opentelemetry-proto, `trace/v1`, with identifiers in hex).

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use websvc_stage::field;

use crate::otlp::span::{FinishedSpan, Value};

/// `SPAN_KIND_INTERNAL` and `SPAN_KIND_SERVER`.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// Encodes the body of one export request.
pub(crate) fn request_body(resource: &[(String, String)], spans: &[FinishedSpan]) -> Vec<u8> {
    let resource: Vec<Json> = resource.iter().map(|(key, text)| attribute(key, &text_value(text))).collect();
    let scope = json!({ "name": "websvc", "version": env!("CARGO_PKG_VERSION") });
    let spans: Vec<Json> = spans.iter().map(encode_span).collect();
    let body = json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": scope, "spans": spans }],
    }] });
    body.to_string().into_bytes()
}

fn encode_span(finished: &FinishedSpan) -> Json {
    let attributes = finished.attributes.iter();
    let attributes: Vec<Json> =
        attributes.map(|(name, value)| attribute(attribute_key(name), &any_value(value))).collect();
    let mut encoded = json!({
        "traceId": finished.context.trace.to_string(),
        "spanId": finished.context.span.to_string(),
        "name": span_name(finished),
        "kind": if finished.is_request { SERVER } else { INTERNAL },
        "startTimeUnixNano": nanos(finished.start),
        "endTimeUnixNano": nanos(finished.end),
        "attributes": attributes,
    });
    if let Some(parent) = finished.parent {
        encoded["parentSpanId"] = parent.to_string().into();
    }
    let is_server_error = |value: &Value| matches!(value, Value::Number(status) if *status >= 500);
    if finished.attributes.iter().any(|(name, value)| *name == field::STATUS && is_server_error(value)) {
        encoded["status"] = json!({ "code": ERROR });
    }
    encoded
}

/// Returns the name of a span: of a request, `{method} {route}` as in OpenTelemetry's conventions for HTTP.
fn span_name(finished: &FinishedSpan) -> String {
    let text = |wanted: &str| {
        finished.attributes.iter().find_map(|(name, value)| match value {
            Value::Text(text) if *name == wanted => Some(text.as_str()),
            Value::Text(_) | Value::Number(_) | Value::Bool(_) => None,
        })
    };
    match (text(field::METHOD), text(field::ROUTE)) {
        (Some(method), Some(route)) => format!("{method} {route}"),
        (Some(method), None) => method.to_owned(),
        (None, _) => finished.name.to_owned(),
    }
}

/// Returns the attribute key for a field: that of OpenTelemetry's conventions, if they define one.
fn attribute_key(name: &'static str) -> &'static str {
    match name {
        field::METHOD => "http.request.method",
        field::ROUTE => "http.route",
        field::STATUS => "http.response.status_code",
        field::REQUEST_ID => "websvc.request_id",
        field::PRIVATE => "websvc.private",
        field::SOURCE => "websvc.source",
        other => other,
    }
}

fn attribute(key: &str, value: &Json) -> Json {
    json!({ "key": key, "value": value })
}

fn text_value(text: &str) -> Json {
    json!({ "stringValue": text })
}

fn any_value(value: &Value) -> Json {
    match value {
        Value::Text(text) => text_value(text),
        // OTLP/JSON writes 64-bit integers as strings, because JSON numbers cannot represent all of them.
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Bool(flag) => json!({ "boolValue": flag }),
    }
}

fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::otlp::context::{Id, TraceContext};

    #[test]
    fn request_span_is_encoded_as_otlp_json() {
        let start = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_000_000_001);
        let finished = FinishedSpan {
            context: TraceContext { trace: Id([0xab; 16]), span: Id([1; 8]) },
            parent: Some(Id([2; 8])),
            name: "request",
            is_request: true,
            start,
            end: start + Duration::from_nanos(5),
            attributes: vec![
                ("method", Value::Text("POST".to_owned())),
                ("route", Value::Text("/v2/search".to_owned())),
                ("status", Value::Number(503)),
            ],
        };
        let resource = [("service.name".to_owned(), "a".to_owned())];
        let encoded: Json = serde_json::from_slice(&request_body(&resource, &[finished])).unwrap();
        let resource_spans = &encoded["resourceSpans"][0];
        assert_eq!(
            resource_spans["resource"]["attributes"],
            json!([{ "key": "service.name", "value": { "stringValue": "a" } }])
        );
        let span = &resource_spans["scopeSpans"][0]["spans"][0];
        let expected = json!({
            "traceId": "ab".repeat(16),
            "spanId": "0101010101010101",
            "parentSpanId": "0202020202020202",
            "name": "POST /v2/search",
            "kind": 2,
            "startTimeUnixNano": "1700000000000000001",
            "endTimeUnixNano": "1700000000000000006",
            "attributes": [
                { "key": "http.request.method", "value": { "stringValue": "POST" } },
                { "key": "http.route", "value": { "stringValue": "/v2/search" } },
                { "key": "http.response.status_code", "value": { "intValue": "503" } },
            ],
            "status": { "code": 2 },
        });
        assert_eq!(*span, expected);
    }
}

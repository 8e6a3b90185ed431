//! Spans as OTLP writes them in JSON (opentelemetry-proto, `trace/v1`, with identifiers in hex).

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};
use websvc_stage::field;

use crate::span::{FinishedSpan, Value};

/// `SPAN_KIND_INTERNAL` and `SPAN_KIND_SERVER`.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// Returns the body of one export.
pub(crate) fn body(resource: &[(String, String)], spans: &[FinishedSpan]) -> Vec<u8> {
    let resource: Vec<Json> = resource.iter().map(|(key, text)| attribute(key, &text_value(text))).collect();
    let scope = json!({ "name": "websvc", "version": env!("CARGO_PKG_VERSION") });
    let spans: Vec<Json> = spans.iter().map(span).collect();
    let body = json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": scope, "spans": spans }],
    }] });
    body.to_string().into_bytes()
}

fn span(ended: &FinishedSpan) -> Json {
    let mut span = json!({
        "traceId": ended.context.trace.to_string(),
        "spanId": ended.context.span.to_string(),
        "name": name(ended),
        "kind": if ended.is_request { SERVER } else { INTERNAL },
        "startTimeUnixNano": nanos(ended.began),
        "endTimeUnixNano": nanos(ended.ended),
        "attributes": ended.attributes.iter().map(|(name, value)| attribute(key(name), &typed(value))).collect::<Vec<_>>(),
    });
    if let Some(parent) = ended.parent {
        span["parentSpanId"] = parent.to_string().into();
    }
    let failed = |value: &Value| matches!(value, Value::Number(status) if *status >= 500);
    if ended.attributes.iter().any(|(name, value)| *name == field::STATUS && failed(value)) {
        span["status"] = json!({ "code": ERROR });
    }
    span
}

/// Returns the name: of a request, its method and its route, as the conventions for HTTP have it.
fn name(ended: &FinishedSpan) -> String {
    let text = |wanted: &str| {
        ended.attributes.iter().find_map(|(name, value)| match value {
            Value::Text(text) if *name == wanted => Some(text.as_str()),
            Value::Text(_) | Value::Number(_) | Value::Truth(_) => None,
        })
    };
    match (text(field::METHOD), text(field::ROUTE)) {
        (Some(method), Some(route)) => format!("{method} {route}"),
        (Some(method), None) => method.to_owned(),
        (None, _) => ended.name.to_owned(),
    }
}

/// Returns the name of an attribute: those of OpenTelemetry's conventions where there are any.
fn key(name: &'static str) -> &'static str {
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

fn typed(value: &Value) -> Json {
    match value {
        Value::Text(text) => text_value(text),
        // 64 bits do not fit into the numbers of JSON.
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Truth(truth) => json!({ "boolValue": truth }),
    }
}

fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::context::{SpanId, TraceContext, TraceId};

    #[test]
    fn a_request_is_written_as_the_protocol_has_it() {
        let began = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_000_000_001);
        let ended = FinishedSpan {
            context: TraceContext { trace: TraceId([0xab; 16]), span: SpanId([1; 8]) },
            parent: Some(SpanId([2; 8])),
            name: "request",
            is_request: true,
            began,
            ended: began + Duration::from_nanos(5),
            attributes: vec![
                ("method", Value::Text("POST".to_owned())),
                ("route", Value::Text("/v2/search".to_owned())),
                ("status", Value::Number(503)),
            ],
        };
        let resource = [("service.name".to_owned(), "a".to_owned())];
        let written: Json = serde_json::from_slice(&body(&resource, &[ended])).unwrap();
        let of_resource = &written["resourceSpans"][0];
        assert_eq!(
            of_resource["resource"]["attributes"],
            json!([{ "key": "service.name", "value": { "stringValue": "a" } }])
        );
        let span = &of_resource["scopeSpans"][0]["spans"][0];
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

//! The marks of a deprecated operation: headers (RFC 9745, RFC 8288), and fields in every JSON body.

use http::header::{LINK, WARNING};
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use websvc_transport::Body;
use websvc_types::extract::{DEPRECATION, REPLACEMENT};

use crate::response::HttpResponse;

/// Marks a response about extractions, also an error. The bodies of other responses have the fields already.
pub(crate) fn mark_deprecated(response: &mut HttpResponse) {
    // A body with data may be megabytes of JSON.
    let bytes = response.body().bytes().filter(|_| !response.status().is_success());
    let fields: Option<Map<String, Value>> = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
    if let Some(mut fields) = fields {
        fields.insert("warnings".to_owned(), json!([DEPRECATION]));
        fields.insert("replacement".to_owned(), json!(REPLACEMENT));
        *response.body_mut() = Body::from(Value::Object(fields).to_string());
    }
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static("deprecation"), HeaderValue::from_static("true"));
    let values = [
        (LINK, format!("<{REPLACEMENT}>; rel=\"successor-version\"")),
        (WARNING, format!("299 - \"{DEPRECATION}\"")),
    ];
    for (name, value) in values {
        // Both texts are constants of visible ASCII characters.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use websvc_types::ErrorCode;

    use super::*;
    use crate::response::{ApiError, with_type};

    #[test]
    fn error_has_headers_and_fields() {
        let mut response = ApiError::new(ErrorCode::NotFound, "Extract job not found").into_response();
        mark_deprecated(&mut response);
        let headers = response.headers();
        assert_eq!(headers["deprecation"], "true");
        assert_eq!(headers["link"], "</v2/scrape>; rel=\"successor-version\"");
        assert_eq!(headers["warning"].to_str().unwrap(), format!("299 - \"{DEPRECATION}\""));
        let body: Value = serde_json::from_slice(response.body().bytes().unwrap()).unwrap();
        assert_eq!((&body["success"], &body["error"]), (&json!(false), &json!("Extract job not found")));
        assert_eq!((&body["warnings"], &body["replacement"]), (&json!([DEPRECATION]), &json!(REPLACEMENT)));
    }

    #[test]
    fn other_bodies_stay_as_they_are() {
        for (status, body) in [(StatusCode::BAD_REQUEST, "[1]"), (StatusCode::OK, r#"{ "success": true }"#)] {
            let mut response = with_type(status, "text/plain", Body::from(body));
            mark_deprecated(&mut response);
            assert_eq!(response.body().bytes().unwrap(), body);
            assert_eq!(response.headers()["deprecation"], "true");
        }
    }
}

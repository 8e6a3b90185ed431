//! Corrects the charset of a page that declares none.
//!
//! Chromium detects many charsets, but never UTF-8 for pages from the web, so that `Café` becomes `CafÃ©`. Decoded as
//! windows-1252, its last resort, no byte is lost. The charset rule of the request therefore reads the decoded text, and
//! only if it finds another charset, the page is loaded again with that charset in the `Content-Type` of its response.
//! Pages that declare a charset are never loaded twice, and no page waits for a check of its response.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use serde_json::{Value, json};

use super::command::Command;

/// The charset of the document that is loaded again.
#[derive(Debug, Clone)]
pub(super) struct DetectedCharset {
    pub(super) name: &'static str,
    /// The media type of the document, for a response without one.
    pub(super) media_type: String,
    /// The response that waits for its charset.
    pub(super) paused: Option<Value>,
}

pub(super) fn has_charset(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().contains("charset=")
}

impl DetectedCharset {
    /// Returns true if a paused response is that of the document: of the main frame, `frame`, and without a charset.
    fn applies_to(&self, paused: &Value, frame: &str) -> bool {
        let is_page = paused["resourceType"] == "Document" && paused["frameId"] == frame;
        let is_redirect =
            paused["responseStatusCode"].as_u64().is_none_or(|status| (300..400).contains(&status));
        is_page && !is_redirect && !has_charset(self.declared(paused))
    }

    /// Returns the content type of a response.
    fn declared<'a>(&'a self, paused: &'a Value) -> &'a str {
        let mut headers = paused["responseHeaders"].as_array().into_iter().flatten();
        let kind = headers.find(|header| header["name"].as_str().is_some_and(|name| is(name, &CONTENT_TYPE)));
        kind.and_then(|header| header["value"].as_str()).unwrap_or(&self.media_type)
    }

    /// Returns the parameters of the response with this charset.
    pub(super) fn fulfillment(&self, paused: &Value, body: Value) -> Value {
        // The body is decoded.
        let replaced = [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING];
        let is_kept = |header: &&Value| {
            let name = header["name"].as_str().unwrap_or_default();
            !replaced.iter().any(|replaced| is(name, replaced))
        };
        let headers = paused["responseHeaders"].as_array().into_iter().flatten();
        let mut headers: Vec<Value> = headers.filter(is_kept).cloned().collect();
        let kind = format!("{}; charset={}", self.declared(paused), self.name);
        headers.push(json!({"name": "Content-Type", "value": kind}));
        let mut params = json!({
            "requestId": paused["requestId"],
            "responseCode": paused["responseStatusCode"],
            "responseHeaders": headers,
        });
        // Moved: `json!` would copy megabytes.
        params["body"] = body;
        params
    }
}

fn is(name: &str, header: &http::HeaderName) -> bool {
    name.eq_ignore_ascii_case(header.as_str())
}

/// Handles a paused request if it is paused at its response: keeps the response of the document until it has its charset,
/// and lets all others continue. Returns `None` for a request.
pub(super) fn decide_response(
    paused: &Value,
    frame: &str,
    charset: Option<&mut DetectedCharset>,
) -> Option<Option<Command>> {
    if paused.get("responseStatusCode").is_none() && paused.get("responseErrorReason").is_none() {
        return None;
    }
    if let Some(charset) = charset
        && charset.applies_to(paused, frame)
    {
        charset.paused = Some(paused.clone());
        return Some(None);
    }
    Some(Some(Command::new("Fetch.continueRequest", json!({"requestId": paused["requestId"]}))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset() -> DetectedCharset {
        DetectedCharset { name: "UTF-8", media_type: "text/plain".to_owned(), paused: None }
    }

    /// Returns the content type that the document of a response gets, or `None` if the response is unchanged.
    fn content_type(paused: &Value) -> Option<String> {
        let mut charset = charset();
        if let Some(Command { method, .. }) = decide_response(paused, "main", Some(&mut charset)).unwrap() {
            assert_eq!(method, "Fetch.continueRequest");
            return None;
        }
        let params = charset.fulfillment(&charset.paused.clone().unwrap(), json!("eA=="));
        assert_eq!(
            (&params["body"], &params["responseCode"]),
            (&json!("eA=="), &paused["responseStatusCode"])
        );
        let headers = params["responseHeaders"].as_array().unwrap();
        assert_eq!(headers.len(), 2, "ETag and Content-Type: {headers:?}");
        assert_eq!(headers[0]["name"], "ETag", "other headers stay");
        headers[1]["value"].as_str().map(str::to_owned)
    }

    fn paused(frame: &str, kind: &str, status: u16, content_type: Option<&str>) -> Value {
        let mut headers =
            vec![json!({"name": "ETag", "value": "1"}), json!({"name": "content-encoding", "value": "gzip"})];
        headers.extend(content_type.map(|value| json!({"name": "content-type", "value": value})));
        json!({"requestId": "7", "frameId": frame, "resourceType": kind, "responseStatusCode": status,
            "responseHeaders": headers})
    }

    #[test]
    fn only_the_document_of_the_main_frame_without_a_charset_gets_one() {
        for (frame, kind, status, declared, expected) in [
            ("main", "Document", 200, Some("text/html"), Some("text/html; charset=UTF-8")),
            ("main", "Document", 404, Some("text/html"), Some("text/html; charset=UTF-8")),
            ("main", "Document", 200, None, Some("text/plain; charset=UTF-8")),
            ("main", "Document", 200, Some("text/html; Charset=koi8-r"), None),
            ("main", "Document", 302, Some("text/html"), None),
            ("inner", "Document", 200, Some("text/html"), None),
            ("main", "Script", 200, Some("text/javascript"), None),
        ] {
            let found = content_type(&paused(frame, kind, status, declared));
            assert_eq!(found.as_deref(), expected, "{frame} {kind} {status} {declared:?}");
        }
    }

    #[test]
    fn requests_and_failed_responses_are_not_changed() {
        assert!(decide_response(&json!({"requestId": "7"}), "main", Some(&mut charset())).is_none());
        let failed = json!({"requestId": "7", "frameId": "main", "resourceType": "Document",
            "responseErrorReason": "Failed"});
        assert_eq!(content_type(&failed), None);
    }
}

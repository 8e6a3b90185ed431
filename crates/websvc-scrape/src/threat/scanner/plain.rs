//! The plain scanner: `POST` requests with `{"url": "..."}`, and responses with `{"score": 0..100}`.

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use url::Url;
use websvc_transport::FetchRequest;

use super::verdict::Verdict;
use crate::threat::error::ScanError;

pub(super) fn request(scanner: &Url, url: &str) -> FetchRequest {
    let mut request = FetchRequest::post(scanner.clone(), json!({ "url": url }).to_string());
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request
}

/// Reads the score without its fraction, because thresholds are integers.
pub(super) fn read(response: &Value) -> Result<Verdict, ScanError> {
    let score = response["score"].as_f64().ok_or(ScanError::Unreadable { what: "no number `score`" })?;
    if !(0.0..=100.0).contains(&score) {
        return Err(ScanError::Unreadable { what: "`score` is not between 0 and 100" });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
    let score = score as u8;
    Ok(Verdict { score, ttl: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_accepts_numbers_from_0_to_100() {
        for (response, expected) in [
            (json!({"score": 0}), Some(0)),
            (json!({"score": 100, "more": true}), Some(100)),
            (json!({"score": 74.99}), Some(74)),
            (json!({"score": -1}), None),
            (json!({"score": 100.5}), None),
            (json!({"score": "90"}), None),
            (json!({"score": null}), None),
            (json!({}), None),
            (json!([90]), None),
            (json!(90), None),
        ] {
            assert_eq!(read(&response).ok().map(|verdict| verdict.score), expected, "{response}");
        }
    }
}

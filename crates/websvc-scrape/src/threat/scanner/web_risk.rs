//! Google Web Risk, method `uris.search`: `GET` requests with a URL and the lists to search, and responses with the lists
//! that contain it.

use std::time::Duration;

use http::HeaderName;
use jiff::Timestamp;
use serde_json::Value;
use url::Url;
use websvc_transport::FetchRequest;

use super::verdict::Verdict;
use crate::threat::error::ScanError;

/// The header for the API key. In the query, the key would appear in the logs of proxies.
pub(super) const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The lists to search, and the scores of URLs on them. The extended list also contains guesses.
const LISTS: [(&str, u8); 4] = [
    ("MALWARE", 100),
    ("SOCIAL_ENGINEERING", 100),
    ("UNWANTED_SOFTWARE", 80),
    ("SOCIAL_ENGINEERING_EXTENDED_COVERAGE", 60),
];

/// The score of a list that was not requested.
const UNKNOWN_LIST_SCORE: u8 = 100;

pub(super) fn request(service: &Url, url: &str) -> FetchRequest {
    let mut service = service.clone();
    let lists = LISTS.iter().map(|(name, _)| ("threatTypes", *name));
    service.query_pairs_mut().extend_pairs(lists).append_pair("uri", url);
    FetchRequest::get(service)
}

/// Reads the highest score of the lists with the URL. `{}` means that it is on none.
pub(super) fn read(response: &Value, now: Timestamp) -> Result<Verdict, ScanError> {
    let fields = response.as_object().ok_or(ScanError::Unreadable { what: "no object" })?;
    let threat = match fields.get("threat") {
        None | Some(Value::Null) => return Ok(Verdict { score: 0, ttl: None }),
        Some(threat) => threat,
    };
    let lists =
        threat["threatTypes"].as_array().ok_or(ScanError::Unreadable { what: "no list `threatTypes`" })?;
    let scores = lists.iter().map(|list| {
        let entry = LISTS.iter().find(|(name, _)| list == name);
        entry.map_or(UNKNOWN_LIST_SCORE, |(_, score)| *score)
    });
    let expires_at = threat["expireTime"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let ttl =
        expires_at.map(|expires_at| Duration::try_from(expires_at.duration_since(now)).unwrap_or_default());
    Ok(Verdict { score: scores.max().unwrap_or_default(), ttl })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: &str = "2019-07-17T15:00:00Z";

    #[track_caller]
    fn check(response: &Value, expected: Option<(u8, Option<u64>)>) {
        let verdict = read(response, NOW.parse().unwrap()).ok();
        let actual = verdict.map(|verdict| (verdict.score, verdict.ttl.map(|ttl| ttl.as_secs())));
        assert_eq!(actual, expected, "{response}");
    }

    #[test]
    fn read_returns_highest_score_of_all_lists() {
        let threat = |lists: Value| json!({"threat": {"threatTypes": lists}});
        check(&json!({}), Some((0, None)));
        check(&threat(json!([])), Some((0, None)));
        check(&threat(json!(["MALWARE"])), Some((100, None)));
        check(&threat(json!(["UNWANTED_SOFTWARE"])), Some((80, None)));
        check(&threat(json!(["SOCIAL_ENGINEERING_EXTENDED_COVERAGE"])), Some((60, None)));
        check(&threat(json!(["UNWANTED_SOFTWARE", "SOCIAL_ENGINEERING"])), Some((100, None)));
        check(&threat(json!(["OF_TOMORROW"])), Some((100, None)));
    }

    #[test]
    fn read_returns_ttl_until_expiry() {
        let response = |time: &str| json!({"threat": {"threatTypes": ["MALWARE"], "expireTime": time}});
        check(&response("2019-07-17T15:01:23.045123456Z"), Some((100, Some(83))));
        check(&response("2019-07-17T14:00:00Z"), Some((100, Some(0))));
        check(&response("soon"), Some((100, None)));
    }

    #[test]
    fn read_rejects_other_forms() {
        for response in [json!([]), json!("MALWARE"), json!({"threat": {}}), json!({"threat": "MALWARE"})] {
            check(&response, None);
        }
    }

    #[test]
    fn request_names_lists_and_escapes_url() {
        let request = request(&super::super::WEB_RISK_URL.parse().unwrap(), "http://a.test/?a=1&b=\u{fc}");
        assert_eq!(
            request.url.as_str(),
            "https://webrisk.googleapis.com/v1/uris:search?threatTypes=MALWARE\
             &threatTypes=SOCIAL_ENGINEERING&threatTypes=UNWANTED_SOFTWARE\
             &threatTypes=SOCIAL_ENGINEERING_EXTENDED_COVERAGE&uri=http%3A%2F%2Fa.test%2F%3Fa%3D1%26b%3D%C3%BC"
        );
    }
}

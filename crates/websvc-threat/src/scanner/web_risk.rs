//! Google Web Risk, its method `uris.search`: `GET` with the URL and the lists to look into, answered by the lists that it
//! is on.

use std::time::Duration;

use http::HeaderName;
use jiff::Timestamp;
use serde_json::Value;
use url::Url;
use websvc_transport::FetchRequest;

use super::Verdict;
use crate::error::ScanError;

/// The header in which Google takes keys; a query would end in the logs on the way.
pub(super) const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The lists that are asked, each with the score of a URL that is on it: the extended list holds guesses, too.
const LISTS: [(&str, u8); 4] = [
    ("MALWARE", 100),
    ("SOCIAL_ENGINEERING", 100),
    ("UNWANTED_SOFTWARE", 80),
    ("SOCIAL_ENGINEERING_EXTENDED_COVERAGE", 60),
];

/// The score of a list that the answer names and nobody asked for.
const UNKNOWN_LIST: u8 = 100;

pub(super) fn request(service: &Url, url: &str) -> FetchRequest {
    let mut service = service.clone();
    let lists = LISTS.iter().map(|(name, _)| ("threatTypes", *name));
    service.query_pairs_mut().extend_pairs(lists).append_pair("uri", url);
    FetchRequest::get(service)
}

/// Reads the worst of the lists that a URL is on; `{}` says that it is on none.
pub(super) fn read(answer: &Value, now: Timestamp) -> Result<Verdict, ScanError> {
    let fields = answer.as_object().ok_or(ScanError::Unreadable { what: "no object" })?;
    let threat = match fields.get("threat") {
        None | Some(Value::Null) => return Ok(Verdict { score: 0, holds_for: None }),
        Some(threat) => threat,
    };
    let lists =
        threat["threatTypes"].as_array().ok_or(ScanError::Unreadable { what: "no list `threatTypes`" })?;
    let scores = lists.iter().map(|list| {
        let known = LISTS.iter().find(|(name, _)| list == name);
        known.map_or(UNKNOWN_LIST, |(_, score)| *score)
    });
    let ends = threat["expireTime"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let holds_for = ends.map(|ends| Duration::try_from(ends.duration_since(now)).unwrap_or_default());
    Ok(Verdict { score: scores.max().unwrap_or_default(), holds_for })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: &str = "2019-07-17T15:00:00Z";

    #[track_caller]
    fn check(answer: &Value, expected: Option<(u8, Option<u64>)>) {
        let verdict = read(answer, NOW.parse().unwrap()).ok();
        let found = verdict.map(|verdict| (verdict.score, verdict.holds_for.map(|time| time.as_secs())));
        assert_eq!(found, expected, "{answer}");
    }

    #[test]
    fn the_worst_list_is_the_score() {
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
    fn a_match_holds_until_its_expiry() {
        let answer = |time: &str| json!({"threat": {"threatTypes": ["MALWARE"], "expireTime": time}});
        check(&answer("2019-07-17T15:01:23.045123456Z"), Some((100, Some(83))));
        check(&answer("2019-07-17T14:00:00Z"), Some((100, Some(0))));
        check(&answer("soon"), Some((100, None)));
    }

    #[test]
    fn other_shapes_are_no_verdict() {
        for answer in [json!([]), json!("MALWARE"), json!({"threat": {}}), json!({"threat": "MALWARE"})] {
            check(&answer, None);
        }
    }

    #[test]
    fn a_question_names_the_lists_and_escapes_the_url() {
        let asked = request(&super::super::WEB_RISK_URL.parse().unwrap(), "http://a.test/?a=1&b=\u{fc}");
        assert_eq!(
            asked.url.as_str(),
            "https://webrisk.googleapis.com/v1/uris:search?threatTypes=MALWARE\
             &threatTypes=SOCIAL_ENGINEERING&threatTypes=UNWANTED_SOFTWARE\
             &threatTypes=SOCIAL_ENGINEERING_EXTENDED_COVERAGE&uri=http%3A%2F%2Fa.test%2F%3Fa%3D1%26b%3D%C3%BC"
        );
    }
}

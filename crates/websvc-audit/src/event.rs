//! Audit event of one request.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use uuid::Uuid;

/// The version of the fields below: a new one may add fields, and does not change what is there.
const VERSION: u8 = 1;

/// The longest text that an event carries, in bytes; what is longer is cut, and [`Event`] says so.
const TEXT_MAX_BYTES: usize = 8 * 1024;

/// How much of a request may be kept, and so told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RetentionMode {
    /// All of it.
    #[default]
    Whole,
    /// The caller, without any content of the request.
    Zero,
    /// Neither who asked nor what.
    Anonymous,
}

/// One event. [`Event::new`] gives it an id and a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// 1: a reader that knows it knows the fields below.
    pub version: u8,
    /// By which an event that comes again is told.
    #[serde(serialize_with = "as_text")]
    pub id: Uuid,
    /// When it began.
    #[serde(serialize_with = "with_microseconds")]
    pub time: Timestamp,
    /// Operation of the request, such as `search`.
    pub operation: &'static str,
    /// The identifier of the request, as in `x-request-id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The team of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The key, by its public id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Whom the request says it is made for: `auditMetadata.username`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<IpAddr>,
    /// The HTTP status of the answer; `None` when nobody waited for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The code of an answer that is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// How long it took, in milliseconds.
    #[serde(rename = "durationMs", serialize_with = "as_milliseconds")]
    pub duration: Duration,
    /// Credits charged to the team.
    pub credits_used: u64,
    /// How much of the request is told.
    #[serde(rename = "retention")]
    pub kept: RetentionMode,
    /// Query of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The pages that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// Target of an administrative action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// True if texts were truncated because of their length.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
}

impl Event {
    /// Makes an event of now.
    #[must_use]
    pub fn new(operation: &'static str) -> Self {
        Self {
            version: VERSION,
            id: Uuid::now_v7(),
            time: Timestamp::now(),
            operation,
            request_id: None,
            team: None,
            key_id: None,
            username: None,
            client: None,
            status: None,
            code: None,
            duration: Duration::ZERO,
            credits_used: 0,
            kept: RetentionMode::Whole,
            query: None,
            urls: Vec::new(),
            target: None,
            truncated: false,
        }
    }

    /// Returns the event as one line of JSON without its end. What may not be told is left out here, so that no caller
    /// can forget it.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut told = self.clone();
        match told.kept {
            RetentionMode::Whole => {}
            RetentionMode::Zero => told.clear_content(),
            RetentionMode::Anonymous => {
                told.clear_content();
                told.anonymize();
            }
        }
        told.cut();
        // Strings and numbers always serialise.
        serde_json::to_vec(&told).unwrap_or_default()
    }

    fn clear_content(&mut self) {
        self.query = None;
        self.urls.clear();
    }

    fn anonymize(&mut self) {
        self.request_id = None;
        self.team = None;
        self.key_id = None;
        self.username = None;
        self.client = None;
        self.target = None;
    }

    /// Cuts what is too long: every event has to fit into a datagram.
    fn cut(&mut self) {
        let texts = [&mut self.query, &mut self.username, &mut self.target].into_iter().flatten();
        let mut left = TEXT_MAX_BYTES;
        for text in texts.chain(&mut self.urls) {
            if text.len() > left {
                text.truncate(text.floor_char_boundary(left));
                self.truncated = true;
            }
            left -= text.len();
        }
        let all = self.urls.len();
        self.urls.retain(|url| !url.is_empty());
        self.truncated |= self.urls.len() < all;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn as_text<S: Serializer>(id: &Uuid, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn with_microseconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ"))
}

fn as_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn full() -> Event {
        Event {
            request_id: Some("r".to_owned()),
            team: Some("red".to_owned()),
            key_id: Some("k".to_owned()),
            username: Some("alice".to_owned()),
            client: "192.0.2.1".parse().ok(),
            status: Some(402),
            code: Some("INSUFFICIENT_CREDITS"),
            duration: Duration::from_micros(12_900),
            credits_used: 3,
            query: Some("secret tea".to_owned()),
            urls: vec!["http://secret.test/".to_owned()],
            target: Some("team blue".to_owned()),
            ..Event::new("search")
        }
    }

    fn told(event: &Event) -> Value {
        let mut told: Value = serde_json::from_slice(&event.to_line()).unwrap();
        let time = told["time"].as_str().unwrap();
        assert!(time.len() == 27 && time.parse::<Timestamp>().is_ok(), "{time}");
        assert_eq!(told["id"].as_str().unwrap().len(), 36);
        told.as_object_mut().unwrap().retain(|name, _| name != "id" && name != "time");
        told
    }

    #[test]
    fn everything_is_told_where_nothing_speaks_against_it() {
        assert_eq!(
            told(&full()),
            json!({
                "version": 1, "operation": "search", "requestId": "r", "team": "red", "keyId": "k",
                "username": "alice", "client": "192.0.2.1", "status": 402, "code": "INSUFFICIENT_CREDITS",
                "durationMs": 12, "creditsUsed": 3, "retention": "whole", "query": "secret tea",
                "urls": ["http://secret.test/"], "target": "team blue",
            })
        );
    }

    #[test]
    fn what_may_not_be_kept_is_not_told_whoever_set_it() {
        let zero = told(&Event { kept: RetentionMode::Zero, ..full() });
        assert!(!zero.to_string().contains("secret"), "{zero}");
        assert_eq!((&zero["username"], &zero["team"]), (&json!("alice"), &json!("red")));
        assert_eq!(
            told(&Event { kept: RetentionMode::Anonymous, ..full() }),
            json!({
                "version": 1, "operation": "search", "status": 402, "code": "INSUFFICIENT_CREDITS",
                "durationMs": 12, "creditsUsed": 3, "retention": "anonymous",
            })
        );
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters_and_that_is_said() {
        let long = "\u{e4}".repeat(TEXT_MAX_BYTES);
        let cut = told(&Event { query: None, urls: vec![long.clone(), long], ..full() });
        let urls = cut["urls"].as_array().unwrap();
        assert_eq!((urls.len(), &cut["truncated"]), (1, &json!(true)));
        let others = "alice".len() + "team blue".len();
        assert!(urls[0].as_str().unwrap().len() >= TEXT_MAX_BYTES - others - 1);
        let controls = Event { query: Some("\u{1}".repeat(TEXT_MAX_BYTES)), ..full() };
        assert!(controls.to_line().len() < 60_000, "every event fits into a datagram");
    }
}

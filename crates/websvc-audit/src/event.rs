//! The audit event of one request.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use uuid::Uuid;

/// The version of the fields. A new version may add fields, but does not change existing ones.
const VERSION: u8 = 1;

/// The maximum size of all texts of an event in bytes. Longer texts are truncated, and [`Event::truncated`] is set.
const TEXT_MAX_BYTES: usize = 8 * 1024;

/// The part of a request that an event may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RetentionMode {
    /// The caller and the content.
    #[default]
    Whole,
    /// The caller, but no content of the request.
    Zero,
    /// Neither the caller nor the content.
    Anonymous,
}

/// An audit event. [`Event::new`] sets its ID and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The version of the fields; currently 1.
    pub version: u8,
    /// The ID of the event, which is the same if it is delivered again.
    #[serde(serialize_with = "as_text")]
    pub id: Uuid,
    /// The start time.
    #[serde(serialize_with = "with_microseconds")]
    pub time: Timestamp,
    /// The operation, such as `search`.
    pub operation: &'static str,
    /// The request ID, as in `x-request-id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The team of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The public ID of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// The user name that the request states: `auditMetadata.username`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// The address of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<IpAddr>,
    /// The HTTP status of the response; `None` if the client disconnected before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The error code of a failed request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The duration in milliseconds.
    #[serde(rename = "durationMs", serialize_with = "as_milliseconds")]
    pub duration: Duration,
    /// The credits charged to the team.
    pub credits_used: u64,
    /// The part of the request that the event contains.
    pub retention: RetentionMode,
    /// The query of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The requested pages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// The target of an administrative action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Texts were truncated because of their length.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
}

impl Event {
    /// Creates an event with a new ID and the current time.
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
            retention: RetentionMode::Whole,
            query: None,
            urls: Vec::new(),
            target: None,
            truncated: false,
        }
    }

    /// Serializes the event as one line of JSON without a line end. The retention mode is applied here, so that no
    /// caller can forget it.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let mut event = self.clone();
        match event.retention {
            RetentionMode::Whole => {}
            RetentionMode::Zero => event.clear_content(),
            RetentionMode::Anonymous => {
                event.clear_content();
                event.anonymize();
            }
        }
        event.truncate();
        // Strings and numbers always serialize.
        serde_json::to_vec(&event).unwrap_or_default()
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

    /// Truncates long texts, so that every event fits into a datagram.
    fn truncate(&mut self) {
        let texts = [&mut self.query, &mut self.username, &mut self.target].into_iter().flatten();
        let mut remaining = TEXT_MAX_BYTES;
        for text in texts.chain(&mut self.urls) {
            if text.len() > remaining {
                text.truncate(text.floor_char_boundary(remaining));
                self.truncated = true;
            }
            remaining -= text.len();
        }
        let before = self.urls.len();
        self.urls.retain(|url| !url.is_empty());
        self.truncated |= self.urls.len() < before;
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

    fn serialized(event: &Event) -> Value {
        let mut fields: Value = serde_json::from_slice(&event.to_line()).unwrap();
        let time = fields["time"].as_str().unwrap();
        assert!(time.len() == 27 && time.parse::<Timestamp>().is_ok(), "{time}");
        assert_eq!(fields["id"].as_str().unwrap().len(), 36);
        fields.as_object_mut().unwrap().retain(|name, _| name != "id" && name != "time");
        fields
    }

    #[test]
    fn whole_event_contains_all_fields() {
        assert_eq!(
            serialized(&full()),
            json!({
                "version": 1, "operation": "search", "requestId": "r", "team": "red", "keyId": "k",
                "username": "alice", "client": "192.0.2.1", "status": 402, "code": "INSUFFICIENT_CREDITS",
                "durationMs": 12, "creditsUsed": 3, "retention": "whole", "query": "secret tea",
                "urls": ["http://secret.test/"], "target": "team blue",
            })
        );
    }

    #[test]
    fn retention_mode_removes_content_and_caller() {
        let zero = serialized(&Event { retention: RetentionMode::Zero, ..full() });
        assert!(!zero.to_string().contains("secret"), "{zero}");
        assert_eq!((&zero["username"], &zero["team"]), (&json!("alice"), &json!("red")));
        assert_eq!(
            serialized(&Event { retention: RetentionMode::Anonymous, ..full() }),
            json!({
                "version": 1, "operation": "search", "status": 402, "code": "INSUFFICIENT_CREDITS",
                "durationMs": 12, "creditsUsed": 3, "retention": "anonymous",
            })
        );
    }

    #[test]
    fn long_texts_are_truncated_at_character_boundaries_and_marked() {
        let long = "\u{e4}".repeat(TEXT_MAX_BYTES);
        let truncated = serialized(&Event { query: None, urls: vec![long.clone(), long], ..full() });
        let urls = truncated["urls"].as_array().unwrap();
        assert_eq!((urls.len(), &truncated["truncated"]), (1, &json!(true)));
        let others = "alice".len() + "team blue".len();
        assert!(urls[0].as_str().unwrap().len() >= TEXT_MAX_BYTES - others - 1);
        let controls = Event { query: Some("\u{1}".repeat(TEXT_MAX_BYTES)), ..full() };
        assert!(controls.to_line().len() < 60_000, "every event fits into a datagram");
    }
}

//! An event as a message of syslog (RFC 5424, section 6).

use serde_json::Value;

/// Facility 13, "log audit".
const FACILITY: u8 = 13;
const WARNING: u8 = 4;
const INFORMATIONAL: u8 = 6;
const HOSTNAME_MAX: usize = 255;

/// Fields that all syslog messages of this process share.
#[derive(Debug)]
pub(super) struct Sender {
    hostname: String,
    process: u32,
}

impl Sender {
    pub(super) fn new(hostname: Option<&str>) -> Self {
        let hostname: String =
            hostname.unwrap_or_default().chars().filter(char::is_ascii_graphic).take(HOSTNAME_MAX).collect();
        let hostname = if hostname.is_empty() { "-".to_owned() } else { hostname };
        Self { hostname, process: std::process::id() }
    }

    /// Returns the message: its text is the event as it is, JSON in UTF-8.
    pub(super) fn message(&self, event: &[u8]) -> Vec<u8> {
        let told: Value = serde_json::from_slice(event).unwrap_or_default();
        let severity = match told["status"].as_u64() {
            Some(..=399) => INFORMATIONAL,
            Some(_) | None => WARNING,
        };
        let priority = FACILITY * 8 + severity;
        let (time, operation) =
            (told["time"].as_str().unwrap_or("-"), told["operation"].as_str().unwrap_or("-"));
        let Self { hostname, process } = self;
        let mut message =
            format!("<{priority}>1 {time} {hostname} websvc {process} {operation} - ").into_bytes();
        message.extend_from_slice(event);
        message
    }
}

/// Returns the message with its length before it (RFC 6587, section 3.4.1).
pub(super) fn counted(message: &[u8]) -> Vec<u8> {
    let mut frame = format!("{} ", message.len()).into_bytes();
    frame.extend_from_slice(message);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_header_of_the_standard_and_the_event_as_it_is() {
        let sender = Sender { process: 42, ..Sender::new(Some("host a\u{e4}.example")) };
        let check = |event: &str, expected: &str| {
            let message = sender.message(event.as_bytes());
            assert_eq!(String::from_utf8(message).unwrap(), format!("{expected}{event}"));
        };
        check(
            r#"{"time":"2026-11-22T06:00:00.000001Z","operation":"search","status":200,"query":"\n"}"#,
            "<110>1 2026-11-22T06:00:00.000001Z hosta.example websvc 42 search - ",
        );
        check(
            r#"{"time":"2026-11-22T06:00:00.000001Z","operation":"search","status":429}"#,
            "<108>1 2026-11-22T06:00:00.000001Z hosta.example websvc 42 search - ",
        );
        check(r#"{"operation":"search"}"#, "<108>1 - hosta.example websvc 42 search - ");
        assert_eq!(Sender::new(None).hostname, "-");
    }

    #[test]
    fn the_length_is_counted_in_bytes() {
        assert_eq!(counted("\u{e4}b".as_bytes()), "3 \u{e4}b".as_bytes());
    }
}

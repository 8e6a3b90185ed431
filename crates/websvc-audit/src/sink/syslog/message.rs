//! Formats an event as a syslog message (RFC 5424, section 6).

use serde_json::Value;

/// Facility 13, "log audit".
const FACILITY: u8 = 13;
const WARNING: u8 = 4;
const INFORMATIONAL: u8 = 6;
const HOSTNAME_MAX: usize = 255;

/// The header fields that all messages of this process share.
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

    /// Formats a message. Its text is the unchanged event, which is JSON in UTF-8.
    pub(super) fn message(&self, event: &[u8]) -> Vec<u8> {
        let fields: Value = serde_json::from_slice(event).unwrap_or_default();
        let severity = match fields["status"].as_u64() {
            Some(..=399) => INFORMATIONAL,
            Some(_) | None => WARNING,
        };
        let priority = FACILITY * 8 + severity;
        let (time, operation) =
            (fields["time"].as_str().unwrap_or("-"), fields["operation"].as_str().unwrap_or("-"));
        let Self { hostname, process } = self;
        let mut message =
            format!("<{priority}>1 {time} {hostname} websvc {process} {operation} - ").into_bytes();
        message.extend_from_slice(event);
        message
    }
}

/// Returns a message preceded by its length (octet counting, RFC 6587, section 3.4.1).
pub(super) fn frame(message: &[u8]) -> Vec<u8> {
    let mut frame = format!("{} ", message.len()).into_bytes();
    frame.extend_from_slice(message);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_the_rfc_5424_header_and_the_unchanged_event() {
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
    fn frame_length_is_in_bytes() {
        assert_eq!(frame("\u{e4}b".as_bytes()), "3 \u{e4}b".as_bytes());
    }
}

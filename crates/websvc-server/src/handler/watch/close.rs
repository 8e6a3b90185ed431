//! The reasons to close a WebSocket, with their close codes and final messages.

use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::response::ApiError;

/// The maximum length of the reason in a close frame (RFC 6455, section 5.5).
const REASON_MAX_BYTES: usize = 123;

/// The reason to close a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// Everything was sent.
    Done,
    /// The caller may not watch the job, or it does not exist. A retry is useless.
    Rejected { code: u16, text: String },
    /// A temporary error: a request for the status over HTTP, or a later WebSocket, may succeed.
    Temporary { code: u16, text: String },
    /// The server shuts down.
    Shutdown,
    /// The client violates the protocol.
    Protocol { code: u16, text: String },
    /// The client has closed the connection, or the connection is broken.
    Disconnected,
    /// The client does not respond to pings.
    Unresponsive,
}

impl CloseReason {
    /// Returns the reason for an error of the request.
    pub(super) fn of_error(error: &ApiError) -> Self {
        let text = error.as_text();
        match error.status() {
            401 => Self::Rejected { code: 3000, text },
            402 | 403 => Self::Rejected { code: 3003, text },
            400 | 404 => Self::Rejected { code: 1008, text },
            429 => Self::Temporary { code: 1013, text },
            _ => Self::Temporary { code: 1011, text },
        }
    }

    /// Returns the reason for an error of the WebSocket stream.
    pub(super) fn of_stream_error(error: &Error) -> Self {
        let protocol = |code, text: &str| Self::Protocol { code, text: text.to_owned() };
        match error {
            Error::Capacity(_) => protocol(1009, "the message is too large"),
            Error::Utf8(_) => protocol(1007, "the text is not UTF-8"),
            // tungstenite reports a connection that the client closes without a handshake as this error.
            Error::Protocol(
                tokio_tungstenite::tungstenite::error::ProtocolError::ResetWithoutClosingHandshake,
            ) => Self::Disconnected,
            Error::Protocol(_) => protocol(1002, "the frame violates the protocol"),
            _ => Self::Disconnected,
        }
    }

    /// Returns the close code; `None` if no close frame is sent.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Done => Some(1000),
            Self::Rejected { code, .. } | Self::Temporary { code, .. } | Self::Protocol { code, .. } => {
                Some(*code)
            }
            Self::Shutdown => Some(1001),
            Self::Disconnected | Self::Unresponsive => None,
        }
    }

    /// Returns the message before the close frame. Official clients treat it as the end of the job. Without it they request
    /// the status over HTTP, so a temporary error has none.
    pub(super) fn final_message(&self) -> Option<String> {
        match self {
            Self::Rejected { text, .. } => {
                Some(serde_json::json!({ "type": "error", "error": text }).to_string())
            }
            Self::Done
            | Self::Temporary { .. }
            | Self::Shutdown
            | Self::Protocol { .. }
            | Self::Disconnected
            | Self::Unresponsive => None,
        }
    }

    pub(super) fn frame(&self) -> Option<CloseFrame> {
        let reason = match self {
            Self::Done => r#"{"type":"done"}"#,
            Self::Rejected { text, .. } | Self::Temporary { text, .. } | Self::Protocol { text, .. } => text,
            Self::Shutdown => "the service is shutting down",
            Self::Disconnected | Self::Unresponsive => "",
        };
        let end = reason.floor_char_boundary(REASON_MAX_BYTES);
        self.code().map(|code| CloseFrame { code: CloseCode::from(code), reason: reason[..end].into() })
    }
}

#[cfg(test)]
mod tests {
    use websvc_types::ErrorCode;

    use super::*;

    #[test]
    fn every_error_has_its_close_code_and_only_permanent_ones_a_final_message() {
        let check = |code, expected, is_permanent| {
            let reason = CloseReason::of_error(&ApiError::new(code, "text"));
            assert_eq!(reason.code(), Some(expected), "{code}");
            assert_eq!(reason.final_message().is_some(), is_permanent, "{code}");
        };
        check(ErrorCode::Unauthorized, 3000, true);
        check(ErrorCode::Forbidden, 3003, true);
        check(ErrorCode::NotFound, 1008, true);
        check(ErrorCode::BadRequest, 1008, true);
        check(ErrorCode::RateLimited, 1013, false);
        check(ErrorCode::UnknownError, 1011, false);
    }

    #[test]
    fn long_reason_is_cut_between_characters() {
        let text = "ä".repeat(100);
        let frame = CloseReason::Rejected { code: 1008, text }.frame().expect("a rejection has a frame");
        assert_eq!(frame.reason.as_str(), "ä".repeat(61));
    }
}

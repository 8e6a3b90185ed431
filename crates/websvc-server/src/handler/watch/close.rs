//! How a socket ends: the codes with which it closes, and what is told before.

use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::response::ApiError;

/// The longest reason that fits into a close frame (RFC 6455, section 5.5).
const REASON_MAX_BYTES: usize = 123;

/// Why a socket ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// Everything was told.
    Done,
    /// The caller may not have this, or there is no such thing; asking again is no use.
    Refused { code: u16, text: String },
    /// Not now: asking for the state over HTTP, or a socket later, may work.
    NotNow { code: u16, text: String },
    /// The server stops.
    Stopping,
    /// The client does not keep to the protocol.
    Broken { code: u16, text: String },
    /// The client has closed, or its connection broke.
    Gone,
    /// The client does not answer any more.
    Silent,
}

impl CloseReason {
    /// Returns the end of a socket for whose caller there is this failure.
    pub(super) fn of(failure: &ApiError) -> Self {
        let text = failure.as_text();
        match failure.status() {
            401 => Self::Refused { code: 3000, text },
            402 | 403 => Self::Refused { code: 3003, text },
            400 | 404 => Self::Refused { code: 1008, text },
            429 => Self::NotNow { code: 1013, text },
            _ => Self::NotNow { code: 1011, text },
        }
    }

    /// Returns the end of a socket that failed so.
    pub(super) fn of_socket(error: &Error) -> Self {
        let broken = |code, text: &str| Self::Broken { code, text: text.to_owned() };
        match error {
            Error::Capacity(_) => broken(1009, "the message is too large"),
            Error::Utf8(_) => broken(1007, "the text is not UTF-8"),
            // It is said this way when the client hangs up without a word.
            Error::Protocol(
                tokio_tungstenite::tungstenite::error::ProtocolError::ResetWithoutClosingHandshake,
            ) => Self::Gone,
            Error::Protocol(_) => broken(1002, "the frame breaks the protocol"),
            _ => Self::Gone,
        }
    }

    /// Returns the code that the client is told; `None` when it is told none.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Done => Some(1000),
            Self::Refused { code, .. } | Self::NotNow { code, .. } | Self::Broken { code, .. } => Some(*code),
            Self::Stopping => Some(1001),
            Self::Gone | Self::Silent => None,
        }
    }

    /// Returns the frame that goes before the end. The official clients take it for the end of the job, and ask for the
    /// state over HTTP without it: so only what will not change is told this way.
    pub(super) fn final_message(&self) -> Option<String> {
        match self {
            Self::Refused { text, .. } => {
                Some(serde_json::json!({ "type": "error", "error": text }).to_string())
            }
            Self::Done
            | Self::NotNow { .. }
            | Self::Stopping
            | Self::Broken { .. }
            | Self::Gone
            | Self::Silent => None,
        }
    }

    pub(super) fn frame(&self) -> Option<CloseFrame> {
        let reason = match self {
            Self::Done => r#"{"type":"done"}"#,
            Self::Refused { text, .. } | Self::NotNow { text, .. } | Self::Broken { text, .. } => text,
            Self::Stopping => "the service is stopping",
            Self::Gone | Self::Silent => "",
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
    fn every_failure_has_its_code() {
        let check = |code, expected, is_final| {
            let farewell = CloseReason::of(&ApiError::new(code, "text"));
            assert_eq!(farewell.code(), Some(expected), "{code}");
            assert_eq!(farewell.final_message().is_some(), is_final, "{code}");
        };
        check(ErrorCode::Unauthorized, 3000, true);
        check(ErrorCode::Forbidden, 3003, true);
        check(ErrorCode::NotFound, 1008, true);
        check(ErrorCode::BadRequest, 1008, true);
        check(ErrorCode::RateLimited, 1013, false);
        check(ErrorCode::UnknownError, 1011, false);
    }

    #[test]
    fn a_reason_fits_and_is_cut_between_characters() {
        let text = "ä".repeat(100);
        let frame = CloseReason::Refused { code: 1008, text }.frame().expect("it is told");
        assert_eq!(frame.reason.as_str(), "ä".repeat(61));
    }
}

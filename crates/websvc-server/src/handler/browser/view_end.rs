//! The reasons why a live view ends, for the log and for the page of the viewer.

use std::time::Duration;

use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// The time without a message of the viewer after which it counts as gone. Its page sends one every ten seconds.
pub(super) const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// The reason why a live view ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ViewEnd {
    /// The viewer has closed the connection, or it is lost.
    Left,
    /// The viewer has sent nothing for too long.
    Silent,
    /// The viewer has sent a message that its page does not send.
    InvalidMessage,
    /// The viewer has sent a message that is too long.
    TooLong,
    /// The connection to the browser has ended, usually with the session.
    SessionEnded,
    /// The last tab of the session was closed.
    NoTab,
    /// The browser has sent a message that cannot be read.
    InvalidEvent,
    /// The service shuts down.
    Shutdown,
}

impl ViewEnd {
    /// Returns the reason after an error of the connection to the viewer.
    pub(super) fn from_error(error: &Error) -> Self {
        if matches!(error, Error::Capacity(_)) { Self::TooLong } else { Self::Left }
    }

    /// Returns the reason as a sentence.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Left => "the viewer has left",
            Self::Silent => "the viewer has sent nothing for 60 seconds",
            Self::InvalidMessage => "the message is not one of the live view",
            Self::TooLong => "the message is longer than 16 KiB",
            Self::SessionEnded => "the browser session has ended",
            Self::NoTab => "the last tab was closed",
            Self::InvalidEvent => "the browser has sent an invalid message",
            Self::Shutdown => "the service is shutting down",
        }
    }

    /// Returns the last message of the connection, unless the viewer has ended it.
    pub(super) fn close_frame(self) -> Option<CloseFrame> {
        let code = match self {
            Self::Left => return None,
            Self::Silent | Self::InvalidMessage => CloseCode::Policy,
            Self::TooLong => CloseCode::Size,
            Self::SessionEnded | Self::NoTab => CloseCode::Normal,
            Self::InvalidEvent => CloseCode::Error,
            Self::Shutdown => CloseCode::Away,
        };
        Some(CloseFrame { code, reason: self.reason().into() })
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::error::CapacityError;

    use super::*;

    #[test]
    fn too_long_message_is_not_a_lost_connection() {
        let too_long = CapacityError::MessageTooLong { size: 20_000, max_size: 16 * 1024 };
        let end = ViewEnd::from_error(&Error::Capacity(too_long));
        assert_eq!(end.close_frame().map(|frame| frame.code), Some(CloseCode::Size));
        assert_eq!(ViewEnd::from_error(&Error::ConnectionClosed).close_frame(), None);
    }

    #[test]
    fn reason_names_the_time_without_a_message() {
        let seconds = format!("{} seconds", SILENCE_TIMEOUT.as_secs());
        assert!(ViewEnd::Silent.reason().ends_with(&seconds), "{seconds}");
    }
}

//! Errors of deliveries.

use std::fmt;
use std::time::Duration;

use lettre::transport::smtp;
use websvc_transport::FetchError;

use crate::text::clean_line;

/// Maximum length of the words of a server, in characters.
const MAX_REPLY_CHARS: usize = 300;

/// Phase of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailPhase {
    /// Finding the server and connecting, with TLS if it begins with it.
    Connect,
    /// Exchanging greetings.
    Greeting,
    /// Starting TLS on an open connection.
    StartTls,
    /// Sending the user name and the password.
    Authentication,
    /// Sending the message.
    Message,
}

impl fmt::Display for MailPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Greeting => "waiting for its greeting",
            Self::StartTls => "starting TLS",
            Self::Authentication => "authenticating",
            Self::Message => "sending the message",
        })
    }
}

/// Negative reply of a mail server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReply {
    /// The code, from 400 to 599.
    pub code: u16,
    /// The words of the server, shortened.
    pub text: String,
}

impl fmt::Display for ServerReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, text } = self;
        if text.is_empty() { write!(f, "{code}") } else { write!(f, "{code} {text}") }
    }
}

/// Error of a delivery. The text names the server and its words, and never contains the password.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The name of the server cannot be resolved.
    #[error("the mail server {server} was not found")]
    Dns {
        /// The server.
        server: String,
        /// Error of the client.
        source: FetchError,
    },
    /// The server did not accept the connection.
    #[error("could not connect to the mail server {server}")]
    Connect {
        /// The server.
        server: String,
        /// Error of the client.
        source: FetchError,
    },
    /// There is no encrypted connection to the server.
    #[error("no secure connection to the mail server {server}: {reason}")]
    Tls {
        /// The server.
        server: String,
        /// Reason of the failure.
        reason: String,
    },
    /// The server does not accept the user name and the password.
    #[error("the mail server {server} did not accept the user name and the password: {reply}")]
    Authentication {
        /// The server.
        server: String,
        /// Its reply.
        reply: ServerReply,
    },
    /// The server offers no method of authentication that is supported.
    #[error("the mail server {server} offers no authentication by PLAIN or LOGIN")]
    NoMechanism {
        /// The server.
        server: String,
    },
    /// The server refuses the sender.
    #[error("the mail server {server} refused the sender {sender}: {reply}")]
    Sender {
        /// The server.
        server: String,
        /// The sender.
        sender: String,
        /// Its reply.
        reply: ServerReply,
    },
    /// The server refuses the recipient.
    #[error("the mail server {server} refused the recipient {recipient}: {reply}")]
    Recipient {
        /// The server.
        server: String,
        /// The recipient.
        recipient: String,
        /// Its reply.
        reply: ServerReply,
    },
    /// The server refuses the message, or all messages.
    #[error("the mail server {server} refused the message: {reply}")]
    Refused {
        /// The server.
        server: String,
        /// Its reply.
        reply: ServerReply,
    },
    /// The connection ended early, or the server does not speak SMTP.
    #[error("the connection to the mail server {server} failed while {phase}: {reason}")]
    Connection {
        /// The server.
        server: String,
        /// Phase of the delivery.
        phase: MailPhase,
        /// Reason of the failure.
        reason: String,
    },
    /// The time for the delivery passed.
    #[error("the mail server {server} did not finish within {} s: stopped while {phase}", timeout.as_secs_f64())]
    Timeout {
        /// The server.
        server: String,
        /// Phase of the delivery.
        phase: MailPhase,
        /// The maximum time.
        timeout: Duration,
    },
}

impl MailError {
    /// Returns whether a later attempt may succeed. After a connection that failed while the message was sent, the server
    /// may have accepted it; a repeated message has the same message ID.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Dns { .. } | Self::Connect { .. } | Self::Connection { .. } | Self::Timeout { .. } => true,
            Self::Tls { .. } | Self::NoMechanism { .. } => false,
            Self::Authentication { reply, .. }
            | Self::Sender { reply, .. }
            | Self::Recipient { reply, .. }
            | Self::Refused { reply, .. } => reply.code < 500,
        }
    }
}

/// Error of one step of a session: the server said no, or nothing that can be understood.
#[derive(Debug)]
pub(super) enum StepError {
    Reply(ServerReply),
    Broken(String),
}

/// Converts an error of the mail library. `secret` is replaced in the words of the server, which may repeat it.
pub(super) fn step_error(error: &smtp::Error, secret: Option<&str>) -> StepError {
    let words = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let words = match secret {
        Some(secret) => words.replace(secret, "***"),
        None => words,
    };
    let text = clean_line(&words, MAX_REPLY_CHARS);
    match error.status() {
        Some(code) => StepError::Reply(ServerReply { code: code.into(), text }),
        None if text.is_empty() => StepError::Broken("no valid reply".to_owned()),
        None => StepError::Broken(text),
    }
}

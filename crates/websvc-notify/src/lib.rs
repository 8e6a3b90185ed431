//! Notifications: of people about the checks of a monitor, by email over SMTP, messaging services and Atom feeds; and of
//! programs, by signed [webhooks](webhook).
//!
//! The caller builds a [`CheckReport`]. It becomes a [`Mail`] for one recipient, a message for a channel of a messaging
//! service ([`channel_message`]), or an entry of a feed ([`AtomFeed`]). A [`Mailer`] delivers mail through the guarded client of
//! websvc-transport, which opens the connections and does TLS. [`Token`]s are the secrets in the links of messages.
//!
//! Texts of pages are hostile. [`CheckReport`] may have any text; it is cleaned, shortened and escaped where it is
//! written, and every result is bounded.

#![deny(missing_docs)]

mod address;
mod atom;
mod channel;
mod digest;
mod email;
mod escape;
mod report;
mod slack;
mod smtp;
mod text;
mod token;
pub mod webhook;
mod wording;

pub use address::{EmailAddress, InvalidAddress, Mailbox};
pub use atom::AtomFeed;
pub use channel::{ChannelMessage, channel_key, channel_message};
pub use digest::DiffMode;
pub use email::{ConfirmationMail, Mail, ReportMail};
pub use escape::escape;
pub use report::{CheckReport, CheckStatus, FieldChange, Judgment, PageCounts, PageReport};
pub use slack::slack_payload;
pub use smtp::{
    MailConfig, MailConfigError, MailError, MailPassword, MailPhase, MailTls, Mailer, ServerReply,
};
pub use token::{InvalidToken, Token, TokenError, TokenHash};
pub use websvc_types::monitor::{MeaningfulChange, MeaningfulChangeKind, MonitorPageStatus};
pub use wording::headline;

//! Notifications: of people about the checks of a monitor, by email over SMTP, Slack messages and Atom feeds; and of
//! programs, by signed [webhooks](webhook).
//!
//! The caller builds a [`CheckReport`]. It becomes a [`Mail`] for one recipient, the payload of a Slack webhook
//! ([`slack_payload`]), or an entry of a feed ([`AtomFeed`]). A [`Mailer`] delivers mail through the guarded client of
//! websvc-transport, which opens the connections and does TLS. [`Token`]s are the secrets in the links of messages.
//!
//! Texts of pages are hostile. [`CheckReport`] may have any text; it is cleaned, shortened and escaped where it is
//! written, and every result is bounded.

#![deny(missing_docs)]

mod address;
mod atom;
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

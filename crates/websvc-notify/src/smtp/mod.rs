//! Delivery of mail over SMTP.

mod config;
mod error;
mod mailer;
mod session;
mod stream;

pub use config::{MailConfig, MailConfigError, MailPassword, MailTls};
pub use error::{MailError, MailPhase, ServerReply};
pub use mailer::Mailer;

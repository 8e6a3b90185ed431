//! Webhooks: bodies that are posted to a URL and signed, so that their receiver knows from whom and when they are.
//!
//! Every body goes out as Standard Webhooks has it (<https://www.standardwebhooks.com>), through the guarded client,
//! and follows no redirect: what was signed for one place does not go to another by itself.

#![deny(missing_docs)]

mod backoff;
mod post;
mod redacted_url;
mod secret;

pub use backoff::{Backoff, BackoffSchedule};
pub use post::{PostError, WebhookRequest, post};
pub use redacted_url::redact_url;
pub use secret::{SecretError, SigningSecret};

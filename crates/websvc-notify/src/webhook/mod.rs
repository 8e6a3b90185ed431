//! Webhooks: signed `POST` requests, whose receiver can verify their sender and time, and the backoff between attempts.
//!
//! Requests follow Standard Webhooks (<https://www.standardwebhooks.com>) and are sent through the guarded client. Redirects
//! are not followed, because a body is signed for one receiver.

mod backoff;
mod post;
mod redacted_url;
mod secret;

pub use backoff::{Backoff, BackoffSchedule};
pub use post::{PostError, WebhookRequest, post, send_message};
pub use redacted_url::redact_url;
pub use secret::{SecretError, SigningSecret};

//! The facade of websvc: types, validation, transport and a typed client.
//!
//! - [`types`]: the wire models, their limits and schemas; depend on `websvc-types` alone to share only these.
//! - [`validate`]: the field rules, from a request to a checked plan.
//! - [`transport`]: the HTTP server and the guarded HTTP client.
//! - [`Client`]: asks a running service.
//! - `server`, with the feature of that name: the whole service, to be embedded.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = websvc::Client::new("http://127.0.0.1:3002".parse()?, Some("fc-...".to_owned()))?;
//! let found = client.search("asyncio gather").limit(5).send().await?;
//! for result in found.data.web.unwrap_or_default() {
//!     println!("{} {}", result.url, result.title);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The examples of this crate show the ways of use as whole programs: `share_schemas`, `client_in_service` and
//! `embed_server`.

#![deny(missing_docs)]

mod builder;
mod call;
mod client;
mod error;
mod health;
mod job;
mod renamed;
mod retry;
mod search;

pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{ApiError, ClientError};
pub use health::{Health, Readiness};
pub use http::StatusCode;
pub use job::{Job, JobKind, JobStream};
#[expect(deprecated, reason = "old names stay for one release")]
pub use renamed::{Refusal, Retry, Search, Watch};
pub use retry::RetryPolicy;
pub use search::SearchBuilder;
#[cfg(feature = "server")]
pub use websvc_server as server;
pub use websvc_transport as transport;
pub use websvc_types as types;
pub use websvc_validate as validate;

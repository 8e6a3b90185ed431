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
//! let request = websvc::types::SearchRequest { query: "asyncio gather".to_owned(), ..Default::default() };
//! for result in client.search(&request).await?.data.web.unwrap_or_default() {
//!     println!("{} {}", result.url, result.title);
//! }
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

mod client;

pub use client::{Client, ClientError};
#[cfg(feature = "server")]
pub use websvc_server as server;
pub use websvc_transport as transport;
pub use websvc_types as types;
pub use websvc_validate as validate;

//! Client of a websvc service, and the service itself for embedding.
//!
//! websvc is a self-hosted service that searches the web, scrapes pages, maps sites and crawls them, in the wire format
//! of Firecrawl v2. This crate is its interface for Rust programs:
//!
//! - a typed async client with timeouts, retries and typed errors: [`Client`],
//! - the request and response types: [`types`],
//! - with the feature `validate`, the field rules, to check a request without sending it: `validate`,
//! - with the feature `server`, the whole service in your own process: `server::EmbeddedServer`.
//!
//! # First example
//!
//! ```no_run
//! use websvc::Client;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::new("http://127.0.0.1:3002".parse()?, "fc-...")?;
//! let response = client.search("asyncio gather").limit(5).markdown().send().await?;
//! for page in response.data.web.unwrap_or_default() {
//!     println!("{}\n{}", page.url, page.content.markdown.unwrap_or_default());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The client needs a tokio runtime.
//!
//! # Main items
//!
//! | To | Use |
//! |---|---|
//! | connect to a service | [`Client::new`], [`Client::builder`] for a proxy, timeouts or certificates |
//! | search the web | [`Client::search`], which returns a [`SearchBuilder`]; [`Client::execute_search`] for a [`types::SearchRequest`] |
//! | scrape a page | [`Client::scrape`] |
//! | convert a file | [`Client::parse`] |
//! | list the URLs of a site | [`Client::map`] |
//! | crawl a site, or scrape a list of pages | [`Client::start_crawl`], [`Client::start_batch`] |
//! | follow a job, read its errors, cancel it | [`Client::job`], which returns a [`Job`]; [`Job::watch`], which returns a [`JobStream`] |
//! | create, change and run monitors, read their checks | [`Client::create_monitor`], [`Client::monitors`], [`Client::run_monitor`], [`Client::monitor_check`] |
//! | start agent runs, follow and cancel them, read their data and traces | [`Client::start_agent`], [`Client::wait_for_agent`], [`Client::agent_trace`], [`Client::cancel_agent`] |
//! | start extractions, and wait for their data | [`Client::start_extract`], [`Client::wait_for_extract`] |
//! | start, use and end browser sessions, run code in the page of a scrape | [`Client::start_browser`], [`Client::execute_code`], [`Client::end_browser`], [`Client::interact`] |
//! | add documents to the index | [`Client::add_documents`] |
//! | test the receivers of audit events | [`Client::test_siem`] |
//! | check the state of a service | [`Client::health`], [`Client::readiness`] |
//! | handle a failure | [`ClientError`], [`ApiError`] |
//! | control repeated requests | [`RetryPolicy`] |
//!
//! # Errors and retries
//!
//! Every method returns a [`ClientError`]. Its methods work on all variants: [`code`](ClientError::code) is the error code
//! of the service, [`details`](ClientError::details) are the rules that the request breaks, and
//! [`is_timeout`](ClientError::is_timeout) and [`is_connect`](ClientError::is_connect) classify network failures.
//!
//! The client repeats requests after the statuses 429, 502 and 503 and after network failures, if that cannot do harm.
//! See [`RetryPolicy`] for the rules, and how to change them.
//!
//! # Cargo features
//!
//! All are off by default, so that the client alone has few dependencies:
//!
//! - `compression`: compressed responses (gzip, deflate, brotli, zstd).
//! - `socks`: SOCKS5 proxies. Without it, a client with one is a [`ClientError::Transport`].
//! - `schemars`: the JSON Schemas of the types, in `types::schema`.
//! - `validate`: the module `validate` with the field rules; turns on `schemars`.
//! - `server`: the module `server`, the whole service for embedding; turns on all others. It adds many dependencies.
//!
//! # Examples
//!
//! The source tree has these programs in `crates/websvc/examples`:
//!
//! - `share_schemas`: builds, reads and checks requests, and prints a JSON Schema; without a service.
//! - `client_in_service`: a web service that uses the client.
//! - `embed_server`: the whole service in a program.

#![deny(missing_docs)]

mod agent;
mod browser;
mod builder;
mod call;
mod client;
mod error;
mod extract;
mod health;
mod job;
mod json;
mod monitor;
mod parse;
mod retry;
mod search;
pub mod transport;
#[cfg(feature = "validate")]
pub mod validate;

/// Types of the HTTP interface: the whole crate [`websvc-types`](websvc_types).
///
/// A program that only shares types can depend on that crate alone; it has few dependencies.
pub use websvc_types as types;

pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{ApiError, ClientError};
pub use health::{Health, Readiness};
pub use http::{Method, StatusCode};
pub use job::{Job, JobKind, JobStream};
pub use monitor::ListRange;
pub use retry::RetryPolicy;
pub use search::SearchBuilder;
pub use url::Url;
#[cfg(feature = "server")]
pub use websvc_server as server;

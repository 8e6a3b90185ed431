//! HTTP for websvc over hyper and rustls: a server with limits and graceful shutdown, a client behind an address guard.
//!
//! This is the only crate of the workspace that uses hyper and rustls directly. Its API has the types of the `http`,
//! `bytes` and `url` crates.
//!
//! - [`Server`] listens, serves HTTP/1.1 and HTTP/2 with or without TLS, enforces the limits of [`ServerConfig`] and
//!   shuts down gracefully.
//! - [`Client`] fetches one URL within one time limit and several size limits. It follows redirects and decodes content
//!   codings. Its [`AddressGuard`] checks every address after name resolution, before the client connects to it,
//!   directly or through a [`Proxy`].
//! - A [`CircuitBreaker`] and [`retry_after`] are for callers that send many requests to one server.
//! - A [`FairSemaphore`] divides a limited number of permits among teams.

#![deny(missing_docs)]

mod blocking;
mod body;
mod circuit_breaker;
mod client;
mod error;
mod fair;
mod future;
mod guard;
mod retry_after;
mod server;
pub mod socks_server;
mod tls;
mod traffic_budget;
mod tunnel;
mod upgrade;

pub use blocking::{BlockingTask, ShutdownError, run_blocking, spawn_blocking};
pub use body::{Aborted, Body, BodySender};
pub use circuit_breaker::{BreakerAttempt, BreakerHealth, BreakerOpen, CircuitBreaker};
pub use client::{
    BodyMode, Client, ClientConfig, CookieJar, FetchRequest, FetchResponse, OversizePolicy, Proxy,
    RedirectPolicy, RelayRequest, Resolve, ResolveFuture, SystemResolver, TlsPolicy, Upgrade, UpgradeRequest,
    UrlPolicy, has_credentials, is_forbidden_header, text_without_credentials, without_credentials,
};
pub use error::{BodyError, ClientBuildError, FetchError, FetchPhase, REFUSED_ADDRESS, ServerError};
pub use fair::{FairPermit, FairQueue, FairSemaphore, QueueTicket};
pub use future::BoxFuture;
pub use guard::{AddressGuard, GuardError, IpNetwork, is_public};
pub use retry_after::{MAX_RETRY_AFTER, retry_after};
pub use server::{BodyTimeout, ErrorReply, Server, ServerBody, ServerConfig, ShutdownReport, TlsFiles};
pub use traffic_budget::TrafficBudget;
pub use tunnel::Tunnel;
pub use upgrade::ShutdownSignal;

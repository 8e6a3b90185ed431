//! HTTP for websvc: a server with limits and drain, a client behind an address guard, over hyper and rustls.
//!
//! The only crate of the workspace that knows hyper and rustls; its signatures speak the `http`, `bytes` and
//! `url` crates' types.
//!
//! - [`Server`] listens, speaks TLS, HTTP/1.1 and HTTP/2, enforces the limits of [`ServerConfig`] and drains.
//! - [`Client`] fetches one URL with redirects, decoding, limits and one time limit; every connection it makes
//!   goes to an address that its [`AddressGuard`] has checked after name resolution, directly or through a
//!   [`Proxy`].
//! - A [`CircuitBreaker`] and [`retry_after`] are for callers that send many requests to one server.

#![deny(missing_docs)]

mod body;
mod circuit_breaker;
mod client;
mod error;
mod future;
mod guard;
mod retry_after;
mod server;
mod tls;
mod tunnel;

pub use body::{Aborted, Body, BodySender};
pub use circuit_breaker::{BreakerAttempt, BreakerHealth, BreakerOpen, CircuitBreaker};
pub use client::{
    BodyMode, Client, ClientConfig, CookieJar, FetchRequest, FetchResponse, OversizePolicy, Proxy,
    RedirectPolicy, Resolve, ResolveFuture, SystemResolver, TlsPolicy, Upgrade, UpgradeRequest, UrlPolicy,
    has_credentials, is_forbidden_header, without_credentials,
};
pub use error::{BodyError, ClientBuildError, FetchError, FetchPhase, REFUSED_ADDRESS, ServerError};
pub use future::BoxFuture;
pub use guard::{AddressGuard, GuardError, IpNetwork, is_public};
pub use retry_after::{MAX_RETRY_AFTER, retry_after};
pub use server::{
    BodyTimeout, ErrorReply, Server, ServerBody, ServerConfig, ShutdownReport, ShutdownSignal, TlsFiles,
};
pub use tunnel::Tunnel;

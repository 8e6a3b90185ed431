//! HTTP types that occur in the interface of this crate, from the crate `websvc-transport`.
//!
//! - [`FetchError`] is the source of [`ClientError::Unreachable`](crate::ClientError::Unreachable), and
//!   [`ClientBuildError`] that of [`ClientError::Transport`](crate::ClientError::Transport).
//! - With the feature `server`, the settings of an embedded service: where it listens, which addresses it may fetch, and
//!   the HTTP client of its scanner and language model. That `Client` fetches any URL, unlike that of this crate.

#[cfg(feature = "server")]
pub use websvc_transport::{
    AddressGuard, BodyTimeout, Client, ClientConfig, GuardError, IpNetwork, Proxy, ServerConfig, ServerError,
    ShutdownReport, TlsFiles,
};
pub use websvc_transport::{ClientBuildError, FetchError, FetchPhase};

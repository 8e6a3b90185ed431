//! TLS with rustls and ring: certificates of the server, trust anchors of the client.

mod client;
mod server;
mod validity;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub(crate) use client::{TrustStore, public_reason};
pub(crate) use server::ReloadingAcceptor;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

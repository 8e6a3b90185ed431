//! OAuth 2.1 for MCP clients: they connect by the URL of the service alone, and a user who is signed in to the dashboard
//! authorizes them.
//!
//! The service is its own authorization server. Clients are public and register themselves (RFC 7591), so a name of a client
//! proves nothing: the user decides by the address to which the code goes. Every code needs a proof (RFC 7636, S256 only). An
//! access token is a key; the grants are in `websvc-store/src/oauth/`.

mod authorize;
mod challenge;
mod endpoints;
mod error;
mod form;
mod issuer;
mod loopback;
mod metadata;
mod redirect_uri;
mod register;
mod token;

pub(crate) use challenge::add_challenge;
pub(crate) use endpoints::ENDPOINTS;
pub(crate) use form::Parameters;
pub use issuer::{InvalidIssuer, InvalidScheme, OauthIssuer};
pub(crate) use loopback::is_loopback_http;
pub(crate) use register::is_shown;

//! OAuth: programs that registered as clients, and what users have authorized them to do.
//!
//! The access token of a grant is a key of its team, whose row has the rights. So every stage that knows keys knows access
//! tokens, and to revoke the key ends the grant. A refresh gives the key another secret and, with it, another id.
//!
//! A code and a refresh token have two random halves: the first one identifies the grant (its family), the second one changes
//! with every exchange. A token with the right first and a wrong second half was used before, so two parties have it: the grant
//! is revoked (RFC 9700, section 4.14.2). Only the hashes of both halves are stored.

mod client;
mod grant;
mod token;

pub use client::{MAX_OAUTH_CLIENTS, OauthClient};
pub use grant::{
    ACCESS_TOKEN_MS, CODE_MS, GrantProof, GrantRefusal, MAX_OAUTH_GRANTS, NewGrant, OauthTokens,
    REFRESH_TOKEN_MS,
};

//! Tokens as bearers: a token of the provider instead of a key.

use std::collections::BTreeSet;

use websvc_store::{Caller, KeyLookup, KeyRights, ProvenIdentity, Store, StoreError};

use super::Oidc;
use super::claims::{Identity, Purpose};
use super::refusal::TokenRefusal;
use super::token::shown;
use crate::blocking::run_blocking;
use crate::response::ApiError;

/// Returns the caller that a token proves. It never administers: only a session of the dashboard does.
///
/// # Errors
/// 401 for a token that proves nothing, 403 for one without a team or scopes here, 503 while the keys of the provider or the
/// teams cannot be read, 500 if the teams cannot be read for another reason.
pub(crate) async fn find_token_caller(oidc: &Oidc, store: &Store, text: &str) -> Result<Caller, ApiError> {
    if oidc.0.audiences.is_empty() {
        let rule = "tokens of the identity provider are for sign-in only, send an API key";
        return Err(TokenRefusal::Invalid(rule.to_owned()).into());
    }
    let purpose = Purpose::Access { audiences: &oidc.0.audiences };
    let Identity { subject, name: _, team, rights } = oidc.identify(text, purpose, store.now_ms()).await?;
    if rights.scopes.as_ref().is_none_or(BTreeSet::is_empty) {
        let rule = "the token gives no scope of this service (auth.oidc)";
        return Err(TokenRefusal::Forbidden(rule.to_owned()).into());
    }
    let rights = KeyRights { admin: false, ..rights };
    let issuer = oidc.0.issuer.clone();
    let identity = ProvenIdentity { issuer, subject, team, rights };
    let caller = find_caller(store, &identity).await?;
    caller.ok_or_else(|| no_team(&identity.team).into())
}

/// Returns the refusal of a token whose team does not exist. Tokens create no teams.
pub(super) fn no_team(team: &str) -> TokenRefusal {
    TokenRefusal::Forbidden(format!("the team {} of the token does not exist here", shown(team)))
}

/// Waits for a server only on another thread.
async fn find_caller(store: &Store, identity: &ProvenIdentity) -> Result<Option<Caller>, ApiError> {
    let unreadable = |error: StoreError| ApiError::internal(&error, "the teams could not be read");
    if let KeyLookup::Known(caller) = store.try_authenticate_identity(identity).map_err(unreadable)? {
        return Ok(caller.map(|caller| *caller));
    }
    let (store, identity) = (store.clone(), identity.clone());
    run_blocking(move || store.authenticate_identity(&identity)).await?.map_err(unreadable)
}

//! The keys on the dashboard.

use std::num::NonZeroU32;

use http::{Request, StatusCode};
use serde::{Deserialize, Serialize};
use websvc_store::{KeyRecord, KeyRights, KeyScope};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::{read, run_on_store, success};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    id: String,
    team: String,
    name: String,
    /// Milliseconds since the Unix epoch, like the other times.
    created_at: u64,
    last_used_at: Option<u64>,
    revoked_at: Option<u64>,
    expires_at: Option<u64>,
    admin: bool,
    /// The scopes; an empty list stands for all.
    scopes: Vec<&'static str>,
}

impl From<KeyRecord> for Key {
    fn from(key: KeyRecord) -> Self {
        let KeyRecord { id, team, label, created_at_ms, last_used_at_ms, revoked_at_ms, rights } = key;
        Self {
            id: id.to_string(),
            team,
            name: label,
            created_at: created_at_ms,
            last_used_at: last_used_at_ms,
            revoked_at: revoked_at_ms,
            expires_at: rights.expires_at_ms,
            admin: rights.admin,
            scopes: rights.scopes.iter().flatten().map(|scope| scope.as_str()).collect(),
        }
    }
}

/// `GET /dashboard/keys`: all keys, without their secrets.
pub(super) async fn list(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let store = context.state.store.clone();
    let keys: Vec<Key> = run_on_store(move || store.list_keys()).await?.into_iter().map(Key::from).collect();
    // The page creates its form from this list.
    let scopes: Vec<&str> = KeyScope::ALL.iter().map(|scope| scope.as_str()).collect();
    Ok(json(StatusCode::OK, &serde_json::json!({ "keys": keys, "scopes": scopes })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewKey {
    team: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    admin: bool,
    /// The scopes; `None` stands for all.
    scopes: Option<Vec<String>>,
    /// The lifetime in days; `None` is unlimited.
    expires_in_days: Option<NonZeroU32>,
}

impl NewKey {
    fn rights(&self, now_ms: u64) -> Result<KeyRights, ApiError> {
        let scopes = self.scopes.iter().flatten().map(|scope| scope.parse::<KeyScope>());
        let scopes = scopes
            .collect::<Result<_, _>>()
            .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: scopes: {error}")))?;
        let expires_at_ms = |days: NonZeroU32| now_ms + u64::from(days.get()) * 86_400_000;
        Ok(KeyRights {
            admin: self.admin,
            scopes: self.scopes.is_some().then_some(scopes),
            expires_at_ms: self.expires_in_days.map(expires_at_ms),
            ..KeyRights::default()
        })
    }
}

/// `POST /dashboard/keys`: creates a key. Its secret is only in the response, and never stored.
pub(super) async fn create(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let new_key: NewKey = read(request)?;
    context.trail.set_target(|| format!("team {}", new_key.team));
    let rights = new_key.rights(context.state.store.now_ms())?;
    let store = context.state.store.clone();
    let team = new_key.team.clone();
    let key = run_on_store(move || store.create_key_with(&new_key.team, &new_key.name, &rights)).await?;
    context.trail.set_target(|| format!("key {} of team {team}", key.id));
    Ok(json(StatusCode::OK, &serde_json::json!({ "id": key.id.as_str(), "secret": key.secret.expose() })))
}

/// `DELETE /dashboard/keys/{id}`.
pub(super) async fn revoke(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = context.capture(request, "id").to_owned();
    context.trail.set_target(|| format!("key {id}"));
    let store = context.state.store.clone();
    run_on_store(move || store.revoke_key(&id)).await?;
    Ok(success())
}

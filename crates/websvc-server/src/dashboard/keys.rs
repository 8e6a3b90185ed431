//! The keys on the dashboard.

use std::collections::BTreeSet;
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
    /// The time until which the invitation can be redeemed; `None` for a key.
    redeem_until: Option<u64>,
    admin: bool,
    /// The scopes; an empty list stands for all.
    scopes: Vec<&'static str>,
}

impl From<KeyRecord> for Key {
    fn from(key: KeyRecord) -> Self {
        let KeyRecord {
            id,
            team,
            label,
            created_at_ms,
            last_used_at_ms,
            revoked_at_ms,
            redeem_until_ms,
            rights,
        } = key;
        Self {
            id: id.to_string(),
            team,
            name: label,
            created_at: created_at_ms,
            last_used_at: last_used_at_ms,
            revoked_at: revoked_at_ms,
            expires_at: rights.expires_at_ms,
            redeem_until: redeem_until_ms,
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
    /// The names of the formats; `None` stands for all.
    formats: Option<BTreeSet<String>>,
    requests_per_minute: Option<u32>,
    concurrency: Option<u32>,
    /// The lifetime in days; `None` is unlimited.
    expires_in_days: Option<NonZeroU32>,
    /// The days within which an invitation can be redeemed; `None` creates the key at once.
    invite_for_days: Option<NonZeroU32>,
}

impl NewKey {
    fn rights(&self, now_ms: u64) -> Result<KeyRights, ApiError> {
        let scopes = self.scopes.iter().flatten().map(|scope| scope.parse::<KeyScope>());
        let scopes = scopes
            .collect::<Result<_, _>>()
            .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: scopes: {error}")))?;
        Ok(KeyRights {
            admin: self.admin,
            scopes: self.scopes.is_some().then_some(scopes),
            formats: self.formats.clone(),
            networks: Vec::new(),
            expires_at_ms: self.expires_in_days.map(|days| after(now_ms, days)),
            requests_per_minute: self.requests_per_minute,
            concurrency: self.concurrency,
        })
    }
}

/// Returns the time this many days after another one.
fn after(now_ms: u64, days: NonZeroU32) -> u64 {
    now_ms + u64::from(days.get()) * 86_400_000
}

/// Returns the link with which a browser redeems an invitation. The invitation is in the fragment, which browsers send to no
/// server.
#[must_use]
pub fn invitation_link(base_url: &str, invitation: &str) -> String {
    format!("{}/#/redeem/{invitation}", base_url.trim_end_matches('/'))
}

/// `POST /dashboard/keys`: creates a key or an invitation. Its secret is only in the response, and never stored.
pub(super) async fn create(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let new_key: NewKey = read(request)?;
    context.trail.set_target(|| format!("team {}", new_key.team));
    let now_ms = context.state.store.now_ms();
    let rights = new_key.rights(now_ms)?;
    let store = context.state.store.clone();
    let team = new_key.team.clone();
    let redeem_until_ms = new_key.invite_for_days.map(|days| after(now_ms, days));
    let key = run_on_store(move || match redeem_until_ms {
        Some(until_ms) => store.create_invitation(&new_key.team, &new_key.name, &rights, until_ms),
        None => store.create_key_with(&new_key.team, &new_key.name, &rights),
    })
    .await?;
    let kind = if redeem_until_ms.is_some() { "invitation" } else { "key" };
    context.trail.set_target(|| format!("{kind} {} of team {team}", key.id));
    let link = redeem_until_ms.and(base_url).map(|url| invitation_link(&url, key.secret.expose()));
    let body = serde_json::json!({ "id": key.id.as_str(), "secret": key.secret.expose(), "link": link });
    Ok(json(StatusCode::OK, &body))
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

//! `POST /v2/keys/redeem`: the holder of an invitation, a person or an agent, gets a key.

use std::time::Instant;

use http::header::CACHE_CONTROL;
use http::{HeaderValue, Request, StatusCode};
use websvc_store::{KeyRecord, KeyRights};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::key::{RedeemRequest, RedeemResponse, RedeemedKey};
use websvc_validate::{Checked, read_request};

use super::body;
use crate::authenticate::find_caller;
use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::post(
    "/v2/keys/redeem",
    OperationGroup::Team,
    handler!(|context, request| redeem(&context, request).await),
)
.name("redeem-invitation")
.public()
.body(RequestBody::TOKEN)];

/// Redeems an invitation. All that cannot be redeemed get the same response: it does not reveal which once existed.
async fn redeem(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let state = context.state;
    let address = state.client_ip(&request);
    let Checked { plan: invitation, warnings: _ } = read_request::<RedeemRequest>(&body::read(request)?, ())?;
    let now = Instant::now();
    state.sign_in_limiter.admit(address, &invitation, now)?;
    let (store, text) = (state.store.clone(), invitation.clone());
    let redeemed = run_blocking(move || store.redeem_invitation(&text)).await?;
    let redeemed =
        redeemed.map_err(|error| ApiError::internal(&error, "the invitation could not be redeemed"))?;
    let Some((secret, record)) = redeemed else {
        state.sign_in_limiter.record(address, &invitation, now);
        let text = "There is no such invitation: it was redeemed or revoked, has expired, or is incomplete. Ask the \
                    administrator for another one";
        return Err(ApiError::new(ErrorCode::NotFound, text));
    };
    // For the audit event. The key may be one that this address cannot use.
    if let Some(caller) = find_caller(&state.store, secret.expose()).await? {
        context.trail.set_caller(&caller);
        context.trail.set_target(|| format!("key {} of team {}", record.id, record.team));
    }
    let response = RedeemResponse { success: true, data: redeemed_key(secret.expose(), record) };
    let mut response = json(StatusCode::OK, &response);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn redeemed_key(secret: &str, record: KeyRecord) -> RedeemedKey {
    let KeyRecord {
        id,
        team,
        label,
        created_at_ms: _,
        last_used_at_ms: _,
        revoked_at_ms: _,
        redeem_until_ms: _,
        rights,
    } = record;
    // An invitation never gives the right to administer.
    let KeyRights { admin: _, scopes, formats, networks, expires_at_ms, requests_per_minute, concurrency } =
        rights;
    RedeemedKey {
        key: secret.to_owned(),
        id: id.to_string(),
        team,
        name: label,
        scopes: scopes.map(|scopes| scopes.iter().map(ToString::to_string).collect()),
        formats: formats.map(|formats| formats.into_iter().collect()),
        allow_ip: (!networks.is_empty()).then_some(networks),
        requests_per_minute,
        concurrency,
        expires_at: expires_at_ms.and_then(super::timestamp),
    }
}

//! Finds the replica that has the session or the scrape of a request, and passes the request on to it.
//!
//! The replica of a session is in its row. That of a scrape is not stored, because a scrape would have to write it
//! before its response; the other replicas are asked instead, when a first session is opened.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use uuid::Uuid;
use websvc_store::{ForeignSession, ReplicaAddress, Store, StoreError};
use websvc_transport::{FetchResponse, ServerBody};
use websvc_types::interact::{BrowserListResponse, BrowserSession, BrowserSessionStatus};
use websvc_types::limits::SCRAPE_RESULT_LIFETIME_S;

use super::scrape::scrape_id;
use super::{BrowserOperation, session_id};
use crate::blocking::run_blocking;
use crate::forwarding::{Forwarded, ForwardedRequest, Origin, unreachable};
use crate::handler::watch::{Handshake, is_websocket_request};
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The time for which other replicas are asked for a scrape, with the differences of clocks.
const SCRAPE_LIFETIME: Duration = Duration::from_secs(SCRAPE_RESULT_LIFETIME_S + 60);

/// Returns the replica to which a request is passed on, and the path there; `None` if this process answers it, with an
/// error if necessary.
///
/// # Errors
/// 503 if the replica is not known because one does not respond, and failures of the database.
pub(super) async fn destination(
    operation: BrowserOperation,
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<Option<(ReplicaAddress, String)>, ApiError> {
    // One hop only: the other replica is right, or nothing is known.
    if !context.state.forwarding.is_on() || request.extensions().get::<Forwarded>().is_some() {
        return Ok(None);
    }
    let found = match operation {
        BrowserOperation::Create | BrowserOperation::List => return Ok(None),
        BrowserOperation::Execute | BrowserOperation::End => {
            let Ok(id) = session_id(context, request) else { return Ok(None) };
            let suffix = if operation == BrowserOperation::Execute { "/execute" } else { "" };
            (replica_of_session(context, id, Some(context.team_name())).await?, session_path(id, suffix))
        }
        BrowserOperation::Cdp | BrowserOperation::Live => {
            let Ok(id) = session_id(context, request) else { return Ok(None) };
            let suffix = if operation == BrowserOperation::Cdp { "/cdp" } else { "/live" };
            (replica_of_session(context, id, None).await?, session_path(id, suffix))
        }
        BrowserOperation::Interact => {
            let Ok(id) = scrape_id(context, request) else { return Ok(None) };
            if context.state.replays.find(id).is_some()
                || context.state.browser_sessions.contains_session_of(id)
            {
                return Ok(None);
            }
            let found = match replica_of_scrape_session(context, id).await? {
                Some(replica) => Some(replica),
                None => ask_for_scrape(context, request, id).await?,
            };
            (found, scrape_path(id))
        }
        BrowserOperation::EndInteract => {
            let Ok(id) = scrape_id(context, request) else { return Ok(None) };
            (replica_of_scrape_session(context, id).await?, scrape_path(id))
        }
    };
    let (replica, path) = found;
    Ok(replica.map(|replica| (replica, path)))
}

/// Passes a request on to a replica.
///
/// # Errors
/// 429 if too many requests are passed on, 503 if the replica does not respond, and errors of the body or the handshake.
pub(super) async fn forward(
    replica: &ReplicaAddress,
    path: String,
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let is_websocket = is_websocket_request(&request);
    if is_websocket {
        // The connection to the client is upgraded here, so its handshake has to be valid here, too.
        Handshake::from_request(&request)?;
    }
    let (method, query) = (request.method().clone(), request.uri().query().map(str::to_owned));
    let Some(origin) = origin(context, &request) else { return Err(unreachable()) };
    let body = if method == Method::POST { crate::handler::read_body(request)? } else { Bytes::new() };
    pass_on(replica, context, ForwardedRequest { method, path, query, origin, body, is_websocket }).await
}

/// Passes a request on to a replica, which then writes its audit event.
///
/// # Errors
/// 429 if too many requests are passed on, 503 if the replica does not respond.
pub(in crate::handler) async fn pass_on(
    replica: &ReplicaAddress,
    context: &RequestContext<'_>,
    request: ForwardedRequest,
) -> Result<HttpResponse, ApiError> {
    let event = context.trail.suspend();
    let result = context.state.forwarding.forward(replica, request).await;
    if result.is_err() {
        context.trail.resume(event);
    }
    result
}

/// Completes the sessions of other replicas in a list with the URLs that only those know. A replica that does not respond
/// leaves them empty.
///
/// # Errors
/// Failures of the database.
pub(super) async fn complete_list(
    context: &RequestContext<'_>,
    origin: &Origin,
    sessions: &mut [BrowserSession],
) -> Result<(), ApiError> {
    let is_foreign = |session: &BrowserSession| {
        session.status == BrowserSessionStatus::Active && session.cdp_url.is_empty()
    };
    let forwarding = &context.state.forwarding;
    if !forwarding.is_on() || !sessions.iter().any(is_foreign) {
        return Ok(());
    }
    let team = context.team_name().to_owned();
    let replicas = read(context, move |store| store.replicas_with_sessions(&team)).await?;
    let (method, query) = (Method::GET, Some("status=active"));
    let answers = forwarding.ask_all(&replicas, &method, "/v2/browser", query, origin).await;
    for listed in answers.iter().flatten().filter_map(listed_sessions).flatten() {
        if let Some(session) =
            sessions.iter_mut().find(|session| session.id == listed.id && is_foreign(session))
            && !listed.cdp_url.is_empty()
        {
            *session = listed;
        }
    }
    Ok(())
}

fn listed_sessions(answer: &FetchResponse) -> Option<Vec<BrowserSession>> {
    if answer.status != StatusCode::OK {
        return None;
    }
    let response: BrowserListResponse = serde_json::from_slice(&answer.body).ok()?;
    Some(response.sessions)
}

fn session_path(id: Uuid, suffix: &str) -> String {
    format!("/v2/browser/{id}{suffix}")
}

fn scrape_path(id: Uuid) -> String {
    format!("/v2/scrape/{id}/interact")
}

/// Returns the parts of a request that other replicas need; `None` for a request that came from one.
pub(in crate::handler) fn origin(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Option<Origin> {
    if request.extensions().get::<Forwarded>().is_some() {
        return None;
    }
    let forwarded = Forwarded {
        id: context.id.clone(),
        client: context.state.client_ip(request),
        base_url: context.state.base_url(request),
        is_question: false,
    };
    Some(Origin::new(request.headers(), context.trail.request_id(), forwarded))
}

/// Returns the replica of an active session of a team, or of any team.
async fn replica_of_session(
    context: &RequestContext<'_>,
    id: Uuid,
    team: Option<&str>,
) -> Result<Option<ReplicaAddress>, ApiError> {
    if context.state.browser_sessions.contains(id) {
        return Ok(None);
    }
    let id = id.to_string();
    let found = read(context, move |store| store.foreign_browser_session(&id)).await?;
    Ok(found.and_then(|session| replica_for(session, team)))
}

async fn replica_of_scrape_session(
    context: &RequestContext<'_>,
    scrape: Uuid,
) -> Result<Option<ReplicaAddress>, ApiError> {
    let id = scrape.to_string();
    let found = read(context, move |store| store.foreign_browser_session_of_scrape(&id)).await?;
    Ok(found.and_then(|session| replica_for(session, Some(context.team_name()))))
}

/// Returns the replica of a session, unless another team owns the session.
fn replica_for(session: ForeignSession, team: Option<&str>) -> Option<ReplicaAddress> {
    let ForeignSession { team: owner, replica } = session;
    replica.filter(|_| team.is_none_or(|team| team == owner))
}

/// Asks the other replicas for a scrape of the last hour, and returns the one that has it.
async fn ask_for_scrape(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
    scrape: Uuid,
) -> Result<Option<ReplicaAddress>, ApiError> {
    if !is_recent(scrape, context.state.store.now_ms()) {
        return Ok(None);
    }
    let replicas = read(context, Store::other_replicas).await?;
    let replicas: Vec<ReplicaAddress> = replicas.into_iter().flatten().collect();
    let Some(origin) = origin(context, request) else { return Ok(None) };
    let path = scrape_path(scrape);
    let answers = context.state.forwarding.ask_all(&replicas, &Method::POST, &path, None, &origin).await;
    let mut is_known = true;
    for (replica, answer) in replicas.into_iter().zip(answers) {
        match answer.map(|answer| answer.status) {
            Some(StatusCode::NO_CONTENT) => return Ok(Some(replica)),
            Some(StatusCode::NOT_FOUND) => {}
            Some(_) | None => is_known = false,
        }
    }
    if is_known { Ok(None) } else { Err(unreachable()) }
}

/// Returns whether a replica may still have a scrape. The ID contains the time of the scrape (UUID version 7).
fn is_recent(scrape: Uuid, now_ms: u64) -> bool {
    let Some(scraped_at) = scrape.get_timestamp() else { return false };
    let (seconds, _) = scraped_at.to_unix();
    (now_ms / 1000).abs_diff(seconds) <= SCRAPE_LIFETIME.as_secs()
}

async fn read<T: Send + 'static>(
    context: &RequestContext<'_>,
    work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let store = context.state.store.clone();
    let result = run_blocking(move || work(&store)).await?;
    result.map_err(|error| ApiError::internal(&error, "the replicas could not be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scrapes_of_the_last_hour_are_asked_for() {
        let now_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap();
        let lifetime_ms = u64::try_from(SCRAPE_LIFETIME.as_millis()).unwrap();
        assert!(is_recent(Uuid::now_v7(), now_ms));
        assert!(is_recent(Uuid::now_v7(), now_ms + lifetime_ms - 2000));
        assert!(!is_recent(Uuid::now_v7(), now_ms + lifetime_ms + 2000));
        assert!(!is_recent(Uuid::from_u128(1), now_ms), "not an ID of a scrape");
    }

    #[test]
    fn session_of_another_team_is_not_passed_on() {
        let replica = ReplicaAddress { url: "http://a.test".to_owned(), secret: "s".to_owned() };
        let session = |replica: &Option<ReplicaAddress>| ForeignSession {
            team: "red".to_owned(),
            replica: replica.clone(),
        };
        let announced = Some(replica);
        assert_eq!(replica_for(session(&announced), Some("red")), announced);
        assert_eq!(replica_for(session(&announced), None), announced);
        assert_eq!(replica_for(session(&announced), Some("blue")), None);
        assert_eq!(replica_for(session(&None), Some("red")), None);
    }
}

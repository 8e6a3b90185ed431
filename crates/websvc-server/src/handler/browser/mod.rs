//! `/v2/browser`, its alias `/v2/interact`, and `/v2/scrape/{id}/interact`: browsers that clients control (operations.md,
//! sections 1 and 2).

mod cdp;
mod forward;
mod input;
mod live;
mod of_run;
mod scrape;
mod screencast;
mod tabs;
mod view_end;
mod wire;

use std::time::Duration;

use http::{Request, StatusCode};
use uuid::Uuid;
use websvc_session::{NewSession, SessionBilling, SessionCharge, SessionError, SessionView};
use websvc_stage::Stage;
use websvc_store::{BrowserSessionStatus, Caller, KeyScope, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::interact::{BrowserListResponse, CreateBrowserRequest, EndBrowserResponse, ExecuteRequest};
use websvc_validate::{Checked, RetentionMode, read_request};

pub(super) use forward::{origin, pass_on};
pub(super) use of_run::sessions_of_run;

use super::query;
use super::search::policy;
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize_rights;
use crate::charge;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

/// `Retry-After` of a request above a limit of sessions, in seconds.
const RETRY_AFTER_S: u64 = 10;

/// The formats that a key must allow: a session runs code in pages and shows them.
const FORMATS: &[&str] = &["rawHtml", "screenshot"];

/// Makes the endpoint of an operation.
macro_rules! endpoint {
    ($method:ident $path:literal, $operation:ident, $name:literal) => {
        Endpoint::$method(
            $path,
            OperationGroup::Sessions,
            handler!(|context, request| browser(BrowserOperation::$operation, context, request).await),
        )
        .name($name)
        .scope(KeyScope::Interact)
        .formats(FORMATS)
    };
}

/// A session starts where its request arrives. All other requests are passed on to the replica of their session.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    endpoint!(post "/v2/scrape/{id}/interact", Interact, "interact").body(RequestBody::OPTIONS).forwarded(),
    endpoint!(delete "/v2/scrape/{id}/interact", EndInteract, "interact-end").forwarded(),
    endpoint!(post "/v2/browser", Create, "browser").body(RequestBody::OPTIONS),
    endpoint!(get "/v2/browser", List, "browser-list").forwarded(),
    endpoint!(post "/v2/browser/{id}/execute", Execute, "browser-execute")
        .body(RequestBody::OPTIONS)
        .forwarded(),
    endpoint!(delete "/v2/browser/{id}", End, "browser-end").forwarded(),
    endpoint!(post "/v2/interact", Create, "browser").body(RequestBody::OPTIONS),
    endpoint!(get "/v2/interact", List, "browser-list").forwarded(),
    endpoint!(post "/v2/interact/{id}/execute", Execute, "browser-execute")
        .body(RequestBody::OPTIONS)
        .forwarded(),
    endpoint!(delete "/v2/interact/{id}", End, "browser-end").forwarded(),
    // The handlers check the tokens of the URLs.
    endpoint!(get "/v2/browser/{id}/cdp", Cdp, "browser-cdp").public().forwarded(),
    endpoint!(get "/v2/browser/{id}/live", Live, "browser-live").public().forwarded(),
];

/// An operation on browser sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BrowserOperation {
    Create,
    List,
    Execute,
    End,
    /// Runs code in the session of a scrape.
    Interact,
    /// Ends the session of a scrape.
    EndInteract,
    /// The WebSocket of the DevTools protocol.
    Cdp,
    /// The page that shows a session.
    Live,
}

/// Checks that a caller may use browser sessions.
///
/// # Errors
/// 403 that names the scope or the format.
pub(crate) fn authorize_sessions(caller: Option<&Caller>) -> Result<(), ApiError> {
    authorize_rights(caller, Some(KeyScope::Interact), FORMATS)
}

/// Handles an operation on sessions, here or on the replica that has the session.
async fn browser(
    operation: BrowserOperation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    if let Some((replica, path)) = forward::destination(operation, &context, &request).await? {
        return forward::forward(&replica, path, &context, request).await;
    }
    match operation {
        BrowserOperation::Create => create(&context, request).await,
        BrowserOperation::List => list(&context, &request).await,
        BrowserOperation::Execute => execute(&context, request).await,
        BrowserOperation::End => end(&context, &request).await,
        BrowserOperation::Interact => match scrape::answer_question(&context, &request)? {
            Some(answer) => Ok(answer),
            None => scrape::interact(&context, request).await,
        },
        BrowserOperation::EndInteract => scrape::end(&context, &request).await,
        BrowserOperation::Cdp => cdp::connect(&context, &request).await,
        BrowserOperation::Live => live::page(&context, &request).await,
    }
}

async fn create(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let body = super::read_body(request)?;
    let policy = policy(context)?;
    let retention = context.retention(RetentionMode::requested_retention(&policy), false);
    let decoding = context
        .state
        .admission
        .decode_body(body, move |body| read_request::<CreateBrowserRequest>(body, &policy));
    let Checked { plan, warnings } = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    context.trail.set_request(retention, &AuditedRequest { username: None, query: None, urls: &[] });
    let billing = billing(context, plan.ttl, retention).await?;
    let view = start(context, None, plan, billing).await?;
    context.trail.set_target(|| format!("browser session {}", view.record.id));
    Ok(json(StatusCode::OK, &wire::created(base_url.as_deref(), &view, &warnings)))
}

/// Starts a session, with the page of a scrape or an empty one.
async fn start(
    context: &RequestContext<'_>,
    scrape: Option<(Uuid, url::Url)>,
    plan: websvc_validate::BrowserPlan,
    billing: SessionBilling,
) -> Result<SessionView, ApiError> {
    let websvc_validate::BrowserPlan { ttl, activity_ttl, stream_web_view, scrape: settings } = plan;
    let team = context.caller.as_ref().map(|caller| &caller.team);
    let session = NewSession {
        team: context.team_name().to_owned(),
        scrape,
        plan: settings,
        boundary: None,
        ttl,
        activity_ttl,
        stream_web_view,
        concurrency: team.and_then(|team| team.concurrency).or(context.state.limits.concurrency),
        billing,
    };
    Ok(context.state.browser_sessions.create(session).await?)
}

/// Holds the credits of a session for its whole time to live.
///
/// # Errors
/// 402 if the team has fewer credits.
async fn billing(
    context: &RequestContext<'_>,
    ttl: Duration,
    retention: UsageRetention,
) -> Result<SessionBilling, ApiError> {
    let hold = charge::hold(context, context.state.browser_sessions.credits_to_hold(ttl)).await?;
    let key = context.caller.as_ref().map(|Caller { key_id, .. }| key_id.clone());
    let request = context.id.clone();
    Ok(SessionBilling { hold, key, request, retention, charge: SessionCharge::Own })
}

async fn list(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let status = match query::parameter(request.uri().query(), "status").as_deref() {
        None => None,
        Some("active") => Some(BrowserSessionStatus::Active),
        Some("destroyed") => Some(BrowserSessionStatus::Destroyed),
        Some(other) => {
            let text = format!("Invalid status {other:?}: use active or destroyed");
            return Err(ApiError::new(ErrorCode::BadRequest, text));
        }
    };
    let base_url = context.state.base_url(request);
    let sessions = context.state.browser_sessions.list(context.team_name(), status).await?;
    let mut sessions: Vec<_> = sessions.iter().map(|view| wire::listed(base_url.as_deref(), view)).collect();
    if let Some(origin) = origin(context, request) {
        forward::complete_list(context, &origin, &mut sessions).await?;
    }
    Ok(json(StatusCode::OK, &BrowserListResponse { success: true, sessions }))
}

async fn execute(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let id = session_id(context, &request);
    let body = super::read_body(request)?;
    let decoding = context.state.admission.decode_body(body, |body| read_request::<ExecuteRequest>(body, ()));
    let Checked { plan, warnings } = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let id = id?;
    audit_session(context, id);
    let sessions = &context.state.browser_sessions;
    let view = sessions.find(context.team_name(), id).await?;
    if view.record.status == BrowserSessionStatus::Destroyed {
        return Err(SessionError::Ended.into());
    }
    let execution = sessions.execute(&view, plan, base_url.as_deref()).await?;
    Ok(json(StatusCode::OK, &wire::executed(execution, &warnings)))
}

async fn end(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let id = session_id(context, request)?;
    audit_session(context, id);
    let view = context.state.browser_sessions.find(context.team_name(), id).await?;
    end_session(context, &view).await
}

/// Ends a session, and responds with its duration and credits.
async fn end_session(context: &RequestContext<'_>, view: &SessionView) -> Result<HttpResponse, ApiError> {
    let ended = context.state.browser_sessions.end(view).await?;
    if let Some(credits) = ended.credits {
        context.trail.set_credits(credits);
    }
    let session_duration_ms = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
    let response = EndBrowserResponse { success: true, session_duration_ms, credits_billed: ended.credits };
    Ok(json(StatusCode::OK, &response))
}

fn audit_session(context: &RequestContext<'_>, id: Uuid) {
    let retention = context.retention(RetentionMode::Normal, false);
    context.trail.set_request(retention, &AuditedRequest { username: None, query: None, urls: &[] });
    context.trail.set_target(|| format!("browser session {id}"));
}

/// Returns the session ID in the path of a request.
///
/// # Errors
/// 400 if it is not a UUID.
fn session_id(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<Uuid, ApiError> {
    id(context, request, "Invalid session ID. Session ID must be a valid UUID.")
}

/// Returns the UUID `{id}` in the path of a request.
fn id(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
    problem: &'static str,
) -> Result<Uuid, ApiError> {
    Uuid::try_parse(context.capture(request, "id")).map_err(|_| ApiError::new(ErrorCode::BadRequest, problem))
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let text = error.to_string();
        match error {
            SessionError::NotFound => ApiError::new(ErrorCode::NotFound, text),
            SessionError::Ended => ApiError::new(ErrorCode::BrowserSessionEnded, text),
            SessionError::OnOtherReplica => ApiError::new(ErrorCode::SessionOnOtherReplica, text),
            SessionError::TooManyOfTeam { .. }
            | SessionError::TooMany { .. }
            | SessionError::Busy { .. }
            | SessionError::TooManyClients { .. } => {
                ApiError::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S)
            }
            SessionError::Language { .. } => ApiError::new(ErrorCode::InteractLanguageUnavailable, text),
            SessionError::NoModel => ApiError::new(ErrorCode::LlmNotConfigured, text),
            SessionError::Unavailable { .. } | SessionError::Stopping => {
                ApiError::new(ErrorCode::BrowserUnavailable, text)
            }
            SessionError::Engine(error) => error.into(),
            SessionError::Browser(error) => ApiError::internal(&error, "the browser of the session failed"),
            SessionError::Store(error) => {
                ApiError::internal(&error, "the database of the browser sessions failed")
            }
            error @ SessionError::Random => ApiError::internal(&error, "the session could not be started"),
        }
    }
}

//! `/v2/browser`, its alias `/v2/interact`, and `/v2/scrape/{id}/interact`: browsers that clients control (operations.md,
//! sections 1 and 2).

mod cdp;
mod forward;
mod input;
mod live;
mod of_run;
mod request;
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
use websvc_store::{BrowserSessionStatus, Caller, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::interact::{BrowserListResponse, EndBrowserResponse};
use websvc_validate::{Checked, RetentionMode, read_create_browser, read_execute};

pub(super) use forward::{origin, pass_on};
pub(super) use of_run::sessions_of_run;
pub(crate) use request::BrowserRequest;

use super::search::policy;
use crate::audit_trail::AuditedRequest;
use crate::charge;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// `Retry-After` of a request above a limit of sessions, in seconds.
const RETRY_AFTER_S: u64 = 10;

/// An operation on browser sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrowserOperation {
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

impl BrowserOperation {
    /// Returns whether replicas pass its requests on to each other. A session starts where its request arrives.
    pub(crate) fn is_forwarded(self) -> bool {
        match self {
            Self::Create => false,
            Self::List
            | Self::Execute
            | Self::End
            | Self::Interact
            | Self::EndInteract
            | Self::Cdp
            | Self::Live => true,
        }
    }

    /// Returns the name in audit events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "browser",
            Self::List => "browser-list",
            Self::Execute => "browser-execute",
            Self::End => "browser-end",
            Self::Interact => "interact",
            Self::EndInteract => "interact-end",
            Self::Cdp => "browser-cdp",
            Self::Live => "browser-live",
        }
    }
}

/// Handles an operation on sessions, here or on the replica that has the session.
pub(crate) async fn browser(
    operation: BrowserOperation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    if let Some((replica, path)) = forward::destination(operation, &context, &request).await? {
        return forward::forward(&replica, path, &context, request).await;
    }
    if operation == BrowserOperation::Interact
        && let Some(answer) = scrape::answer_question(&context, &request)?
    {
        return Ok(answer);
    }
    match operation {
        BrowserOperation::Create
        | BrowserOperation::List
        | BrowserOperation::Execute
        | BrowserOperation::End
        | BrowserOperation::Interact
        | BrowserOperation::EndInteract => {
            let request = BrowserRequest::read(&context, operation, request)?;
            respond_to_browser(operation, &context, request).await
        }
        BrowserOperation::Cdp => cdp::connect(&context, &request).await,
        BrowserOperation::Live => live::page(&context, &request).await,
    }
}

/// Handles an operation on sessions of any interface.
///
/// # Errors
/// 404 for the operations that need the connection of a client.
pub(crate) async fn respond_to_browser(
    operation: BrowserOperation,
    context: &RequestContext<'_>,
    request: BrowserRequest,
) -> Result<HttpResponse, ApiError> {
    match operation {
        BrowserOperation::Create => create(context, request).await,
        BrowserOperation::List => list(context, &request).await,
        BrowserOperation::Execute => execute(context, request).await,
        BrowserOperation::End => end(context, &request).await,
        BrowserOperation::Interact => scrape::interact(context, request).await,
        BrowserOperation::EndInteract => scrape::end(context, &request).await,
        BrowserOperation::Cdp | BrowserOperation::Live => {
            Err(ApiError::new(ErrorCode::NotFound, "This operation needs a connection over HTTP"))
        }
    }
}

async fn create(context: &RequestContext<'_>, request: BrowserRequest) -> Result<HttpResponse, ApiError> {
    let BrowserRequest { base_url, body, .. } = request;
    let policy = policy(context)?;
    let retention = context.retention(RetentionMode::requested_retention(&policy), false);
    let decoding = context.state.admission.decode_body(body, move |body| read_create_browser(body, &policy));
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

async fn list(context: &RequestContext<'_>, request: &BrowserRequest) -> Result<HttpResponse, ApiError> {
    let status = match parameter(request.query.as_deref(), "status").as_deref() {
        None => None,
        Some("active") => Some(BrowserSessionStatus::Active),
        Some("destroyed") => Some(BrowserSessionStatus::Destroyed),
        Some(other) => {
            let text = format!("Invalid status {other:?}: use active or destroyed");
            return Err(ApiError::new(ErrorCode::BadRequest, text));
        }
    };
    let base_url = request.base_url.as_deref();
    let sessions = context.state.browser_sessions.list(context.team_name(), status).await?;
    let mut sessions: Vec<_> = sessions.iter().map(|view| wire::listed(base_url, view)).collect();
    if let Some(origin) = &request.origin {
        forward::complete_list(context, origin, &mut sessions).await?;
    }
    Ok(json(StatusCode::OK, &BrowserListResponse { success: true, sessions }))
}

async fn execute(context: &RequestContext<'_>, request: BrowserRequest) -> Result<HttpResponse, ApiError> {
    let BrowserRequest { base_url, path, body, .. } = request;
    let decoding = context.state.admission.decode_body(body, read_execute);
    let Checked { plan, warnings } = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let id = session_id(&path)?;
    audit_session(context, id);
    let sessions = &context.state.browser_sessions;
    let view = sessions.find(context.team_name(), id).await?;
    if view.record.status == BrowserSessionStatus::Destroyed {
        return Err(SessionError::Ended.into());
    }
    let execution = sessions.execute(&view, plan, base_url.as_deref()).await?;
    Ok(json(StatusCode::OK, &wire::executed(execution, &warnings)))
}

async fn end(context: &RequestContext<'_>, request: &BrowserRequest) -> Result<HttpResponse, ApiError> {
    let id = session_id(&request.path)?;
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

/// Returns the session ID in `/v2/browser/{id}`.
///
/// # Errors
/// 400 if it is not a UUID.
fn session_id(path: &str) -> Result<Uuid, ApiError> {
    id(path, "Invalid session ID. Session ID must be a valid UUID.")
}

/// Returns the third segment of a path, which is a UUID.
fn id(path: &str, text: &'static str) -> Result<Uuid, ApiError> {
    let segment = path.split('/').filter(|segment| !segment.is_empty()).nth(2).unwrap_or_default();
    Uuid::try_parse(segment).map_err(|_| ApiError::new(ErrorCode::BadRequest, text))
}

/// Returns a parameter of a query string.
fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
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
                ApiError::internal(&error, "the browser sessions could not be read or changed")
            }
            error @ SessionError::Random => ApiError::internal(&error, "the session could not be started"),
        }
    }
}

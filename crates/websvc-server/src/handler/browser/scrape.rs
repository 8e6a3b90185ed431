//! `/v2/scrape/{id}/interact`: the session that a scrape opens.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use uuid::Uuid;
use websvc_session::{SessionError, SessionView};
use websvc_stage::Stage;
use websvc_store::BrowserSessionStatus;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::limits::{INTERACT_ACTIVITY_TTL_DEFAULT_S, INTERACT_TTL_DEFAULT_S};
use websvc_validate::{BrowserPlan, Checked, CodePlan, InteractPlan, PagePlan, RetentionMode, read_interact};

use super::{billing, end_session, id, start, wire};
use crate::audit_trail::AuditedRequest;
use crate::replays::Replay;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Runs code in the session of a scrape, which the first request opens.
pub(super) async fn interact(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let path = request.uri().path().to_owned();
    let body = crate::handler::read_body(request).await?;
    let decoding = context.state.admission.decode_body(body, read_interact);
    let Checked { plan, warnings: _ } = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let scrape = scrape_id(&path)?;
    context.trail.set_target(|| format!("scrape {scrape}"));
    let Some(replay) = find_replay(context, scrape).await? else {
        return Err(ApiError::new(ErrorCode::NotFound, "Job not found."));
    };
    if replay.team != context.team_name() {
        return Err(SessionError::Forbidden.into());
    }
    let page = replay.plan.ok_or_else(|| replay_unavailable("the request of the scrape was not retained"))?;
    // Concurrent first requests open one session.
    let opening = replay.opening.lock().await;
    let view = match context.state.browser_sessions.find_of_scrape(context.team_name(), scrape).await? {
        Some(view) if view.record.status == BrowserSessionStatus::Destroyed => {
            return Err(SessionError::Ended.into());
        }
        Some(view) => {
            check(context, &plan)?;
            view
        }
        None => {
            check(context, &plan)?;
            open(context, scrape, page).await?
        }
    };
    drop(opening);
    let sessions = &context.state.browser_sessions;
    let execution = sessions.execute(&view, code(plan)?, base_url.as_deref()).await?;
    Ok(json(StatusCode::OK, &wire::interacted(base_url.as_deref(), &view, execution)))
}

/// Ends the session of a scrape.
pub(super) async fn end(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let scrape = scrape_id(request.uri().path())?;
    context.trail.set_target(|| format!("scrape {scrape}"));
    let view = context.state.browser_sessions.find_of_scrape(context.team_name(), scrape).await?;
    match view {
        Some(view) => end_session(context, &view).await,
        None => Err(SessionError::NotFound.into()),
    }
}

/// Returns a scrape of any team; `None` if there is none.
///
/// # Errors
/// 409 for a scrape of another process, and 410 if its session has ended and the scrape is forgotten.
async fn find_replay(context: &RequestContext<'_>, scrape: Uuid) -> Result<Option<Replay>, ApiError> {
    if let Some(replay) = context.state.replays.find(scrape) {
        return Ok(Some(replay));
    }
    let view = context.state.browser_sessions.find_of_scrape(context.team_name(), scrape).await?;
    if view.is_some_and(|view| view.record.status == BrowserSessionStatus::Destroyed) {
        return Err(SessionError::Ended.into());
    }
    if context.state.scrape_results.find(scrape, context.team_name()).await?.is_some() {
        return Err(replay_unavailable("the scrape ran in another process of the service"));
    }
    Ok(None)
}

/// Checks that the request can be served, before a session is started for it.
///
/// # Errors
/// 501 for a prompt, and for code in a language that is not available.
fn check(context: &RequestContext<'_>, plan: &InteractPlan) -> Result<(), ApiError> {
    match plan {
        InteractPlan::Code(code) => Ok(context.state.browser_sessions.check_language(code.language)?),
        InteractPlan::Prompt { .. } => Err(no_prompts()),
    }
}

fn code(plan: InteractPlan) -> Result<CodePlan, ApiError> {
    match plan {
        InteractPlan::Code(code) => Ok(code),
        InteractPlan::Prompt { .. } => Err(no_prompts()),
    }
}

fn no_prompts() -> ApiError {
    let text =
        "Prompts are not available: no language model is configured for browser sessions. Send code instead";
    ApiError::new(ErrorCode::LlmNotConfigured, text)
}

/// Opens the session of a scrape.
async fn open(
    context: &RequestContext<'_>,
    scrape: Uuid,
    page: Arc<PagePlan>,
) -> Result<SessionView, ApiError> {
    let retention = context.retention(RetentionMode::Normal, false);
    let url = page.target().url().clone();
    let urls = [url.as_str()];
    context.trail.set_request(retention, &AuditedRequest { username: None, query: None, urls: &urls });
    let plan = BrowserPlan {
        ttl: Duration::from_secs(INTERACT_TTL_DEFAULT_S.into()),
        activity_ttl: Duration::from_secs(INTERACT_ACTIVITY_TTL_DEFAULT_S.into()),
        stream_web_view: true,
        scrape: page.scrape().clone(),
    };
    let billing = billing(context, plan.ttl, retention).await?;
    start(context, Some((scrape, url)), plan, billing).await.map_err(ApiError::with_replay_status)
}

/// Returns the scrape ID in `/v2/scrape/{id}/interact`.
fn scrape_id(path: &str) -> Result<Uuid, ApiError> {
    id(path, "Invalid job ID format. Job ID must be a valid UUID.")
}

fn replay_unavailable(reason: &str) -> ApiError {
    let text = format!("Replay context is unavailable: {reason}. Scrape the page again");
    ApiError::new(ErrorCode::InteractReplayUnavailable, text)
}

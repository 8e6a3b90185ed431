//! `/v2/scrape/{id}/interact`: the session that a scrape opens.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, StatusCode};
use uuid::Uuid;
use websvc_session::{SessionError, SessionView};
use websvc_stage::Stage;
use websvc_store::BrowserSessionStatus;
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;
use websvc_types::interact::{InteractRequest, InteractResponse};
use websvc_types::limits::{INTERACT_ACTIVITY_TTL_DEFAULT_S, INTERACT_TTL_DEFAULT_S};
use websvc_validate::{BrowserPlan, Checked, InteractPlan, PagePlan, RetentionMode, read_request};

use super::{billing, end_session, id, start, wire};
use crate::audit_trail::AuditedRequest;
use crate::charge;
use crate::forwarding::Forwarded;
use crate::replays::Replay;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The time to live of the session of a scrape.
const TTL: Duration = Duration::from_secs(INTERACT_TTL_DEFAULT_S as u64);

/// Runs code or a prompt in the session of a scrape, which the first request opens.
pub(super) async fn interact(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let scrape = scrape_id(context, &request);
    let body = crate::handler::read_body(request)?;
    let decoding =
        context.state.admission.decode_body(body, |body| read_request::<InteractRequest>(body, ()));
    let Checked { plan, warnings } = context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let scrape = scrape?;
    context.trail.set_target(|| format!("scrape {scrape}"));
    let replay = context.state.replays.find(scrape).filter(|replay| replay.team == context.team_name());
    let view = match replay {
        Some(replay) => session(context, scrape, replay, &plan).await?,
        None => session_of_forgotten(context, scrape, &plan).await?,
    };
    let sessions = &context.state.browser_sessions;
    let base_url = base_url.as_deref();
    let response = match plan {
        InteractPlan::Code(code) => {
            wire::interacted(base_url, &view, sessions.execute(&view, code, base_url).await?)
        }
        InteractPlan::Prompt { prompt, timeout } => {
            wire::prompted(base_url, &view, sessions.prompt(&view, &prompt, timeout).await?)
        }
    };
    let response = InteractResponse { warning: wire::warning(&warnings), ..response };
    Ok(json(StatusCode::OK, &response))
}

/// Returns the session of a scrape, with the credits that the request needs. Opens it for the first request.
async fn session(
    context: &RequestContext<'_>,
    scrape: Uuid,
    replay: Replay,
    plan: &InteractPlan,
) -> Result<SessionView, ApiError> {
    let Replay { team: _, plan: page, opening } = replay;
    let page = page.ok_or_else(|| replay_unavailable("the request of the scrape was not retained"))?;
    // Concurrent first requests open one session, and hold the credits of prompts once.
    let _opening = opening.lock().await;
    let sessions = &context.state.browser_sessions;
    if let Some(view) = sessions.find_of_scrape(context.team_name(), scrape).await? {
        return prepare(context, view, plan).await;
    }
    check(context, plan)?;
    let prompt_hold = match plan {
        InteractPlan::Code(_) => None,
        InteractPlan::Prompt { .. } => {
            Some(charge::hold(context, sessions.credits_to_hold_for_prompts(TTL)).await?)
        }
    };
    let view = open(context, scrape, page).await?;
    if let Some(hold) = prompt_hold {
        sessions.hold_for_prompts(&view, hold)?;
    }
    Ok(view)
}

/// Returns the session of a scrape whose request is no longer known: the requests of later scrapes, also of other teams,
/// displace it while its session runs.
///
/// # Errors
/// Those of [`not_found`] if there is no session here.
async fn session_of_forgotten(
    context: &RequestContext<'_>,
    scrape: Uuid,
    plan: &InteractPlan,
) -> Result<SessionView, ApiError> {
    let view = context.state.browser_sessions.find_of_scrape(context.team_name(), scrape).await?;
    match view {
        Some(view) if view.record.is_own || view.record.status == BrowserSessionStatus::Destroyed => {
            prepare(context, view, plan).await
        }
        Some(_) | None => Err(not_found(context, scrape).await?),
    }
}

/// Prepares a session for a request: holds the credits of a first prompt.
async fn prepare(
    context: &RequestContext<'_>,
    view: SessionView,
    plan: &InteractPlan,
) -> Result<SessionView, ApiError> {
    let sessions = &context.state.browser_sessions;
    if view.record.status == BrowserSessionStatus::Destroyed {
        return Err(SessionError::Ended.into());
    }
    check(context, plan)?;
    match plan {
        InteractPlan::Code(_) => {}
        InteractPlan::Prompt { .. } => {
            if let Some(credits) = sessions.missing_credits_for_prompts(&view)? {
                sessions.hold_for_prompts(&view, charge::hold(context, credits).await?)?;
            }
        }
    }
    Ok(view)
}

/// Returns the answer to another replica that asks whether this one has a scrape: 204 or 404.
pub(super) fn answer_question(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<Option<HttpResponse>, ApiError> {
    if !request.extensions().get::<Forwarded>().is_some_and(|forwarded| forwarded.is_question) {
        return Ok(None);
    }
    let has_scrape = context.state.replays.find(scrape_id(context, request)?).is_some();
    let mut answer = HttpResponse::new(Body::empty());
    *answer.status_mut() = if has_scrape { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND };
    Ok(Some(answer))
}

/// Ends the session of a scrape.
pub(super) async fn end(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let scrape = scrape_id(context, request)?;
    context.trail.set_target(|| format!("scrape {scrape}"));
    let view = context.state.browser_sessions.find_of_scrape(context.team_name(), scrape).await?;
    match view {
        Some(view) => end_session(context, &view).await,
        None => Err(SessionError::NotFound.into()),
    }
}

/// Returns the error for a scrape that is not known here: 409 if another process ran it, otherwise 404.
async fn not_found(context: &RequestContext<'_>, scrape: Uuid) -> Result<ApiError, ApiError> {
    let result = context.state.scrape_results.find(scrape, context.team_name()).await?;
    Ok(match result {
        Some(_) => replay_unavailable(
            "the scrape ran in another process of the service, which has ended or announces no address for requests \
             that arrive here (replica.address)",
        ),
        None => ApiError::new(ErrorCode::NotFound, "Job not found."),
    })
}

/// Checks that the request can be served, before a session is started for it.
///
/// # Errors
/// 501 for a prompt without a language model, and for code in a language that is not available.
fn check(context: &RequestContext<'_>, plan: &InteractPlan) -> Result<(), ApiError> {
    match plan {
        InteractPlan::Code(code) => Ok(context.state.browser_sessions.check_language(code.language)?),
        InteractPlan::Prompt { .. } => Ok(context.state.browser_sessions.check_prompts()?),
    }
}

/// Opens the session of a scrape.
async fn open(
    context: &RequestContext<'_>,
    scrape: Uuid,
    page: Arc<PagePlan>,
) -> Result<SessionView, ApiError> {
    let retention = context.retention(RetentionMode::Normal, false);
    let url = page.target.url.clone();
    let urls = [url.as_str()];
    context.trail.set_request(retention, &AuditedRequest { username: None, query: None, urls: &urls });
    let plan = BrowserPlan {
        ttl: TTL,
        activity_ttl: Duration::from_secs(INTERACT_ACTIVITY_TTL_DEFAULT_S.into()),
        stream_web_view: true,
        scrape: page.scrape.clone(),
    };
    let billing = billing(context, plan.ttl, retention).await?;
    start(context, Some((scrape, url)), plan, billing).await.map_err(ApiError::with_replay_status)
}

/// Returns the scrape ID in `/v2/scrape/{id}/interact`.
pub(super) fn scrape_id(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<Uuid, ApiError> {
    id(context, request, "Invalid job ID format. Job ID must be a valid UUID.")
}

fn replay_unavailable(reason: &str) -> ApiError {
    let text = format!("Replay context is unavailable: {reason}. Scrape the page again");
    ApiError::new(ErrorCode::InteractReplayUnavailable, text)
}

//! Webhooks: the settings of those of jobs, and the dead letters, which are events that could not be delivered.

use http::{Request, StatusCode};
use url::Url;
use websvc_jobs::dead_letter;
use websvc_store::{DeadLetterFilter, DeadLetterPage, JobEvent, KeyScope, NewWebhook, WebhookSource};
use websvc_transport::ServerBody;
use websvc_types::job::{DeadLetterActionResponse, DeadLettersResponse, JobEventKind};
use websvc_types::limits::{DEAD_LETTERS_DEFAULT, DEAD_LETTERS_MAX};
use websvc_types::{ErrorCode, Violation, ViolationCode};
use websvc_validate::WebhookPlan;

use super::job::{parse_range, serialize};
use crate::authorize::authorize;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;

/// The maximum length of the id of a dead letter.
const ID_MAX_CHARS: usize = 64;

/// Every key may use them: the dead letters are filtered by the kinds of work that it may start.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get(
        "/v2/webhooks/dead-letters",
        OperationGroup::Webhooks,
        handler!(|context, request| list(&context, request.uri().query()).await),
    )
    .name("webhook-dead-letters"),
    Endpoint::post(
        "/v2/webhooks/dead-letters/{id}/retry",
        OperationGroup::Webhooks,
        handler!(|context, request| {
            let filter = one(&context, &request)?;
            respond(filter.clone(), context.state.jobs.retry_dead_letters(filter).await?)
        }),
    )
    .name("webhook-retry"),
    Endpoint::delete(
        "/v2/webhooks/dead-letters/{id}",
        OperationGroup::Webhooks,
        handler!(|context, request| {
            let filter = one(&context, &request)?;
            respond(filter.clone(), context.state.jobs.delete_dead_letters(filter).await?)
        }),
    )
    .name("webhook-delete"),
];

/// Returns the filter for the dead letters that the caller may use.
fn allowed(context: &RequestContext<'_>) -> Result<DeadLetterFilter, ApiError> {
    let sources = Some(allowed_sources(context)?);
    Ok(DeadLetterFilter { team: Some(context.team_name().to_owned()), sources, id: None })
}

/// Returns the filter for the dead letter in the path of a request.
fn one(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<DeadLetterFilter, ApiError> {
    let filter = allowed(context)?;
    let id = id(context, request)?;
    context.trail.set_target(|| format!("webhook event {id}"));
    Ok(DeadLetterFilter { id: Some(id), ..filter })
}

/// Responds to the change of a dead letter, if there was one.
fn respond(filter: DeadLetterFilter, count: u64) -> Result<HttpResponse, ApiError> {
    let id = filter.id.unwrap_or_default();
    match count {
        0 => Err(ApiError::new(ErrorCode::NotFound, "Dead letter not found")),
        _ => Ok(json(StatusCode::OK, &DeadLetterActionResponse { success: true, id })),
    }
}

/// Returns the kinds of work that the caller may start.
///
/// # Errors
/// 403 if none is allowed.
fn allowed_sources(context: &RequestContext<'_>) -> Result<Vec<WebhookSource>, ApiError> {
    let caller = context.caller.as_ref();
    let may = |scope| caller.is_none_or(|caller| caller.rights.allows_scope(scope));
    let is_allowed = |source: &WebhookSource| match source {
        WebhookSource::Crawl => may(KeyScope::Crawl),
        WebhookSource::Batch => may(KeyScope::Batch),
        WebhookSource::Monitor => may(KeyScope::Monitor),
        WebhookSource::Agent | WebhookSource::Extract => may(KeyScope::Agent),
    };
    let sources: Vec<_> = WebhookSource::ALL.into_iter().filter(is_allowed).collect();
    if sources.is_empty() {
        authorize(caller, KeyScope::Crawl)?;
    }
    Ok(sources)
}

async fn list(context: &RequestContext<'_>, query: Option<&str>) -> Result<HttpResponse, ApiError> {
    let filter = allowed(context)?;
    let range = parse_range(query)?;
    let limit = range.limit.unwrap_or(DEAD_LETTERS_DEFAULT).min(DEAD_LETTERS_MAX);
    let DeadLetterPage { letters, total } =
        context.state.jobs.dead_letters(filter, range.skip, limit).await?;
    let dead_letters = letters.into_iter().map(dead_letter).collect();
    Ok(json(StatusCode::OK, &DeadLettersResponse { success: true, dead_letters, total }))
}

/// Returns the id in the path of a request.
fn id(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<String, ApiError> {
    let id = context.capture(request, "id");
    let is_valid =
        id.len() <= ID_MAX_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match is_valid {
        true => Ok(id.to_owned()),
        false => Err(ApiError::new(ErrorCode::NotFound, "Dead letter not found")),
    }
}

/// Returns the webhook of a job for the store.
///
/// # Errors
/// 400 if the URL contains an address to which no events are sent. A host name is checked later, when it is resolved.
pub(super) fn new_webhook(
    context: &RequestContext<'_>,
    plan: Option<&WebhookPlan>,
) -> Result<Option<NewWebhook>, ApiError> {
    let Some(plan) = plan else { return Ok(None) };
    check_target(context, &plan.url, plan.url_pointer)?;
    to_stored(plan, event).map(Some)
}

/// Returns a webhook for the store, with its events.
pub(super) fn to_stored<E: Copy>(
    plan: &WebhookPlan<E>,
    event: fn(E) -> JobEvent,
) -> Result<NewWebhook, ApiError> {
    Ok(NewWebhook {
        url: plan.url.to_string(),
        host: plan.url.host_str().unwrap_or_default().to_ascii_lowercase(),
        headers: serialize(&plan.headers)?,
        metadata: serialize(&plan.metadata)?,
        events: plan.events.iter().map(|kind| event(*kind)).collect(),
    })
}

/// Checks the URL of a webhook, by its pointer in the request.
///
/// # Errors
/// 400 if the URL contains an address to which no events are sent. A host name is checked later, when it is resolved.
pub(super) fn check_target(context: &RequestContext<'_>, url: &Url, pointer: &str) -> Result<(), ApiError> {
    if !context.state.jobs.is_forbidden_target(url) {
        return Ok(());
    }
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let violation = Violation {
        path: pointer.to_owned(),
        code: ViolationCode::NotSupported,
        message: format!("{name}: events are sent only to addresses of the public internet"),
    };
    Err(ApiError::invalid(ErrorCode::BadRequest, vec![violation]))
}

fn event(kind: JobEventKind) -> JobEvent {
    match kind {
        JobEventKind::Started => JobEvent::Started,
        JobEventKind::Page => JobEvent::Page,
        JobEventKind::Completed => JobEvent::Completed,
        JobEventKind::Failed => JobEvent::Failed,
    }
}

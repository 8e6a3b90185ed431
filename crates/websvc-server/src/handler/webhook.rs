//! Webhooks of jobs: where events go, and what could not be delivered.

use http::{Request, StatusCode};
use url::Url;
use websvc_jobs::dead_letter;
use websvc_store::{DeadLetterFilter, DeadLetterPage, JobEvent, JobKind, KeyScope, NewWebhook};
use websvc_transport::ServerBody;
use websvc_types::job::{DeadLetterActionResponse, DeadLettersResponse, JobEventKind};
use websvc_types::limits::{DEAD_LETTERS_DEFAULT, DEAD_LETTERS_MAX};
use websvc_types::{ErrorCode, Violation, ViolationCode};
use websvc_validate::WebhookPlan;

use super::job::{range, written};
use super::search::team;
use crate::authorize::authorize;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Longer texts name no letter.
const ID_MAX_CHARS: usize = 64;

/// What can be asked of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebhookOperation {
    List,
    Retry,
    Delete,
}

impl WebhookOperation {
    /// Returns what audit events call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::List => "webhook-dead-letters",
            Self::Retry => "webhook-retry",
            Self::Delete => "webhook-delete",
        }
    }
}

/// Answers what is asked of webhooks.
pub(crate) async fn webhook(
    operation: WebhookOperation,
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let kind = kind(context)?;
    let which = DeadLetterFilter { team: Some(team(context).to_owned()), kind, id: None };
    match operation {
        WebhookOperation::List => list(context, which, request.uri().query()).await,
        WebhookOperation::Retry | WebhookOperation::Delete => {
            let id = id(request)?;
            context.trail.set_target(|| format!("webhook event {id}"));
            let which = DeadLetterFilter { id: Some(id.clone()), ..which };
            let count = match operation {
                WebhookOperation::Delete => context.jobs.delete_dead_letters(which).await?,
                WebhookOperation::Retry | WebhookOperation::List => {
                    context.jobs.retry_dead_letters(which).await?
                }
            };
            match count {
                0 => Err(ApiError::new(ErrorCode::NotFound, "Dead letter not found")),
                _ => Ok(json(StatusCode::OK, &DeadLetterActionResponse { success: true, id })),
            }
        }
    }
}

/// Returns the only kind of jobs that the caller may begin; `None` for who may begin both.
///
/// # Errors
/// 403 for who may begin none.
fn kind(context: &RequestContext<'_>) -> Result<Option<JobKind>, ApiError> {
    let caller = context.caller.as_ref();
    let may = |scope| caller.is_none_or(|caller| caller.rights.may(scope));
    match (may(KeyScope::Crawl), may(KeyScope::Batch)) {
        (true, true) => Ok(None),
        (true, false) => Ok(Some(JobKind::Crawl)),
        (false, true) => Ok(Some(JobKind::Batch)),
        (false, false) => authorize(caller, KeyScope::Crawl).map(|()| None),
    }
}

async fn list(
    context: &RequestContext<'_>,
    which: DeadLetterFilter,
    query: Option<&str>,
) -> Result<HttpResponse, ApiError> {
    let range = range(query)?;
    let most = range.limit.unwrap_or(DEAD_LETTERS_DEFAULT).min(DEAD_LETTERS_MAX);
    let DeadLetterPage { letters, total } = context.jobs.dead_letters(which, range.skip, most).await?;
    let dead_letters = letters.into_iter().map(dead_letter).collect();
    Ok(json(StatusCode::OK, &DeadLettersResponse { success: true, dead_letters, total }))
}

/// Returns the identifier in the path: `/v2/webhooks/dead-letters/{id}`.
fn id(request: &Request<ServerBody>) -> Result<String, ApiError> {
    let mut segments = request.uri().path().split('/').filter(|segment| !segment.is_empty());
    let id = segments.nth(3).unwrap_or_default();
    let is_id =
        id.len() <= ID_MAX_CHARS && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match is_id {
        true => Ok(id.to_owned()),
        false => Err(ApiError::new(ErrorCode::NotFound, "Dead letter not found")),
    }
}

/// Returns where the events of a job go, as the store has it.
///
/// # Errors
/// 400 for an address to which nothing is sent, as far as it can be told before it is connected to.
pub(super) fn planned(
    context: &RequestContext<'_>,
    plan: Option<&WebhookPlan>,
) -> Result<Option<NewWebhook>, ApiError> {
    let Some(plan) = plan else { return Ok(None) };
    if context.jobs.is_forbidden_target(plan.url()) {
        let name = plan.url_pointer().rsplit('/').next().unwrap_or_default();
        let violation = Violation {
            path: plan.url_pointer().to_owned(),
            code: ViolationCode::NotSupported,
            message: format!(
                "{name}: nothing is sent to this address, which is not one of the public internet"
            ),
        };
        return Err(ApiError::invalid(ErrorCode::BadRequest, vec![violation]));
    }
    Ok(Some(NewWebhook {
        url: plan.url().to_string(),
        host: host(plan.url()),
        headers: written(plan.headers())?,
        metadata: written(plan.metadata())?,
        events: plan.events().iter().map(|moment| event(*moment)).collect(),
    }))
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_ascii_lowercase()
}

fn event(moment: JobEventKind) -> JobEvent {
    match moment {
        JobEventKind::Started => JobEvent::Started,
        JobEventKind::Page => JobEvent::Page,
        JobEventKind::Completed => JobEvent::Completed,
        JobEventKind::Failed => JobEvent::Failed,
    }
}

//! `/v2/monitor`: monitors, which check pages, sites and searches again and again (operations.md, section 3).

mod channel;
mod email;
mod feed;
mod list;
mod preview;

use http::{Request, StatusCode};
use uuid::Uuid;
use websvc_monitor::{CreateOutcome, RunOutcome};
use websvc_stage::Stage;
use websvc_store::{CheckDeliveries, KeyScope, MonitorRecord, MonitorStatus};
use websvc_transport::ServerBody;
use websvc_types::monitor::{
    CreateMonitorRequest, DeleteMonitorResponse, Monitor, MonitorResponse, MonitorStateRequest,
    RunMonitorRequest, RunMonitorResponse, UpdateMonitorRequest,
};
use websvc_types::{ErrorCode, counted};
use websvc_validate::{
    Checked, MonitorContext, MonitorDefinition, MonitorPlan, MonitorTargetPlan, Policy, RetentionMode,
    read_request,
};

pub(crate) use channel::ENDPOINTS as CHANNEL_ENDPOINTS;
pub(crate) use email::ENDPOINTS as EMAIL_ENDPOINTS;
pub(crate) use preview::{preview, schedules};

use super::search::{body_policy, policy_with_patterns};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize_page;
use crate::readable::ReadableFormats;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

/// How often a change is tried again when another one was faster.
const UPDATE_ATTEMPTS: usize = 3;

/// `Retry-After` of a monitor above the limit of the team, in seconds.
const RETRY_AFTER_S: u64 = 60;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    monitor(Endpoint::post(
        "/v2/monitor",
        OperationGroup::Monitor,
        handler!(|context, request| create(&context, request).await),
    ))
    .name("monitor")
    .body(RequestBody::LONG),
    monitor(Endpoint::get(
        "/v2/monitor",
        OperationGroup::Monitor,
        handler!(|context, request| list::monitors(&context, &request).await),
    ))
    .name("monitor-list"),
    monitor(Endpoint::get(
        "/v2/monitor/{id}",
        OperationGroup::Monitor,
        handler!(|context, request| get(&context, &request).await),
    ))
    .name("monitor-get"),
    monitor(Endpoint::patch(
        "/v2/monitor/{id}",
        OperationGroup::Monitor,
        handler!(|context, request| update(&context, request).await),
    ))
    .name("monitor-update")
    .body(RequestBody::LONG),
    monitor(Endpoint::delete(
        "/v2/monitor/{id}",
        OperationGroup::Monitor,
        handler!(|context, request| delete(&context, &request).await),
    ))
    .name("monitor-delete"),
    monitor(Endpoint::post(
        "/v2/monitor/{id}/run",
        OperationGroup::Monitor,
        handler!(|context, request| run(&context, request).await),
    ))
    .name("monitor-run")
    .body(RequestBody::SHORT),
    monitor(Endpoint::get(
        "/v2/monitor/{id}/checks",
        OperationGroup::Monitor,
        handler!(|context, request| list::checks(&context, &request).await),
    ))
    .name("monitor-checks"),
    monitor(Endpoint::get(
        "/v2/monitor/{id}/checks/{checkId}",
        OperationGroup::Monitor,
        handler!(|context, request| list::check(&context, &request).await),
    ))
    .name("monitor-check"),
    // The handler checks the token of the URL.
    monitor(Endpoint::get(
        "/v2/monitor/{id}/feed",
        OperationGroup::Monitor,
        handler!(|context, request| feed::feed(&context, &request).await),
    ))
    .name("monitor-feed")
    .public(),
];

const fn monitor(endpoint: Endpoint) -> Endpoint {
    endpoint.scope(KeyScope::Monitor)
}

async fn create(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let body = super::read_body(request)?;
    let policy = policy_with_patterns(context)?;
    let (now, min_interval) = clock(context);
    let read_policy = body_policy(&policy);
    let decoding = context.state.admission.decode_with_patterns(body, move |body| {
        let mut new_id = || Uuid::new_v4().to_string();
        let context = MonitorContext { policy: &read_policy, now, min_interval, new_id: &mut new_id };
        read_request::<CreateMonitorRequest>(body, context)
    });
    let Checked { plan: definition, warnings } =
        context.state.engine.stages().run(Stage::Decode, decoding).await?;
    let plan = check_definition(context, &definition, &policy)?;
    let key = context.caller.as_ref().map(|caller| caller.key_id.clone());
    let monitors = &context.state.monitors;
    match monitors.create(context.team_name(), key, definition, &plan).await? {
        CreateOutcome::Created(record) => respond(context, base_url.as_deref(), &record, warnings).await,
        CreateOutcome::TooMany => {
            let max = monitors.config().limits.max_monitors;
            let max = counted(max, "monitor", "monitors");
            let text = format!("Rate limit exceeded: limit of {max} per team reached");
            Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S))
        }
        CreateOutcome::InsufficientCredits { estimated, remaining } => {
            Err(insufficient_credits(context, "create", estimated, remaining))
        }
    }
}

async fn get(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let record = find(context, request).await?;
    respond(context, context.state.base_url(request).as_deref(), &record, Vec::new()).await
}

async fn update(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = monitor_id(context, &request)?;
    let base_url = context.state.base_url(&request);
    let body = super::read_body(request)?;
    let policy = policy_with_patterns(context)?;
    let (now, min_interval) = clock(context);
    for _ in 0..UPDATE_ATTEMPTS {
        let record = find_by_id(context, &id).await?;
        let current = websvc_monitor::definition(&record).ok_or_else(other_version)?;
        let read_policy = body_policy(&policy);
        let decoding = context.state.admission.decode_with_patterns(body.clone(), move |body| {
            let mut new_id = || Uuid::new_v4().to_string();
            let context = MonitorContext { policy: &read_policy, now, min_interval, new_id: &mut new_id };
            read_request::<UpdateMonitorRequest>(body, (current, context))
        });
        let Checked { plan: update, warnings } =
            context.state.engine.stages().run(Stage::Decode, decoding).await?;
        let plan = check_definition(context, &update.definition, &policy)?;
        let status = match update.status {
            Some(MonitorStateRequest::Active) => MonitorStatus::Active,
            Some(MonitorStateRequest::Paused) => MonitorStatus::Paused,
            None => record.status,
        };
        let updated = context.state.monitors.update(&record, update.definition, &plan, status).await?;
        if let Some(record) = updated {
            return respond(context, base_url.as_deref(), &record, warnings).await;
        }
    }
    Err(ApiError::new(
        ErrorCode::UnknownError,
        "the monitor was changed by other requests meanwhile; try again",
    ))
}

async fn delete(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = monitor_id(context, request)?;
    context.trail.set_target(|| format!("monitor {id}"));
    match context.state.monitors.delete(context.team_name(), &id).await? {
        true => Ok(json(StatusCode::OK, &DeleteMonitorResponse { success: true })),
        false => Err(not_found()),
    }
}

async fn run(context: &RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let id = monitor_id(context, &request)?;
    context.trail.set_target(|| format!("monitor {id}"));
    read_request::<RunMonitorRequest>(&super::read_body(request)?, &policy_with_patterns(context)?)?;
    match context.state.monitors.run_now(context.team_name(), &id).await? {
        RunOutcome::Started(check) => {
            let data = websvc_monitor::check(&check, &CheckDeliveries::default());
            Ok(json(StatusCode::OK, &RunMonitorResponse { success: true, id: data.id.clone(), data }))
        }
        RunOutcome::Running(check) => {
            let text = format!("A check of the monitor is running: {check}");
            Err(ApiError::new(ErrorCode::MonitorCheckRunning, text).with_check_id(check))
        }
        RunOutcome::Paused => Err(ApiError::new(
            ErrorCode::MonitorPaused,
            "The monitor is paused; set its status to active first",
        )),
        RunOutcome::InsufficientCredits { estimated, remaining } => {
            Err(insufficient_credits(context, "run", estimated, remaining))
        }
        RunOutcome::NotFound => Err(not_found()),
    }
}

fn insufficient_credits(
    context: &RequestContext<'_>,
    action: &str,
    estimated: u64,
    remaining: u64,
) -> ApiError {
    context.state.metrics.record_insufficient_credits();
    let text = format!(
        "Insufficient credits to {action} the monitor: a check may cost {}, and the team has {remaining} left",
        counted(estimated, "credit", "credits")
    );
    ApiError::new(ErrorCode::InsufficientCredits, text)
}

/// Checks that the pages of a monitor can be scraped: what the key may read, and the abilities of this installation.
///
/// # Errors
/// 400 and 403.
fn check_definition(
    context: &RequestContext<'_>,
    definition: &MonitorDefinition,
    policy: &Policy,
) -> Result<MonitorPlan, ApiError> {
    let Checked { plan, warnings: _ } = definition.plan(policy)?;
    let urls = urls(&plan);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let retention = context.retention(RetentionMode::Normal, false);
    context.trail.set_request(retention, &AuditedRequest { username: None, query: None, urls: &urls });
    if let Some(webhook) = plan.webhook.as_ref() {
        super::webhook::check_target(context, &webhook.url, "/webhook/url")?;
    }
    channel::check_channels(context, definition)?;
    for target in &plan.targets {
        let scrape = match target {
            MonitorTargetPlan::Scrape(target) => &target.scrape,
            MonitorTargetPlan::Crawl(target) => &target.crawl.scrape,
            MonitorTargetPlan::Search(_) => continue,
        };
        authorize_page(context.caller.as_ref(), scrape)?;
        context.state.engine.check_scrape(scrape)?;
    }
    Ok(plan)
}

/// Returns the URLs of a monitor, for its audit event.
fn urls(plan: &MonitorPlan) -> Vec<String> {
    let mut urls = Vec::new();
    for target in &plan.targets {
        match target {
            MonitorTargetPlan::Scrape(target) => {
                urls.extend(target.pages.iter().map(|page| page.url.to_string()));
            }
            MonitorTargetPlan::Crawl(target) => urls.push(target.crawl.url.to_string()),
            MonitorTargetPlan::Search(_) => {}
        }
    }
    urls
}

async fn respond(
    context: &RequestContext<'_>,
    base_url: Option<&str>,
    record: &MonitorRecord,
    mut warnings: Vec<String>,
) -> Result<HttpResponse, ApiError> {
    let definition = websvc_monitor::definition(record);
    let monitors = &context.state.monitors;
    warnings.extend(definition.iter().flat_map(|definition| monitors.notification_warnings(definition)));
    context.trail.set_target(|| format!("monitor {}", record.id));
    let data = wire(record)?;
    // The feed shows the changes to everyone who has its URL.
    let feed_url = match ReadableFormats::from_caller(context.caller.as_ref()).has_changes() {
        true => Some(feed::url(context, base_url, record).await?),
        false => None,
    };
    let subscriptions = monitors.subscriptions(record).await?;
    let data = Monitor { feed_url, email_recipient_subscriptions: Some(subscriptions), ..data };
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &MonitorResponse { success: true, data, warning }))
}

/// Returns a monitor as clients see it.
fn wire(record: &MonitorRecord) -> Result<Monitor, ApiError> {
    websvc_monitor::monitor(record).ok_or_else(other_version)
}

fn other_version() -> ApiError {
    ApiError::new(ErrorCode::UnknownError, "the monitor was stored by another version of websvc")
}

/// Returns the current time of the schedules, and the minimum time between two checks.
fn clock(context: &RequestContext<'_>) -> (jiff::Timestamp, std::time::Duration) {
    (context.state.store.clock().now(), context.state.monitors.config().min_interval)
}

/// Returns the monitor that a request names.
///
/// # Errors
/// 400 if the ID is not a UUID, 404 if the team has no such monitor.
async fn find(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<MonitorRecord, ApiError> {
    find_by_id(context, &monitor_id(context, request)?).await
}

/// Returns the ID of the monitor in the path of a request.
///
/// # Errors
/// 400 if it is not a UUID.
fn monitor_id(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<String, ApiError> {
    super::parse_uuid(context.capture(request, "id"), "Invalid monitor ID")
}

async fn find_by_id(context: &RequestContext<'_>, id: &str) -> Result<MonitorRecord, ApiError> {
    context.trail.set_target(|| format!("monitor {id}"));
    context.state.monitors.monitor(context.team_name(), id).await?.ok_or_else(not_found)
}

fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Monitor not found")
}

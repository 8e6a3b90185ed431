//! `/v2/agent`: agent runs (operations.md, section 4).

use http::{Request, StatusCode};
use websvc_runs::{StartRun, StoredRequest, agent_list_item, agent_thread};
use websvc_stage::Stage;
use websvc_store::{
    CancelRunOutcome, CreateRunOutcome, JobEvent, KeyScope, NewWebhook, RunKind, RunRecord, ThreadContent,
};
use websvc_tasks::TaskError;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::agent::{
    AgentList, AgentRequest, AgentSnapshotResponse, AgentStarted, AgentThreadResponse, AgentTraceResponse,
    CancelAgentResponse, RunEventKind,
};
use websvc_types::limits::{AGENT_LIST_LIMIT, JOB_PAGE_BYTES};
use websvc_validate::{
    AgentPlan, AgentWebhookPlan, Checked, Policy, RetentionMode, check_request, read_with_request,
};

use super::search::{body_policy, policy};
use super::usage::flag;
use super::{browser, parse_uuid, query, webhook};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize;
use crate::charge;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::OperationGroup::Agent;
use crate::route::{Endpoint, RequestBody, handler};
use crate::service::RequestContext;

/// `Retry-After` of a request above a limit of runs, in seconds.
const RETRY_AFTER_S: u64 = 10;

/// Rule of the time before which the listed runs were started, for messages.
const BEFORE_RULE: &str = "a time in milliseconds since the Unix epoch";

/// Maximum length of the ID of a snapshot.
const SNAPSHOT_ID_MAX_CHARS: usize = 64;

/// The formats that a key must allow, because runs and extractions return extracted data.
pub(super) const FORMATS: &[&str] = &["json"];

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    agent(
        Endpoint::post("/v2/agent", Agent, handler!(|context, request| start(&context, request).await)),
        "agent",
    )
    .body(RequestBody::OPTIONS),
    agent(
        Endpoint::get("/v2/agent", Agent, handler!(|context, request| list(&context, &request).await)),
        "agent-list",
    ),
    agent(
        Endpoint::get(
            "/v2/agent/threads/{id}",
            Agent,
            handler!(|context, request| thread(&context, &request).await),
        ),
        "agent-thread",
    ),
    agent(
        Endpoint::get("/v2/agent/{id}", Agent, handler!(|context, request| status(&context, &request).await)),
        "agent-status",
    ),
    agent(
        Endpoint::delete(
            "/v2/agent/{id}",
            Agent,
            handler!(|context, request| cancel(&context, &request).await),
        ),
        "agent-cancel",
    ),
    agent(
        Endpoint::get(
            "/v2/agent/{id}/trace",
            Agent,
            handler!(|context, request| trace(&context, &request).await),
        ),
        "agent-trace",
    ),
    agent(
        Endpoint::get(
            "/v2/agent/{id}/snapshots/{snapshotId}",
            Agent,
            handler!(|context, request| snapshot(&context, &request).await),
        ),
        "agent-snapshot",
    ),
];

const fn agent(endpoint: Endpoint, name: &'static str) -> Endpoint {
    endpoint.name(name).scope(KeyScope::Agent).formats(FORMATS)
}

async fn start(context: &RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = super::read_body(request)?;
    let policy = policy(context)?;
    let body_policy = body_policy(&policy);
    let decoding = context
        .state
        .admission
        .decode_body(body, move |body| read_with_request::<AgentRequest>(body, &body_policy));
    let Checked { plan: (request, plan), mut warnings } =
        context.state.engine.stages().run(Stage::Decode, decoding).await?;
    record_request(context, &plan);
    if context.state.engine.completion_model().is_none() {
        let text = "Agent runs need a language model: none is configured in [llm] of the configuration";
        return Err(ApiError::new(ErrorCode::LlmNotConfigured, text));
    }
    let (request, plan) = inherit(context, request, plan, &policy).await?;
    check(context, &plan, &mut warnings)?;
    // The run holds its credits as it works.
    charge::require(context, context.state.runs.least_agent_credits(&plan)).await?;
    let stored = StoredRequest { request: AgentRequest { webhook: None, ..request }, warnings };
    let run = StartRun {
        team: context.team_name().to_owned(),
        key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
        kind: RunKind::Agent,
        api_version: context.api_version,
        thread: plan.thread.clone(),
        request: stored.encode(),
        max_credits: plan.max_credits,
        webhook: plan.webhook.as_ref().map(new_webhook).transpose()?,
    };
    let record = created(context, context.state.runs.start(run).await?)?;
    context.trail.set_target(|| format!("agent run {}", record.id));
    let warnings = stored.warnings;
    Ok(json(
        StatusCode::OK,
        &AgentStarted {
            success: true,
            id: record.id,
            thread_id: record.thread,
            thread_turn: record.turn,
            warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        },
    ))
}

/// Records the URLs of a request in its audit event, at most as many as a request may have. The plan of a request that
/// continues a thread has those of its last run, too.
fn record_request(context: &RequestContext<'_>, plan: &AgentPlan) {
    let urls: Vec<&str> = plan.urls.iter().map(|target| target.url.as_str()).collect();
    let username = plan.scrape.audit.as_ref().map(|audit| audit.username.as_str());
    let retention = context.retention(RetentionMode::Normal, false);
    context.trail.set_request(retention, &AuditedRequest { username, query: None, urls: &urls });
}

/// Completes a request that continues a thread with the mode, the URLs and the schema of its last run, and checks it again.
async fn inherit(
    context: &RequestContext<'_>,
    request: AgentRequest,
    plan: AgentPlan,
    policy: &Policy,
) -> Result<(AgentRequest, AgentPlan), ApiError> {
    let Some(thread) = plan.thread.clone() else { return Ok((request, plan)) };
    let content = ThreadContent::Requests;
    let last = context.state.runs.thread(context.team_name(), &thread, content, 1, JOB_PAGE_BYTES).await?;
    let last = last.last().ok_or_else(thread_not_found)?;
    let last = StoredRequest::decode(&last.request).ok_or(TaskError::OtherVersion)?.request;
    let request = AgentRequest {
        mode: request.mode.or(last.mode),
        urls: request.urls.or(last.urls),
        schema: request.schema.or(last.schema),
        thread_id: None,
        ..request
    };
    // The first check has returned the warnings already.
    let Checked { plan, warnings: _ } = check_request(&request, policy)?;
    record_request(context, &plan);
    Ok((request, AgentPlan { thread: Some(thread), ..plan }))
}

/// Checks that the run is allowed: the rights of the key, the threat protection, and the webhook.
fn check(context: &RequestContext<'_>, plan: &AgentPlan, warnings: &mut Vec<String>) -> Result<(), ApiError> {
    if plan.allow_interact {
        authorize(context.caller.as_ref(), KeyScope::Interact)?;
        if context.state.browser_sessions.check_prompts().is_err()
            || !context.state.browser_sessions.is_enabled()
        {
            warnings.push(
                "allowInteract was ignored: this service has no browser sessions with prompts".to_owned(),
            );
        }
    }
    let urls = plan.urls.iter().map(|target| &target.url);
    if let Some(reason) = context.state.engine.list_verdicts(&plan.scrape, urls).into_iter().flatten().next()
    {
        return Err(ApiError::new(ErrorCode::UnsafeDomainBlocked, reason));
    }
    if let Some(webhook) = &plan.webhook {
        webhook::check_target(context, &webhook.url, webhook.url_pointer)?;
    }
    Ok(())
}

/// Returns the created run.
///
/// # Errors
/// 404 for an unknown thread, 409 if it has an unfinished run, 429 if a limit of runs is reached.
fn created(context: &RequestContext<'_>, outcome: CreateRunOutcome) -> Result<RunRecord, ApiError> {
    let limits = context.state.runs.config().limits;
    let too_many = |text: String| Err(too_many_runs(&text));
    match outcome {
        CreateRunOutcome::Created(record) => Ok(*record),
        CreateRunOutcome::TooManyOpen => {
            too_many(format!("limit of {} agent runs per team that wait or work reached", limits.max_open))
        }
        CreateRunOutcome::TooManyStored => {
            too_many(format!("limit of {} stored agent runs per team reached", limits.max_stored))
        }
        CreateRunOutcome::ThreadNotFound => Err(thread_not_found()),
        CreateRunOutcome::ThreadRunning => {
            let text = "A run of the thread has not ended; start the next turn when it has";
            Err(ApiError::new(ErrorCode::AgentThreadRunning, text))
        }
    }
}

/// Returns the error of a request above a limit of runs.
pub(super) fn too_many_runs(limit: &str) -> ApiError {
    ApiError::new(ErrorCode::RateLimited, format!("Rate limit exceeded: {limit}")).retry_after(RETRY_AFTER_S)
}

pub(super) fn new_webhook(plan: &AgentWebhookPlan) -> Result<NewWebhook, ApiError> {
    webhook::to_stored(plan, job_event)
}

fn job_event(event: RunEventKind) -> JobEvent {
    match event {
        RunEventKind::Started => JobEvent::RunStarted,
        RunEventKind::Action => JobEvent::RunAction,
        RunEventKind::Completed => JobEvent::RunCompleted,
        RunEventKind::Failed => JobEvent::RunFailed,
        RunEventKind::Cancelled => JobEvent::RunCancelled,
    }
}

async fn status(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let record = find(context, request).await?;
    let response = context.state.runs.agent_status(record).await?;
    Ok(json(StatusCode::OK, &response))
}

async fn cancel(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = run_id(context, request)?;
    context.trail.set_target(|| format!("agent run {id}"));
    match context.state.runs.cancel(context.team_name(), RunKind::Agent, &id).await? {
        CancelRunOutcome::Requested => Ok(json(StatusCode::OK, &CancelAgentResponse { success: true })),
        CancelRunOutcome::AlreadyRequested => {
            Err(ApiError::new(ErrorCode::JobEnded, "Agent job is already cancelled"))
        }
        CancelRunOutcome::AlreadyEnded => {
            Err(ApiError::new(ErrorCode::JobEnded, "Agent job has already ended"))
        }
        CancelRunOutcome::NotFound => Err(not_found()),
    }
}

async fn list(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let before_ms = match query::parameter(request.uri().query(), "before") {
        None => u64::MAX,
        Some(text) => query::number("before", &text, 0, BEFORE_RULE)?,
    };
    let team = context.team_name();
    let page =
        context.state.runs.list(team, RunKind::Agent, before_ms, AGENT_LIST_LIMIT, JOB_PAGE_BYTES).await?;
    let next = page.runs.last().filter(|_| page.has_more).map(|last| {
        let base_url = context.state.base_url(request).unwrap_or_default();
        format!("{base_url}/v2/agent?before={}", last.created_at_ms)
    });
    let agents = page.runs.iter().filter_map(agent_list_item).collect();
    Ok(json(StatusCode::OK, &AgentList { success: true, agents, next }))
}

async fn thread(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = parse_uuid(context.capture(request, "id"), "Invalid agent thread ID")?;
    context.trail.set_target(|| format!("agent thread {id}"));
    let content = match flag(request.uri().query(), "includeData")? {
        true => ThreadContent::RequestsAndResults,
        false => ThreadContent::Requests,
    };
    let records =
        context.state.runs.thread(context.team_name(), &id, content, u64::MAX, JOB_PAGE_BYTES).await?;
    let mut runs = Vec::with_capacity(records.len());
    for record in &records {
        runs.push(context.state.runs.thread_run(record, content).await?);
    }
    let thread = agent_thread(&records, runs).ok_or_else(thread_not_found)?;
    Ok(json(StatusCode::OK, &AgentThreadResponse { success: true, thread }))
}

async fn trace(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let record = find(context, request).await?;
    let has_live_view = flag(request.uri().query(), "liveView")?;
    let events = context.state.runs.events(record.number).await?;
    // A key without the rights to use sessions gets no access to one.
    let may_use_sessions = browser::authorize_sessions(context.caller.as_ref()).is_ok();
    let shows_sessions = has_live_view && may_use_sessions;
    let active_browser_sessions = match shows_sessions {
        true if !record.status.is_finished() => {
            let (base_url, origin) = (context.state.base_url(request), browser::origin(context, request));
            Some(browser::sessions_of_run(context, base_url.as_deref(), origin.as_ref(), &events).await?)
        }
        true => Some(Vec::new()),
        false => None,
    };
    let response = AgentTraceResponse {
        success: true,
        id: record.id,
        events,
        credits_used: record.status.is_finished().then_some(record.credits),
        active_browser_sessions,
    };
    Ok(json(StatusCode::OK, &response))
}

async fn snapshot(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let record = find(context, request).await?;
    let id = context.capture(request, "snapshotId");
    let is_valid = id.len() <= SNAPSHOT_ID_MAX_CHARS
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let unknown = || ApiError::new(ErrorCode::NotFound, "Agent snapshot not found");
    if !is_valid {
        return Err(unknown());
    }
    let snapshot = context.state.runs.snapshot(record.number, id).await?.ok_or_else(unknown)?;
    let response =
        AgentSnapshotResponse { success: true, id: record.id, snapshot_id: id.to_owned(), snapshot };
    Ok(json(StatusCode::OK, &response))
}

/// Returns a run of the caller's team.
///
/// # Errors
/// 400 if the ID is not a UUID, 404 if the team has no such run.
async fn find(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<RunRecord, ApiError> {
    let id = run_id(context, request)?;
    context.trail.set_target(|| format!("agent run {id}"));
    context.state.runs.find(context.team_name(), RunKind::Agent, &id).await?.ok_or_else(not_found)
}

fn run_id(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<String, ApiError> {
    parse_uuid(context.capture(request, "id"), "Invalid agent job ID")
}

fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Agent job not found")
}

fn thread_not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Agent thread not found")
}

//! `POST /v2/search`.

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_engine::{Bill, EngineError, StageTimings, team_policy, team_retention};
use websvc_scrape::FilePublisher;
use websvc_stage::Stage;
use websvc_store::{Caller, DEFAULT_TEAM, Store, Team, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::SearchResponse;
use websvc_validate::{Checked, Policy, RetentionMode, ScrapePlan, SearchPlan, read_search};

use super::body;
use crate::admission::{ComputePermit, PermitScope};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorise_formats;
use crate::charge::{self, Outcome};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Answers a search.
pub(crate) async fn search(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let origin = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let body = body::read(request).await?;
    let stages = context.engine.stages();
    let answer = answer_search(context, origin, body).await?;
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &answer)))
}

/// Answers the body of a search, wherever it came from.
pub(crate) async fn answer_search(
    context: RequestContext<'_>,
    origin: Option<String>,
    body: Bytes,
) -> Result<SearchResponse, ApiError> {
    let policy = policy(context.store, context.caller.as_ref())?;
    let decoding = context.admission.decode_body(body, move |body| read_search(body, &policy));
    let Checked { plan, warnings } = context.engine.stages().run(Stage::Decode, decoding).await?;
    let lockdown = plan.scrape().is_some_and(ScrapePlan::lockdown);
    let retention = context.retention(plan.retention(), lockdown);
    let formats = plan.scrape().map_or(&[][..], ScrapePlan::formats);
    context.trail.set_request(
        retention,
        &AuditedRequest {
            username: plan.scrape().and_then(ScrapePlan::audit).map(|audit| audit.username.as_str()),
            query: Some(plan.query_text()),
            urls: &[],
        },
    );
    authorise_formats(context.caller.as_ref(), formats)?;
    let turn = context.engine.stages().run(Stage::Turn, turn(&context, &plan)).await?;
    let files = files(&context, plan.retention(), origin);
    let hold = charge::hold(&context, context.engine.max_search_credits(&plan)).await?;
    let held = if context.engine.is_cpu_bound(&plan) {
        PermitScope::WholeRequest
    } else {
        PermitScope::UntilFirstPending
    };
    let search = context.engine.search(&plan, team(&context), &files, context.started);
    match turn.run(held, search).await {
        Ok(mut outcome) => {
            outcome.warnings.splice(..0, warnings);
            let (bill, stages) = (std::mem::take(&mut outcome.bill), outcome.stages);
            let done = done(&plan, retention, StatusCode::OK.as_u16(), bill, stages);
            let credits = charge::settle(&context, hold, done).await?;
            Ok(outcome.into_response(context.id, credits))
        }
        Err(mut error) => {
            let bill = error.take_bill();
            let failure = ApiError::from(error);
            let done = done(&plan, retention, failure.status(), bill, StageTimings::default());
            charge::settle(&context, hold, done).await?;
            Err(failure)
        }
    }
}

/// Waits for the turn to compute.
///
/// # Errors
/// 429 when that would take too long; 408 when all of its time was over before it was let in: nobody is there any more to
/// read an answer.
async fn turn(context: &RequestContext<'_>, plan: &SearchPlan) -> Result<ComputePermit, ApiError> {
    if context.started.elapsed() >= plan.timeout() {
        return Err(EngineError::late(plan).into());
    }
    context.admission.acquire_compute(context.caller.as_ref(), plan.timeout(), context.started).await
}

/// Returns what the usage log is told.
fn done(
    plan: &SearchPlan,
    retention: UsageRetention,
    status: u16,
    bill: Bill,
    stages: StageTimings,
) -> Outcome {
    let query = (retention == UsageRetention::Whole).then(|| plan.query_text().to_owned());
    Outcome { operation: "search", status, bill, stages, query, retention }
}

impl RequestContext<'_> {
    /// Decides what may be kept of a request, before anything is done for it: the one place that does, for the usage log,
    /// audit events, the log and traces.
    pub(super) fn retention(&self, retention: RetentionMode, lockdown: bool) -> UsageRetention {
        let kept = charge::kept(retention, lockdown);
        if kept == UsageRetention::Zero || lockdown {
            self.span.is_private();
        }
        kept
    }
}

/// Returns where the files of a request go: to the artifacts of the team, unless nothing may be kept or nobody knows
/// under which URL the service is reached.
pub(super) fn files(
    context: &RequestContext<'_>,
    retention: RetentionMode,
    origin: Option<String>,
) -> FilePublisher {
    let team = context.caller.as_ref().map_or("", |caller| caller.team.name.as_str());
    match (retention, origin) {
        // What is kept has an owner, which an anonymous request has not.
        (RetentionMode::Zero | RetentionMode::Anonymous, _) | (_, None) => FilePublisher::inline(),
        (RetentionMode::Normal, Some(origin)) => FilePublisher::storing(
            context.artifacts.for_team(team, websvc_artifacts::Retention::Stored),
            origin,
        ),
    }
}

/// Returns whose profiles a request uses: where nobody is asked for a key, everybody is one team.
pub(super) fn team<'a>(context: &'a RequestContext<'_>) -> &'a str {
    context.caller.as_ref().map_or(DEFAULT_TEAM, |caller| caller.team.name.as_str())
}

/// Returns how much of any request of a team may be kept, whatever the request says.
pub(crate) fn demanded(team: &Team) -> UsageRetention {
    charge::kept(team_retention(team), false)
}

/// Returns what the caller's team may ask for, with its part of the compiled path patterns.
///
/// # Errors
/// 500 when that is not known.
pub(super) fn policy_with_patterns(context: &RequestContext<'_>) -> Result<Policy, ApiError> {
    let path_patterns = context.engine.path_patterns().of_team(team(context));
    Ok(Policy { path_patterns, ..policy(context.store, context.caller.as_ref())? })
}

/// Returns what the caller's team may ask for.
///
/// # Errors
/// 500 when that is not known.
pub(super) fn policy(store: &Store, caller: Option<&Caller>) -> Result<Policy, ApiError> {
    let team = caller.map(|caller| &*caller.team);
    team_policy(store, team)
        .map_err(|error| ApiError::internal(&error, "the team's threat protection could not be read"))
}

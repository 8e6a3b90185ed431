//! `POST /v2/search`, and what all handlers need to know about the caller's team.

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_engine::{Bill, EngineError, SCHEMA_COMPILER, StageTimings, team_policy, team_retention};
use websvc_scrape::FilePublisher;
use websvc_stage::Stage;
use websvc_store::{KeyScope, Team, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::{SearchRequest, SearchResponse};
use websvc_validate::{Checked, Policy, RetentionMode, SearchPlan, read_request};

use super::body;
use crate::admission::{ComputePermit, PermitScope};
use crate::audit_trail::AuditedRequest;
use crate::authorize::{authorize, authorize_page};
use crate::charge::{self, Outcome, usage_retention};
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::post(
    "/v2/search",
    OperationGroup::Search,
    handler!(|context, request| search(context, request).await),
)
.name("search")
.scope(KeyScope::Search)
.body(RequestBody::OPTIONS)];

/// Handles a search.
async fn search(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let base_url = context.state.base_url(&request);
    let body = body::read(request)?;
    let stages = context.state.engine.stages();
    let response = respond_to_search(context, base_url, body).await?;
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &response)))
}

/// Runs the search in a request body of any interface.
pub(crate) async fn respond_to_search(
    context: RequestContext<'_>,
    base_url: Option<String>,
    body: Bytes,
) -> Result<SearchResponse, ApiError> {
    let engine = &context.state.engine;
    let policy = body_policy(&policy(&context)?);
    let decoding =
        context.state.admission.decode_body(body, move |body| read_request::<SearchRequest>(body, &policy));
    let Checked { plan, warnings } = engine.stages().run(Stage::Decode, decoding).await?;
    let lockdown = plan.scrape.as_ref().is_some_and(|plan| plan.lockdown);
    let retention = context.retention(plan.retention, lockdown);
    context.trail.set_request(
        retention,
        &AuditedRequest {
            username: plan
                .scrape
                .as_ref()
                .and_then(|plan| plan.audit.as_ref())
                .map(|audit| audit.username.as_str()),
            query: Some(&plan.query_text),
            urls: &[],
        },
    );
    if let Some(scrape) = plan.scrape.as_ref() {
        authorize(context.caller.as_ref(), KeyScope::Scrape)?;
        authorize_page(context.caller.as_ref(), scrape)?;
    }
    let permit = engine.stages().run(Stage::ComputeWait, acquire_compute(&context, &plan)).await?;
    let files = file_publisher(&context, plan.retention, base_url);
    let hold = charge::hold(&context, engine.max_search_credits(&plan)).await?;
    let scope =
        if engine.is_cpu_bound(&plan) { PermitScope::WholeRequest } else { PermitScope::UntilFirstPending };
    let search = engine.search(&plan, context.team_name(), &files, context.started);
    match permit.run(scope, search).await {
        Ok(mut outcome) => {
            outcome.warnings.splice(..0, warnings);
            let (bill, stages) = (std::mem::take(&mut outcome.bill), outcome.stages);
            let charged = usage_outcome(&context, &plan, retention, StatusCode::OK.as_u16(), bill, stages);
            let credits = charge::settle(&context, hold, charged).await?;
            Ok(outcome.into_response(context.id, credits))
        }
        Err(mut error) => {
            let bill = error.take_bill();
            let error = ApiError::from(error);
            let charged =
                usage_outcome(&context, &plan, retention, error.status(), bill, StageTimings::default());
            charge::settle(&context, hold, charged).await?;
            Err(error)
        }
    }
}

/// Waits for the right of the search to compute.
///
/// # Errors
/// 429 if it takes too long; 408 if the `timeout` of the search was over before it was admitted, because then no client
/// waits for a response.
async fn acquire_compute(context: &RequestContext<'_>, plan: &SearchPlan) -> Result<ComputePermit, ApiError> {
    if context.started.elapsed() >= plan.timeout {
        return Err(EngineError::late(plan).into());
    }
    let admission = &context.state.admission;
    admission.acquire_compute(context.caller.as_ref(), plan.timeout, context.started).await
}

/// Returns the entry of the usage log.
fn usage_outcome(
    context: &RequestContext<'_>,
    plan: &SearchPlan,
    retention: UsageRetention,
    status: u16,
    bill: Bill,
    stages: StageTimings,
) -> Outcome {
    let query = (retention == UsageRetention::Whole).then(|| plan.query_text.clone());
    let result = Some(context.id.clone());
    Outcome { operation: "search", status, bill, stages, query, result, retention }
}

impl RequestContext<'_> {
    /// Decides how much of a request may be stored. Every handler calls this before it does anything for the request: it
    /// is the only place that decides for the usage log, audit events, the log and traces.
    pub(super) fn retention(&self, retention: RetentionMode, lockdown: bool) -> UsageRetention {
        let retention = usage_retention(retention, lockdown);
        if retention == UsageRetention::Zero || lockdown {
            self.span.set_private();
        }
        retention
    }
}

/// Returns the publisher for the files of a request. It stores them as artifacts of the team, or inlines them in the
/// response if the request may not be stored or the base URL of the service is unknown.
pub(super) fn file_publisher(
    context: &RequestContext<'_>,
    retention: RetentionMode,
    base_url: Option<String>,
) -> FilePublisher {
    let team = context.caller.as_ref().map_or("", |caller| caller.team.name.as_str());
    match (retention, base_url) {
        // An artifact has an owner, and an anonymous request has none.
        (RetentionMode::Zero | RetentionMode::Anonymous, _) | (_, None) => FilePublisher::inline(),
        (RetentionMode::Normal, Some(base_url)) => {
            let artifacts = context.state.artifacts.for_team(team, websvc_artifacts::Retention::Stored);
            FilePublisher::storing(artifacts, base_url)
        }
    }
}

/// Returns how much of every request of a team may be stored at most.
pub(crate) fn forced_retention(team: &Team) -> UsageRetention {
    usage_retention(team_retention(team), false)
}

/// Returns the policy of the caller's team, with its share of the compiled path patterns.
///
/// # Errors
/// 500 if the policy cannot be read.
pub(super) fn policy_with_patterns(context: &RequestContext<'_>) -> Result<Policy, ApiError> {
    let path_patterns = context.state.engine.path_patterns().for_team(context.team_name());
    Ok(Policy { path_patterns, ..policy(context)? })
}

/// Returns the policy for the body of a request, whose JSON Schemas are compiled: the policy of the team does not do
/// that, because requests that were accepted are checked with it again.
pub(super) fn body_policy(policy: &Policy) -> Policy {
    Policy { schema_compiler: SCHEMA_COMPILER, ..policy.clone() }
}

/// Returns the policy of the caller's team.
///
/// # Errors
/// 500 if the policy cannot be read.
pub(super) fn policy(context: &RequestContext<'_>) -> Result<Policy, ApiError> {
    let team = context.caller.as_ref().map(|caller| &*caller.team);
    team_policy(&context.state.store, team)
        .map_err(|error| ApiError::internal(&error, "the team's threat protection could not be read"))
}

//! `POST /v2/map` and `POST /v1/map`.

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_engine::{Bill, MapOutcome, StageTimings};
use websvc_stage::Stage;
use websvc_store::{KeyScope, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::MapResponse;
use websvc_types::map::{MapRequest, MapRequestV1, MapResponseV1};
use websvc_validate::{Checked, MapPlan, Policy, Rejection, read_request};

use super::body;
use super::search::policy_with_patterns;
use crate::audit_trail::AuditedRequest;
use crate::charge::{self, Outcome};
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    rights(Endpoint::post(
        "/v2/map",
        OperationGroup::Map,
        handler!(|context, request| map(context, request).await),
    )),
    rights(Endpoint::post(
        "/v1/map",
        OperationGroup::Map,
        handler!(|context, request| map_v1(context, request).await),
    )),
];

const fn rights(endpoint: Endpoint) -> Endpoint {
    endpoint.name("map").scope(KeyScope::Map).body(RequestBody::OPTIONS)
}

/// A function that reads the body of a map request.
type MapBodyReader = fn(&[u8], &Policy) -> Result<Checked<MapPlan>, Rejection>;

/// Handles a map request.
async fn map(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = body::read(request)?;
    let stages = context.state.engine.stages();
    let response = respond_to_map(context, body, |body, policy| read_request::<MapRequest>(body, policy))
        .await
        .map_err(ApiError::with_page_status)?;
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &response)))
}

/// Handles a map request of version 1.
async fn map_v1(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = body::read(request)?;
    let stages = context.state.engine.stages();
    let response = respond_to_map(context, body, |body, policy| read_request::<MapRequestV1>(body, policy))
        .await
        .map_err(ApiError::with_page_status)?;
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &MapResponseV1::from(response))))
}

async fn respond_to_map(
    context: RequestContext<'_>,
    body: Bytes,
    read: MapBodyReader,
) -> Result<MapResponse, ApiError> {
    let engine = &context.state.engine;
    let policy = policy_with_patterns(&context)?;
    let decoding = context.state.admission.decode_with_patterns(body, move |body| read(body, &policy));
    let Checked { plan, warnings } = engine.stages().run(Stage::Decode, decoding).await?;
    let retention = context.retention(plan.retention, false);
    let username = plan.page.audit.as_ref().map(|audit| audit.username.as_str());
    context.trail.set_request(
        retention,
        &AuditedRequest { username, query: plan.search.as_deref(), urls: &[plan.url.as_str()] },
    );
    let hold = charge::hold(&context, engine.max_map_credits(&plan)).await?;
    // The time in the queue counts for the timeout, so that the 408 is sent in time.
    let MapOutcome { result, bill } = engine.map(&plan, context.team_name(), context.started).await;
    match result {
        Ok(mut mapped) => {
            mapped.warnings.splice(..0, warnings);
            let charged = usage_outcome(&context, &plan, retention, StatusCode::OK.as_u16(), bill);
            let credits = charge::settle(&context, hold, charged).await?;
            Ok(mapped.into_response(context.id, credits))
        }
        Err(error) => {
            let error = ApiError::from(error);
            let charged = usage_outcome(&context, &plan, retention, error.status(), bill);
            charge::settle(&context, hold, charged).await?;
            Err(error)
        }
    }
}

/// Returns the entry of the usage log.
fn usage_outcome(
    context: &RequestContext<'_>,
    plan: &MapPlan,
    retention: UsageRetention,
    status: u16,
    bill: Bill,
) -> Outcome {
    let query = (retention == UsageRetention::Whole).then(|| plan.url.to_string());
    let result = Some(context.id.clone());
    Outcome { operation: "map", status, bill, stages: StageTimings::default(), query, result, retention }
}

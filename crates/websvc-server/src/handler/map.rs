//! `POST /v2/map`, and `POST /v1/map` in the words of the first version.

use bytes::Bytes;
use http::{Request, StatusCode};
use websvc_engine::{Bill, MapOutcome, StageTimings};
use websvc_stage::Stage;
use websvc_store::UsageRetention;
use websvc_transport::ServerBody;
use websvc_types::MapResponse;
use websvc_types::map::MapResponseV1;
use websvc_validate::{Checked, MapPlan, Policy, Rejection, read_map, read_map_v1};

use super::body;
use super::search::{policy_with_patterns, team};
use crate::audit_trail::AuditedRequest;
use crate::charge::{self, Outcome};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Reads the body of a map.
type MapBodyReader = fn(&[u8], &Policy) -> Result<Checked<MapPlan>, Rejection>;

/// Answers a map.
pub(crate) async fn map(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request).await?;
    let stages = context.engine.stages();
    let answer = answer_map(context, body, read_map).await?;
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &answer)))
}

/// Answers a map in the words of the first version.
pub(crate) async fn map_v1(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request).await?;
    let stages = context.engine.stages();
    let answer = answer_map(context, body, read_map_v1).await?;
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &MapResponseV1::from(answer))))
}

/// Answers the body of a map, wherever it came from.
pub(crate) async fn answer_map(
    context: RequestContext<'_>,
    body: Bytes,
    read: MapBodyReader,
) -> Result<MapResponse, ApiError> {
    let policy = policy_with_patterns(&context)?;
    let decoding = context.admission.decode_with_patterns(body, move |body| read(body, &policy));
    let Checked { plan, warnings } = context.engine.stages().run(Stage::Decode, decoding).await?;
    let retention = context.retention(plan.retention(), false);
    let username = plan.page().audit().map(|audit| audit.username.as_str());
    context.trail.set_request(
        retention,
        &AuditedRequest { username, query: plan.search(), urls: &[plan.url().as_str()] },
    );
    let hold = charge::hold(&context, context.engine.max_map_credits(&plan)).await?;
    // The time it waited for its turn counts, so that its own 408 comes in time.
    let MapOutcome { result, bill } = context.engine.map(&plan, team(&context), context.started).await;
    match result {
        Ok(mut mapped) => {
            mapped.warnings.splice(..0, warnings);
            let done = done(&plan, retention, StatusCode::OK.as_u16(), bill);
            let credits = charge::settle(&context, hold, done).await?;
            Ok(mapped.into_response(context.id, credits))
        }
        Err(error) => {
            let failure = ApiError::from(error);
            charge::settle(&context, hold, done(&plan, retention, failure.status(), bill)).await?;
            Err(failure)
        }
    }
}

/// Returns what the usage log is told.
fn done(plan: &MapPlan, retention: UsageRetention, status: u16, bill: Bill) -> Outcome {
    let query = (retention == UsageRetention::Whole).then(|| plan.url().to_string());
    Outcome { operation: "map", status, bill, stages: StageTimings::default(), query, retention }
}

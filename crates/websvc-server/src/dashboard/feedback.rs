//! The feedback of clients on the dashboard.

use http::{Request, StatusCode};
use serde_json::{Value, json};
use websvc_store::FeedbackRecord;
use websvc_transport::ServerBody;

use super::run_on_store;
use super::usage::number;
use crate::response::{ApiError, HttpResponse, json as json_response};
use crate::service::RequestContext;

/// The maximum number of entries.
const MAX_ENTRIES: u32 = 500;

/// `GET /dashboard/feedback?limit=N`: the last feedback of all teams, newest first.
pub(super) async fn feedback(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let limit = number(request, "limit", 100, MAX_ENTRIES)?;
    let store = context.state.store.clone();
    // The feedback may be megabytes of JSON.
    run_on_store(move || {
        let feedback: Vec<Value> = store.feedback(None, None, limit)?.into_iter().map(to_json).collect();
        Ok(json_response(StatusCode::OK, &json!({ "feedback": feedback })))
    })
    .await
}

fn to_json(record: FeedbackRecord) -> Value {
    let FeedbackRecord { number: _, id, team, key, operation, target, rating, content, created_at_ms } =
        record;
    json!({
        "id": id,
        "at": created_at_ms,
        "team": team,
        "key": key,
        "endpoint": operation,
        "target": target,
        "rating": rating.as_str(),
        "content": serde_json::from_str::<Value>(&content).unwrap_or_default(),
    })
}

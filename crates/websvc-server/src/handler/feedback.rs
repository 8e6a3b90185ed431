//! `POST /v2/search/{id}/feedback` and `POST /v2/feedback`: ratings of results.
//!
//! The usage log knows which results exist, so that requests need not be recorded once more. What is not in it cannot be
//! rated: requests with zero data retention, anonymous ones, and those that the limits of the log have removed.

use http::{Request, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;
use websvc_store::{FeedbackRating, KeyScope, NewFeedback, PutFeedbackOutcome, Store, StoreError};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::feedback::{
    FeedbackEndpoint, FeedbackRating as WireRating, FeedbackRequest, FeedbackResponse, SearchFeedbackRequest,
};
use websvc_types::limits::{FEEDBACK_PER_TEAM_MAX, FEEDBACK_WINDOW_S};
use websvc_validate::{Checked, read_request};

use super::body;
use crate::authorize::authorize;
use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::post(
        "/v2/search/{id}/feedback",
        OperationGroup::Team,
        handler!(|context, request| {
            submit_search(&context, request).await.map_err(ApiError::with_feedback_code)
        }),
    )
    .name("search-feedback")
    .scope(KeyScope::Search)
    // Feedback may quote sources and results.
    .body(RequestBody::OPTIONS),
    // The scope is that of the rated operation.
    Endpoint::post(
        "/v2/feedback",
        OperationGroup::Team,
        handler!(|context, request| submit_any(&context, request)
            .await
            .map_err(ApiError::with_feedback_code)),
    )
    .name("feedback")
    .body(RequestBody::OPTIONS),
];

/// The fields of a request that are stored in columns, or not at all.
const NOT_CONTENT: [&str; 5] = ["endpoint", "jobId", "rating", "origin", "integration"];

/// Checked feedback.
struct Submission {
    endpoint: FeedbackEndpoint,
    /// The ID of the result, in lower case.
    result: String,
    rating: WireRating,
    /// The rest of the request, as a JSON object.
    content: String,
}

/// Outcome of the work on the database.
enum Outcome {
    Stored,
    AlreadySubmitted(String),
    NotFound,
    Failed,
    TooLate,
}

async fn submit_search(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let result = parse_result(context.capture(&request, "id"));
    let body = body::read(request)?;
    let decoding =
        context.state.admission.decode_body(body, |body| read_request::<SearchFeedbackRequest>(body, ()));
    let Checked { plan, warnings: _ } = decoding.await?;
    let submission = Submission {
        endpoint: FeedbackEndpoint::Search,
        result: result?,
        rating: plan.rating,
        content: content(&plan)?,
    };
    submit(context, submission).await
}

async fn submit_any(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request)?;
    let decoding =
        context.state.admission.decode_body(body, |body| read_request::<FeedbackRequest>(body, ()));
    let Checked { plan, warnings: _ } = decoding.await?;
    authorize(context.caller.as_ref(), scope(plan.endpoint))?;
    let submission = Submission {
        endpoint: plan.endpoint,
        result: parse_result(&plan.job_id)?,
        rating: plan.rating,
        content: content(&plan)?,
    };
    submit(context, submission).await
}

async fn submit(context: &RequestContext<'_>, submission: Submission) -> Result<HttpResponse, ApiError> {
    let Submission { endpoint, result, rating, content } = submission;
    context.trail.set_target(|| format!("{} {result}", endpoint.as_str()));
    let new = NewFeedback {
        id: context.id.clone(),
        team: context.team_name().to_owned(),
        key: context.caller.as_ref().map(|caller| caller.key_id.clone()),
        result,
        operation: endpoint.as_str().to_owned(),
        target: None,
        rating: stored_rating(rating),
        content,
    };
    let store = context.state.store.clone();
    let outcome = run_blocking(move || put(&store, endpoint, new, store.now_ms()))
        .await?
        .map_err(|error| ApiError::internal(&error, "the feedback could not be stored"))?;
    let (feedback_id, already_submitted) = match outcome {
        Outcome::Stored => (context.id.clone(), None),
        Outcome::AlreadySubmitted(id) => (id, Some(true)),
        Outcome::NotFound => return Err(not_found(endpoint)),
        Outcome::Failed => {
            let text = "The search failed, so there are no results to rate";
            return Err(ApiError::new(ErrorCode::SearchFailed, text));
        }
        Outcome::TooLate => {
            let hours = FEEDBACK_WINDOW_S / 3_600;
            let text = format!("Results can be rated for {hours} hours after their request");
            return Err(ApiError::new(ErrorCode::FeedbackWindowExpired, text));
        }
    };
    let response = FeedbackResponse { success: true, feedback_id, credits_refunded: 0, already_submitted };
    Ok(json(StatusCode::OK, &response))
}

/// Stores feedback, if the log has the request of its result.
fn put(
    store: &Store,
    endpoint: FeedbackEndpoint,
    feedback: NewFeedback,
    now_ms: u64,
) -> Result<Outcome, StoreError> {
    if let Some(id) = store.feedback_id(&feedback.team, &feedback.result)? {
        return Ok(Outcome::AlreadySubmitted(id));
    }
    let Some(request) = store.rated_request(&feedback.team, &feedback.result)? else {
        return Ok(Outcome::NotFound);
    };
    if request.operation != endpoint.as_str() {
        return Ok(Outcome::NotFound);
    }
    if endpoint == FeedbackEndpoint::Search && request.status >= 400 {
        return Ok(Outcome::Failed);
    }
    if now_ms.saturating_sub(request.at_ms) > FEEDBACK_WINDOW_S * 1_000 {
        return Ok(Outcome::TooLate);
    }
    let feedback = NewFeedback { target: request.target, ..feedback };
    Ok(match store.put_feedback(&feedback, FEEDBACK_PER_TEAM_MAX, now_ms)? {
        PutFeedbackOutcome::Stored => Outcome::Stored,
        PutFeedbackOutcome::AlreadySubmitted { id } => Outcome::AlreadySubmitted(id),
    })
}

fn not_found(endpoint: FeedbackEndpoint) -> ApiError {
    let code = match endpoint {
        FeedbackEndpoint::Search => ErrorCode::SearchNotFound,
        FeedbackEndpoint::Scrape | FeedbackEndpoint::Parse | FeedbackEndpoint::Map => ErrorCode::JobNotFound,
    };
    let name = endpoint.as_str();
    let text = format!(
        "No {name} of your team has this ID, or it may not be rated: requests with zero data retention cannot"
    );
    ApiError::new(code, text)
}

/// Returns the scope that a key needs to rate results of an operation.
fn scope(endpoint: FeedbackEndpoint) -> KeyScope {
    match endpoint {
        FeedbackEndpoint::Search => KeyScope::Search,
        FeedbackEndpoint::Scrape | FeedbackEndpoint::Parse => KeyScope::Scrape,
        FeedbackEndpoint::Map => KeyScope::Map,
    }
}

fn stored_rating(rating: WireRating) -> FeedbackRating {
    match rating {
        WireRating::Good => FeedbackRating::Good,
        WireRating::Partial => FeedbackRating::Partial,
        WireRating::Bad => FeedbackRating::Bad,
    }
}

/// Parses the ID of a result. IDs are written in lower case.
fn parse_result(text: &str) -> Result<String, ApiError> {
    Uuid::try_parse(text)
        .map(|id| id.to_string())
        .map_err(|_| ApiError::new(ErrorCode::BadRequest, format!("Invalid ID: {text:?} is not a UUID")))
}

/// Returns the content of a request as JSON.
fn content<T: Serialize>(request: &T) -> Result<String, ApiError> {
    let mut content: Map<String, Value> = serde_json::to_value(request)
        .and_then(serde_json::from_value)
        .map_err(|error| ApiError::internal(&error, "the feedback could not be serialized"))?;
    content.retain(|name, _| !NOT_CONTENT.contains(&name.as_str()));
    Ok(Value::Object(content).to_string())
}

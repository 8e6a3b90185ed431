//! The operations on jobs that are the same for batches and crawls.

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use serde::Serialize;
use serde_json::Value;
use websvc_jobs::{job_errors, job_status};
use websvc_stage::Stage;
use websvc_store::{ApiVersion, CancelJobOutcome, CreateJobOutcome, JobKind, JobRecord, KeyScope, NewJob};
use websvc_transport::ServerBody;
use websvc_types::job::{CancelJobResponse, JobDocument, JobStatus, JobStatusResponse};
use websvc_types::limits::{IDEMPOTENCY_KEY_MAX_CHARS, JOB_ERRORS_MAX, JOB_PAGE_BYTES, JOB_PAGE_DOCUMENTS};
use websvc_types::{ErrorCode, Violation, ViolationCode, counted};
use websvc_validate::{RetentionMode, ScrapePlan};

use super::{batch, crawl, query};
use crate::adapter::v1_jobs;
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorize_page;
use crate::blocking::run_blocking;
use crate::charge;
use crate::readable::ReadableFormats;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::OperationGroup::{Batch, Crawl};
use crate::route::{Endpoint, Handler, RequestBody, handler};
use crate::service::RequestContext;

/// Makes the endpoints of one version of the API. The versions differ in the handlers that start jobs.
macro_rules! endpoints {
    ($version:literal, $start_batch:expr, $start_crawl:expr) => {
        &[
            batch(Endpoint::post(concat!("/", $version, "/batch/scrape"), Batch, $start_batch), "batch")
                .body(RequestBody::LONG),
            batch(
                Endpoint::get(concat!("/", $version, "/batch/scrape/{id}"), Batch, BATCH_STATUS),
                "batch-status",
            )
            .watched(JobKind::Batch),
            batch(
                Endpoint::delete(concat!("/", $version, "/batch/scrape/{id}"), Batch, CANCEL_BATCH),
                "batch-cancel",
            ),
            batch(
                Endpoint::get(concat!("/", $version, "/batch/scrape/{id}/errors"), Batch, BATCH_ERRORS),
                "batch-errors",
            ),
            crawl(Endpoint::post(concat!("/", $version, "/crawl"), Crawl, $start_crawl), "crawl")
                .body(RequestBody::OPTIONS),
            crawl(
                Endpoint::get(concat!("/", $version, "/crawl/active"), Crawl, ACTIVE_CRAWLS),
                "crawl-active",
            ),
            crawl(
                Endpoint::get(concat!("/", $version, "/crawl/ongoing"), Crawl, ACTIVE_CRAWLS),
                "crawl-active",
            ),
            crawl(Endpoint::get(concat!("/", $version, "/crawl/{id}"), Crawl, CRAWL_STATUS), "crawl-status")
                .watched(JobKind::Crawl),
            crawl(
                Endpoint::delete(concat!("/", $version, "/crawl/{id}"), Crawl, CANCEL_CRAWL),
                "crawl-cancel",
            ),
            crawl(
                Endpoint::get(concat!("/", $version, "/crawl/{id}/errors"), Crawl, CRAWL_ERRORS),
                "crawl-errors",
            ),
        ]
    };
}

pub(crate) const ENDPOINTS: &[Endpoint] = endpoints!(
    "v2",
    handler!(|context, request| start(JobKind::Batch, context, request).await),
    handler!(|context, request| start(JobKind::Crawl, context, request).await)
);

pub(crate) const V1_ENDPOINTS: &[Endpoint] = endpoints!(
    "v1",
    handler!(|context, request| v1_jobs::start(JobKind::Batch, context, request).await),
    handler!(|context, request| v1_jobs::start(JobKind::Crawl, context, request).await)
);

const BATCH_STATUS: Handler = handler!(|context, request| status(JobKind::Batch, &context, &request).await);
const CRAWL_STATUS: Handler = handler!(|context, request| status(JobKind::Crawl, &context, &request).await);
const CANCEL_BATCH: Handler = handler!(|context, request| cancel(JobKind::Batch, &context, &request).await);
const CANCEL_CRAWL: Handler = handler!(|context, request| cancel(JobKind::Crawl, &context, &request).await);
const BATCH_ERRORS: Handler = handler!(|context, request| errors(JobKind::Batch, &context, &request).await);
const CRAWL_ERRORS: Handler = handler!(|context, request| errors(JobKind::Crawl, &context, &request).await);
const ACTIVE_CRAWLS: Handler = handler!(|context, _| crawl::active(&context).await);

const fn batch(endpoint: Endpoint, name: &'static str) -> Endpoint {
    endpoint.name(name).scope(KeyScope::Batch)
}

const fn crawl(endpoint: Endpoint, name: &'static str) -> Endpoint {
    endpoint.name(name).scope(KeyScope::Crawl)
}

/// `Retry-After` of a request for a job above the limit of jobs, in seconds.
const RETRY_AFTER_S: u64 = 60;

/// A received request that starts a job.
#[derive(Debug)]
pub(crate) struct JobStart {
    /// The base URL under which the client reaches the service.
    pub(crate) base_url: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    /// The body, in the format of version 2.
    pub(crate) body: Bytes,
}

/// Starts a job. URLs in the response have the version of the request.
async fn start(
    kind: JobKind,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let job = receive(&context, request)?;
    start_received(kind, context, job).await
}

/// Receives a request that starts a job.
///
/// # Errors
/// 400 for an invalid idempotency key, and the errors of [`super::read_body`].
pub(crate) fn receive(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<JobStart, ApiError> {
    let base_url = context.state.base_url(&request);
    let idempotency_key = idempotency_key(request.headers())?;
    let body = super::read_body(request)?;
    Ok(JobStart { base_url, idempotency_key, body })
}

/// Starts the job of a received request.
pub(crate) async fn start_received(
    kind: JobKind,
    context: RequestContext<'_>,
    job: JobStart,
) -> Result<HttpResponse, ApiError> {
    match kind {
        JobKind::Batch => batch::start(context, job).await,
        JobKind::Crawl => crawl::start(context, job).await,
    }
}

async fn status(
    kind: JobKind,
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let record = find(context, kind, &id(context, request)?).await?;
    let Range { skip, limit } = parse_range(request.uri().query())?;
    let max_documents = limit.unwrap_or(JOB_PAGE_DOCUMENTS).min(JOB_PAGE_DOCUMENTS);
    let page = context.state.jobs.documents(record.number, skip, max_documents, JOB_PAGE_BYTES).await?;
    let (documents, formats) = (page.documents, ReadableFormats::from_caller(context.caller.as_ref()));
    // The documents may be megabytes of JSON.
    let parse = move || -> serde_json::Result<Vec<JobDocument>> {
        documents.iter().map(|document| formats.document(document)).collect()
    };
    let data = run_blocking(parse)
        .await?
        .map_err(|error| ApiError::internal(&error, "a document of the job could not be read"))?;
    let base_url = context.state.base_url(request);
    let next = page.next.map(|skip| {
        let limit = limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        format!("{}?skip={skip}{limit}", url(base_url.as_deref(), context.api_version, kind, &record.id))
    });
    let stages = context.state.engine.stages();
    let response = job_status(&record, data, next);
    if context.api_version == ApiVersion::V1
        && response.data.iter().any(|document| document.content.json.is_some())
    {
        let response = run_blocking(move || with_extract(&response)).await?;
        let response =
            response.map_err(|error| ApiError::internal(&error, "the job could not be serialized"))?;
        return Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &response)));
    }
    Ok(stages.time(Stage::Encode, || json(StatusCode::OK, &response)))
}

/// Returns the status of a job in which documents contain their extracted data also as `extract`, the name in version 1.
fn with_extract(status: &JobStatusResponse) -> serde_json::Result<Value> {
    let mut status = serde_json::to_value(status)?;
    for document in status["data"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(data) = document.get("json").cloned() {
            document.insert("extract".to_owned(), data);
        }
    }
    Ok(status)
}

async fn cancel(
    kind: JobKind,
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = id(context, request)?;
    context.trail.set_target(|| format!("job {id}"));
    match context.state.jobs.cancel(context.team_name(), kind, &id).await? {
        CancelJobOutcome::Cancelled => {
            Ok(json(StatusCode::OK, &CancelJobResponse { success: true, status: JobStatus::Cancelled }))
        }
        CancelJobOutcome::AlreadyEnded(state) => {
            let text = format!("{} is already {}", name(kind), state.as_str());
            Err(ApiError::new(ErrorCode::JobEnded, text))
        }
        CancelJobOutcome::NotFound => Err(not_found()),
    }
}

async fn errors(
    kind: JobKind,
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let record = find(context, kind, &id(context, request)?).await?;
    let errors = context.state.jobs.errors(record.number, JOB_ERRORS_MAX).await?;
    Ok(json(StatusCode::OK, &job_errors(&record.id, errors)))
}

/// Returns a job of the caller's team.
///
/// # Errors
/// 404 if there is none, or if the job belongs to another team.
pub(crate) async fn find(
    context: &RequestContext<'_>,
    kind: JobKind,
    id: &str,
) -> Result<JobRecord, ApiError> {
    context.trail.set_target(|| format!("job {id}"));
    context.state.jobs.job(context.team_name(), kind, id).await?.ok_or_else(not_found)
}

/// Creates a job, and returns its id.
///
/// # Errors
/// 400 for too many URLs, 409 if the idempotency key was used before, 429 if a limit of jobs is reached.
pub(super) async fn create(context: &RequestContext<'_>, job: NewJob) -> Result<String, ApiError> {
    let id = job.id.clone();
    context.trail.set_target(|| format!("job {id}"));
    let limits = context.state.jobs.config().limits;
    let too_many = |text: String| Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S));
    match context.state.jobs.create(job).await? {
        CreateJobOutcome::Created { .. } => Ok(id),
        CreateJobOutcome::IdempotencyKeyUsed => {
            Err(ApiError::new(ErrorCode::IdempotencyKeyUsed, "Idempotency key already used"))
        }
        CreateJobOutcome::TooManyUrls => {
            let message = format!("urls may have at most {} here", counted(limits.max_urls, "item", "items"));
            let violation = Violation { path: "/urls".to_owned(), code: ViolationCode::TooLong, message };
            Err(ApiError::invalid(ErrorCode::BadRequest, vec![violation]))
        }
        CreateJobOutcome::TooManyRunning => too_many(format!(
            "Rate limit exceeded: limit of {} per team reached",
            counted(limits.max_running, "running job", "running jobs")
        )),
        CreateJobOutcome::TooManyStored => too_many(format!(
            "Rate limit exceeded: limit of {} per team reached",
            counted(limits.max_stored, "stored job", "stored jobs")
        )),
        CreateJobOutcome::StorageFull => too_many(format!(
            "Rate limit exceeded: the documents of all jobs use the allowed {} bytes, until older jobs are deleted",
            limits.max_total_bytes
        )),
    }
}

/// Records the request in the audit trail. A request that may not be stored has no plan for a job, because jobs are
/// stored.
pub(super) fn record_request(
    context: &RequestContext<'_>,
    retention: RetentionMode,
    scrape: &ScrapePlan,
    urls: &[&str],
) {
    let retention = context.retention(retention, scrape.lockdown);
    let username = scrape.audit.as_ref().map(|audit| audit.username.as_str());
    context.trail.set_request(retention, &AuditedRequest { username, query: None, urls });
}

/// Checks that the pages of a job can be scraped with this plan: what the key may read, the abilities of this
/// installation, and credits for one page.
///
/// # Errors
/// 400, 402 and 403.
pub(super) async fn check_plan(context: &RequestContext<'_>, plan: &ScrapePlan) -> Result<(), ApiError> {
    authorize_page(context.caller.as_ref(), plan)?;
    context.state.engine.check_scrape(plan)?;
    // The credits are released immediately, because each page holds its own.
    drop(charge::hold(context, context.state.engine.max_page_credits(plan)).await?);
    Ok(())
}

/// Returns the idempotency key of a request, by which a repeated request is recognized.
///
/// # Errors
/// 400 for a key that is too long or not text.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("x-idempotency-key") else { return Ok(None) };
    match value.to_str().map(str::trim) {
        Ok("") => Ok(None),
        Ok(key) if key.len() <= IDEMPOTENCY_KEY_MAX_CHARS => Ok(Some(key.to_owned())),
        Ok(_) | Err(_) => {
            let text =
                format!("x-idempotency-key must be at most {IDEMPOTENCY_KEY_MAX_CHARS} visible characters");
            Err(ApiError::new(ErrorCode::BadRequest, text))
        }
    }
}

/// Serializes a part of a job for the store.
///
/// # Errors
/// 500; the types of this service always serialize.
pub(super) fn serialize<T: Serialize>(value: &T) -> Result<String, ApiError> {
    serde_json::to_string(value)
        .map_err(|error| ApiError::internal(&error, "the job could not be serialized"))
}

/// Returns the URL of a job.
pub(super) fn url(base_url: Option<&str>, version: ApiVersion, kind: JobKind, id: &str) -> String {
    format!("{}/{}{}/{id}", base_url.unwrap_or_default(), version.as_str(), path(kind))
}

/// Returns the path of jobs of a kind, without the version.
fn path(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Batch => "/batch/scrape",
        JobKind::Crawl => "/crawl",
    }
}

fn name(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Batch => "Batch scrape",
        JobKind::Crawl => "Crawl",
    }
}

/// Returns the job id in the path of a request.
///
/// # Errors
/// 400 if it is not a UUID.
pub(super) fn id(context: &RequestContext<'_>, request: &Request<ServerBody>) -> Result<String, ApiError> {
    parse_id(context.capture(request, "id"))
}

/// Parses a job id.
///
/// # Errors
/// 400 if it is not a UUID.
pub(crate) fn parse_id(text: &str) -> Result<String, ApiError> {
    super::parse_uuid(text, "Invalid job ID")
}

/// The requested range of documents.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
}

/// Parses `skip` and `limit` of a query string.
///
/// # Errors
/// 400 that names the value and the rule.
pub(super) fn parse_range(query: Option<&str>) -> Result<Range, ApiError> {
    let mut range = Range::default();
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match &*name {
            "skip" => range.skip = query::whole_number(&name, &value, 0)?,
            "limit" => range.limit = Some(query::whole_number(&name, &value, 1)?),
            _ => {}
        }
    }
    Ok(range)
}

pub(crate) fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Job not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_is_parsed_from_the_query_string() {
        let check =
            |query, expected: Option<Range>| assert_eq!(parse_range(query).ok(), expected, "{query:?}");
        check(None, Some(Range::default()));
        check(Some("skip=3&limit=2&x=y"), Some(Range { skip: 3, limit: Some(2) }));
        check(Some("skip=-1"), None);
        check(Some("limit=0"), None);
        check(Some("limit=all"), None);
        let all = Range { skip: u64::MAX, limit: Some(u64::MAX) };
        check(Some("skip=18446744073709551616&limit=99999999999999999999"), Some(all));
    }

    #[test]
    fn long_idempotency_key_is_rejected() {
        let key = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-idempotency-key", text.parse().expect("a header"));
            idempotency_key(&headers).ok()
        };
        assert_eq!(idempotency_key(&HeaderMap::new()).ok(), Some(None));
        assert_eq!(key(" a "), Some(Some("a".to_owned())));
        assert_eq!(key(""), Some(None));
        assert_eq!(key(&"a".repeat(IDEMPOTENCY_KEY_MAX_CHARS + 1)), None);
    }
}

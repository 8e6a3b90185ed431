//! Jobs: what is asked of them once they began, whatever their kind.

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;
use websvc_jobs::{JobsError, job_errors, job_status};
use websvc_stage::Stage;
use websvc_store::{CancelJobOutcome, CreateJobOutcome, JobKind, JobRecord, NewJob};
use websvc_transport::ServerBody;
use websvc_types::job::{CancelJobResponse, JobDocument, JobStatus, JobStatusResponse};
use websvc_types::limits::{IDEMPOTENCY_KEY_MAX_CHARS, JOB_ERRORS_MAX, JOB_PAGE_BYTES, JOB_PAGE_DOCUMENTS};
use websvc_types::{ErrorCode, Violation, ViolationCode};
use websvc_validate::{RetentionMode, ScrapePlan};

use super::search::team;
use super::{batch, crawl, crawl_prompt};
use crate::audit_trail::AuditedRequest;
use crate::authorize::authorise_format_names;
use crate::charge;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// What can be asked of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobOperation {
    Start,
    Status,
    Cancel,
    Errors,
    /// The crawls that run.
    Active,
    /// The options that the prompt of a crawl becomes.
    Params,
}

impl JobOperation {
    /// Returns what audit events call it.
    pub(crate) fn name(self, kind: JobKind) -> &'static str {
        match (self, kind) {
            (Self::Start, JobKind::Batch) => "batch",
            (Self::Start, JobKind::Crawl) => "crawl",
            (Self::Status, JobKind::Batch) => "batch-status",
            (Self::Status, JobKind::Crawl) => "crawl-status",
            (Self::Cancel, JobKind::Batch) => "batch-cancel",
            (Self::Cancel, JobKind::Crawl) => "crawl-cancel",
            (Self::Errors, JobKind::Batch) => "batch-errors",
            (Self::Errors, JobKind::Crawl) => "crawl-errors",
            (Self::Params, JobKind::Batch) => "batch-params",
            (Self::Params, JobKind::Crawl) => "crawl-params",
            (Self::Active, JobKind::Batch) => "batch-active",
            (Self::Active, JobKind::Crawl) => "crawl-active",
        }
    }
}

/// Seconds after which a client may try again that has as many jobs as it may.
const RETRY_AFTER_S: u64 = 60;

/// The version of the interface that a job is asked for in: its answers name URLs of the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

impl Version {
    fn prefix(self) -> &'static str {
        match self {
            Self::V1 => "/v1",
            Self::V2 => "/v2",
        }
    }
}

/// A request that begins a job, as it came.
#[derive(Debug)]
pub(crate) struct JobStart {
    pub(crate) version: Version,
    /// Where the sender reaches us.
    pub(crate) base_url: Option<String>,
    pub(crate) idempotency: Option<String>,
    /// What is asked for, in the words of version 2.
    pub(crate) body: Bytes,
}

/// Answers what is asked of jobs of a kind: bodies are in the words of version 2, and the URLs of
/// answers those of `version`.
pub(crate) async fn job(
    version: Version,
    kind: JobKind,
    operation: JobOperation,
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    match operation {
        JobOperation::Start => {
            let start = receive(&context, version, request).await?;
            begin(kind, context, start).await
        }
        JobOperation::Active => crawl::active(&context).await,
        JobOperation::Params => crawl_prompt::preview(context, request).await,
        JobOperation::Status => status(version, kind, &context, &request).await,
        JobOperation::Cancel => cancel(kind, &context, &request).await,
        JobOperation::Errors => errors(kind, &context, &request).await,
    }
}

/// Receives a request that begins a job.
///
/// # Errors
/// 400 for a bad idempotency key, and those of the body.
pub(crate) async fn receive(
    context: &RequestContext<'_>,
    version: Version,
    request: Request<ServerBody>,
) -> Result<JobStart, ApiError> {
    let base_url = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let idempotency = idempotency(request.headers())?;
    let body = super::read_body(request).await?;
    Ok(JobStart { version, base_url, idempotency, body })
}

/// Begins a job of a kind.
pub(crate) async fn begin(
    kind: JobKind,
    context: RequestContext<'_>,
    start: JobStart,
) -> Result<HttpResponse, ApiError> {
    match kind {
        JobKind::Batch => batch::start(context, start).await,
        JobKind::Crawl => crawl::start(context, start).await,
    }
}

async fn status(
    version: Version,
    kind: JobKind,
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let record = find(context, kind, &id(kind, request)?).await?;
    let Range { skip, limit } = range(request.uri().query())?;
    let most = limit.unwrap_or(JOB_PAGE_DOCUMENTS).min(JOB_PAGE_DOCUMENTS);
    let page = context.jobs.documents(record.number, skip, most, JOB_PAGE_BYTES).await?;
    let documents = page.documents;
    // Megabytes of JSON hold nobody up there.
    let read = move || -> serde_json::Result<Vec<JobDocument>> {
        documents.iter().map(|document| serde_json::from_slice(document)).collect()
    };
    let data = charge::blocking(read)
        .await?
        .map_err(|error| ApiError::internal(&error, "a document of the job could not be read"))?;
    let base_url = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    let next = page.next.map(|skip| {
        let limit = limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        format!("{}?skip={skip}{limit}", url(base_url.as_deref(), version, kind, &record.id))
    });
    let answer = job_status(&record, data, next);
    if version == Version::V1 && answer.data.iter().any(|document| document.content.json.is_some()) {
        let answer = charge::blocking(move || with_extract(&answer)).await?;
        let answer = answer.map_err(|error| ApiError::internal(&error, "the job could not be written"))?;
        return Ok(context.engine.stages().time(Stage::Encode, || json(StatusCode::OK, &answer)));
    }
    Ok(context.engine.stages().time(Stage::Encode, || json(StatusCode::OK, &answer)))
}

/// Returns the state of a job with the extracted data of its documents under its name of version 1, too.
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
    let id = id(kind, request)?;
    context.trail.set_target(|| format!("job {id}"));
    match context.jobs.cancel(team(context), kind, &id).await? {
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
    let record = find(context, kind, &id(kind, request)?).await?;
    let found = context.jobs.errors(record.number, JOB_ERRORS_MAX).await?;
    Ok(json(StatusCode::OK, &job_errors(&record.id, found)))
}

/// Returns a job of the caller's team.
///
/// # Errors
/// 404, also for that of another team.
pub(super) async fn find(
    context: &RequestContext<'_>,
    kind: JobKind,
    id: &str,
) -> Result<JobRecord, ApiError> {
    context.trail.set_target(|| format!("job {id}"));
    context.jobs.job(team(context), kind, id).await?.ok_or_else(not_found)
}

/// Begins a job, and returns its identifier.
///
/// # Errors
/// 400 for too many pages, 409 when the caller's word was used before, 429 when the team has as many jobs as it may.
pub(super) async fn create(context: &RequestContext<'_>, job: NewJob) -> Result<String, ApiError> {
    let id = job.id.clone();
    context.trail.set_target(|| format!("job {id}"));
    let limits = context.jobs.config().limits;
    let too_many = |text: String| Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S));
    match context.jobs.create(job).await? {
        CreateJobOutcome::Created { .. } => Ok(id),
        CreateJobOutcome::IdempotencyKeyUsed => {
            Err(ApiError::new(ErrorCode::IdempotencyKeyUsed, "Idempotency key already used"))
        }
        CreateJobOutcome::TooManyUrls => Err(invalid(
            "/urls",
            ViolationCode::TooLong,
            format!("urls may have at most {} items here", limits.max_urls),
        )),
        CreateJobOutcome::TooManyRunning => {
            too_many(format!("Rate limit exceeded: no more than {} jobs of a team run", limits.max_running))
        }
        CreateJobOutcome::TooManyStored => too_many(format!(
            "Rate limit exceeded: no more than {} jobs of a team are kept",
            limits.max_stored
        )),
        CreateJobOutcome::StorageFull => too_many(format!(
            "Rate limit exceeded: the documents of all jobs take the {} bytes that they may, until older ones are \
             forgotten",
            limits.max_total_bytes
        )),
    }
}

/// Notes what is asked for. A plan of a job keeps everything: who may leave nothing has none.
pub(super) fn note(
    context: &RequestContext<'_>,
    demanded: RetentionMode,
    scrape: &ScrapePlan,
    urls: &[&str],
) {
    let kept = context.retention(demanded, scrape.lockdown());
    let username = scrape.audit().map(|audit| audit.username.as_str());
    context.trail.set_request(kept, &AuditedRequest { username, query: None, urls });
}

/// Lets a caller have pages by this plan: the formats of the key, what this installation can do, and credits for one page.
///
/// # Errors
/// 400, 402 and 403.
pub(super) async fn admit(context: &RequestContext<'_>, plan: &ScrapePlan) -> Result<(), ApiError> {
    authorise_format_names(context.caller.as_ref(), plan.formats())?;
    context.engine.review(plan)?;
    // Free again at once: each page holds its own.
    drop(charge::hold(context, context.engine.max_page_credits(plan)).await?);
    Ok(())
}

/// Returns the word by which a request is known when it is sent again.
///
/// # Errors
/// 400 for one that is too long or no text.
fn idempotency(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("x-idempotency-key") else { return Ok(None) };
    match value.to_str().map(str::trim) {
        Ok("") => Ok(None),
        Ok(word) if word.len() <= IDEMPOTENCY_KEY_MAX_CHARS => Ok(Some(word.to_owned())),
        Ok(_) | Err(_) => {
            let text =
                format!("x-idempotency-key must be at most {IDEMPOTENCY_KEY_MAX_CHARS} visible characters");
            Err(ApiError::new(ErrorCode::BadRequest, text))
        }
    }
}

/// Returns what a job was asked for as the store keeps it.
///
/// # Errors
/// 500, which our own types do not come to.
pub(super) fn written<T: Serialize>(request: &T) -> Result<String, ApiError> {
    serde_json::to_string(request).map_err(|error| ApiError::internal(&error, "the job could not be written"))
}

/// Returns where a job is asked for.
pub(super) fn url(base_url: Option<&str>, version: Version, kind: JobKind, id: &str) -> String {
    format!("{}{}{}/{id}", base_url.unwrap_or_default(), version.prefix(), path(kind))
}

/// Returns where jobs of a kind are, after the version.
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

/// Returns the identifier in the path.
///
/// # Errors
/// 400 for what is none.
pub(super) fn id(kind: JobKind, request: &Request<ServerBody>) -> Result<String, ApiError> {
    let before = 1 + path(kind).split('/').filter(|segment| !segment.is_empty()).count();
    let mut segments = request.uri().path().split('/').filter(|segment| !segment.is_empty());
    parse_id(segments.nth(before).unwrap_or_default())
}

/// Reads an identifier.
///
/// # Errors
/// 400 for what is none.
pub(super) fn parse_id(text: &str) -> Result<String, ApiError> {
    match Uuid::parse_str(text) {
        Ok(id) => Ok(id.to_string()),
        Err(_) => Err(ApiError::new(ErrorCode::BadRequest, "Invalid job ID")),
    }
}

/// Which documents are wanted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
}

/// Reads which ones are wanted.
///
/// # Errors
/// 400 for what is no number.
pub(super) fn range(query: Option<&str>) -> Result<Range, ApiError> {
    let mut range = Range::default();
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let number = |least: u64| {
            let number = value.parse().ok().filter(|number| *number >= least);
            number.ok_or_else(|| {
                let text = format!("{name} must be a whole number of at least {least}, not {value:?}");
                invalid(&format!("/{name}"), ViolationCode::InvalidType, text)
            })
        };
        match &*name {
            "skip" => range.skip = number(0)?,
            "limit" => range.limit = Some(number(1)?),
            _ => {}
        }
    }
    Ok(range)
}

fn invalid(path: &str, code: ViolationCode, message: String) -> ApiError {
    ApiError::invalid(ErrorCode::BadRequest, vec![Violation { path: path.to_owned(), code, message }])
}

pub(super) fn not_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Job not found")
}

impl From<JobsError> for ApiError {
    fn from(error: JobsError) -> Self {
        Self::internal(&error, "the jobs could not be read or changed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read() {
        let check = |query, expected: Option<Range>| assert_eq!(range(query).ok(), expected, "{query:?}");
        check(None, Some(Range::default()));
        check(Some("skip=3&limit=2&x=y"), Some(Range { skip: 3, limit: Some(2) }));
        check(Some("skip=-1"), None);
        check(Some("limit=0"), None);
        check(Some("limit=all"), None);
    }

    #[test]
    fn a_long_word_is_refused() {
        let word = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-idempotency-key", text.parse().expect("a header"));
            idempotency(&headers).ok()
        };
        assert_eq!(idempotency(&HeaderMap::new()).ok(), Some(None));
        assert_eq!(word(" a "), Some(Some("a".to_owned())));
        assert_eq!(word(""), Some(None));
        assert_eq!(word(&"a".repeat(IDEMPOTENCY_KEY_MAX_CHARS + 1)), None);
    }
}

//! The embedded index over HTTP, for commands that run while a server has the data directory open.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use websvc_engine::{BulkReport, IndexServerError, Mirror, ServerIndexStats, ingest_durably};
use websvc_store::{KeyScope, PageOwner, PageScope, Retention, UsageRetention};
use websvc_transport::ServerBody;
use websvc_types::index::{
    CrawlProgressRequest, CrawlProgressResponse, IndexDocument, IndexStats, IndexUploadRequest,
    IndexUploadResponse,
};
use websvc_types::{ErrorCode, counted};
use websvc_validate::{Checked, read_request};

use super::body;
use super::search::forced_retention;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    index(Endpoint::post(
        "/v2/index/documents",
        OperationGroup::Index,
        handler!(|context, request| add_documents(context, request).await),
    ))
    .name("index-documents")
    .body(RequestBody::LONG),
    // Crawls report their progress every few seconds, too often for audit events.
    index(Endpoint::post(
        "/v2/index/progress",
        OperationGroup::Index,
        handler!(|context, request| crawl_progress(&context, request).await),
    ))
    .body(RequestBody::SHORT),
    index(Endpoint::get(
        "/v2/index/stats",
        OperationGroup::Index,
        handler!(|context, _| index_stats(&context).await),
    ))
    .name("index-stats"),
];

const fn index(endpoint: Endpoint) -> Endpoint {
    endpoint.scope(KeyScope::Index)
}

/// Time that an upload waits for a mirror. Documents that it does not take in this time wait in its outbox.
const MIRROR_PATIENCE: Duration = Duration::from_secs(10);

/// `POST /v2/index/documents`: adds documents; each replaces an older one with the same URL. They are durable before the
/// response is sent.
async fn add_documents(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request)?;
    let Checked { plan: upload, mut warnings } = context
        .state
        .admission
        .decode_body(body, |body| read_request::<IndexUploadRequest>(body, ()))
        .await?;
    check_retention(&context)?;
    context.state.engine.index().ok_or_else(no_index)?;
    let accepted = match scope(&context)? {
        PageScope::Off => return Err(not_stored()),
        PageScope::Team(owner) => match context.state.engine.team_server() {
            Some(server) => {
                let (accepted, servers) = (upload.documents.len(), std::slice::from_ref(server));
                let written = write_to_mirrors(servers, &upload.documents, Some(owner)).await?;
                warnings.extend(written.warnings);
                accepted.saturating_sub(written.rejected)
            }
            None => add_to_team(&context, owner, upload.documents).await?,
        },
        PageScope::Shared => add_to_shared(&context, upload.documents, &mut warnings).await?,
    };
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &IndexUploadResponse { success: true, accepted, warning }))
}

/// Adds documents to the embedded index of a team, and not to the mirrors, because all teams search them.
async fn add_to_team(
    context: &RequestContext<'_>,
    owner: PageOwner,
    documents: Vec<IndexDocument>,
) -> Result<usize, ApiError> {
    let failed = |error| ApiError::internal(&error, "the documents could not be added");
    let index = context.state.engine.team_index(owner).await.map_err(failed)?.ok_or_else(no_index)?;
    let accepted = documents.len();
    ingest_durably(&index, documents).await.map_err(failed)?;
    Ok(accepted)
}

/// Adds documents to the index of all teams and its mirrors.
async fn add_to_shared(
    context: &RequestContext<'_>,
    documents: Vec<IndexDocument>,
    warnings: &mut Vec<String>,
) -> Result<usize, ApiError> {
    let accepted = documents.len();
    // The client waits for the mirrors, too, so that it learns which documents they reject.
    let mirrored = Box::pin(write_to_mirrors(context.state.engine.mirrors(), &documents, None)).await;
    let index = context.state.engine.writable_index();
    if let Some(index) = index {
        ingest_durably(index, documents)
            .await
            .map_err(|error| ApiError::internal(&error, "the documents could not be added"))?;
    }
    let MirrorOutcome { rejected, warnings: mirror_warnings } = mirrored?;
    warnings.extend(mirror_warnings);
    Ok(if index.is_none() { accepted.saturating_sub(rejected) } else { accepted })
}

/// Checks that documents of the caller's team may be stored at all.
///
/// # Errors
/// 403 for a team with forced zero or anonymized data retention.
fn check_retention(context: &RequestContext<'_>) -> Result<(), ApiError> {
    let team = context.caller.as_ref().map(|caller| &caller.team);
    let (what, option) = match team.map_or(UsageRetention::Whole, |team| forced_retention(team)) {
        UsageRetention::Whole => return Ok(()),
        UsageRetention::Zero => ("zero data retention", "--zdr"),
        UsageRetention::Anonymous => ("anonymized data retention", "--anon"),
    };
    let text = format!(
        "Forbidden: the team has {what}, and the index stores documents; an administrator can change that: websvc \
         teams set NAME {option} allowed"
    );
    Err(ApiError::new(ErrorCode::Forbidden, text))
}

/// Returns the page scope of the caller's team.
fn scope(context: &RequestContext<'_>) -> Result<PageScope, ApiError> {
    context.state.engine.scope(context.team_name()).map_err(ApiError::from)
}

/// The outcome of an upload to the mirrors of the index.
#[derive(Default)]
struct MirrorOutcome {
    /// The maximum number of documents that one mirror rejected.
    rejected: usize,
    warnings: Vec<String>,
}

/// Writes documents to the mirrors of the index, or to their outboxes, and returns the rejections.
///
/// # Errors
/// 503 if a mirror and its outbox do not accept documents, even if others do.
async fn write_to_mirrors(
    mirrors: &[Arc<Mirror>],
    documents: &[IndexDocument],
    owner: Option<PageOwner>,
) -> Result<MirrorOutcome, ApiError> {
    let mut outcome = MirrorOutcome::default();
    for mirror in mirrors {
        let report = mirror.write(documents.to_vec(), owner, MIRROR_PATIENCE).await;
        let BulkReport { written: _, refused, waiting, lost, first_failure } = report;
        let (name, reason) = (mirror.name(), first_failure.unwrap_or_default());
        if lost > 0 {
            let lost = counted(lost, "document", "documents");
            let text = format!("{lost} could not be written to {name}: {reason}");
            return Err(ApiError::new(ErrorCode::SearchUnavailable, text));
        }
        if refused > 0 {
            let count = usize::try_from(refused).unwrap_or(usize::MAX);
            outcome.rejected = outcome.rejected.max(count);
            let refused = counted(refused, "document", "documents");
            outcome.warnings.push(format!("{name} rejected {refused}; the first: {reason}"));
        }
        if waiting > 0 {
            let waiting = counted(waiting, "document is", "documents are");
            outcome.warnings.push(format!("{waiting} written to {name} later: {reason}"));
        }
    }
    Ok(outcome)
}

/// `POST /v2/index/progress`: stores the progress of an external crawl in memory, for the dashboard.
async fn crawl_progress(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request)?;
    let Checked { plan: progress, mut warnings } = context
        .state
        .admission
        .decode_body(body, |body| read_request::<CrawlProgressRequest>(body, ()))
        .await?;
    let team = context.caller.as_ref().map(|caller| &caller.team);
    match team {
        Some(team) if team.zdr == Retention::Forced => {
            warnings.push("the team has zero data retention: its crawls are not shown".to_owned());
        }
        _ => {
            let team_name = team.filter(|team| team.anon != Retention::Forced).map(|team| team.name.clone());
            context.state.crawl_progress.update(team_name, progress, Instant::now());
        }
    }
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &CrawlProgressResponse { success: true, warning }))
}

/// `GET /v2/index/stats`: the size of the indexes that the team's searches read.
async fn index_stats(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let engine = &context.state.engine;
    let index = engine.index().ok_or_else(no_index)?;
    let failed = |error| ApiError::internal(&error, "the index could not be read");
    let scope = scope(context)?;
    let team_index = engine.existing_team_index(scope).await.map_err(failed)?;
    let mut total = IndexStats { success: true, documents: 0, bytes: 0, segments: 0 };
    let server = engine.index_server();
    let of_team = engine.team_server().zip(scope.owner()).map(|(server, owner)| (server, Some(owner)));
    for (server, owner) in server.map(|server| (server, None)).into_iter().chain(of_team) {
        let stats = server.stats(owner).await;
        let unavailable = |error: IndexServerError| {
            let text = format!("the size of the index could not be read: {error}");
            ApiError::new(ErrorCode::SearchUnavailable, text)
        };
        let ServerIndexStats { documents, bytes, segments } = stats.map_err(unavailable)?;
        total.documents += documents;
        total.bytes += bytes;
        total.segments += segments;
    }
    // The pages of all teams are either on the server or in the embedded index.
    let index = Some(index).filter(|_| server.is_none());
    for index in team_index.iter().chain(index) {
        let stats =
            index.stats().map_err(|error| ApiError::internal(&error, "the index could not be read"))?;
        total.documents += stats.documents;
        total.bytes += stats.bytes;
        total.segments += stats.segments as u64;
    }
    Ok(json(StatusCode::OK, &total))
}

fn not_stored() -> ApiError {
    let text = "Forbidden: no pages of this team are stored in the index; an administrator can change that: \
                websvc teams set NAME --index shared|team";
    ApiError::new(ErrorCode::Forbidden, text)
}

fn no_index() -> ApiError {
    ApiError::new(ErrorCode::SearchUnavailable, "this service has no index of its own")
}

//! The embedded index over HTTP, for the command line beside a running server.

use std::time::Instant;

use http::{Request, StatusCode};
use websvc_engine::{BulkReport, ingest_durably};
use websvc_store::{PageOwner, PageScope, Retention};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::index::{CrawlProgressResponse, IndexDocument, IndexStats, IndexUploadResponse};
use websvc_validate::{Checked, read_crawl_progress, read_index_upload};

use super::body;
use super::search::team;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// `POST /v2/index/documents`: adds documents, each replacing the older one of its URL. They are durable when it answers.
pub(crate) async fn add_documents(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request).await?;
    let Checked { plan: upload, mut warnings } =
        context.admission.decode_body(body, read_index_upload).await?;
    context.engine.index().ok_or_else(no_index)?;
    let accepted = match scope(&context)? {
        PageScope::Off => return Err(not_stored()),
        PageScope::Team(owner) => add_to_team(&context, owner, upload.documents).await?,
        PageScope::Shared => add_to_shared(&context, upload.documents, &mut warnings).await?,
    };
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &IndexUploadResponse { success: true, accepted, warning }))
}

/// Adds documents to the index of a team alone: its mirrors are searched by all teams.
async fn add_to_team(
    context: &RequestContext<'_>,
    owner: PageOwner,
    documents: Vec<IndexDocument>,
) -> Result<usize, ApiError> {
    let failed = |error| ApiError::internal(&error, "the documents could not be added");
    let index = context.engine.team_index(owner).await.map_err(failed)?.ok_or_else(no_index)?;
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
    // Whoever uploads waits for the mirrors, too: it is the one who can send the documents again.
    let mirrored = Box::pin(mirror(context, &documents)).await;
    let index = context.engine.writable_index();
    if let Some(index) = index {
        ingest_durably(index, documents)
            .await
            .map_err(|error| ApiError::internal(&error, "the documents could not be added"))?;
    }
    let Mirrored { refused, warnings: told } = mirrored?;
    warnings.extend(told);
    Ok(if index.is_none() { accepted.saturating_sub(refused) } else { accepted })
}

/// Returns what the requests of the caller's team read and store.
fn scope(context: &RequestContext<'_>) -> Result<PageScope, ApiError> {
    context.engine.scope(team(context)).map_err(ApiError::from)
}

/// What the mirrors of the index said to an upload.
#[derive(Default)]
struct Mirrored {
    /// The most documents that one of them refused.
    refused: usize,
    warnings: Vec<String>,
}

/// Writes documents to the mirrors of the index, and returns what they refused.
///
/// # Errors
/// 503 when a mirror could not take documents, whatever became of them elsewhere.
async fn mirror(context: &RequestContext<'_>, documents: &[IndexDocument]) -> Result<Mirrored, ApiError> {
    let mut mirrored = Mirrored::default();
    for mirror in context.engine.mirrors() {
        let BulkReport { written: _, refused, lost, first_failure } = mirror.write(documents).await;
        let (name, why) = (mirror.name(), first_failure.unwrap_or_default());
        if lost > 0 {
            let text = format!("{lost} documents could not be written to {name}: {why}");
            return Err(ApiError::new(ErrorCode::SearchUnavailable, text));
        }
        if refused > 0 {
            let count = usize::try_from(refused).unwrap_or(usize::MAX);
            mirrored.refused = mirrored.refused.max(count);
            mirrored.warnings.push(format!("{name} refused {refused} documents; the first: {why}"));
        }
    }
    Ok(mirrored)
}

/// `POST /v2/index/progress`: a crawl elsewhere tells how far it is. Kept in memory alone, for the dashboard.
pub(crate) async fn crawl_progress(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = body::read(request).await?;
    let Checked { plan: progress, mut warnings } =
        context.admission.decode_body(body, read_crawl_progress).await?;
    let team = context.caller.as_ref().map(|caller| &caller.team);
    match team {
        Some(team) if team.zdr == Retention::Forced => {
            warnings.push("nothing is kept of this team: its crawls are not shown".to_owned());
        }
        _ => {
            let named = team.filter(|team| team.anon != Retention::Forced).map(|team| team.name.clone());
            context.crawls.update(named, progress, Instant::now());
        }
    }
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &CrawlProgressResponse { success: true, warning }))
}

/// `GET /v2/index/stats`: of what the team's searches read.
pub(crate) async fn index_stats(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let index = context.engine.index().ok_or_else(no_index)?;
    let failed = |error| ApiError::internal(&error, "the index could not be read");
    let own = context.engine.existing_team_index(scope(context)?).await.map_err(failed)?;
    let mut sum = IndexStats { success: true, documents: 0, bytes: 0, segments: 0 };
    for index in own.iter().chain([index]) {
        let stats =
            index.stats().map_err(|error| ApiError::internal(&error, "the index could not be read"))?;
        sum.documents += stats.documents;
        sum.bytes += stats.bytes;
        sum.segments += stats.segments as u64;
    }
    Ok(json(StatusCode::OK, &sum))
}

fn not_stored() -> ApiError {
    let text = "Forbidden: nothing of this team is stored in the index; an administrator can change that: \
                websvc teams set NAME --index shared|team";
    ApiError::new(ErrorCode::Forbidden, text)
}

fn no_index() -> ApiError {
    ApiError::new(ErrorCode::SearchUnavailable, "this service has no index of its own")
}

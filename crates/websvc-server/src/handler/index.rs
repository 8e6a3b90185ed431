//! The embedded index over HTTP, for the command line beside a running server.

use std::time::Instant;

use http::{Request, StatusCode};
use websvc_engine::{Written, ingest_durably};
use websvc_store::Retention;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::index::{IndexDocument, IndexReply, IndexStats, ProgressReply};
use websvc_validate::{Checked, read_crawl_progress, read_index_upload};

use super::body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// `POST /v2/index/documents`: adds documents, each replacing the older one of its URL. They are durable when it answers.
pub(crate) async fn add_documents(
    context: Context<'_>,
    request: Request<ServerBody>,
) -> Result<Reply, Failure> {
    let body = body::read(request).await?;
    let Checked { plan: upload, mut warnings } = context.admission.decode(body, read_index_upload).await?;
    context.engine.index().ok_or_else(no_index)?;
    let mut accepted = upload.documents.len();
    // Whoever uploads waits for the mirrors, too: it is the one who can send the documents again.
    let mirrored = Box::pin(mirror(&context, &upload.documents)).await;
    if let Some(index) = context.engine.filled_index() {
        ingest_durably(index, upload.documents)
            .await
            .map_err(|error| Failure::internal(&error, "the documents could not be added"))?;
    }
    let Mirrored { refused, warnings: told } = mirrored?;
    if context.engine.filled_index().is_none() {
        accepted = accepted.saturating_sub(refused);
    }
    warnings.extend(told);
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &IndexReply { success: true, accepted, warning }))
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
async fn mirror(context: &Context<'_>, documents: &[IndexDocument]) -> Result<Mirrored, Failure> {
    let mut mirrored = Mirrored::default();
    for mirror in context.engine.mirrors() {
        let Written { written: _, refused, lost, first_failure } = mirror.write(documents).await;
        let (name, why) = (mirror.name(), first_failure.unwrap_or_default());
        if lost > 0 {
            let text = format!("{lost} documents could not be written to {name}: {why}");
            return Err(Failure::new(ErrorCode::SearchUnavailable, text));
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
    context: &Context<'_>,
    request: Request<ServerBody>,
) -> Result<Reply, Failure> {
    let body = body::read(request).await?;
    let Checked { plan: progress, mut warnings } =
        context.admission.decode(body, read_crawl_progress).await?;
    let team = context.caller.as_ref().map(|caller| &caller.team);
    match team {
        Some(team) if team.zdr == Retention::Forced => {
            warnings.push("nothing is kept of this team: its crawls are not shown".to_owned());
        }
        _ => {
            let named = team.filter(|team| team.anon != Retention::Forced).map(|team| team.name.clone());
            context.crawls.note(named, progress, Instant::now());
        }
    }
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    Ok(json(StatusCode::OK, &ProgressReply { success: true, warning }))
}

/// `GET /v2/index/stats`.
pub(crate) fn index_stats(context: &Context<'_>) -> Result<Reply, Failure> {
    let index = context.engine.index().ok_or_else(no_index)?;
    let stats = index.stats().map_err(|error| Failure::internal(&error, "the index could not be read"))?;
    let stats = IndexStats {
        success: true,
        documents: stats.documents,
        bytes: stats.bytes,
        segments: stats.segments as u64,
    };
    Ok(json(StatusCode::OK, &stats))
}

fn no_index() -> Failure {
    Failure::new(ErrorCode::SearchUnavailable, "this service has no index of its own")
}

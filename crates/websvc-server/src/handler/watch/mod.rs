//! WebSockets that report the progress of a job: `GET` of its status with `Upgrade: websocket` (clients.md, section 2.6).
//!
//! A valid WebSocket handshake is always answered with 101, even if the request is rejected: clients retry a failed
//! handshake, some of them forever. An error is reported by a frame and by the close code.

mod close;
mod connection;
mod handshake;
mod limits;
mod session;

use websvc_jobs::JobsConfig;
use websvc_store::{Caller, JobKind, JobRecord, KeyScope};
use websvc_transport::{Body, ServerBody};

use self::close::CloseReason;
pub(crate) use self::handshake::{Handshake, is_websocket_request};
use self::limits::WebSocketPermit;
pub(crate) use self::limits::{WebSocketLimits, WebSocketMetrics};
use self::session::{Session, SessionDone};
use super::job;
use crate::readable::ReadableFormats;
use crate::response::ApiError;
use crate::service::{RequestContext, Service};

/// A job that a caller watches.
#[derive(Debug)]
pub(crate) struct WatchedJob {
    record: JobRecord,
    _permit: WebSocketPermit,
    base_url: Option<String>,
    /// The formats that the caller may read: those of a key never change.
    formats: ReadableFormats,
}

/// The properties of a WebSocket that do not depend on its job.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) service: Service,
    pub(crate) kind: JobKind,
    /// The id of the request.
    pub(crate) id: String,
    pub(crate) path: String,
    /// The key of the caller; `None` without authentication.
    pub(crate) key: Option<Secret>,
}

/// A key, which is redacted in debug output.
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// Finds the job in the path of a request, and acquires a permit for the WebSocket.
///
/// # Errors
/// 400 for an invalid id, 404 if the caller's team has no such job, 429 if it has too many open WebSockets.
pub(crate) async fn admit(
    kind: JobKind,
    context: &RequestContext<'_>,
    request: &http::Request<ServerBody>,
) -> Result<WatchedJob, ApiError> {
    let record = job::find(context, kind, &job::id(context, request)?).await?;
    let JobsConfig { max_sockets_per_team, .. } = *context.state.jobs.config();
    let permit = context.state.websockets.acquire(context.team_name(), max_sockets_per_team)?;
    let base_url = context.state.base_url(request);
    let formats = ReadableFormats::from_caller(context.caller.as_ref());
    Ok(WatchedJob { record, _permit: permit, base_url, formats })
}

impl Socket {
    /// Returns the body after the handshake: the frames of the job, or of the error.
    pub(crate) fn into_body(self, job: Result<WatchedJob, ApiError>) -> Body {
        let started = std::time::Instant::now();
        Body::upgrade(move |stream, mut drain| async move {
            let shutdown = Box::pin(async move { drain.wait().await });
            let mut connection = connection::WebSocketConnection::open(stream, shutdown).await;
            let result = match job {
                Ok(job) => Session::new(&self, job).send_all(&mut connection).await,
                Err(error) => Err(CloseReason::of_error(&error)),
            };
            let reason = result.map_or_else(|reason| reason, |SessionDone| CloseReason::Done);
            let code = reason.code();
            let frames = connection.close(reason).await;
            self.service.state().websockets.record_frames(frames);
            let elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            let (id, path) = (self.id, self.path);
            tracing::info!(id, path, code, frames, elapsed_us, "WebSocket closed");
        })
    }
}

/// Returns whether a caller may continue to watch a job of this team.
fn may_continue(caller: Option<&Caller>, team: &str, kind: JobKind) -> bool {
    let scope = match kind {
        JobKind::Batch => KeyScope::Batch,
        JobKind::Crawl => KeyScope::Crawl,
    };
    caller.is_some_and(|caller| caller.team.name == team && caller.rights.allows_scope(scope))
}

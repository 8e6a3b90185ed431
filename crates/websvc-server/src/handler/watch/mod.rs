//! Sockets that tell how a job goes: `GET` of its state with `Upgrade: websocket` (clients.md, section 2.6).
//!
//! A request that is a WebSocket handshake is always answered 101, whatever becomes of it: clients try a handshake that
//! fails again, some of them without end. What is amiss is told by a frame and by the code with which the socket closes.

mod close;
mod connection;
mod handshake;
mod limits;
mod session;

use websvc_jobs::JobsConfig;
use websvc_store::{Caller, JobKind, JobRecord};
use websvc_transport::{Body, ServerBody};

use self::close::CloseReason;
pub(crate) use self::handshake::{Handshake, is_asked};
use self::limits::WebSocketPermit;
pub(crate) use self::limits::{WebSocketLimits, WebSocketMetrics};
use self::session::{Session, SessionDone};
use super::job;
use super::search::team;
use crate::response::ApiError;
use crate::service::{RequestContext, Service};

/// A job that a caller may watch.
#[derive(Debug)]
pub(crate) struct WatchedJob {
    record: JobRecord,
    _seat: WebSocketPermit,
    base_url: Option<String>,
}

/// What is known of a socket whatever becomes of it.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) service: Service,
    pub(crate) kind: JobKind,
    /// The identifier of the request.
    pub(crate) id: String,
    pub(crate) path: String,
    /// What the caller has shown, where a key is asked for.
    pub(crate) key: Option<Secret>,
}

/// A key; it is in no line of the log.
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// Finds the job that is to be watched, and a place for the socket.
///
/// # Errors
/// 400 for no identifier, 404 for no job of the caller's team, 429 when the team has as many sockets as it may.
pub(crate) async fn admit(
    kind: JobKind,
    context: &RequestContext<'_>,
    request: &http::Request<ServerBody>,
) -> Result<WatchedJob, ApiError> {
    let record = job::find(context, kind, &job::id(kind, request)?).await?;
    let JobsConfig { sockets_per_team, .. } = *context.jobs.config();
    let seat = context.seats.take(team(context), sockets_per_team)?;
    let base_url = context.origin.of(request.body().peer_addr().ip(), request.uri(), request.headers());
    Ok(WatchedJob { record, _seat: seat, base_url })
}

impl Socket {
    /// Returns what follows the handshake: the job, or why it is not told.
    pub(crate) fn follow(self, watched: Result<WatchedJob, ApiError>) -> Body {
        let started = std::time::Instant::now();
        Body::upgrade(move |tunnel, mut draining| async move {
            let stopping = Box::pin(async move { draining.wait().await });
            let mut line = connection::WebSocketConnection::open(tunnel, stopping).await;
            let farewell = match watched {
                Ok(watched) => Session::new(&self, watched).send_all(&mut line).await,
                Err(failure) => Err(CloseReason::of(&failure)),
            };
            let farewell = farewell.map_or_else(|farewell| farewell, |SessionDone| CloseReason::Done);
            let code = farewell.code();
            let frames = line.close(farewell).await;
            self.service.seats().count(frames);
            let elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            let (id, path) = (self.id, self.path);
            tracing::info!(id, path, code, frames, elapsed_us, "socket closed");
        })
    }
}

/// Tells whether a caller may go on, who had shown a key of this team.
fn may_go_on(caller: Option<&Caller>, team: &str, kind: JobKind) -> bool {
    let scope = crate::route::Operation::Job(kind, job::JobOperation::Status).scope();
    caller
        .is_some_and(|caller| caller.team.name == team && scope.is_none_or(|scope| caller.rights.may(scope)))
}

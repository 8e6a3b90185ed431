//! The frames of a WebSocket: the documents that exist already, new documents, and the status at the end of the job.
//!
//! Documents are read from the store as fast as the client receives them, a few at a time. Each is sent once. The last
//! frame is the status of the job, as `GET` returns it. Official clients stop at the first frame with the status of an
//! ended job, so this frame is sent after all documents.

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};
use websvc_jobs::{Jobs, job_status};
use websvc_store::{ApiVersion, JobDocumentPage, JobRecord, JobState};
use websvc_types::ErrorCode;
use websvc_types::job::{JobDocument, JobStatusResponse};
use websvc_types::limits::{JOB_PAGE_DOCUMENTS, SOCKET_PAGE_BYTES};

use super::close::CloseReason;
use super::connection::{WakeReason, WebSocketConnection};
use super::{Socket, WatchedJob, may_continue};
use crate::blocking::run_blocking;
use crate::handler::job;
use crate::readable::ReadableFormats;
use crate::response::ApiError;
use crate::service::ServiceState;

/// The maximum number of documents in memory, except for those of the first and the last frame.
const READ_AHEAD_DOCUMENTS: u64 = 4;
/// The maximum size of these documents; a larger document is read alone.
const READ_AHEAD_BYTES: u64 = 256 * 1024;

/// A WebSocket and the job that it watches.
pub(super) struct Session<'a> {
    socket: &'a Socket,
    state: &'a ServiceState,
    jobs: &'a Jobs,
    job: WatchedJob,
}

/// The result of a session that has sent everything.
pub(super) struct SessionDone;

/// A frame with the status of the job.
#[derive(Serialize)]
struct Snapshot {
    #[serde(rename = "type")]
    kind: &'static str,
    data: JobStatusResponse,
}

impl<'a> Session<'a> {
    pub(super) fn new(socket: &'a Socket, job: WatchedJob) -> Self {
        let state = socket.service.state();
        Self { socket, state, jobs: &state.jobs, job }
    }

    /// Sends all frames until the job ends.
    ///
    /// # Errors
    /// The reason to close the WebSocket earlier.
    pub(super) async fn send_all<S>(
        &self,
        connection: &mut WebSocketConnection<S>,
    ) -> Result<SessionDone, CloseReason>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // Subscribe before the first read, so that no change is missed.
        let mut changes = self.jobs.watch(self.job.record.number);
        let record = self.record().await?;
        let first = self.documents(0, JOB_PAGE_DOCUMENTS, SOCKET_PAGE_BYTES).await?;
        let mut sent = first.documents.len() as u64;
        if has_ended(&record) && first.next.is_none() {
            connection.send(self.snapshot("catchup", record, first).await?).await?;
            return Ok(SessionDone);
        }
        let running = JobRecord { state: JobState::Running, finished_at_ms: None, error: None, ..record };
        let first = JobDocumentPage { next: None, ..first };
        connection.send(self.snapshot("catchup", running, first).await?).await?;
        loop {
            // The status is read before the documents: an ended job gets no more documents.
            let record = self.record().await?;
            self.send_new_documents(connection, &mut sent).await?;
            if has_ended(&record) {
                let all = self.documents(0, JOB_PAGE_DOCUMENTS, SOCKET_PAGE_BYTES).await?;
                connection.send(self.snapshot("status", record, all).await?).await?;
                return Ok(SessionDone);
            }
            match connection.wait(changes.changed()).await? {
                WakeReason::Event => {}
                WakeReason::Ping => self.check_key().await?,
            }
        }
    }

    /// Sends the documents after the first `sent` ones.
    async fn send_new_documents<S>(
        &self,
        connection: &mut WebSocketConnection<S>,
        sent: &mut u64,
    ) -> Result<(), CloseReason>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        loop {
            let page = self.documents(*sent, READ_AHEAD_DOCUMENTS, READ_AHEAD_BYTES).await?;
            let is_last = page.next.is_none();
            for frame in document_frames(page, self.job.formats.clone()).await? {
                connection.send(frame).await?;
                *sent += 1;
            }
            connection.receive_available()?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Checks that the key is still valid and still may watch the job.
    async fn check_key(&self) -> Result<(), CloseReason> {
        let Some(super::Secret(key)) = &self.socket.key else { return Ok(()) };
        let caller =
            self.state.authenticator().find_caller(key).await.map_err(|error| close_reason(&error))?;
        if may_continue(caller.as_ref(), &self.job.record.team, self.socket.kind) {
            return Ok(());
        }
        Err(close_reason(&ApiError::new(ErrorCode::Unauthorized, "Unauthorized: the key is no longer valid")))
    }

    /// Reads the current record of the job.
    async fn record(&self) -> Result<JobRecord, CloseReason> {
        let _permit = self.state.websockets.acquire_read().await;
        let JobRecord { team, id, .. } = &self.job.record;
        let record =
            self.jobs.job(team, self.socket.kind, id).await.map_err(|error| close_reason(&error.into()))?;
        record.ok_or_else(|| close_reason(&job::not_found()))
    }

    async fn documents(
        &self,
        skip: u64,
        max_documents: u64,
        max_bytes: u64,
    ) -> Result<JobDocumentPage, CloseReason> {
        let _permit = self.state.websockets.acquire_read().await;
        let page = self.jobs.documents(self.job.record.number, skip, max_documents, max_bytes).await;
        page.map_err(|error| close_reason(&error.into()))
    }

    async fn snapshot(
        &self,
        kind: &'static str,
        record: JobRecord,
        page: JobDocumentPage,
    ) -> Result<String, CloseReason> {
        let JobDocumentPage { documents, next } = page;
        let url = job::url(self.job.base_url.as_deref(), ApiVersion::V2, self.socket.kind, &record.id);
        let next = next.map(|skip| format!("{url}?skip={skip}"));
        let formats = self.job.formats.clone();
        let serialize = move || -> serde_json::Result<String> {
            let data: Vec<JobDocument> =
                documents.iter().map(|document| formats.document(document)).collect::<Result<_, _>>()?;
            serde_json::to_string(&Snapshot { kind, data: job_status(&record, data, next) })
        };
        let json = run_blocking(serialize).await.map_err(|error| close_reason(&error))?;
        json.map_err(|error| {
            close_reason(&ApiError::internal(&error, "a document of the job could not be read"))
        })
    }
}

/// Returns a frame for each document, with what the caller may read. Documents are stored in the format in which they are
/// sent.
async fn document_frames(
    page: JobDocumentPage,
    formats: ReadableFormats,
) -> Result<Vec<String>, CloseReason> {
    let unreadable = |error: &(dyn std::error::Error + 'static)| {
        ApiError::internal(error, "a document of the job could not be read")
    };
    let format_frames = move || {
        let frame = |document: Vec<u8>| {
            let document = formats.document_json(document).map_err(|error| unreadable(&error))?;
            let document = String::from_utf8(document).map_err(|error| unreadable(&error))?;
            Ok(format!(r#"{{"type":"document","data":{document}}}"#))
        };
        page.documents.into_iter().map(frame).collect::<Result<_, ApiError>>()
    };
    let frames = run_blocking(format_frames).await.and_then(|frames| frames);
    frames.map_err(|error| close_reason(&error))
}

fn close_reason(error: &ApiError) -> CloseReason {
    CloseReason::of_error(error)
}

fn has_ended(record: &JobRecord) -> bool {
    match record.state {
        JobState::Running => false,
        JobState::Completed | JobState::Cancelled | JobState::Failed => true,
    }
}

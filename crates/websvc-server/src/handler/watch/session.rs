//! What is told of a job over a socket: what there is, what comes, and how it ended.
//!
//! The documents are read from the store as the client takes them, a few at a time; each is told once. The last frame is the
//! state of the job as `GET` gives it. Official clients stop at the first frame that says that the job has ended, so none
//! says so before every document was told.

use serde::Serialize;
use websvc_jobs::{Jobs, job_status};
use websvc_store::{JobDocumentPage, JobRecord, JobState};
use websvc_types::ErrorCode;
use websvc_types::job::{JobDocument, JobStatusResponse};
use websvc_types::limits::{JOB_PAGE_DOCUMENTS, SOCKET_PAGE_BYTES};

use super::close::CloseReason;
use super::connection::{WakeReason, WebSocketConnection};
use super::{Socket, WatchedJob, may_go_on};
use crate::charge::blocking;
use crate::handler::job;
use crate::response::ApiError;
use tokio::io::{AsyncRead, AsyncWrite};

/// Documents that are in memory at one time, beside those of the first and the last frame.
const AHEAD_DOCUMENTS: u64 = 4;
/// The bytes of these; a larger document is read alone.
const AHEAD_BYTES: u64 = 256 * 1024;

/// A job that is told.
pub(super) struct Session<'a> {
    socket: &'a Socket,
    jobs: &'a Jobs,
    watched: WatchedJob,
}

/// Everything was told.
pub(super) struct SessionDone;

/// A frame with the state of the job.
#[derive(Serialize)]
struct Snapshot {
    #[serde(rename = "type")]
    kind: &'static str,
    data: JobStatusResponse,
}

impl<'a> Session<'a> {
    pub(super) fn new(socket: &'a Socket, watched: WatchedJob) -> Self {
        Self { socket, jobs: socket.service.jobs(), watched }
    }

    /// Tells everything.
    ///
    /// # Errors
    /// Why the socket ends before.
    pub(super) async fn send_all<S>(
        &self,
        line: &mut WebSocketConnection<S>,
    ) -> Result<SessionDone, CloseReason>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // From here on nothing is missed; what is in the store by then is found there.
        let mut watching = self.jobs.watch(self.watched.record.number);
        let record = self.record().await?;
        let first = self.documents(0, JOB_PAGE_DOCUMENTS, SOCKET_PAGE_BYTES).await?;
        let mut told = first.documents.len() as u64;
        if has_ended(&record) && first.next.is_none() {
            line.send(self.snapshot("catchup", record, first).await?).await?;
            return Ok(SessionDone);
        }
        let so_far = JobRecord { state: JobState::Running, finished_at_ms: None, error: None, ..record };
        line.send(self.snapshot("catchup", so_far, JobDocumentPage { next: None, ..first }).await?).await?;
        loop {
            // In this order: a job that has ended gets no more documents.
            let record = self.record().await?;
            self.follow(line, &mut told).await?;
            if has_ended(&record) {
                let all = self.documents(0, JOB_PAGE_DOCUMENTS, SOCKET_PAGE_BYTES).await?;
                line.send(self.snapshot("status", record, all).await?).await?;
                return Ok(SessionDone);
            }
            match line.wait(watching.changed()).await? {
                WakeReason::Changed => {}
                WakeReason::Look => self.check_key()?,
            }
        }
    }

    /// Tells the documents after the first `told`.
    async fn follow<S>(&self, line: &mut WebSocketConnection<S>, told: &mut u64) -> Result<(), CloseReason>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        loop {
            let page = self.documents(*told, AHEAD_DOCUMENTS, AHEAD_BYTES).await?;
            let is_last = page.next.is_none();
            for frame in written(page).await? {
                line.send(frame).await?;
                *told += 1;
            }
            line.listen()?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Looks whether the key is still one that may have this.
    fn check_key(&self) -> Result<(), CloseReason> {
        let Some(super::Secret(key)) = &self.socket.key else { return Ok(()) };
        let found = self.socket.service.store().authenticate(key);
        let caller =
            found.map_err(|error| close_reason(&ApiError::internal(&error, "the keys could not be read")))?;
        if may_go_on(caller.as_ref(), &self.watched.record.team, self.socket.kind) {
            return Ok(());
        }
        Err(close_reason(&ApiError::new(ErrorCode::Unauthorized, "Unauthorized: the key is no longer valid")))
    }

    /// Returns the job as it stands.
    async fn record(&self) -> Result<JobRecord, CloseReason> {
        let _permit = self.socket.service.seats().read().await;
        let JobRecord { team, id, .. } = &self.watched.record;
        let found =
            self.jobs.job(team, self.socket.kind, id).await.map_err(|error| close_reason(&error.into()))?;
        found.ok_or_else(|| close_reason(&job::not_found()))
    }

    async fn documents(&self, skip: u64, most: u64, max_bytes: u64) -> Result<JobDocumentPage, CloseReason> {
        let _permit = self.socket.service.seats().read().await;
        let number = self.watched.record.number;
        self.jobs.documents(number, skip, most, max_bytes).await.map_err(|error| close_reason(&error.into()))
    }

    async fn snapshot(
        &self,
        kind: &'static str,
        record: JobRecord,
        page: JobDocumentPage,
    ) -> Result<String, CloseReason> {
        let JobDocumentPage { documents, next } = page;
        let url = job::url(self.watched.base_url.as_deref(), job::Version::V2, self.socket.kind, &record.id);
        let next = next.map(|skip| format!("{url}?skip={skip}"));
        let write = move || -> serde_json::Result<String> {
            let data: Vec<JobDocument> = documents
                .iter()
                .map(|document| serde_json::from_slice(document))
                .collect::<Result<_, _>>()?;
            serde_json::to_string(&Snapshot { kind, data: job_status(&record, data, next) })
        };
        let written = blocking(write).await.map_err(|failure| close_reason(&failure))?;
        written.map_err(|error| {
            close_reason(&ApiError::internal(&error, "a document of the job could not be read"))
        })
    }
}

/// Writes a frame for each document, which is in the store as it is sent.
async fn written(page: JobDocumentPage) -> Result<Vec<String>, CloseReason> {
    let write = move || {
        let frame = |document: Vec<u8>| {
            let document = String::from_utf8(document)?;
            Ok(format!(r#"{{"type":"document","data":{document}}}"#))
        };
        page.documents.into_iter().map(frame).collect::<Result<_, std::string::FromUtf8Error>>()
    };
    let written = blocking(write).await.map_err(|failure| close_reason(&failure))?;
    written
        .map_err(|error| close_reason(&ApiError::internal(&error, "a document of the job could not be read")))
}

fn close_reason(failure: &ApiError) -> CloseReason {
    CloseReason::of(failure)
}

fn has_ended(record: &JobRecord) -> bool {
    match record.state {
        JobState::Running => false,
        JobState::Completed | JobState::Cancelled | JobState::Failed => true,
    }
}

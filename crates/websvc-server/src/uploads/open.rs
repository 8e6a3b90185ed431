//! Open uploads: files for which an upload URL was given out, until they are converted or expire.
//!
//! They belong to this process. Their files have no names, so that they end with it.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::JoinHandle;
use uuid::Uuid;
use websvc_transport::{FairPermit, FairQueue, FairSemaphore};
use websvc_types::ErrorCode;
use websvc_types::limits::{UPLOAD_URL_LIFETIME_S, UPLOAD_URLS_MAX};

use super::UploadSpool;
use crate::response::ApiError;

/// The maximum number of open uploads. On the disk they use at most this many times 50 MB.
const MAX_OPEN: usize = 50;

/// `Retry-After` of a request for one more upload URL than there may be, in seconds.
const RETRY_AFTER_S: u64 = 60;

/// The open uploads of this process.
#[derive(Debug)]
pub(crate) struct OpenUploads {
    uploads: Arc<Mutex<HashMap<Uuid, OpenUpload>>>,
    permits: FairSemaphore,
    lifetime: Duration,
}

/// The declared name and media type of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) media_type: Option<String>,
}

#[derive(Debug)]
struct OpenUpload {
    file: UploadedFile,
    state: UploadState,
    permit: FairPermit,
    _expiry: ExpiryTimer,
}

#[derive(Debug)]
enum UploadState {
    /// The file has not been sent.
    Empty,
    /// A request is sending the file.
    Receiving,
    Stored(UploadSpool),
}

/// The task that removes an upload when it expires. It ends with the upload.
#[derive(Debug)]
struct ExpiryTimer(JoinHandle<()>);

impl Drop for ExpiryTimer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The right to send the file of an upload. If it is dropped before the file has arrived, another request may send it.
#[derive(Debug)]
pub(crate) struct UploadSlot<'a> {
    uploads: &'a OpenUploads,
    id: Uuid,
}

/// A file that was taken out of its upload. It counts as an open upload until it is dropped.
#[derive(Debug)]
pub(crate) struct TakenUpload {
    pub(crate) file: UploadedFile,
    pub(crate) content: UploadSpool,
    /// The share of the team in the open uploads.
    pub(crate) permit: FairPermit,
}

impl OpenUploads {
    pub(super) fn new() -> Self {
        let permits = FairSemaphore::new(FairQueue::new(MAX_OPEN).with_max_per_key(UPLOAD_URLS_MAX));
        Self { uploads: Arc::default(), permits, lifetime: Duration::from_secs(UPLOAD_URL_LIFETIME_S) }
    }

    /// Opens an upload for a file of a team, and returns its ID.
    ///
    /// # Errors
    /// 429 if there are too many open uploads.
    pub(crate) fn open(&self, team: &str, file: UploadedFile) -> Result<Uuid, ApiError> {
        let permit = self.permits.try_acquire(team).ok_or_else(|| {
            let (code, text) = match self.permits.in_use() < MAX_OPEN {
                true => (
                    ErrorCode::ParseUploadLimit,
                    format!(
                        "Too many uploads: {UPLOAD_URLS_MAX} upload URLs of the team are open; convert their files, \
                         or wait until the URLs expire"
                    ),
                ),
                false => (
                    ErrorCode::RateLimited,
                    format!(
                        "Rate limit exceeded: limit of {MAX_OPEN} open upload URLs reached, retry after \
                         {RETRY_AFTER_S}s; or send the file with POST /v2/parse"
                    ),
                ),
            };
            ApiError::new(code, text).retry_after(RETRY_AFTER_S)
        })?;
        let id = Uuid::now_v7();
        let expiry = ExpiryTimer(tokio::spawn(expire(Arc::downgrade(&self.uploads), id, self.lifetime)));
        let upload = OpenUpload { file, state: UploadState::Empty, permit, _expiry: expiry };
        self.uploads.lock().insert(id, upload);
        Ok(id)
    }

    /// Returns whether an upload is open.
    pub(crate) fn contains(&self, id: Uuid) -> bool {
        self.uploads.lock().contains_key(&id)
    }

    /// Acquires the right to send the file of an upload.
    ///
    /// # Errors
    /// 404 if the upload is not open, 410 if its file was sent before, 429 while another request sends it.
    pub(crate) fn begin(&self, id: Uuid) -> Result<UploadSlot<'_>, ApiError> {
        let mut uploads = self.uploads.lock();
        let upload = uploads.get_mut(&id).ok_or_else(not_open)?;
        match upload.state {
            UploadState::Empty => upload.state = UploadState::Receiving,
            UploadState::Receiving => {
                let text = "Rate limit exceeded: another request is sending a file to this upload URL, retry after 1s";
                return Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(1));
            }
            UploadState::Stored(_) => {
                let text = "This upload URL was used before: it takes one file";
                return Err(ApiError::new(ErrorCode::Gone, text));
            }
        }
        Ok(UploadSlot { uploads: self, id })
    }

    /// Takes the file out of an upload, which ends; `None` if the upload is not open, or has no file.
    pub(crate) fn take(&self, id: Uuid) -> Option<TakenUpload> {
        let mut uploads = self.uploads.lock();
        uploads.get(&id).filter(|upload| matches!(upload.state, UploadState::Stored(_)))?;
        let OpenUpload { file, state, permit, _expiry } = uploads.remove(&id)?;
        let UploadState::Stored(content) = state else { return None };
        Some(TakenUpload { file, content, permit })
    }
}

impl UploadSlot<'_> {
    /// Stores the file.
    ///
    /// # Errors
    /// 404 if the upload has expired in the meantime.
    pub(crate) fn finish(self, content: UploadSpool) -> Result<(), ApiError> {
        let mut uploads = self.uploads.uploads.lock();
        let upload = uploads.get_mut(&self.id).ok_or_else(not_open)?;
        upload.state = UploadState::Stored(content);
        Ok(())
    }
}

impl Drop for UploadSlot<'_> {
    fn drop(&mut self) {
        if let Some(upload) = self.uploads.uploads.lock().get_mut(&self.id)
            && matches!(upload.state, UploadState::Receiving)
        {
            upload.state = UploadState::Empty;
        }
    }
}

async fn expire(uploads: Weak<Mutex<HashMap<Uuid, OpenUpload>>>, id: Uuid, lifetime: Duration) {
    tokio::time::sleep(lifetime).await;
    if let Some(uploads) = uploads.upgrade() {
        let expired = uploads.lock().remove(&id);
        drop(expired);
    }
}

fn not_open() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "This upload URL is unknown or has expired: request another one")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use websvc_testkit::until;

    use super::super::Uploads;
    use super::*;

    fn uploads() -> (tempfile::TempDir, Uploads) {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(directory.path().to_owned());
        (directory, uploads)
    }

    fn file() -> UploadedFile {
        UploadedFile { name: "tea.html".to_owned(), media_type: None }
    }

    async fn content(uploads: &Uploads) -> UploadSpool {
        let mut spool = uploads.spool();
        spool.write(Bytes::from_static(b"tea")).await.unwrap();
        spool
    }

    #[tokio::test]
    async fn upload_takes_one_file_which_is_taken_once() {
        let (_directory, uploads) = uploads();
        let open = uploads.open_uploads();
        let id = open.open("a", file()).unwrap();
        assert!(open.take(id).is_none(), "nothing was sent");
        let slot = open.begin(id).unwrap();
        assert_eq!(open.begin(id).unwrap_err().status(), 429, "another request sends the file");
        assert!(open.take(id).is_none());
        drop(slot);
        let slot = open.begin(id).expect("the first request has failed");
        slot.finish(content(&uploads).await).unwrap();
        assert_eq!(open.begin(id).unwrap_err().status(), 410);
        let taken = open.take(id).unwrap();
        assert_eq!((taken.file, taken.content.bytes()), (file(), 3));
        assert!(open.take(id).is_none());
        assert_eq!(open.begin(id).unwrap_err().status(), 404);
    }

    #[tokio::test]
    async fn number_of_open_uploads_is_limited_per_team_and_in_total() {
        let (_directory, uploads) = uploads();
        let open = uploads.open_uploads();
        let first = open.open("a", file()).unwrap();
        for _ in 1..UPLOAD_URLS_MAX {
            open.open("a", file()).unwrap();
        }
        let error = open.open("a", file()).unwrap_err();
        assert_eq!((error.status(), error.code()), (429, "PARSE_UPLOAD_UNPARSED_LIMIT_REACHED"));
        open.begin(first).unwrap().finish(content(&uploads).await).unwrap();
        assert!(open.open("a", file()).is_err(), "its file is not converted yet");
        let taken = open.take(first).unwrap();
        assert!(open.open("a", file()).is_err(), "the file may still be on the disk");
        drop(taken);
        open.open("a", file()).unwrap();
        for team in 1..MAX_OPEN / UPLOAD_URLS_MAX {
            for _ in 0..UPLOAD_URLS_MAX {
                open.open(&team.to_string(), file()).unwrap();
            }
        }
        let error = open.open("z", file()).unwrap_err();
        assert_eq!((error.status(), error.code()), (429, "RATE_LIMITED"));
    }

    #[tokio::test]
    async fn expired_upload_is_removed_with_its_file_and_its_permit() {
        let (_directory, uploads) = uploads();
        let mut open = OpenUploads::new();
        open.lifetime = Duration::ZERO;
        let ids: Vec<Uuid> = (0..UPLOAD_URLS_MAX).map(|_| open.open("a", file()).unwrap()).collect();
        // Nothing expires before the first wait.
        let slot = open.begin(ids[1]).unwrap();
        let spool = content(&uploads).await;
        until("the uploads expire", || ids.iter().all(|id| !open.contains(*id))).await;
        assert_eq!(slot.finish(spool).unwrap_err().status(), 404);
        assert!(open.open("a", file()).is_ok());
    }
}

//! Uploaded files. A large file is spooled to the disk while it arrives, so that slow clients use no memory.
//!
//! A spooled file has no name: the system removes it when the process ends, in whatever way.

mod open;
mod upload_ref;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use websvc_engine::EngineError;
use websvc_scrape::ScrapeError;
use websvc_store::Store;
use websvc_transport::{FairPermit, FairQueue, FairSemaphore};
use websvc_types::ErrorCode;

use self::open::OpenUploads;
pub(crate) use self::open::{TakenUpload, UploadedFile};
use self::upload_ref::RefSigner;
pub(crate) use self::upload_ref::{UploadRef, UploadRefError};
use crate::blocking::run_blocking;
use crate::response::ApiError;

/// The maximum number of concurrent uploads. On the disk they use at most this many times 50 MB.
const MAX_UPLOADS: usize = 32;

/// The maximum number of large files in memory.
const MAX_LOADED: usize = 4;

/// A file of at most this many bytes is never written to the disk.
const SMALL_FILE_BYTES: usize = 1024 * 1024;

/// The limits and the spool directory of uploads.
#[derive(Debug)]
pub(crate) struct Uploads {
    directory: Arc<PathBuf>,
    uploads: FairSemaphore,
    loaded: FairSemaphore,
    open: OpenUploads,
    signer: OnceLock<RefSigner>,
}

/// The right to upload a file.
#[derive(Debug)]
pub(crate) struct UploadPermit {
    _permit: FairPermit,
}

/// A large file in memory and the permit for it. The permit is released when the last reader drops the bytes.
struct LoadedUpload {
    bytes: Vec<u8>,
    _permit: FairPermit,
}

impl AsRef<[u8]> for LoadedUpload {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A file that is being uploaded.
#[derive(Debug)]
pub(crate) struct UploadSpool {
    directory: Arc<PathBuf>,
    /// The bytes that are not on the disk; all bytes of a small file.
    memory: Vec<u8>,
    disk: Option<tokio::fs::File>,
    bytes: u64,
}

impl Uploads {
    /// Spools files to a directory, which is created on first use.
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            directory: Arc::new(directory),
            uploads: half_per_team(MAX_UPLOADS),
            loaded: half_per_team(MAX_LOADED),
            open: OpenUploads::new(),
            signer: OnceLock::new(),
        }
    }

    /// Returns the uploads for which upload URLs were given out.
    pub(crate) fn open_uploads(&self) -> &OpenUploads {
        &self.open
    }

    /// Returns the text of a reference.
    ///
    /// # Errors
    /// Failures of the database, at the first call.
    pub(crate) async fn sign(&self, store: &Store, reference: &UploadRef) -> Result<String, ApiError> {
        Ok(self.signer(store).await?.sign(reference))
    }

    /// Returns the reference of a text.
    ///
    /// # Errors
    /// Failures of the database, at the first call.
    pub(crate) async fn verify(
        &self,
        store: &Store,
        text: &str,
    ) -> Result<Result<UploadRef, UploadRefError>, ApiError> {
        Ok(self.signer(store).await?.verify(text, store.now_ms()))
    }

    async fn signer(&self, store: &Store) -> Result<&RefSigner, ApiError> {
        if let Some(signer) = self.signer.get() {
            return Ok(signer);
        }
        let store = store.clone();
        let secret = run_blocking(move || store.upload_secret()).await?;
        let secret =
            secret.map_err(|error| ApiError::internal(&error, "the secret of uploads could not be read"))?;
        Ok(self.signer.get_or_init(|| RefSigner::new(&secret)))
    }

    /// Acquires the right of a team to upload a file.
    ///
    /// # Errors
    /// 429 if too many uploads are in progress.
    pub(crate) fn acquire(&self, team: &str) -> Result<UploadPermit, ApiError> {
        if let Some(permit) = self.uploads.try_acquire(team) {
            return Ok(UploadPermit { _permit: permit });
        }
        let limit = match self.uploads.in_use() < MAX_UPLOADS {
            true => format!("{} concurrent uploads per team", MAX_UPLOADS / 2),
            false => format!("{MAX_UPLOADS} concurrent uploads"),
        };
        let text = format!("Rate limit exceeded: limit of {limit} reached, retry after 1s");
        Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(1))
    }

    /// Returns the number of uploads in progress.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.uploads.in_use()
    }

    /// Returns an empty file.
    pub(crate) fn spool(&self) -> UploadSpool {
        UploadSpool { directory: Arc::clone(&self.directory), memory: Vec::new(), disk: None, bytes: 0 }
    }
}

impl UploadSpool {
    /// Returns the number of bytes that have arrived.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends bytes to the file.
    ///
    /// # Errors
    /// 500 if they cannot be written to the disk.
    pub(crate) async fn write(&mut self, chunk: Bytes) -> Result<(), ApiError> {
        self.bytes += chunk.len() as u64;
        self.memory.extend_from_slice(&chunk);
        if self.memory.len() <= SMALL_FILE_BYTES {
            return Ok(());
        }
        let failed = |error: io::Error| ApiError::internal(&error, "the upload could not be stored");
        let disk = match &mut self.disk {
            Some(disk) => disk,
            none => {
                let directory = Arc::clone(&self.directory);
                let file = run_blocking(move || create_unnamed(&directory)).await?.map_err(failed)?;
                none.insert(tokio::fs::File::from_std(file))
            }
        };
        disk.write_all(&self.memory).await.map_err(failed)?;
        self.memory.clear();
        Ok(())
    }

    /// Returns the whole file of a team. A large file needs a permit, which it keeps as long as its bytes are in memory.
    ///
    /// # Errors
    /// 408 if no permit is available before `deadline`, 500 if the file cannot be read from the disk.
    pub(crate) async fn load(
        mut self,
        uploads: &Uploads,
        team: &str,
        deadline: Instant,
    ) -> Result<Bytes, ApiError> {
        let Some(mut disk) = self.disk.take() else { return Ok(Bytes::from(self.memory)) };
        let failed = |error: io::Error| ApiError::internal(&error, "the upload could not be read");
        disk.flush().await.map_err(failed)?;
        let mut disk = disk.into_std().await;
        let permit = tokio::time::timeout_at(deadline.into(), uploads.loaded.acquire(team)).await;
        let permit = permit.map_err(|_elapsed| ApiError::from(EngineError::Page(ScrapeError::Timeout)))?;
        let (rest, bytes) = (self.memory, self.bytes);
        let loading = run_blocking(move || {
            let mut content = Vec::with_capacity(usize::try_from(bytes).map_err(io::Error::other)?);
            disk.rewind()?;
            disk.read_to_end(&mut content)?;
            content.extend_from_slice(&rest);
            Ok(Bytes::from_owner(LoadedUpload { bytes: content, _permit: permit }))
        });
        loading.await?.map_err(failed)
    }
}

/// Returns permits of which one team gets at most half, so that it cannot block the others.
fn half_per_team(permits: usize) -> FairSemaphore {
    FairSemaphore::new(FairQueue::new(permits).with_max_per_key(permits / 2))
}

/// Creates a file without a name.
fn create_unnamed(directory: &Path) -> io::Result<File> {
    std::fs::create_dir_all(directory)?;
    tempfile::tempfile_in(directory)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test]
    async fn loaded_file_equals_the_uploaded_one_and_has_no_name_on_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("uploads");
        let uploads = Uploads::new(folder.clone());
        for length in [0, 10, SMALL_FILE_BYTES, SMALL_FILE_BYTES + 1, 3 * SMALL_FILE_BYTES + 7] {
            let content: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            let mut spool = uploads.spool();
            for chunk in content.chunks(70_001) {
                spool.write(Bytes::copy_from_slice(chunk)).await.unwrap();
            }
            assert_eq!(spool.bytes(), length as u64);
            let loaded = spool.load(&uploads, "a", soon()).await.unwrap();
            assert!(loaded == content, "{length}");
            assert!(!folder.exists() || std::fs::read_dir(&folder).unwrap().next().is_none());
        }
    }

    #[tokio::test]
    async fn large_file_keeps_its_permit_until_it_is_dropped_and_waits_for_one_until_the_deadline() {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(directory.path().to_owned());
        let load = async |length: usize, team: &str, deadline: Instant| {
            let mut spool = uploads.spool();
            spool.write(Bytes::from(vec![1; length])).await.unwrap();
            spool.load(&uploads, team, deadline).await.map_err(|error| error.status())
        };
        let (large, past) = (SMALL_FILE_BYTES + 1, Instant::now());
        let mut loaded = Vec::new();
        for team in ["a", "a", "b"] {
            loaded.push(load(large, team, soon()).await.unwrap());
        }
        assert_eq!(load(large, "a", past).await, Err(408), "the team has half of the permits");
        assert!(load(large, "b", soon()).await.is_ok(), "the permit is released with the dropped bytes");
        loaded.push(load(large, "b", soon()).await.unwrap());
        assert_eq!(load(large, "c", past).await, Err(408));
        assert!(load(SMALL_FILE_BYTES, "a", past).await.is_ok(), "a small file needs no permit");
        let second_reader = loaded[0].clone();
        loaded.remove(0);
        assert_eq!(load(large, "a", past).await, Err(408), "one reader is left");
        drop(second_reader);
        assert!(load(large, "a", soon()).await.is_ok());
    }

    #[tokio::test]
    async fn number_of_uploads_is_limited_in_total_and_to_half_of_it_per_team() {
        let uploads = Uploads::new(PathBuf::new());
        let acquire_half = |team: &str| -> Vec<UploadPermit> {
            (0..MAX_UPLOADS / 2).map(|_| uploads.acquire(team).unwrap()).collect()
        };
        let mut permits = acquire_half("a");
        assert_eq!(uploads.acquire("a").unwrap_err().status(), 429);
        let _other_permits = acquire_half("b");
        assert_eq!(uploads.acquire("c").unwrap_err().status(), 429);
        permits.pop();
        assert!(uploads.acquire("c").is_ok());
    }
}

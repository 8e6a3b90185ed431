//! Uploaded files on their way to whoever reads them: on the disk while they arrive, so that slow senders hold no memory.
//!
//! A file has no name there: the system removes it with the process, however that ends.

mod team_permits;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use websvc_engine::EngineError;
use websvc_scrape::ScrapeError;
use websvc_types::ErrorCode;

use self::team_permits::{TeamPermit, TeamPermits, TryAcquireError};
use crate::response::ApiError;

/// So many uploads are received or read at one time: on the disk they have at most this many times 50 MB.
const AT_ONCE: usize = 32;

/// So many large files are in memory at one time.
const LARGE_AT_ONCE: usize = 4;

/// A smaller file never goes to the disk.
const SMALL_BYTES: usize = 1024 * 1024;

/// The place for uploads.
#[derive(Debug)]
pub(crate) struct Uploads {
    directory: Arc<PathBuf>,
    slots: TeamPermits,
    large: TeamPermits,
}

/// The right to upload a file; dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct UploadPermit {
    _place: TeamPermit,
}

/// A large file in memory, and its place there: both go when the last one has read it.
struct LoadedUpload {
    bytes: Vec<u8>,
    _place: TeamPermit,
}

impl AsRef<[u8]> for LoadedUpload {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A file that arrives.
#[derive(Debug)]
pub(crate) struct UploadSpool {
    directory: Arc<PathBuf>,
    /// What is not on the disk: everything, while the file is small.
    memory: Vec<u8>,
    disk: Option<tokio::fs::File>,
    bytes: u64,
}

impl Uploads {
    /// Files go into a directory, which is made when the first one needs it.
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            directory: Arc::new(directory),
            slots: TeamPermits::new(AT_ONCE),
            large: TeamPermits::new(LARGE_AT_ONCE),
        }
    }

    /// Returns the right of a team to upload a file.
    ///
    /// # Errors
    /// 429 when too many do so already.
    pub(crate) fn slot(&self, team: &str) -> Result<UploadPermit, ApiError> {
        let taken = match self.slots.take(team) {
            Ok(place) => return Ok(UploadPermit { _place: place }),
            Err(TryAcquireError::ByTeam) => format!("{} files of the team", self.slots.per_team()),
            Err(TryAcquireError::ByAll) => format!("{AT_ONCE} files"),
        };
        let text = format!("Rate limit exceeded: {taken} are uploaded already, retry after 1s");
        Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(1))
    }

    /// Returns an empty file.
    pub(crate) fn spool(&self) -> UploadSpool {
        UploadSpool { directory: Arc::clone(&self.directory), memory: Vec::new(), disk: None, bytes: 0 }
    }
}

impl UploadSpool {
    /// Returns how many bytes have arrived.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds bytes to the file.
    ///
    /// # Errors
    /// 500 when the disk takes no more.
    pub(crate) async fn write(&mut self, piece: Bytes) -> Result<(), ApiError> {
        self.bytes += piece.len() as u64;
        self.memory.extend_from_slice(&piece);
        if self.memory.len() <= SMALL_BYTES {
            return Ok(());
        }
        let failed = |error: io::Error| ApiError::internal(&error, "the upload could not be kept");
        let disk = match &mut self.disk {
            Some(disk) => disk,
            none => {
                let directory = Arc::clone(&self.directory);
                let file = blocking(move || nameless(&directory)).await?.map_err(failed)?;
                none.insert(tokio::fs::File::from_std(file))
            }
        };
        disk.write_all(&self.memory).await.map_err(failed)?;
        self.memory.clear();
        Ok(())
    }

    /// Returns the whole file of a team, a large one when there is a place for it, which it has as long as its bytes are
    /// there.
    ///
    /// # Errors
    /// 408 when there is no place until `deadline`, 500 when the disk does not give it back.
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
        let place = uploads.large.wait(team, deadline).await;
        let place = place.ok_or_else(|| ApiError::from(EngineError::Page(ScrapeError::Timeout)))?;
        let (rest, bytes) = (self.memory, self.bytes);
        let whole = blocking(move || {
            let mut whole = Vec::with_capacity(usize::try_from(bytes).map_err(io::Error::other)?);
            disk.rewind()?;
            disk.read_to_end(&mut whole)?;
            whole.extend_from_slice(&rest);
            Ok(Bytes::from_owner(LoadedUpload { bytes: whole, _place: place }))
        });
        whole.await?.map_err(failed)
    }
}

fn nameless(directory: &Path) -> io::Result<File> {
    std::fs::create_dir_all(directory)?;
    tempfile::tempfile_in(directory)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| ApiError::internal(&error, "the upload could not be kept"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test]
    async fn a_file_comes_back_as_it_arrived_and_leaves_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("uploads");
        let uploads = Uploads::new(folder.clone());
        for length in [0, 10, SMALL_BYTES, SMALL_BYTES + 1, 3 * SMALL_BYTES + 7] {
            let content: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let mut spool = uploads.spool();
            for piece in content.chunks(70_001) {
                spool.write(Bytes::copy_from_slice(piece)).await.unwrap();
            }
            assert_eq!(spool.bytes(), length as u64);
            let whole = spool.load(&uploads, "a", soon()).await.unwrap();
            assert!(whole == content, "{length}");
            assert!(!folder.exists() || std::fs::read_dir(&folder).unwrap().next().is_none());
        }
    }

    #[tokio::test]
    async fn a_large_file_has_a_place_until_it_was_read_and_who_waits_for_one_waits_no_longer_than_it_may() {
        let directory = tempfile::tempdir().unwrap();
        let uploads = Uploads::new(directory.path().to_owned());
        let load = async |length: usize, team: &str, deadline: Instant| {
            let mut spool = uploads.spool();
            spool.write(Bytes::from(vec![1; length])).await.unwrap();
            spool.load(&uploads, team, deadline).await.map_err(|failure| failure.status())
        };
        let (large, late) = (SMALL_BYTES + 1, Instant::now());
        let mut read = Vec::new();
        for team in ["a", "a", "b"] {
            read.push(load(large, team, soon()).await.unwrap());
        }
        assert_eq!(load(large, "a", late).await, Err(408), "the team has half of the places");
        assert!(load(large, "b", soon()).await.is_ok(), "it went as it came");
        read.push(load(large, "b", soon()).await.unwrap());
        assert_eq!(load(large, "c", late).await, Err(408));
        assert!(load(SMALL_BYTES, "a", late).await.is_ok(), "a small one needs none");
        let again = read[0].clone();
        read.remove(0);
        assert_eq!(load(large, "a", late).await, Err(408), "somebody still reads it");
        drop(again);
        assert!(load(large, "a", soon()).await.is_ok());
    }

    #[tokio::test]
    async fn there_are_so_many_uploads_at_one_time_and_half_of_them_of_a_team() {
        let uploads = Uploads::new(PathBuf::new());
        let slots = |team: &str| -> Vec<UploadPermit> {
            (0..AT_ONCE / 2).map(|_| uploads.slot(team).unwrap()).collect()
        };
        let mut of_a = slots("a");
        assert_eq!(uploads.slot("a").unwrap_err().status(), 429);
        let _of_b = slots("b");
        assert_eq!(uploads.slot("c").unwrap_err().status(), 429);
        of_a.pop();
        assert!(uploads.slot("c").is_ok());
    }
}

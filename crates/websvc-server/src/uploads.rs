//! Uploaded files on their way to whoever reads them: on the disk while they arrive, so that slow senders hold no memory.
//!
//! A file has no name there: the system removes it with the process, however that ends.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use websvc_types::ErrorCode;

use crate::reply::Failure;

/// So many uploads are received or read at one time: on the disk they have at most this many times 50 MB.
const AT_ONCE: usize = 32;

/// So many large files are in memory at one time.
const LARGE_AT_ONCE: usize = 2;

/// A smaller file never goes to the disk.
const SMALL_BYTES: usize = 1024 * 1024;

/// The place for uploads.
#[derive(Debug)]
pub(crate) struct Uploads {
    directory: Arc<PathBuf>,
    slots: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

/// The right to upload a file; dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
}

/// A file that arrives.
#[derive(Debug)]
pub(crate) struct Spool {
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
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            large: Arc::new(Semaphore::new(LARGE_AT_ONCE)),
        }
    }

    /// Returns the right to upload a file.
    ///
    /// # Errors
    /// 429 when too many do so already.
    pub(crate) fn slot(&self) -> Result<Slot, Failure> {
        match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(permit) => Ok(Slot { _permit: permit }),
            Err(_full) => {
                let text =
                    format!("Rate limit exceeded: {AT_ONCE} files are uploaded already, retry after 1s");
                Err(Failure::new(ErrorCode::RateLimited, text).retry_after(1))
            }
        }
    }

    /// Returns an empty file.
    pub(crate) fn spool(&self) -> Spool {
        Spool { directory: Arc::clone(&self.directory), memory: Vec::new(), disk: None, bytes: 0 }
    }
}

impl Spool {
    /// Returns how many bytes have arrived.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds bytes to the file.
    ///
    /// # Errors
    /// 500 when the disk takes no more.
    pub(crate) async fn write(&mut self, piece: Bytes) -> Result<(), Failure> {
        self.bytes += piece.len() as u64;
        self.memory.extend_from_slice(&piece);
        if self.memory.len() <= SMALL_BYTES {
            return Ok(());
        }
        let failed = |error: io::Error| Failure::internal(&error, "the upload could not be kept");
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

    /// Returns the whole file, a large one when it is its turn, which lasts as long as the permit.
    ///
    /// # Errors
    /// 500 when the disk does not give it back.
    pub(crate) async fn load(
        mut self,
        uploads: &Uploads,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Failure> {
        let Some(mut disk) = self.disk.take() else { return Ok((Bytes::from(self.memory), None)) };
        let failed = |error: io::Error| Failure::internal(&error, "the upload could not be read");
        disk.flush().await.map_err(failed)?;
        let mut disk = disk.into_std().await;
        let turn = Arc::clone(&uploads.large).acquire_owned().await.ok();
        let (rest, bytes) = (self.memory, self.bytes);
        let whole = blocking(move || {
            let mut whole = Vec::with_capacity(usize::try_from(bytes).map_err(io::Error::other)?);
            disk.rewind()?;
            disk.read_to_end(&mut whole)?;
            whole.extend_from_slice(&rest);
            Ok(Bytes::from(whole))
        });
        Ok((whole.await?.map_err(failed)?, turn))
    }
}

fn nameless(directory: &Path) -> io::Result<File> {
    std::fs::create_dir_all(directory)?;
    tempfile::tempfile_in(directory)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::internal(&error, "the upload could not be kept"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (whole, turn) = spool.load(&uploads).await.unwrap();
            assert!(whole == content, "{length}");
            assert_eq!(turn.is_some(), length > SMALL_BYTES);
            assert!(!folder.exists() || std::fs::read_dir(&folder).unwrap().next().is_none());
        }
    }

    #[tokio::test]
    async fn there_are_so_many_uploads_at_one_time() {
        let uploads = Uploads::new(PathBuf::new());
        let mut slots: Vec<Slot> = (0..AT_ONCE).map(|_| uploads.slot().unwrap()).collect();
        assert_eq!(uploads.slot().unwrap_err().status(), 429);
        slots.pop();
        assert!(uploads.slot().is_ok());
    }
}

//! Contents in a directory. A content is written to a temporary file, flushed to disk and renamed, so that a file with
//! the final name is complete.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tokio::fs::File;

use crate::error::ArtifactError;
use crate::kind::ArtifactKind;

/// The suffix of a file while it is written.
const PARTIAL_SUFFIX: &str = ".part";

/// A directory of contents. It is created with the first content.
#[derive(Debug, Clone)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Writes a content. A failure leaves no file; a crash may leave a file that [`remove`](Self::remove) removes.
    pub(crate) fn write(&self, id: &str, kind: ArtifactKind, content: &[u8]) -> Result<(), ArtifactError> {
        let path = self.file_path(id, kind);
        let partial = partial_path(&path);
        let to_error = |path: &Path, source| to_write_error(path, content.len() as u64, source);
        create_private_dir(&self.path).map_err(|error| to_error(&self.path, error))?;
        let result = write_new(&partial, content).and_then(|()| fs::rename(&partial, &path));
        result.map_err(|error| {
            // Frees the space of an incomplete file. If this fails, `remove` tries again.
            let _ = fs::remove_file(&partial);
            to_error(&path, error)
        })
    }

    /// Opens a content for reading. Returns `None` if it is missing or has another size, because another process has
    /// changed it.
    pub(crate) async fn open(
        &self,
        id: &str,
        kind: ArtifactKind,
        bytes: u64,
    ) -> Result<Option<File>, ArtifactError> {
        let path = self.file_path(id, kind);
        let open = async {
            let file = File::open(&path).await?;
            let length = file.metadata().await?.len();
            Ok((file, length))
        };
        match open.await {
            Ok((file, length)) if length == bytes => Ok(Some(file)),
            Ok((_, length)) => {
                tracing::warn!(path = %path.display(), length, bytes, "the file of an artifact was changed by another process");
                Ok(None)
            }
            Err(error) if is_not_found(&error) => {
                tracing::warn!(path = %path.display(), "the file of an artifact was removed by another process");
                Ok(None)
            }
            Err(source) => Err(ArtifactError::Io { path, source }),
        }
    }

    /// Removes a content, complete or incomplete. Succeeds if there is none.
    pub(crate) fn remove(&self, id: &str, kind: ArtifactKind) -> Result<(), ArtifactError> {
        let path = self.file_path(id, kind);
        for path in [partial_path(&path), path] {
            match fs::remove_file(&path) {
                Err(source) if !is_not_found(&source) => return Err(ArtifactError::Io { path, source }),
                _ => {}
            }
        }
        Ok(())
    }

    fn file_path(&self, id: &str, kind: ArtifactKind) -> PathBuf {
        self.path.join(format!("{id}.{}", kind.extension()))
    }
}

/// Converts the error of a write. A full disk has an error of its own.
fn to_write_error(path: &Path, bytes: u64, source: io::Error) -> ArtifactError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ArtifactError::DiskFull { path, bytes }
        }
        _ => ArtifactError::Io { path, source },
    }
}

fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL_SUFFIX);
    PathBuf::from(name)
}

fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    // Before the rename: otherwise a file with the final name may be empty after a power failure.
    file.sync_data()
}

/// Creates the directory, which only its owner can read.
fn create_private_dir(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn full_disk_has_its_own_error() {
        // A write to this device fails like one to a full disk.
        let source = fs::write("/dev/full", b"content").unwrap_err();
        let error = to_write_error(Path::new("artifacts/a.png"), 7, source);
        assert!(matches!(error, ArtifactError::DiskFull { bytes: 7, .. }), "{error}");
        assert_eq!(error.to_string(), "no space left for an artifact of 7 bytes in artifacts/a.png");
        let source = fs::write("/dev/full/file", b"content").unwrap_err();
        assert!(matches!(to_write_error(Path::new("a"), 7, source), ArtifactError::Io { .. }));
    }
}

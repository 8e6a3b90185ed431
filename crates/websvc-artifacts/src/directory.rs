//! Contents in a directory: written beside, flushed to disk, then renamed, so that what has its name is whole.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tokio::fs::File;

use crate::error::ArtifactError;
use crate::kind::ArtifactKind;

/// Suffix of a file while it is written.
const PART: &str = ".part";

/// A directory of contents; made when the first one comes.
#[derive(Debug, Clone)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Writes a content. A failure leaves nothing behind, a crash at most a file that [`remove`](Self::remove) knows.
    pub(crate) fn write(&self, id: &str, kind: ArtifactKind, content: &[u8]) -> Result<(), ArtifactError> {
        let path = self.file(id, kind);
        let part = part_of(&path);
        let failed = |path: &Path, source| write_failure(path, content.len() as u64, source);
        make_private(&self.path).map_err(|error| failed(&self.path, error))?;
        let written = write_new(&part, content).and_then(|()| fs::rename(&part, &path));
        written.map_err(|error| {
            // Whatever could be written takes room that is wanted; what cannot be removed now is tried again later.
            let _ = fs::remove_file(&part);
            failed(&path, error)
        })
    }

    /// Opens a content for reading; `None` when it is gone or has not its size, which only others can have done.
    pub(crate) async fn open(
        &self,
        id: &str,
        kind: ArtifactKind,
        bytes: u64,
    ) -> Result<Option<File>, ArtifactError> {
        let path = self.file(id, kind);
        let opened = async {
            let file = File::open(&path).await?;
            let length = file.metadata().await?.len();
            Ok((file, length))
        };
        match opened.await {
            Ok((file, length)) if length == bytes => Ok(Some(file)),
            Ok((_, length)) => {
                tracing::warn!(path = %path.display(), length, bytes, "an artifact was changed by somebody else");
                Ok(None)
            }
            Err(error) if is_absent(&error) => {
                tracing::warn!(path = %path.display(), "an artifact was removed by somebody else");
                Ok(None)
            }
            Err(source) => Err(ArtifactError::Io { path, source }),
        }
    }

    /// Removes a content, whole or half; nothing to remove is fine.
    pub(crate) fn remove(&self, id: &str, kind: ArtifactKind) -> Result<(), ArtifactError> {
        let path = self.file(id, kind);
        for path in [part_of(&path), path] {
            match fs::remove_file(&path) {
                Err(source) if !is_absent(&source) => return Err(ArtifactError::Io { path, source }),
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&self, id: &str, kind: ArtifactKind) -> PathBuf {
        self.path.join(format!("{id}.{}", kind.extension()))
    }
}

/// Tells a disk without room from one that cannot be used.
fn write_failure(path: &Path, bytes: u64, source: io::Error) -> ArtifactError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ArtifactError::DiskFull { path, bytes }
        }
        _ => ArtifactError::Io { path, source },
    }
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PART);
    PathBuf::from(name)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    // Before the rename: after a power failure a file with its name must not be hollow.
    file.sync_data()
}

/// Makes the directory, readable by its owner only.
fn make_private(path: &Path) -> io::Result<()> {
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
    fn a_full_disk_is_told_as_such() {
        // Writing to this device fails as writing to a full disk does.
        let source = fs::write("/dev/full", b"picture").unwrap_err();
        let error = write_failure(Path::new("shelf/a.png"), 7, source);
        assert!(matches!(error, ArtifactError::DiskFull { bytes: 7, .. }), "{error}");
        assert_eq!(error.to_string(), "no space left for an artifact of 7 bytes in shelf/a.png");
        let source = fs::write("/dev/full/beside", b"picture").unwrap_err();
        assert!(matches!(write_failure(Path::new("a"), 7, source), ArtifactError::Io { .. }));
    }
}

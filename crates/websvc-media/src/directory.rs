//! The directory of one download.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::runtime::Handle;

/// The directory of the output, in that of the download.
const OUTPUT: &str = "output";

/// The directory of a download, which only this user can open. It is removed on drop, without blocking.
pub(crate) struct DownloadDirectory(Option<PathBuf>);

impl DownloadDirectory {
    /// Creates the directory, and that of the output in it.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let directory = TempDir::new_in(parent)?;
        fs::create_dir(directory.path().join(OUTPUT))?;
        Ok(Self(Some(directory.keep())))
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Returns the path of the output.
    pub(crate) fn output(&self) -> PathBuf {
        self.path().join(OUTPUT)
    }

    /// Removes it. Blocks.
    pub(crate) fn remove(mut self) {
        if let Some(path) = self.0.take() {
            remove(&path);
        }
    }
}

impl Drop for DownloadDirectory {
    fn drop(&mut self) {
        let Some(path) = self.0.take() else { return };
        // Without a runtime the process is ending; the next start removes it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || remove(&path));
        }
    }
}

fn remove(path: &Path) {
    if let Err(error) = websvc_sandbox::remove_output(path) {
        tracing::error!(%error, "the files of a download cannot be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_removed_with_its_files() {
        let parent = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let new = || {
            let directory = DownloadDirectory::new(parent.path()).unwrap();
            fs::write(directory.output().join("media.mp4"), "video").unwrap();
            directory
        };
        new().remove();
        assert_eq!(count(), 0);
        // A download that is given up. One thread runs one task after the other.
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let given_up = new();
        assert_eq!(count(), 1);
        runtime.block_on(async {
            drop(given_up);
            tokio::task::spawn_blocking(|| ()).await.unwrap();
        });
        assert_eq!(count(), 0);
    }
}

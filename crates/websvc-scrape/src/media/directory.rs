//! The directory of one download.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::Builder;
use tokio::runtime::Handle;

/// The beginning of the names of these directories.
const PREFIX: &str = ".tmp";
/// The directory of the output, in that of the download.
const OUTPUT: &str = "output";

/// The directory of a download, which only this user can open. It is removed on drop, without blocking.
pub(crate) struct DownloadDirectory(Option<PathBuf>);

impl DownloadDirectory {
    /// Creates the directory, and that of the output in it.
    pub(crate) fn new(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let directory = Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        fs::create_dir(directory.path().join(OUTPUT))?;
        Ok(Self(Some(directory.keep())))
    }

    /// Removes those that a process that was killed has left. Blocks. The parent stays: it may be a mount point or a link
    /// to another file system.
    pub(crate) fn remove_abandoned(parent: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let mut result = Ok(());
        for entry in entries {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
                let removed = websvc_sandbox::remove_output(&entry.path());
                result = result.and(removed);
            }
        }
        result
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
            websvc_transport::spawn_blocking(|| ()).await.unwrap();
        });
        assert_eq!(count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn abandoned_directories_are_removed_where_a_link_leads() {
        let data = tempfile::tempdir().unwrap();
        let (disk, link) = (data.path().join("disk"), data.path().join("media"));
        // A directory of the file system itself.
        fs::create_dir_all(disk.join("lost+found")).unwrap();
        std::os::unix::fs::symlink(&disk, &link).unwrap();
        for _ in 0..2 {
            let abandoned = DownloadDirectory::new(&link).unwrap();
            fs::write(abandoned.output().join("media.mp4"), "video").unwrap();
            // Without a runtime, as in a process that was killed, its directory stays.
            drop(abandoned);
        }
        assert_eq!(fs::read_dir(&disk).unwrap().count(), 3);
        DownloadDirectory::remove_abandoned(&link).unwrap();
        let left: Vec<_> = fs::read_dir(&link).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["lost+found"]);
        DownloadDirectory::remove_abandoned(&data.path().join("none")).unwrap();
    }
}

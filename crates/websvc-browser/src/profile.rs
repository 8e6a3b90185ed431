//! The folder of one Chromium: private, locked while it is in use, and removed with it, or by the next one when its
//! service was killed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tempfile::TempDir;

const PREFIX: &str = "websvc-browser-";
const LOCK: &str = "websvc.lock";

/// A folder that is in use.
pub(crate) struct Profile {
    folder: TempDir,
    _lock: File,
}

impl Profile {
    /// Makes a folder among the temporary files, and removes those that nobody uses any more.
    pub(crate) async fn create() -> io::Result<Self> {
        tokio::task::spawn_blocking(|| Self::create_in(&std::env::temp_dir())).await?
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // Under its name the lock is never seen open.
        let unnamed = folder.path().join("new.lock");
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of this user whose lock is open. What cannot be removed stays.
fn sweep(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        // Others may have put a link there.
        let is_ours = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == user);
        if is_ours && File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_nobody_uses_are_removed_and_others_stay() {
        let parent = tempfile::tempdir().unwrap();
        let used = Profile::create_in(parent.path()).unwrap();
        let Profile { folder, _lock: lock } = Profile::create_in(parent.path()).unwrap();
        let left = folder.keep();
        drop(lock);
        let stranger = parent.path().join("other-1");
        fs::create_dir(&stranger).unwrap();
        File::create(stranger.join(LOCK)).unwrap();
        let unlocked = parent.path().join(format!("{PREFIX}without-lock"));
        fs::create_dir(&unlocked).unwrap();
        let _next = Profile::create_in(parent.path()).unwrap();
        assert!(!left.exists() && used.path().exists() && stranger.exists() && unlocked.exists());
    }
}

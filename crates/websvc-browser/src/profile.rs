//! The directory of one Chromium: private, locked while it is in use, and removed with it, or by the next start when
//! the service was killed.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = "websvc-browser-";
const LOCK: &str = "websvc.lock";
/// The age from which a directory without a lock counts as left behind: making one takes milliseconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// Attempts to empty a directory that a Chromium may still write to, which ends after its service.
const ATTEMPTS: u32 = 3;

/// A directory that is in use.
pub(crate) struct Profile {
    folder: TempDir,
    _lock: File,
}

impl Profile {
    /// Makes a directory among the temporary files, and removes those that nobody uses any more.
    pub(crate) async fn create() -> io::Result<Self> {
        tokio::task::spawn_blocking(|| Self::create_in(&std::env::temp_dir())).await?
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(parent)?;
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

/// Removes the directories that services of this user have left when they were killed.
pub(crate) fn remove_abandoned() {
    sweep(&std::env::temp_dir());
}

/// Removes the directories of this user whose lock is open. What cannot be removed stays for the next time.
fn sweep(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        // Others may have put a link there.
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if !found.is_dir() || found.uid() != user {
            continue;
        }
        match File::open(path.join(LOCK)) {
            // Held until the directory is gone, so that two that start do not remove it at one time.
            Ok(lock) => {
                if lock.try_lock().is_ok() {
                    remove(&path);
                }
            }
            // Left before it had its lock, or by a removal that came no further.
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_old(&found) => remove(&path),
            Err(_) => {}
        }
    }
}

fn is_old(directory: &Metadata) -> bool {
    let age = directory.modified().ok().and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age >= ABANDONED_AFTER)
}

fn remove(path: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn directories_that_nobody_uses_are_removed_and_others_stay() {
        let parent = tempfile::tempdir().unwrap();
        let used = Profile::create_in(parent.path()).unwrap();
        let Profile { folder, _lock: lock } = Profile::create_in(parent.path()).unwrap();
        let left = folder.keep();
        drop(lock);
        let stranger = parent.path().join("other-1");
        fs::create_dir(&stranger).unwrap();
        File::create(stranger.join(LOCK)).unwrap();
        let unlocked = parent.path().join(format!("{PREFIX}being-made"));
        fs::create_dir(&unlocked).unwrap();
        let abandoned = parent.path().join(format!("{PREFIX}killed-while-it-was-made"));
        fs::create_dir(&abandoned).unwrap();
        let long_ago = SystemTime::now() - 2 * ABANDONED_AFTER;
        File::open(&abandoned).unwrap().set_modified(long_ago).unwrap();
        let _next = Profile::create_in(parent.path()).unwrap();
        assert!(!left.exists() && used.path().exists() && stranger.exists() && unlocked.exists());
        assert!(!abandoned.exists());
    }

    #[test]
    fn nobody_else_can_look_into_a_directory() {
        let parent = tempfile::tempdir().unwrap();
        let profile = Profile::create_in(parent.path()).unwrap();
        assert_eq!(fs::metadata(profile.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

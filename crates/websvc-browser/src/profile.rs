//! The private directory of one Chromium process. It is locked while in use, and removed with the process, or by the next
//! start if the service was killed.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = "websvc-browser-";
const LOCK: &str = "websvc.lock";

/// The preferences of Chromium: a PDF is a download, as in the headless shell, not a page of the PDF viewer.
const PREFERENCES: &str = r#"{"plugins":{"always_open_pdf_externally":true}}"#;
/// The age from which a directory without a lock file is abandoned. Creating the lock takes milliseconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// The maximum number of attempts to remove a directory, to which a Chromium that has not ended yet may write.
const MAX_ATTEMPTS: u32 = 3;

/// A directory in use. Dropping it removes the directory.
pub(crate) struct Profile {
    directory: TempDir,
    _lock: File,
}

impl Profile {
    /// Creates a directory in the system's temporary directory, and removes abandoned ones.
    pub(crate) async fn create() -> io::Result<Self> {
        websvc_transport::spawn_blocking(|| Self::create_in(&std::env::temp_dir())).await?
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        remove_abandoned_in(parent);
        let private = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(parent)?;
        // The lock file gets its name only when it is locked, so no other process sees it unlocked.
        let unnamed = directory.path().join("new.lock");
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        fs::rename(unnamed, directory.path().join(LOCK))?;
        let default = directory.path().join("Default");
        fs::create_dir(&default)?;
        fs::write(default.join("Preferences"), PREFERENCES)?;
        Ok(Self { directory, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes the abandoned directories of this user.
pub(crate) fn remove_abandoned() {
    remove_abandoned_in(&std::env::temp_dir());
}

/// Removes the directories of this user whose lock is free. A directory that cannot be removed stays until the next call.
fn remove_abandoned_in(parent: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        // Not `metadata`: another user may have put a symbolic link there.
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if !metadata.is_dir() || metadata.uid() != user {
            continue;
        }
        match File::open(path.join(LOCK)) {
            // The lock is held during the removal, so that two processes do not remove the directory at once.
            Ok(lock) => {
                if lock.try_lock().is_ok() {
                    remove(&path);
                }
            }
            // Abandoned before the lock was created, or in the middle of a removal.
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_old(&metadata) => remove(&path),
            Err(_) => {}
        }
    }
}

fn is_old(directory: &Metadata) -> bool {
    let age = directory.modified().ok().and_then(|modified| modified.elapsed().ok());
    age.is_some_and(|age| age >= ABANDONED_AFTER)
}

fn remove(path: &Path) {
    for _ in 0..MAX_ATTEMPTS {
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
    fn create_removes_abandoned_directories_only() {
        let parent = tempfile::tempdir().unwrap();
        let used = Profile::create_in(parent.path()).unwrap();
        let Profile { directory, _lock: lock } = Profile::create_in(parent.path()).unwrap();
        let abandoned = directory.keep();
        drop(lock);
        let other_prefix = parent.path().join("other-1");
        fs::create_dir(&other_prefix).unwrap();
        File::create(other_prefix.join(LOCK)).unwrap();
        let young = parent.path().join(format!("{PREFIX}being-made"));
        fs::create_dir(&young).unwrap();
        let old = parent.path().join(format!("{PREFIX}killed-while-it-was-made"));
        fs::create_dir(&old).unwrap();
        let long_ago = SystemTime::now() - 2 * ABANDONED_AFTER;
        File::open(&old).unwrap().set_modified(long_ago).unwrap();
        let _next = Profile::create_in(parent.path()).unwrap();
        assert!(!abandoned.exists() && !old.exists());
        assert!(used.path().exists() && other_prefix.exists() && young.exists());
    }

    #[test]
    fn directory_is_private_to_its_user() {
        let parent = tempfile::tempdir().unwrap();
        let profile = Profile::create_in(parent.path()).unwrap();
        assert_eq!(fs::metadata(profile.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

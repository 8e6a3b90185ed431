//! Files that get their name when they are whole, and those that a killed process has left.
//!
//! A draft is locked as long as its process lives. One that nobody has locked was left behind, and the next run that
//! writes into the directory removes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

const PREFIX: &str = ".websvc-page-";

/// Begins a file in `folder`.
pub(crate) fn draft_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    // Others may read it as any file that is made here, and not as those that nobody should see.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let draft = builder.tempfile_in(folder)?;
        match draft.as_file().try_lock() {
            // Another process may have taken it for a draft that was left before it was locked.
            Ok(()) if draft.path().exists() => return Ok(draft),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // A file system without locks: nothing is swept there either.
            Err(TryLockError::Error(_)) => return Ok(draft),
        }
    }
}

/// Removes the drafts in `folder` that killed processes have left. What cannot be removed stays.
pub(crate) fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file
            && File::open(&path).is_ok_and(|file| file.try_lock().is_ok() && fs::remove_file(&path).is_ok())
        {
            tracing::debug!(path = %path.display(), "a file that a killed process has left is removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_of_killed_processes_go_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let held = draft_in(folder.path()).unwrap();
        let left = draft_in(folder.path()).unwrap().into_temp_path().keep().unwrap();
        let other = folder.path().join(".websvc-other");
        fs::write(&other, "x").unwrap();
        sweep(folder.path());
        assert!(held.path().exists() && other.exists() && !left.exists());
        let named = folder.path().join("named");
        held.persist(&named).unwrap();
        assert!(named.exists());
    }
}

//! Draft files, which get their final name when they are complete.
//!
//! A draft is locked as long as its process runs. A killed process leaves an unlocked draft, and the next run that
//! writes into the directory removes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

const PREFIX: &str = ".websvc-page-";

/// Creates a draft in `directory`.
pub(crate) fn draft_in(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    // The default of a temporary file is 0600. The final file should have the usual permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let draft = builder.tempfile_in(directory)?;
        match draft.as_file().try_lock() {
            // Another process may have removed it as abandoned before it was locked.
            Ok(()) if draft.path().exists() => return Ok(draft),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // The file system has no locks, so `sweep` removes nothing there either.
            Err(TryLockError::Error(_)) => return Ok(draft),
        }
    }
}

/// Removes the abandoned drafts in `directory`. Drafts that cannot be removed stay.
pub(crate) fn sweep(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let path = entry.path();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file
            && File::open(&path).is_ok_and(|file| file.try_lock().is_ok() && fs::remove_file(&path).is_ok())
        {
            tracing::debug!(path = %path.display(), "removed the draft of a killed process");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_removes_only_abandoned_drafts() {
        let directory = tempfile::tempdir().unwrap();
        let locked = draft_in(directory.path()).unwrap();
        let abandoned = draft_in(directory.path()).unwrap().into_temp_path().keep().unwrap();
        let other = directory.path().join(".websvc-other");
        fs::write(&other, "x").unwrap();
        sweep(directory.path());
        assert!(locked.path().exists() && other.exists() && !abandoned.exists());
        let named = directory.path().join("named");
        locked.persist(&named).unwrap();
        assert!(named.exists());
    }
}

//! A copy of the database, made while it is in use.

use std::path::Path;

use crate::database::FILE_NAME;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The name of the database in a data directory.
    pub const FILE_NAME: &str = FILE_NAME;

    /// Writes everything that is committed when this begins into a new file, whoever reads and writes meanwhile. The
    /// copy is one state of the database, without gaps; as [`FILE_NAME`](Self::FILE_NAME) in a directory of its own it
    /// can be opened. A broken-off copy is removed.
    ///
    /// # Errors
    /// [`StoreError::BackupExists`] when the file is there already, [`StoreError::Full`]; otherwise failures of either
    /// file.
    pub fn back_up(&self, file: &Path) -> Result<(), StoreError> {
        self.flush_usage()?;
        if file.exists() {
            return Err(StoreError::BackupExists { path: file.to_owned() });
        }
        let copied = self.database().copy_to(file);
        if copied.is_err() {
            // What is left of it is no database; the failure itself is what matters.
            let _ = std::fs::remove_file(file);
        }
        copied
    }
}

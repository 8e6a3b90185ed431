//! Backups of the database while it is in use.

use std::path::Path;

use crate::database::FILE_NAME;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The file name of the database in a data directory.
    pub const FILE_NAME: &str = FILE_NAME;

    /// Writes a consistent copy of the database into a new file: everything that is committed when this starts. Other
    /// threads and processes may read and write meanwhile. Under the name [`FILE_NAME`](Self::FILE_NAME) in a directory
    /// of its own, the copy can be opened as a store. An incomplete copy is removed.
    ///
    /// # Errors
    /// [`StoreError::BackupExists`] if the file already exists, [`StoreError::Full`]; otherwise failures of either
    /// file.
    pub fn back_up(&self, file: &Path) -> Result<(), StoreError> {
        self.flush_key_uses()?;
        if file.exists() {
            return Err(StoreError::BackupExists { path: file.to_owned() });
        }
        let result = self.database().copy_to(file);
        if result.is_err() {
            // The caller learns the failure of the copy; that of the removal matters less.
            let _ = std::fs::remove_file(file);
        }
        result
    }
}

//! The mark of a data directory whose database was copied to a server, so that no process works on the old state by mistake.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::StoreError;
use crate::private_file::create_private_file;

/// The name of the file with the URL of the server, without credentials.
const FILE_NAME: &str = "moved-to";

/// Marks a data directory.
pub(super) fn mark(dir: &Path, url: &Path) -> Result<(), StoreError> {
    let path = dir.join(FILE_NAME);
    let written = create_private_file(&path).and_then(|()| fs::write(&path, format!("{}\n", url.display())));
    written.map_err(|error| StoreError::io(&path, error))
}

/// Fails if a data directory is marked.
pub(crate) fn refuse_moved(dir: &Path) -> Result<(), StoreError> {
    let mark = dir.join(FILE_NAME);
    match fs::read_to_string(&mark) {
        Ok(url) => Err(StoreError::Moved { url: url.trim().to_owned(), mark }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io(&mark, error)),
    }
}

//! Creation of the directory of a new index, by one process at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::IndexError;
use crate::schema::FORMAT;

/// Subdirectory of the images in the directory of the index.
pub(crate) const IMAGES: &str = "images";
/// File with the name of the format, in the directory of the index.
pub(crate) const FORMAT_FILE: &str = "format";

/// File in which tantivy lists the segments of an index.
pub(crate) const META: &str = "meta.json";
/// File that is locked while an index is created. It stays in the directory.
const LOCK_FILE: &str = ".create.lock";

/// Checks the name of the format, and creates the directory and the file with the name when they do not exist.
///
/// Returns a lock when the index is not complete yet. It must be held until the sub-indexes are open: opening creates
/// those that it does not find, and would replace the commit of a process that created them at the same time.
///
/// # Errors
/// Fails when the directory cannot be used, or holds an index of another format.
pub(crate) fn prepare(dir: &Path) -> Result<Option<File>, IndexError> {
    let in_directory = |source| IndexError::Directory { dir: dir.to_owned(), source };
    fs::create_dir_all(dir).map_err(in_directory)?;
    // An existing index is opened without a lock, so that it may be on a file system that cannot be written to.
    if has_format(dir)? && [dir.join(META), dir.join(IMAGES).join(META)].iter().all(|meta| meta.exists()) {
        return Ok(None);
    }
    let lock = lock(dir).map_err(in_directory)?;
    if !has_format(dir)? {
        if dir.join(META).exists() {
            return Err(incompatible(dir, "without a name".to_owned()));
        }
        let draft = dir.join("format.new");
        fs::write(&draft, format!("{FORMAT}\n")).map_err(in_directory)?;
        fs::rename(&draft, dir.join(FORMAT_FILE)).map_err(in_directory)?;
    }
    Ok(Some(lock))
}

/// Waits until no other process creates the index.
fn lock(dir: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(LOCK_FILE))?;
    file.lock()?;
    Ok(file)
}

/// Returns true if the directory has the file with the name of the format. Another name is an error.
fn has_format(dir: &Path) -> Result<bool, IndexError> {
    match fs::read(dir.join(FORMAT_FILE)) {
        Ok(bytes) if bytes.trim_ascii() == FORMAT.as_bytes() => Ok(true),
        Ok(bytes) => {
            let found: String = String::from_utf8_lossy(&bytes).trim().chars().take(40).collect();
            Err(incompatible(dir, format!("\"{found}\"")))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(IndexError::Directory { dir: dir.to_owned(), source }),
    }
}

fn incompatible(dir: &Path, found: String) -> IndexError {
    IndexError::Incompatible { dir: dir.to_owned(), found, expected: FORMAT }
}

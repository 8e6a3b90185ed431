//! Location of blocklists, and one loaded copy of each for all its users.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::blocker::Blocker;
use crate::error::BlocklistError;
use crate::file::ListFile;

/// The lists of an installation. Holds none of them in memory.
#[derive(Debug)]
pub struct Blocklist {
    files: Vec<ListFile>,
    loaded: Mutex<Weak<Blocker>>,
}

impl Blocklist {
    /// Returns the bundled lists alone.
    #[must_use]
    pub fn bundled() -> Self {
        Self { files: Vec::new(), loaded: Mutex::default() }
    }

    /// Returns the bundled lists and those of these URLs, as far as they have been fetched into `directory`.
    #[must_use]
    pub fn with_lists<'a>(directory: impl Into<PathBuf>, urls: impl IntoIterator<Item = &'a str>) -> Self {
        let directory = directory.into();
        let files = urls.into_iter().map(|url| ListFile::new(&directory, url)).collect();
        Self { files, loaded: Mutex::default() }
    }

    /// Returns the files of the lists that are not bundled.
    #[must_use]
    pub fn files(&self) -> &[ListFile] {
        &self.files
    }

    /// Returns the loaded lists: those that somebody holds, else the newest there are. Blocks for as long as that
    /// takes, a fifth of a second for 130,000 filters; whoever asks meanwhile waits for the same.
    ///
    /// # Errors
    /// [`BlocklistError::Io`] when a list is there and cannot be read. One that was never fetched is left out.
    pub fn load(&self) -> Result<Arc<Blocker>, BlocklistError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(blocker) = loaded.upgrade() {
            return Ok(blocker);
        }
        let mut lists = Vec::new();
        for file in &self.files {
            lists.extend(file.read()?);
        }
        let blocker = Arc::new(Blocker::compile(lists));
        *loaded = Arc::downgrade(&blocker);
        Ok(blocker)
    }
}

//! The blocklists of an installation, compiled once for all users.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::blocklist::blocker::Blocker;
use crate::blocklist::error::BlocklistError;
use crate::blocklist::file::ListFile;

/// The blocklists of an installation. It holds their files, not their contents.
#[derive(Debug)]
pub struct Blocklist {
    files: Vec<ListFile>,
    /// The compiled lists, as long as a caller uses them.
    blocker: Mutex<Weak<Blocker>>,
}

impl Blocklist {
    /// Returns the bundled list only.
    #[must_use]
    pub fn bundled() -> Self {
        Self { files: Vec::new(), blocker: Mutex::default() }
    }

    /// Returns the bundled list and the lists of these URLs. Lists that are not in `directory` yet are skipped when loading.
    #[must_use]
    pub fn with_lists<'a>(directory: impl Into<PathBuf>, urls: impl IntoIterator<Item = &'a str>) -> Self {
        let directory = directory.into();
        let files = urls.into_iter().map(|url| ListFile::new(&directory, url)).collect();
        Self { files, blocker: Mutex::default() }
    }

    /// Returns the files of the lists that are not bundled.
    #[must_use]
    pub fn files(&self) -> &[ListFile] {
        &self.files
    }

    /// Returns the compiled lists: those that another caller still uses, otherwise the current files.
    ///
    /// Blocks while it compiles, 200 ms for 130,000 filters. Concurrent callers wait and share the result.
    ///
    /// # Errors
    /// [`BlocklistError::Io`] if a list exists and cannot be read. A list that was never fetched is skipped.
    pub fn load(&self) -> Result<Arc<Blocker>, BlocklistError> {
        let mut shared = self.blocker.lock();
        if let Some(blocker) = shared.upgrade() {
            return Ok(blocker);
        }
        let mut lists = Vec::new();
        for file in &self.files {
            lists.extend(file.read()?);
        }
        let blocker = Arc::new(Blocker::compile(lists));
        *shared = Arc::downgrade(&blocker);
        Ok(blocker)
    }
}

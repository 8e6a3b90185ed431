//! Removal of whole sites, and the check for damaged files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::IndexError;
use crate::index::Index;

impl Index {
    /// Removes all documents of a host and its subdomains, waits until that is committed and returns their number.
    ///
    /// # Errors
    /// As for [`Index::add`] and [`Index::flush`].
    pub fn remove_site(&self, host: &str) -> Result<usize, IndexError> {
        // Uncommitted documents of this or a killed process may belong to the site too.
        self.recover()?;
        self.flush()?;
        let urls: BTreeSet<String> = self.urls(Some(host), usize::MAX)?.into_iter().collect();
        urls.iter().try_for_each(|url| self.remove(url))?;
        self.flush()?;
        Ok(urls.len())
    }

    /// Returns the files of the index whose content does not match its checksum. This reads every byte of the index.
    ///
    /// # Errors
    /// Fails when a file is missing or cannot be read. A file that another process removes meanwhile, after a merge, is
    /// missing too.
    pub fn damaged_files(&self) -> Result<Vec<PathBuf>, IndexError> {
        let mut damaged = Vec::new();
        for sub_index in [self.pages(), self.images()] {
            let engine = |source| IndexError::Engine { dir: sub_index.dir.clone(), source };
            let found = sub_index.index.validate_checksum().map_err(engine)?;
            damaged.extend(found.iter().map(|path| sub_index.dir.join(path)));
        }
        damaged.sort();
        Ok(damaged)
    }
}

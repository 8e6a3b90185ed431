//! Taking whole sites out of the index, and looking whether it is whole.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::IndexError;
use crate::index::Index;

impl Index {
    /// Removes all documents of a host and its subdomains; returns how many there were. When it returns they are
    /// gone for good.
    ///
    /// # Errors
    /// As for [`Index::add`] and [`Index::flush`].
    pub fn remove_site(&self, host: &str) -> Result<usize, IndexError> {
        // What waits for its commit belongs to the site too, whoever added it.
        self.recover()?;
        self.flush()?;
        let urls: BTreeSet<String> = self.urls(Some(host), usize::MAX)?.into_iter().collect();
        urls.iter().try_for_each(|url| self.remove(url))?;
        self.flush()?;
        Ok(urls.len())
    }

    /// Returns the files of the index whose bytes are not those that were written, by their checksums. Every byte is read.
    ///
    /// # Errors
    /// A file is missing or cannot be read; one that another process merges away meanwhile is missing, too.
    pub fn damaged_files(&self) -> Result<Vec<PathBuf>, IndexError> {
        let mut damaged = Vec::new();
        for shelf in [self.pages(), self.images()] {
            let engine = |source| IndexError::Engine { dir: shelf.dir.clone(), source };
            let found = shelf.index.validate_checksum().map_err(engine)?;
            damaged.extend(found.iter().map(|path| shelf.dir.join(path)));
        }
        damaged.sort();
        Ok(damaged)
    }
}

//! Taking whole sites out of the index.

use std::collections::BTreeSet;

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
}

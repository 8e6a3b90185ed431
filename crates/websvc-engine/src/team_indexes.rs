//! Separate indexes of teams that keep their pages private.
//!
//! Each has a directory of its own, so that no data of a page reaches other teams: neither the page, nor its words
//! (which are suggested as spellings and affect word frequencies), nor its link texts. An index is opened on first use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use websvc_index::{Index, IndexConfig, IndexError};
use websvc_store::PageOwner;

/// The subdirectory of the shared index that contains the indexes of teams.
const FOLDER: &str = "teams";

/// The memory in bytes for new documents of one team before they are written; the minimum of tantivy.
const WRITER_HEAP: usize = 15_000_000;

/// The time after the last write during which the writer of an index and its threads stay alive.
const WRITER_IDLE: Duration = Duration::from_secs(2);

/// The name prefix of an index that is being removed. If the process is killed, the rest is removed later.
const REMOVING: &str = "leaving-";

/// The indexes of the teams that keep their pages private. All functions block.
#[derive(Debug)]
pub struct TeamIndexes {
    /// The directory of the shared index.
    shared: PathBuf,
    config: IndexConfig,
    /// This process may write, so it recovers what a killed process has left.
    writes: bool,
    open: Mutex<BTreeMap<PageOwner, Open>>,
}

/// An open index.
#[derive(Debug)]
struct Open {
    index: Arc<Index>,
    last_used: Instant,
}

impl TeamIndexes {
    /// Creates the indexes that belong to the shared index in `dir`, without opening one or creating a directory. Only
    /// one process may set `writes`.
    #[must_use]
    pub fn new(dir: &Path, config: IndexConfig, writes: bool) -> Self {
        // Many teams may write at the same time.
        let config = IndexConfig { writer_heap: WRITER_HEAP, writer_idle: WRITER_IDLE, ..config };
        Self { shared: dir.to_owned(), config, writes, open: Mutex::default() }
    }

    /// Returns the index of a team, and creates it if there is none.
    ///
    /// # Errors
    /// As for [`Index::open`].
    pub fn open(&self, owner: PageOwner) -> Result<Arc<Index>, IndexError> {
        self.open_in(&mut self.open.lock(), owner)
    }

    /// Returns the index of a team if it has one.
    ///
    /// # Errors
    /// As for [`Index::open`].
    pub fn find(&self, owner: PageOwner) -> Result<Option<Arc<Index>>, IndexError> {
        let mut open = self.open.lock();
        if !open.contains_key(&owner) && !self.dir_of(owner).exists() {
            return Ok(None);
        }
        self.open_in(&mut open, owner).map(Some)
    }

    fn open_in(
        &self,
        open: &mut BTreeMap<PageOwner, Open>,
        owner: PageOwner,
    ) -> Result<Arc<Index>, IndexError> {
        let last_used = Instant::now();
        if let Some(open) = open.get_mut(&owner) {
            open.last_used = last_used;
            return Ok(Arc::clone(&open.index));
        }
        let index = Arc::new(Index::open(&self.dir_of(owner), self.config.clone())?);
        if self.writes {
            recover(&index, owner);
        }
        open.insert(owner, Open { index: Arc::clone(&index), last_used });
        Ok(index)
    }

    /// Closes the indexes that were not used for `idle` and are not in use.
    pub fn close_idle(&self, idle: Duration) {
        // Under the lock, so that none is reopened while its writer ends. An idle writer has nothing to write.
        self.open
            .lock()
            .retain(|_, open| open.last_used.elapsed() < idle || Arc::strong_count(&open.index) > 1);
    }

    /// Returns the owners that have an index, or one whose removal was interrupted.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn owners(&self) -> Result<BTreeSet<PageOwner>, IndexError> {
        let names = self.names().map_err(|source| self.directory_error(source))?;
        Ok(names.iter().filter_map(|name| owner_of(name)).collect())
    }

    /// Removes the index of a team, and returns whether there was one. Requests that still use it cannot write to it
    /// any more.
    ///
    /// # Errors
    /// If the files cannot be removed.
    pub fn remove(&self, owner: PageOwner) -> Result<bool, IndexError> {
        let remove = || {
            let dir = self.dir_of(owner);
            let removing = dir.with_file_name(format!("{REMOVING}{}", owner.number()));
            remove_dir(&removing)?;
            // Rename it first: its writer commits when it is dropped, and must not find the directory.
            match fs::rename(&dir, &removing) {
                Ok(()) => remove_dir(&removing).map(|()| true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            }
        };
        let mut open = self.open.lock();
        let removed = remove().map_err(|source| self.directory_error(source))?;
        let _dropped_after_the_lock = open.remove(&owner);
        drop(open);
        Ok(removed)
    }

    /// Waits until everything that was added to the indexes is on disk and searchable.
    ///
    /// # Errors
    /// The first error, after all indexes were flushed.
    pub fn flush(&self) -> Result<(), IndexError> {
        let open: Vec<_> = self.open.lock().values().map(|open| Arc::clone(&open.index)).collect();
        let mut flushed = Ok(());
        for index in open {
            flushed = flushed.and(index.flush());
        }
        flushed
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(self.shared.join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let names = entries.map(|entry| entry.map(|entry| entry.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    /// Returns the path of the index of a team, relative to the directory of the shared index.
    #[must_use]
    pub fn folder_of(owner: PageOwner) -> PathBuf {
        Path::new(FOLDER).join(owner.number().to_string())
    }

    fn dir_of(&self, owner: PageOwner) -> PathBuf {
        self.shared.join(Self::folder_of(owner))
    }

    fn directory_error(&self, source: io::Error) -> IndexError {
        IndexError::Directory { dir: self.shared.join(FOLDER), source }
    }
}

/// Applies the changes that a killed process has left in the journal of an index.
fn recover(index: &Index, owner: PageOwner) {
    // On failure, searches use the committed pages, and the journal stays for the next write.
    if let Err(error) = index.recover() {
        let error = &error as &dyn std::error::Error;
        tracing::error!(error, owner = owner.number(), "the journal of a team's index could not be applied");
    }
}

/// Reads the owner from a directory name.
fn owner_of(name: &str) -> Option<PageOwner> {
    name.strip_prefix(REMOVING).unwrap_or(name).parse().ok().and_then(PageOwner::new)
}

fn remove_dir(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use websvc_index::{Document, SearchOptions};

    use super::*;

    fn owner(number: u64) -> PageOwner {
        PageOwner::new(number).unwrap()
    }

    fn add(index: &Index, word: &str) -> Result<(), IndexError> {
        let url = format!("http://{word}.test/");
        index.add(Document { url, title: word.to_owned(), body: word.to_owned(), ..Document::default() })
    }

    fn finds(index: &Index, word: &str) -> bool {
        let query = websvc_query::parse(word).query;
        !index.search(&query, &SearchOptions::default()).unwrap().hits.is_empty()
    }

    #[test]
    fn team_index_is_created_by_the_first_page_and_found_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        assert!(indexes.find(owner(1)).unwrap().is_none());
        assert!(indexes.owners().unwrap().is_empty());
        add(&indexes.open(owner(1)).unwrap(), "otter").unwrap();
        indexes.flush().unwrap();
        assert!(finds(&indexes.find(owner(1)).unwrap().unwrap(), "otter"));
        assert!(indexes.find(owner(2)).unwrap().is_none());
        drop(indexes);
        let reopened = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        assert_eq!(reopened.owners().unwrap(), BTreeSet::from([owner(1)]));
        assert!(finds(&reopened.find(owner(1)).unwrap().unwrap(), "otter"));
    }

    #[test]
    fn idle_index_is_closed_and_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        let in_use = indexes.open(owner(1)).unwrap();
        add(&indexes.open(owner(2)).unwrap(), "otter").unwrap();
        indexes.close_idle(Duration::from_secs(60));
        assert_eq!(indexes.open.lock().len(), 2, "both were used recently");
        indexes.close_idle(Duration::ZERO);
        assert_eq!(
            indexes.open.lock().keys().copied().collect::<Vec<_>>(),
            [owner(1)],
            "a request still uses it"
        );
        assert!(Arc::ptr_eq(&in_use, &indexes.open(owner(1)).unwrap()));
        let reopened = indexes.open(owner(2)).unwrap();
        assert!(finds(&reopened, "otter"), "closing an index commits its pages");
        add(&reopened, "beaver").unwrap();
    }

    #[test]
    fn removed_index_leaves_nothing_behind_even_if_it_is_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        let in_use = indexes.open(owner(1)).unwrap();
        add(&in_use, "otter").unwrap();
        add(&indexes.open(owner(2)).unwrap(), "beaver").unwrap();
        assert!(indexes.remove(owner(1)).unwrap());
        assert!(!indexes.remove(owner(1)).unwrap());
        assert!(indexes.find(owner(1)).unwrap().is_none());
        // It fails, or writes to deleted files.
        let _late = add(&in_use, "late").and_then(|()| in_use.flush());
        drop(in_use);
        let names = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names(&dir.path().join(FOLDER)).collect::<Vec<_>>(), ["2"]);
        indexes.flush().unwrap();
    }

    #[test]
    fn interrupted_removal_is_found_and_completed() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        let removing = dir.path().join(FOLDER).join("leaving-7");
        fs::create_dir_all(removing.join("images")).unwrap();
        assert_eq!(indexes.owners().unwrap(), BTreeSet::from([owner(7)]));
        assert!(!indexes.remove(owner(7)).unwrap(), "the team has no index any more");
        assert!(!removing.exists());
    }
}

//! Indexes of teams whose pages no other team may find.
//!
//! Each is an index of its own in a directory of its own, so that nothing of a page reaches what other teams are shown:
//! neither the page nor its words, which are suggested as spellings and weigh the words of all pages, nor the texts of its
//! links. It is opened when it is first needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use websvc_index::{Index, IndexConfig, IndexError};
use websvc_store::PageOwner;

/// The folder of the indexes of teams in the directory of the index that all teams share.
const FOLDER: &str = "teams";

/// Memory in bytes that the new documents of one team may take before they are written out; the least there is.
const WRITER_HEAP: usize = 15_000_000;

/// How long the writer of an index and its threads are kept after the last write.
const WRITER_IDLE: Duration = Duration::from_secs(2);

/// Marks an index that is being removed; what a process that was killed has left of it is removed later.
const LEAVING: &str = "leaving-";

/// The indexes of the teams that have one of their own. All calls block.
#[derive(Debug)]
pub struct TeamIndexes {
    /// The directory of the shared index.
    shared: PathBuf,
    config: IndexConfig,
    /// This process may write, so it applies what a process that was killed has left.
    writes: bool,
    open: Mutex<BTreeMap<PageOwner, Open>>,
}

/// An index that is open.
#[derive(Debug)]
struct Open {
    index: Arc<Index>,
    last_used: Instant,
}

impl TeamIndexes {
    /// Makes the indexes that belong to the shared one in `dir`. Nothing is opened and no directory made. Only one process
    /// may say that it writes.
    #[must_use]
    pub fn new(dir: &Path, config: IndexConfig, writes: bool) -> Self {
        // Many teams may write at one time.
        let config = IndexConfig { writer_heap: WRITER_HEAP, writer_idle: WRITER_IDLE, ..config };
        Self { shared: dir.to_owned(), config, writes, open: Mutex::default() }
    }

    /// Returns the index of a team, which is made when there is none.
    ///
    /// # Errors
    /// As for [`Index::open`].
    pub fn open(&self, owner: PageOwner) -> Result<Arc<Index>, IndexError> {
        self.open_in(&mut self.lock(), owner)
    }

    /// Returns the index of a team when it has one.
    ///
    /// # Errors
    /// As for [`Index::open`].
    pub fn find(&self, owner: PageOwner) -> Result<Option<Arc<Index>>, IndexError> {
        let mut open = self.lock();
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

    /// Closes the indexes that nobody used for so long.
    pub fn close_idle(&self, idle: Duration) {
        // Under the lock, so that none is opened again while its writer ends. A writer that is idle has nothing to write.
        self.lock().retain(|_, open| open.last_used.elapsed() < idle || Arc::strong_count(&open.index) > 1);
    }

    /// Returns the owners that have an index, or had one whose removal was broken off.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn owners(&self) -> Result<BTreeSet<PageOwner>, IndexError> {
        let names = self.names().map_err(|source| self.in_directory(source))?;
        Ok(names.iter().filter_map(|name| owner_of(name)).collect())
    }

    /// Removes the index of a team, and returns whether there was one. A request that still holds it can write no more.
    ///
    /// # Errors
    /// When the files cannot be removed.
    pub fn remove(&self, owner: PageOwner) -> Result<bool, IndexError> {
        let removing = || {
            let dir = self.dir_of(owner);
            let leaving = dir.with_file_name(format!("{LEAVING}{}", owner.number()));
            remove_dir(&leaving)?;
            // Under another name first: its writer, which commits when it is dropped, must not find its directory.
            match fs::rename(&dir, &leaving) {
                Ok(()) => remove_dir(&leaving).map(|()| true),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            }
        };
        let mut open = self.lock();
        let removed = removing().map_err(|source| self.in_directory(source))?;
        let _closed_without_the_lock = open.remove(&owner);
        drop(open);
        Ok(removed)
    }

    /// Waits until everything that was added to any of them is on disk and searchable.
    ///
    /// # Errors
    /// The first failure, after all were asked.
    pub fn flush(&self) -> Result<(), IndexError> {
        let open: Vec<_> = self.lock().values().map(|open| Arc::clone(&open.index)).collect();
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

    /// Returns where the index of a team is in the directory of the shared one.
    #[must_use]
    pub fn folder_of(owner: PageOwner) -> PathBuf {
        Path::new(FOLDER).join(owner.number().to_string())
    }

    fn dir_of(&self, owner: PageOwner) -> PathBuf {
        self.shared.join(Self::folder_of(owner))
    }

    fn in_directory(&self, source: io::Error) -> IndexError {
        IndexError::Directory { dir: self.shared.join(FOLDER), source }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PageOwner, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies what a process that was killed has left in the journal of an index.
fn recover(index: &Index, owner: PageOwner) {
    // Searches go on with what is committed, and the journal is kept for the next write.
    if let Err(error) = index.recover() {
        let error = &error as &dyn std::error::Error;
        tracing::error!(
            error,
            owner = owner.number(),
            "the journal of the index of a team could not be applied"
        );
    }
}

/// Reads the owner from the name of a directory.
fn owner_of(name: &str) -> Option<PageOwner> {
    name.strip_prefix(LEAVING).unwrap_or(name).parse().ok().and_then(PageOwner::new)
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
    fn index_of_a_team_is_made_by_the_first_page_and_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        assert!(indexes.find(owner(1)).unwrap().is_none());
        assert!(indexes.owners().unwrap().is_empty());
        add(&indexes.open(owner(1)).unwrap(), "otter").unwrap();
        indexes.flush().unwrap();
        assert!(finds(&indexes.find(owner(1)).unwrap().unwrap(), "otter"));
        assert!(indexes.find(owner(2)).unwrap().is_none());
        drop(indexes);
        let again = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        assert_eq!(again.owners().unwrap(), BTreeSet::from([owner(1)]));
        assert!(finds(&again.find(owner(1)).unwrap().unwrap(), "otter"));
    }

    #[test]
    fn idle_index_is_closed_and_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        let held = indexes.open(owner(1)).unwrap();
        add(&indexes.open(owner(2)).unwrap(), "otter").unwrap();
        indexes.close_idle(Duration::from_secs(60));
        assert_eq!(indexes.lock().len(), 2, "they were used a moment ago");
        indexes.close_idle(Duration::ZERO);
        assert_eq!(indexes.lock().keys().copied().collect::<Vec<_>>(), [owner(1)], "a request still has it");
        assert!(Arc::ptr_eq(&held, &indexes.open(owner(1)).unwrap()));
        let again = indexes.open(owner(2)).unwrap();
        assert!(finds(&again, "otter"), "it was committed when it was closed");
        add(&again, "beaver").unwrap();
    }

    #[test]
    fn removed_index_leaves_nothing_behind_even_when_it_is_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        let held = indexes.open(owner(1)).unwrap();
        add(&held, "otter").unwrap();
        add(&indexes.open(owner(2)).unwrap(), "beaver").unwrap();
        assert!(indexes.remove(owner(1)).unwrap());
        assert!(!indexes.remove(owner(1)).unwrap());
        assert!(indexes.find(owner(1)).unwrap().is_none());
        // It fails, or is written to files that nobody can name.
        let _late = add(&held, "late").and_then(|()| held.flush());
        drop(held);
        let left = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left(&dir.path().join(FOLDER)).collect::<Vec<_>>(), ["2"]);
        indexes.flush().unwrap();
    }

    #[test]
    fn removal_that_was_broken_off_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let indexes = TeamIndexes::new(dir.path(), IndexConfig::default(), true);
        let leaving = dir.path().join(FOLDER).join("leaving-7");
        fs::create_dir_all(leaving.join("images")).unwrap();
        assert_eq!(indexes.owners().unwrap(), BTreeSet::from([owner(7)]));
        assert!(!indexes.remove(owner(7)).unwrap(), "it has no index any more");
        assert!(!leaving.exists());
    }
}

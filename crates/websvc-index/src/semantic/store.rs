//! The vectors of the passages of pages, by the content hash of the page.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{RwLock, RwLockReadGuard};

use super::quantized::quantize;
use super::store_files::{StoreFiles, Version, create_dir};

/// Minimum empty rows before the files are written again without them.
const MIN_EMPTY_ROWS: u32 = 1_024;

/// Maximum share of empty rows: one of so many.
const MAX_EMPTY_SHARE: u32 = 4;

/// Rows that are copied at once.
const COPIED_ROWS: u32 = 1_024;

/// Consecutive rows of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// A page, given by its content hash, with the vectors of its passages.
pub(super) type EncodedPassages = (u64, Vec<Vec<f32>>);

type Spans = HashMap<u64, Span, BuildHasherDefault<KeyHasher>>;

/// The rows of a store.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(super) files: StoreFiles,
    pub(super) spans: Spans,
    /// Number of rows, with the empty ones.
    pub(super) rows: u32,
    empty: u32,
    version: Version,
}

/// The store in one directory. One process at a time may write to it.
#[derive(Debug)]
pub(super) struct VectorStore {
    dir: PathBuf,
    rows: RwLock<Option<Rows>>,
    /// True while this process has the right to write, so that no other process changes the files.
    writing: AtomicBool,
}

/// The right to write to a store.
#[derive(Debug)]
pub(super) struct StoreLock(#[expect(dead_code, reason = "held, not read")] File);

impl VectorStore {
    /// Creates the store of a directory without reading it.
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir, rows: RwLock::new(None), writing: AtomicBool::new(false) }
    }

    /// Returns the rows; `None` inside if there are none.
    pub(super) fn read(&self) -> RwLockReadGuard<'_, Option<Rows>> {
        self.rows.read()
    }

    /// Reads what another process has changed since the last call.
    pub(super) fn refresh(&self) -> io::Result<()> {
        if self.writing.load(Ordering::Acquire) {
            return Ok(());
        }
        let current = StoreFiles::current_version(&self.dir)?;
        if self.rows.read().as_ref().map(|rows| rows.version) != current {
            let opened = Rows::open(&self.dir, false)?;
            let mut rows = self.rows.write();
            // A writer may have started meanwhile.
            if !self.writing.load(Ordering::Acquire) {
                *rows = opened;
            }
        }
        Ok(())
    }

    /// Takes the right to write. Returns `None` while another thread or process has it.
    pub(super) fn lock(&self) -> io::Result<Option<StoreLock>> {
        create_dir(&self.dir)?;
        let file = File::create(self.dir.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(StoreLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Opens the rows of a model for writing. Discards those of another model.
    pub(super) fn open_for_writing(&self, _lock: &StoreLock, model: &str) -> io::Result<()> {
        let opened = Rows::open(&self.dir, true)?.filter(|rows| rows.files.header.model == model);
        if let Some(rows) = &opened {
            rows.files.truncate(rows.rows)?;
        }
        let mut rows = self.rows.write();
        self.writing.store(true, Ordering::Release);
        *rows = opened;
        Ok(())
    }

    /// Returns to reading what another process writes.
    pub(super) fn unlock(&self, lock: StoreLock) {
        self.writing.store(false, Ordering::Release);
        drop(lock);
    }

    /// Adds the vectors of pages that have none. Vectors without direction are left out.
    pub(super) fn append(&self, lock: &StoreLock, model: &str, pages: &[EncodedPassages]) -> io::Result<()> {
        let Some(dimensions) = pages.iter().flat_map(|(_, vectors)| vectors).map(Vec::len).next() else {
            return Ok(());
        };
        let fits = self.read().as_ref().is_some_and(|rows| {
            rows.files.header.dimensions == dimensions && rows.files.header.model == model
        });
        if !fits {
            let files = StoreFiles::create(&self.dir, model, dimensions)?;
            files.publish()?;
            self.open_for_writing(lock, model)?;
        }
        let (mut keys, mut bytes) = (Vec::new(), Vec::new());
        for (key, vectors) in pages {
            for row in vectors
                .iter()
                .filter(|vector| vector.len() == dimensions)
                .filter_map(|vector| quantize(vector))
            {
                keys.push(*key);
                bytes.extend(row);
            }
        }
        let first = self.read().as_ref().map_or(0, |rows| rows.rows);
        if let Some(rows) = self.read().as_ref() {
            rows.files.write_rows(first, &keys, &bytes)?;
        }
        if let Some(rows) = self.rows.write().as_mut() {
            rows.insert(first, &keys);
            rows.version = rows.files.version()?;
        }
        Ok(())
    }

    /// Removes the vectors of all pages that are not in `live`.
    pub(super) fn retain(&self, lock: &StoreLock, live: &HashSet<u64>) -> io::Result<()> {
        let dead: Vec<(u64, Span)> = match self.read().as_ref() {
            Some(rows) => {
                let spans = rows.spans.iter().filter(|(key, _)| !live.contains(key));
                spans.map(|(key, span)| (*key, *span)).collect()
            }
            None => return Ok(()),
        };
        if let Some(rows) = self.rows.write().as_mut() {
            for (key, span) in dead {
                rows.spans.remove(&key);
                rows.empty += span.count;
                rows.files.erase_rows(span.first, span.count)?;
            }
            rows.version = rows.files.version()?;
        }
        let is_sparse = self.read().as_ref().is_some_and(Rows::is_sparse);
        if is_sparse { self.rewrite(lock) } else { Ok(()) }
    }

    /// Writes the files again, without empty rows.
    fn rewrite(&self, lock: &StoreLock) -> io::Result<()> {
        let rows = self.read();
        let Some(old) = rows.as_ref() else { return Ok(()) };
        let model = old.files.header.model.clone();
        let files = StoreFiles::create(&self.dir, &model, old.files.header.dimensions)?;
        let keys = old.files.read_keys()?;
        let (row_bytes, mut written) = (files.row_bytes(), 0);
        let mut buffer = vec![0; COPIED_ROWS as usize * row_bytes];
        for (chunk, first) in keys.chunks(COPIED_ROWS as usize).zip((0..).step_by(COPIED_ROWS as usize)) {
            let buffer = &mut buffer[..chunk.len() * row_bytes];
            old.files.read_rows(first, buffer)?;
            let kept = chunk.iter().zip(buffer.chunks(row_bytes)).filter(|(key, _)| **key != 0);
            let (kept, rows): (Vec<u64>, Vec<&[u8]>) = kept.map(|(key, row)| (*key, row)).unzip();
            files.write_rows(written, &kept, &rows.concat())?;
            written += kept.len() as u32;
        }
        drop(rows);
        files.publish()?;
        self.open_for_writing(lock, &model)
    }
}

impl Rows {
    fn open(dir: &Path, writes: bool) -> io::Result<Option<Self>> {
        let Some(files) = StoreFiles::open(dir, writes)? else { return Ok(None) };
        let version = files.version()?;
        let keys = files.read_keys()?;
        let mut rows = Self { files, spans: Spans::default(), rows: 0, empty: 0, version };
        rows.insert(0, &keys);
        Ok(Some(rows))
    }

    /// Adds the keys of consecutive rows after the last one.
    fn insert(&mut self, mut first: u32, keys: &[u64]) {
        for run in keys.chunk_by(|a, b| a == b) {
            let span = Span { first, count: run.len() as u32 };
            if run[0] == 0 || self.spans.contains_key(&run[0]) {
                self.empty += span.count;
            } else {
                self.spans.insert(run[0], span);
            }
            first += span.count;
        }
        self.rows = first;
    }

    fn is_sparse(&self) -> bool {
        self.empty >= MIN_EMPTY_ROWS && self.empty > self.rows / MAX_EMPTY_SHARE
    }

    /// Returns the number of vectors.
    pub(super) fn vectors(&self) -> u32 {
        self.rows - self.empty
    }
}

/// Takes the key itself as the hash, because it is one.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

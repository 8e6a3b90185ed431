//! The write-ahead journal of documents that were added or removed and are not committed yet.
//!
//! A commit writes and flushes the files of a whole index segment, so commits are about one second apart. Until then
//! the changes are in the journal: [`Index::add`](crate::Index::add) appends before it returns. So a change survives
//! the end of the process, and after [`Index::sync`](crate::Index::sync) also a power failure. The next process that
//! takes the lock of the index applies the changes that remain. A change may be applied twice, but always before later
//! changes of the same URL, so the result is the same.
//!
//! The journal is a sequence of files, its segments. A record is the length of its payload (4 bytes), a hash of the
//! payload (8 bytes) and the payload. A truncated or damaged record ends its segment.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::display_doc::{self, DisplayDoc, DisplayDocHeader};
use crate::document::{Document, fingerprint_of_bytes};
use crate::stored_record;

/// Prefix of the file names of segments, before their number.
const PREFIX: &str = "journal-";

/// Size from which a segment is closed at a commit that does not include all of its changes.
const SEGMENT_BYTES: u64 = 1 << 20;

const HEADER_BYTES: usize = 12;

/// A change of the index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// Adds a document, or replaces the document with the same URL.
    Add(Box<Document>),
    /// Removes the document with this URL.
    Remove(String),
}

const ADD: u8 = 1;
const REMOVE: u8 = 2;

impl Change {
    /// Encodes the change as a record of the journal.
    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut out = vec![0; HEADER_BYTES];
        match self {
            Self::Add(document) => {
                out.push(ADD);
                out.extend(stored_record::encode(document, ""));
                let description = document.description.as_deref().unwrap_or_default();
                let header = DisplayDocHeader {
                    url: &document.url,
                    title: &document.title,
                    description,
                    ..DisplayDocHeader::default()
                };
                out.extend(display_doc::encode(&header, "", |_| 0));
            }
            Self::Remove(url) => {
                out.push(REMOVE);
                out.extend_from_slice(url.as_bytes());
            }
        }
        let (header, payload) = out.split_at_mut(HEADER_BYTES);
        let len =
            u32::try_from(payload.len()).map_err(|_| io::Error::other("a document of 4 GiB or more"))?;
        header[..4].copy_from_slice(&len.to_le_bytes());
        header[4..].copy_from_slice(&fingerprint_of_bytes(payload).to_le_bytes());
        Ok(out)
    }

    /// Decodes the payload of a record; `None` if it is damaged.
    fn decode(payload: &[u8]) -> Option<Self> {
        match payload.split_first()? {
            (&ADD, stored) => {
                stored_record::document(&DisplayDoc::decode(stored)?).map(Box::new).map(Self::Add)
            }
            (&REMOVE, url) => String::from_utf8(url.to_vec()).ok().map(Self::Remove),
            _ => None,
        }
    }
}

/// The journal of one index directory. Only the process that holds the lock of the index writes to it.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    /// Held from before a change is appended until it is in the queue of the writer thread, so that both have the same
    /// order. The writer thread must never take it: the holder may be waiting for capacity in the queue.
    order: Mutex<()>,
    state: Mutex<State>,
    /// The number of the last change that survives a power failure; held while the files are flushed.
    synced: Mutex<u64>,
    recovered: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// The segments before the current one, oldest first.
    closed: Vec<Segment>,
    current: Option<Segment>,
    /// The number of the last change that was appended by this process; the first is 1.
    appended: u64,
    /// The number of the newest segment.
    newest: u64,
    /// True if a segment was created and its directory entry is not flushed yet.
    has_unsynced_name: bool,
    /// True if the index writer failed and lost the changes that were applied since the last commit.
    is_unapplied: bool,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: Arc<File>,
    bytes: u64,
    /// The number of its last change; 0 if another process wrote it.
    last_change: u64,
}

impl Journal {
    /// Creates the journal of an index directory without reading or writing a file.
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            order: Mutex::default(),
            state: Mutex::default(),
            synced: Mutex::default(),
            recovered: AtomicU64::new(0),
        }
    }

    /// Appends a change and calls `send` with the change and its number, in the order of the journal.
    pub(crate) fn append<E>(
        &self,
        change: Change,
        to_error: impl FnOnce(io::Error) -> E,
        send: impl FnOnce(Change, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let record = match change.encode() {
            Ok(record) => record,
            Err(error) => return Err(to_error(error)),
        };
        let _order = self.order.lock();
        match self.write(&record) {
            Ok(number) => send(change, number),
            Err(error) => Err(to_error(error)),
        }
    }

    fn write(&self, record: &[u8]) -> io::Result<u64> {
        let mut state = self.state.lock();
        let state = &mut *state;
        let segment = match &mut state.current {
            Some(segment) => segment,
            current @ None => {
                let number = state.newest + 1;
                let path = self.dir.join(format!("{PREFIX}{number}"));
                let file = Arc::new(create(&path)?);
                (state.newest, state.has_unsynced_name) = (number, true);
                current.insert(Segment { path, file, bytes: 0, last_change: 0 })
            }
        };
        if let Err(error) = (&*segment.file).write_all(record) {
            // A partial record would hide the records after it.
            if segment.file.set_len(segment.bytes).is_err() {
                state.closed.extend(state.current.take());
            }
            return Err(error);
        }
        segment.bytes += record.len() as u64;
        state.appended += 1;
        segment.last_change = state.appended;
        Ok(state.appended)
    }

    /// Waits until all appended changes survive a power failure. Concurrent calls share a flush of the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let target = self.state.lock().appended;
        let mut synced = self.synced.lock();
        if *synced >= target {
            return Ok(());
        }
        let mut state = self.state.lock();
        let appended = state.appended;
        let segments = state.closed.iter().chain(&state.current);
        let segments = segments.filter(|segment| segment.last_change > *synced);
        let files: Vec<_> = segments.map(|segment| Arc::clone(&segment.file)).collect();
        let has_unsynced_name = std::mem::take(&mut state.has_unsynced_name);
        drop(state);
        let flushed = files.iter().try_for_each(|file| file.sync_data());
        let flushed = flushed.and_then(|()| if has_unsynced_name { self.sync_dir() } else { Ok(()) });
        if flushed.is_err() && has_unsynced_name {
            self.state.lock().has_unsynced_name = true;
        }
        flushed?;
        *synced = appended;
        Ok(())
    }

    /// Removes the segments whose changes are committed, that is, those that end with change `committed` or before it.
    ///
    /// The removal survives a power failure, after which no change older than the index may be applied.
    pub(crate) fn remove_committed(&self, committed: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        let done = state.closed.iter().take_while(|segment| segment.last_change <= committed).count();
        for segment in state.closed.drain(..done) {
            remove(&segment.path)?;
        }
        if done > 0 {
            self.sync_dir()?;
        }
        match &mut state.current {
            Some(segment) if segment.bytes > 0 && segment.last_change <= committed => {
                segment.file.set_len(0)?;
                segment.file.sync_data()?;
                segment.bytes = 0;
            }
            Some(segment) if segment.bytes >= SEGMENT_BYTES => {
                let segment = state.current.take();
                state.closed.extend(segment);
            }
            Some(_) | None => {}
        }
        Ok(())
    }

    /// Removes the current segment if it is empty, before the lock of the index is released.
    pub(crate) fn release(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        match state.current.take() {
            Some(segment) if segment.bytes == 0 => remove(&segment.path),
            current => {
                state.current = current;
                Ok(())
            }
        }
    }

    /// Records that the changes since the last commit must be applied again.
    pub(crate) fn mark_unapplied(&self) {
        self.state.lock().is_unapplied = true;
    }

    /// Returns the segments whose changes must be applied, oldest first. The caller must hold the lock of the index.
    pub(crate) fn unapplied(&self) -> io::Result<Vec<PathBuf>> {
        let mut state = self.state.lock();
        let mut found = Vec::new();
        let on_disk = self.on_disk()?;
        // Another process may have had the lock meanwhile, and applied and removed some segments.
        state.closed.retain(|segment| on_disk.iter().any(|(_, path)| segment.path == *path));
        let current = state.current.take();
        state.current = current.filter(|segment| on_disk.iter().any(|(_, path)| segment.path == *path));
        for (number, path) in on_disk {
            if state.closed.iter().chain(&state.current).any(|segment| segment.path == path) {
                continue;
            }
            let file = OpenOptions::new().append(true).open(&path)?;
            let bytes = file.metadata()?.len();
            found.push(Segment { path, file: Arc::new(file), bytes, last_change: 0 });
            state.newest = state.newest.max(number);
        }
        if found.iter().any(|segment| segment.bytes > 0) {
            state.is_unapplied = true;
        }
        // Other processes wrote them while this process had no lock, so they are newer than its own segments.
        state.closed.extend(found);
        let segments = state.closed.iter().chain(&state.current).filter(|segment| segment.bytes > 0);
        Ok(if state.is_unapplied {
            segments.map(|segment| segment.path.clone()).collect()
        } else {
            Vec::new()
        })
    }

    /// Records that the `count` changes of [`Journal::unapplied`] are applied.
    pub(crate) fn mark_applied(&self, count: u64) {
        self.state.lock().is_unapplied = false;
        self.recovered.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns the number of changes that were applied from the journal.
    pub(crate) fn recovered(&self) -> u64 {
        self.recovered.load(Ordering::Relaxed)
    }

    /// Returns true if a segment in the directory has changes.
    pub(crate) fn has_changes(&self) -> io::Result<bool> {
        for (_, path) in self.on_disk()? {
            if fs::metadata(path)?.len() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns number and path of the segments in the directory, oldest first.
    fn on_disk(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let mut segments = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let number = entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse().ok());
            segments.extend(number.map(|number: u64| (number, entry.path())));
        }
        segments.sort_unstable();
        Ok(segments)
    }

    /// Flushes the entries of the directory.
    fn sync_dir(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Creates a file that only its owner can read and write.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A reader of the changes of a segment.
pub(crate) struct ChangeReader {
    file: BufReader<File>,
    remaining: u64,
}

impl ChangeReader {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let remaining = file.metadata()?.len();
        Ok(Self { file: BufReader::new(file), remaining })
    }

    /// Returns the next change; `None` at the end, and at a truncated or damaged record.
    pub(crate) fn next(&mut self) -> io::Result<Option<Change>> {
        let Some(remaining) = self.remaining.checked_sub(HEADER_BYTES as u64) else { return Ok(None) };
        let (mut len, mut hash) = ([0; 4], [0; 8]);
        self.file.read_exact(&mut len)?;
        self.file.read_exact(&mut hash)?;
        let len = u32::from_le_bytes(len);
        let Some(remaining) = remaining.checked_sub(u64::from(len)) else { return Ok(None) };
        let mut payload = vec![0; len as usize];
        self.file.read_exact(&mut payload)?;
        self.remaining = remaining;
        let is_intact = fingerprint_of_bytes(&payload) == u64::from_le_bytes(hash);
        Ok(if is_intact { Change::decode(&payload) } else { None })
    }
}

#[cfg(test)]
mod tests;

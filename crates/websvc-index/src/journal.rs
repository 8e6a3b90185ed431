//! The journal: documents that were added or removed and are not in a commit of the index yet.
//!
//! A commit writes the files of a whole part and flushes each of them, so there is about one in a second. Until then the
//! changes are here, appended before [`Index::add`](crate::Index::add) returns: what was added survives the end of the
//! process, and after [`Index::sync`](crate::Index::sync) a power failure too. Whoever takes the lock of the index next
//! applies what is left. A change may be applied twice, but always before a later one of the same URL, so the result is
//! the same.
//!
//! A record is the length of its payload (4 bytes), a hash of it (8 bytes) and the payload. A record that was cut off ends
//! its segment.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::display_doc::{self, DisplayDoc, DisplayDocHeader};
use crate::document::{Document, fingerprint_of_bytes};
use crate::stored_record;

/// The names of the segments begin with this, a number follows.
const PREFIX: &str = "journal-";

/// A segment of at least this many bytes is continued in a new one when a commit has not come to its end.
const SEGMENT_BYTES: u64 = 1 << 20;

const HEADER_BYTES: usize = 12;

/// A change of the index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// A document comes, or takes the place of that with its URL.
    Add(Box<Document>),
    /// The document with this URL goes.
    Remove(String),
}

const ADD: u8 = 1;
const REMOVE: u8 = 2;

impl Change {
    /// Returns the change as a record of the journal.
    fn encode(&self) -> io::Result<Vec<u8>> {
        let mut out = vec![0; HEADER_BYTES];
        match self {
            Self::Add(document) => {
                out.push(ADD);
                out.extend(stored_record::encode(document, ""));
                let description = document.description.as_deref().unwrap_or_default();
                let head = DisplayDocHeader {
                    url: &document.url,
                    title: &document.title,
                    description,
                    ..DisplayDocHeader::default()
                };
                out.extend(display_doc::encode(&head, "", |_| 0));
            }
            Self::Remove(url) => {
                out.push(REMOVE);
                out.extend_from_slice(url.as_bytes());
            }
        }
        let (header, payload) = out.split_at_mut(HEADER_BYTES);
        let len = u32::try_from(payload.len()).map_err(|_| io::Error::other("a document of 4 GiB"))?;
        header[..4].copy_from_slice(&len.to_le_bytes());
        header[4..].copy_from_slice(&fingerprint_of_bytes(payload).to_le_bytes());
        Ok(out)
    }

    /// Reads the payload of a record; `None` when it is damaged.
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
    /// Held from before a change is appended until it is in the queue of the writing thread, so that both have one order.
    /// The writing thread never takes it: whoever holds it may be waiting for room in the queue.
    order: Mutex<()>,
    state: Mutex<State>,
    /// The number of the last change that survives a power failure; held while the files are flushed.
    synced: Mutex<u64>,
    recovered: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// The segments before the current one, in their order.
    closed: Vec<Segment>,
    current: Option<Segment>,
    /// The number of the last change that was appended by this process; the first is 1.
    appended: u64,
    /// The number of the newest segment.
    newest: u64,
    /// A segment was made, and its name was not flushed yet.
    has_new_name: bool,
    /// The index writer failed and lost the changes that it had applied since the last commit.
    is_unapplied: bool,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: Arc<File>,
    bytes: u64,
    /// The number of its last change; 0 when another process wrote it.
    last: u64,
}

impl Journal {
    /// Returns the journal of an index directory; touches no file.
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            order: Mutex::default(),
            state: Mutex::default(),
            synced: Mutex::default(),
            recovered: AtomicU64::new(0),
        }
    }

    /// Appends a change, and passes it on by `send` with its number, in the order of the journal.
    pub(crate) fn append<E>(
        &self,
        change: Change,
        failed: impl FnOnce(io::Error) -> E,
        send: impl FnOnce(Change, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let record = match change.encode() {
            Ok(record) => record,
            Err(error) => return Err(failed(error)),
        };
        let _order = lock(&self.order);
        match self.write(&record) {
            Ok(number) => send(change, number),
            Err(error) => Err(failed(error)),
        }
    }

    fn write(&self, record: &[u8]) -> io::Result<u64> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let segment = match &mut state.current {
            Some(segment) => segment,
            current @ None => {
                let number = state.newest + 1;
                let path = self.dir.join(format!("{PREFIX}{number}"));
                let file = Arc::new(create(&path)?);
                (state.newest, state.has_new_name) = (number, true);
                current.insert(Segment { path, file, bytes: 0, last: 0 })
            }
        };
        if let Err(error) = (&*segment.file).write_all(record) {
            // What was written of it would hide the records behind it.
            if segment.file.set_len(segment.bytes).is_err() {
                state.closed.extend(state.current.take());
            }
            return Err(error);
        }
        segment.bytes += record.len() as u64;
        state.appended += 1;
        segment.last = state.appended;
        Ok(state.appended)
    }

    /// Waits until all that was appended survives a power failure. Callers at one time share a flush of the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let wanted = lock(&self.state).appended;
        let mut synced = lock(&self.synced);
        if *synced >= wanted {
            return Ok(());
        }
        let mut state = lock(&self.state);
        let appended = state.appended;
        let segments = state.closed.iter().chain(&state.current).filter(|segment| segment.last > *synced);
        let files: Vec<_> = segments.map(|segment| Arc::clone(&segment.file)).collect();
        let has_new_name = std::mem::take(&mut state.has_new_name);
        drop(state);
        let flushed = files.iter().try_for_each(|file| file.sync_data());
        let flushed = flushed.and_then(|()| if has_new_name { self.sync_names() } else { Ok(()) });
        if flushed.is_err() && has_new_name {
            lock(&self.state).has_new_name = true;
        }
        flushed?;
        *synced = appended;
        Ok(())
    }

    /// Forgets the changes up to a number, which are committed. Nothing older than the index may be applied after a power
    /// failure, so this survives one.
    pub(crate) fn committed(&self, applied: u64) -> io::Result<()> {
        let mut state = lock(&self.state);
        let done = state.closed.iter().take_while(|segment| segment.last <= applied).count();
        for segment in state.closed.drain(..done) {
            remove(&segment.path)?;
        }
        if done > 0 {
            self.sync_names()?;
        }
        match &mut state.current {
            Some(segment) if segment.bytes > 0 && segment.last <= applied => {
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

    /// Gives up the current segment when it is empty: another process may take the lock of the index now.
    pub(crate) fn release(&self) -> io::Result<()> {
        let mut state = lock(&self.state);
        match state.current.take() {
            Some(segment) if segment.bytes == 0 => remove(&segment.path),
            current => {
                state.current = current;
                Ok(())
            }
        }
    }

    /// Says that the changes since the last commit have to be applied again.
    pub(crate) fn unapply(&self) {
        lock(&self.state).is_unapplied = true;
    }

    /// Returns the segments whose changes have to be applied, in their order. The lock of the index has to be held.
    pub(crate) fn unapplied(&self) -> io::Result<Vec<PathBuf>> {
        let mut state = lock(&self.state);
        let mut found = Vec::new();
        let on_disk = self.on_disk()?;
        // Another process that had the lock in the meantime may have applied and removed some.
        state.closed.retain(|segment| on_disk.iter().any(|(_, path)| segment.path == *path));
        let current = state.current.take();
        state.current = current.filter(|segment| on_disk.iter().any(|(_, path)| segment.path == *path));
        for (number, path) in on_disk {
            if state.closed.iter().chain(&state.current).any(|segment| segment.path == path) {
                continue;
            }
            let file = OpenOptions::new().append(true).open(&path)?;
            let bytes = file.metadata()?.len();
            found.push(Segment { path, file: Arc::new(file), bytes, last: 0 });
            state.newest = state.newest.max(number);
        }
        if found.iter().any(|segment| segment.bytes > 0) {
            state.is_unapplied = true;
        }
        // Other processes wrote them while this one had no lock, after all that this one wrote.
        state.closed.extend(found);
        let segments = state.closed.iter().chain(&state.current).filter(|segment| segment.bytes > 0);
        Ok(if state.is_unapplied {
            segments.map(|segment| segment.path.clone()).collect()
        } else {
            Vec::new()
        })
    }

    /// Says that the changes of [`Journal::unapplied`] are applied, and how many there were.
    pub(crate) fn applied(&self, count: u64) {
        lock(&self.state).is_unapplied = false;
        self.recovered.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns how many changes were applied again.
    pub(crate) fn recovered(&self) -> u64 {
        self.recovered.load(Ordering::Relaxed)
    }

    /// Tells whether a process has left changes.
    pub(crate) fn is_left(&self) -> io::Result<bool> {
        for (_, path) in self.on_disk()? {
            if fs::metadata(path)?.len() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the segments in the directory, in their order.
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

    /// Flushes the names in the directory.
    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Makes a file for its owner alone.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Reads the changes of a segment.
pub(crate) struct Changes {
    file: BufReader<File>,
    left: u64,
}

impl Changes {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Self { file: BufReader::new(file), left })
    }

    /// Returns the next change; `None` at the end, and at a record that was cut off or damaged.
    pub(crate) fn next(&mut self) -> io::Result<Option<Change>> {
        let Some(left) = self.left.checked_sub(HEADER_BYTES as u64) else { return Ok(None) };
        let (mut len, mut hash) = ([0; 4], [0; 8]);
        self.file.read_exact(&mut len)?;
        self.file.read_exact(&mut hash)?;
        let len = u32::from_le_bytes(len);
        let Some(left) = left.checked_sub(u64::from(len)) else { return Ok(None) };
        let mut payload = vec![0; len as usize];
        self.file.read_exact(&mut payload)?;
        self.left = left;
        let is_whole = fingerprint_of_bytes(&payload) == u64::from_le_bytes(hash);
        Ok(if is_whole { Change::decode(&payload) } else { None })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

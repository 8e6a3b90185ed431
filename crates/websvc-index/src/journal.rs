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

use crate::card::{self, Card, Head};
use crate::document::{Document, fingerprint_of_bytes};
use crate::record;

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
                out.extend(record::encode(document, ""));
                let description = document.description.as_deref().unwrap_or_default();
                let head =
                    Head { url: &document.url, title: &document.title, description, ..Head::default() };
                out.extend(card::encode(&head, "", |_| 0));
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
            (&ADD, stored) => record::document(&Card::decode(stored)?).map(Box::new).map(Self::Add),
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
    /// What was applied is lost, because the engine's writer failed.
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
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::document::{Image, Link, News};

    fn whole_document() -> Document {
        let time = |second| Timestamp::new(second, 5).ok();
        Document {
            url: "https://a.test/x".to_owned(),
            title: "A title".to_owned(),
            headings: vec!["One".to_owned(), "Two".to_owned()],
            body: "A body of some words.\n".repeat(2_000),
            description: Some("A description".to_owned()),
            language: Some("en".to_owned()),
            published: time(1),
            modified: time(2),
            seen: time(3),
            content_type: Some("text/html".to_owned()),
            country: Some("AT".to_owned()),
            explicit: true,
            images: vec![Image {
                url: "https://a.test/x.png".to_owned(),
                alt: "An image".to_owned(),
                width: Some(1),
                ..Image::default()
            }],
            links: vec![Link { url: "https://b.test/".to_owned(), text: "B".to_owned() }],
            news: Some(News { image_url: Some("https://a.test/n.png".to_owned()) }),
        }
    }

    fn append(journal: &Journal, change: Change) -> u64 {
        let mut number = 0;
        journal
            .append(
                change,
                |error| error,
                |_, given| {
                    number = given;
                    Ok(())
                },
            )
            .unwrap();
        number
    }

    fn removal(url: &str) -> Change {
        Change::Remove(url.to_owned())
    }

    /// What the next process finds.
    fn left(dir: &Path) -> Vec<Change> {
        let mut changes = Vec::new();
        for path in Journal::new(dir).unapplied().unwrap() {
            let mut segment = Changes::open(&path).unwrap();
            while let Some(change) = segment.next().unwrap() {
                changes.push(change);
            }
        }
        changes
    }

    #[test]
    fn changes_come_back_as_they_were_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path());
        let empty = Document { url: "https://a.test/".to_owned(), ..Document::default() };
        let changes = [
            Change::Add(Box::new(whole_document())),
            removal("https://b.test/"),
            Change::Add(Box::new(empty)),
        ];
        for (at, change) in changes.iter().enumerate() {
            assert_eq!(append(&journal, change.clone()), at as u64 + 1);
        }
        journal.sync().unwrap();
        assert_eq!(left(dir.path()), changes);
    }

    #[test]
    fn a_record_that_was_cut_off_or_damaged_ends_the_segment_wherever_that_is() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path());
        append(&journal, removal("a"));
        append(&journal, removal("b"));
        let path = dir.path().join("journal-1");
        let whole = fs::read(&path).unwrap();
        let first = HEADER_BYTES + 2;
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let expected = if cut < first { vec![] } else { vec![removal("a")] };
            assert_eq!(left(dir.path()), expected, "cut at {cut}");
        }
        for at in first..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(left(dir.path()), [removal("a")], "damaged at {at}");
        }
    }

    #[test]
    fn a_commit_takes_away_what_it_holds_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path());
        let first = append(&journal, removal("a"));
        let second = append(&journal, removal("b"));
        journal.committed(first).unwrap();
        assert_eq!(left(dir.path()), [removal("a"), removal("b")], "a segment goes as a whole");
        journal.committed(second).unwrap();
        assert_eq!(left(dir.path()), []);
        let long = "c".repeat(SEGMENT_BYTES as usize);
        let third = append(&journal, removal(&long));
        let fourth = append(&journal, removal("d"));
        journal.committed(second).unwrap();
        let fifth = append(&journal, removal("e"));
        assert_eq!(left(dir.path()).len(), 3);
        journal.committed(third).unwrap();
        assert_eq!(left(dir.path()).len(), 3);
        journal.committed(fourth).unwrap();
        assert_eq!(left(dir.path()), [removal("e")]);
        journal.committed(fifth).unwrap();
        assert!(!journal.is_left().unwrap());
    }

    #[test]
    fn the_segments_of_the_process_before_stand_before_new_ones() {
        let dir = tempfile::tempdir().unwrap();
        append(&Journal::new(dir.path()), removal("a"));
        let journal = Journal::new(dir.path());
        assert!(journal.is_left().unwrap());
        assert_eq!(journal.unapplied().unwrap().len(), 1);
        journal.applied(1);
        let number = append(&journal, removal("b"));
        assert_eq!(left(dir.path()), [removal("a"), removal("b")]);
        assert_eq!(journal.unapplied().unwrap(), Vec::<PathBuf>::new(), "they are applied once");
        journal.unapply();
        assert_eq!(journal.unapplied().unwrap().len(), 2, "and again when that was lost");
        journal.applied(2);
        journal.committed(number).unwrap();
        assert_eq!(left(dir.path()), []);
        assert_eq!(journal.recovered(), 3);
    }

    #[test]
    fn what_another_process_applied_in_between_is_not_applied_again() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path());
        append(&journal, removal("a"));
        journal.release().unwrap();
        assert_eq!(left(dir.path()), [removal("a")], "what is not committed stays");
        let other = Journal::new(dir.path());
        assert_eq!(other.unapplied().unwrap().len(), 1);
        other.applied(1);
        other.committed(0).unwrap();
        journal.unapply();
        assert_eq!(journal.unapplied().unwrap(), Vec::<PathBuf>::new());
        let number = append(&journal, removal("b"));
        assert_eq!(left(dir.path()), [removal("b")], "it goes to a file that is there");
        journal.committed(number).unwrap();
        journal.release().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_sync_covers_all_segments() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path());
        append(&journal, removal(&"a".repeat(SEGMENT_BYTES as usize)));
        journal.committed(0).unwrap();
        append(&journal, removal("b"));
        journal.sync().unwrap();
        assert_eq!(*lock(&journal.synced), 2);
        journal.sync().unwrap();
        assert_eq!(left(dir.path()).len(), 2);
    }
}

//! The spool: events in numbered files, and how far each sink has come.
//!
//! An event has a number, one more than the event before. Files hold a range of numbers each; those that every sink is
//! through with go. When all of them together become too large, the oldest goes whoever still wants it: a sink that is
//! down must not fill the disk, nor keep events from the others.

mod cursor;
mod record;
mod segment;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use segment::Segment;

/// The most bytes that a sink is given at one time; every event is smaller.
const BATCH_MAX_BYTES: u64 = 512 * 1024;
/// The most events that a sink is given at one time.
const BATCH_MAX_EVENTS: usize = 1000;
/// So many files make up a spool that is full.
const SEGMENTS: u64 = 16;
const SEGMENT_MIN_BYTES: u64 = 4 * 1024;
const SEGMENT_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The spool of one process; no other may have it open.
#[derive(Debug)]
pub(crate) struct Spool {
    dir: PathBuf,
    max_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// By number; never empty. Events are added to the last one.
    segments: VecDeque<Segment>,
    /// The last segment; `None` until it is needed and after a failure.
    file: Option<File>,
    cursors: Vec<Cursor>,
    /// Files that are full and may not be on the disk yet.
    to_sync: Vec<File>,
    /// True if events were added to the last segment since its last sync.
    is_dirty: bool,
}

#[derive(Debug)]
struct Cursor {
    sink: &'static str,
    /// The number of the next event.
    next: u64,
    /// Position of the cursor: segment and offset. Unknown until it has been searched.
    place: Option<(u64, u64)>,
    lost: u64,
}

/// Events for a sink, in order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Vec<u8>>,
    first: u64,
    /// The number after the last event.
    next: u64,
    place: (u64, u64),
    /// Events that could not be read again.
    damaged: u64,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.first
    }

    /// Leaves the first half of the events, at least one; the others come again.
    pub(crate) fn halve(&mut self) {
        let half = self.events.len().div_ceil(2);
        if self.damaged == 0 && half < self.events.len() {
            let cut: u64 = self.events[half..].iter().map(|event| record::encode(event).len() as u64).sum();
            self.next -= (self.events.len() - half) as u64;
            self.place.1 -= cut;
            self.events.truncate(half);
        }
    }
}

impl Spool {
    /// Opens the spool in a directory, which is made when it is not there. A sink that is new to it begins at its end.
    pub(crate) fn open(dir: &Path, max_bytes: u64, sinks: &[&'static str]) -> io::Result<Self> {
        create_private_dir(dir)?;
        cursor::forget_others(dir, sinks)?;
        let mut segments: VecDeque<Segment> = segment::list(dir)?.into();
        let known = sinks.iter().map(|sink| cursor::load(dir, sink)).collect::<io::Result<Vec<_>>>()?;
        let end = segments.back().map_or(0, |last| last.end);
        // A power failure may have taken events that were delivered: their numbers are not used again.
        let end = known.iter().flatten().flatten().copied().fold(end, u64::max);
        if segments.back().is_none_or(|last| last.end < end) {
            if let Some(last) = segments.back_mut() {
                last.end = end;
            }
            segments.push_back(Segment { first: end, end, bytes: 0 });
        }
        let start = segments.front().map_or(end, |first| first.first);
        let mut cursors = Vec::with_capacity(sinks.len());
        for (&sink, known) in sinks.iter().zip(known) {
            let next = match known {
                None => end,
                // Rather twice than not at all.
                Some(None) => start,
                Some(Some(next)) => next,
            };
            cursor::store(dir, sink, next)?;
            cursors.push(Cursor { sink, next, place: None, lost: 0 });
        }
        let mut state = State { segments, file: None, cursors, to_sync: Vec::new(), is_dirty: false };
        state.skip_what_is_gone();
        let spool = Self { dir: dir.to_owned(), max_bytes, state: Mutex::new(state) };
        spool.remove_delivered(&mut spool.lock());
        Ok(spool)
    }

    /// Adds an event; when this returns, it outlives the process.
    ///
    /// # Errors
    /// Failures of the file; the event is not in the spool then.
    pub(crate) fn append(&self, event: &[u8]) -> io::Result<()> {
        let line = record::encode(event);
        let length = line.len() as u64;
        let mut state = self.lock();
        let last = state.last();
        if last.bytes > 0 && last.bytes + length > self.segment_bytes() {
            self.begin_segment(&mut state);
        }
        self.make_room(&mut state, length);
        let last = state.last();
        let mut file = match state.file.take() {
            Some(file) => file,
            None => segment::open(&self.dir, last.first)?,
        };
        if let Err(error) = file.write_all(&line) {
            // What there is of it must not be taken for the beginning of the next.
            if file.set_len(last.bytes).is_err() {
                self.leave_segment(&mut state, last);
            }
            return Err(error);
        }
        state.file = Some(file);
        state.is_dirty = true;
        if let Some(last) = state.segments.back_mut() {
            last.end += 1;
            last.bytes += length;
        }
        Ok(())
    }

    /// Returns the next events of a sink, none when it has all.
    pub(crate) fn read(&self, sink: usize) -> io::Result<Batch> {
        loop {
            let (next, place, segment, is_last) = {
                let mut state = self.lock();
                state.skip_what_is_gone();
                let Cursor { next, place, .. } = state.cursors[sink];
                let found = state.segments.iter().position(|segment| next < segment.end);
                let Some(at) = found else { return Ok(Batch { first: next, next, ..Batch::default() }) };
                (next, place, state.segments[at], at + 1 == state.segments.len())
            };
            match self.read_segment(next, place, segment, is_last) {
                // It went just now, because the spool is full.
                Err(error) if error.kind() == ErrorKind::NotFound && !self.has(segment) => {}
                // Somebody took it away.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let Segment { first, end, bytes } = segment;
                    let damaged = end - next;
                    return Ok(Batch {
                        events: Vec::new(),
                        first: next,
                        next: end,
                        place: (first, bytes),
                        damaged,
                    });
                }
                read => return read,
            }
        }
    }

    fn read_segment(
        &self,
        next: u64,
        place: Option<(u64, u64)>,
        segment: Segment,
        is_last: bool,
    ) -> io::Result<Batch> {
        let Segment { first, end, bytes } = segment;
        let file = File::open(segment::path(&self.dir, first))?;
        let offset = match place {
            Some((of, offset)) if of == first => offset,
            _ => segment::offset_of(&file, next - first)?,
        };
        let lines = segment::read_lines(&file, offset, bytes, BATCH_MAX_BYTES, BATCH_MAX_EVENTS)?;
        let mut batch =
            Batch { first: next, next, place: (first, offset + lines.len() as u64), ..Batch::default() };
        for line in lines.split_inclusive(|byte| *byte == b'\n').take(usize_of(end - next)) {
            batch.next += 1;
            match record::decode(&line[..line.len() - 1]) {
                Some(event) => batch.events.push(event.to_vec()),
                None => batch.damaged += 1,
            }
        }
        if lines.is_empty() || (!is_last && batch.place.1 >= bytes) {
            // There are fewer lines than numbers: a power failure took them.
            batch.damaged += end - batch.next;
            batch.next = end;
        }
        Ok(batch)
    }

    /// Notes that a sink has the events of a batch.
    ///
    /// # Errors
    /// Failures of the file that says so; the events are delivered again when the process ends before the next batch.
    pub(crate) fn commit(&self, sink: usize, batch: &Batch) -> io::Result<()> {
        let (name, next) = {
            let mut state = self.lock();
            let cursor = &mut state.cursors[sink];
            if cursor.next <= batch.next {
                cursor.next = batch.next;
                cursor.place = Some(batch.place);
            }
            cursor.lost += batch.damaged;
            let now = (cursor.sink, cursor.next);
            self.remove_delivered(&mut state);
            now
        };
        cursor::store(&self.dir, name, next)
    }

    /// Tells whether a failure of power could take something.
    pub(crate) fn is_dirty(&self) -> bool {
        let state = self.lock();
        state.is_dirty || !state.to_sync.is_empty()
    }

    /// Sees to it that what was added until now survives a failure of power, too.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let (full, last) = {
            let mut state = self.lock();
            let last = match &state.file {
                Some(file) if state.is_dirty => Some(file.try_clone()?),
                _ => None,
            };
            state.is_dirty = false;
            (std::mem::take(&mut state.to_sync), last)
        };
        let is_new = !full.is_empty();
        for file in full.iter().chain(&last) {
            file.sync_data()?;
        }
        if is_new {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(())
    }

    /// Returns how many events a sink has not got yet, and how many it has lost.
    pub(crate) fn figures(&self, sink: usize) -> (u64, u64) {
        let state = self.lock();
        let Cursor { next, lost, .. } = state.cursors[sink];
        (state.last().end.saturating_sub(next), lost)
    }

    /// Returns the bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes()
    }

    fn segment_bytes(&self) -> u64 {
        (self.max_bytes / SEGMENTS).clamp(SEGMENT_MIN_BYTES, SEGMENT_MAX_BYTES)
    }

    fn begin_segment(&self, state: &mut State) {
        state.to_sync.extend(state.file.take());
        let first = state.last().end;
        if first > state.last().first {
            state.segments.push_back(Segment { first, end: first, bytes: 0 });
        }
        self.remove_delivered(state);
    }

    /// Goes on in another file: this one ends in something that cannot be taken back.
    fn leave_segment(&self, state: &mut State, last: Segment) {
        if last.bytes > 0 {
            self.begin_segment(state);
        } else if let Err(error) = std::fs::remove_file(segment::path(&self.dir, last.first)) {
            tracing::warn!(%error, "a file of audit events cannot be removed");
        }
    }

    /// Lets the oldest files go until so many bytes fit in.
    fn make_room(&self, state: &mut State, length: u64) {
        while state.segments.len() > 1 && state.bytes() + length > self.max_bytes {
            self.remove_first(state);
        }
    }

    /// Removes the files that every sink is through with.
    fn remove_delivered(&self, state: &mut State) {
        while state.segments.len() > 1
            && state.cursors.iter().all(|cursor| cursor.next >= state.segments[0].end)
        {
            self.remove_first(state);
        }
    }

    fn remove_first(&self, state: &mut State) {
        let Some(gone) = state.segments.pop_front() else { return };
        if let Err(error) = std::fs::remove_file(segment::path(&self.dir, gone.first))
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, "a file of audit events cannot be removed");
        }
        state.skip_what_is_gone();
    }

    fn has(&self, segment: Segment) -> bool {
        self.lock().segments.iter().any(|known| known.first == segment.first)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn last(&self) -> Segment {
        self.segments.back().copied().unwrap_or(Segment { first: 0, end: 0, bytes: 0 })
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Lets the sinks go on with what is left; what they had not got before is lost to them.
    fn skip_what_is_gone(&mut self) {
        let start = self.segments.front().map_or(0, |first| first.first);
        for cursor in &mut self.cursors {
            if cursor.next < start {
                let lost = start - cursor.next;
                tracing::error!(
                    sink = cursor.sink,
                    lost,
                    "audit events left the spool before they were delivered"
                );
                cursor.lost += lost;
                cursor.next = start;
                cursor.place = None;
            }
        }
    }
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

#[cfg(test)]
mod tests;

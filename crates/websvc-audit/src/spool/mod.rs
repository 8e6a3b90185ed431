//! The spool: numbered events in segment files, and a cursor per sink.
//!
//! The number of an event is one more than that of the event before. A segment contains a range of numbers. Segments
//! that all sinks have received are removed. When the total size reaches the limit, the oldest segment is removed even
//! if a sink still needs it: a failed sink must neither fill the disk nor keep events from the others.

mod cursor;
mod record;
mod segment;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use segment::Segment;

/// The maximum size of a batch in bytes. Every event is smaller.
const BATCH_MAX_BYTES: u64 = 512 * 1024;
/// The maximum number of events in a batch.
const BATCH_MAX_EVENTS: usize = 1000;
/// The number of segments of a full spool.
const SEGMENTS: u64 = 16;
const SEGMENT_MIN_BYTES: u64 = 4 * 1024;
const SEGMENT_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The spool of one process. No other process may have it open.
#[derive(Debug)]
pub(crate) struct Spool {
    dir: PathBuf,
    max_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The segments by number; never empty. Events are appended to the last one.
    segments: VecDeque<Segment>,
    /// The file of the last segment; `None` until it is needed and after a failure.
    file: Option<File>,
    cursors: Vec<Cursor>,
    /// Full segments that may not be synced to disk yet.
    to_sync: Vec<File>,
    /// Events were appended to the last segment since its last sync.
    is_dirty: bool,
}

#[derive(Debug)]
struct Cursor {
    sink: &'static str,
    /// The number of the next event.
    next: u64,
    /// The position of the next event: segment and offset. `None` until it was searched.
    position: Option<(u64, u64)>,
    lost: u64,
}

/// Consecutive events for a sink.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Vec<u8>>,
    first: u64,
    /// The number after the last event.
    next: u64,
    position: (u64, u64),
    /// The number of events that are damaged.
    damaged: u64,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.next == self.first
    }

    /// Reduces the batch to the first half of its events, at least one. The others are read again later.
    pub(crate) fn halve(&mut self) {
        let half = self.events.len().div_ceil(2);
        if self.damaged == 0 && half < self.events.len() {
            let cut: u64 = self.events[half..].iter().map(|event| record::encode(event).len() as u64).sum();
            self.next -= (self.events.len() - half) as u64;
            self.position.1 -= cut;
            self.events.truncate(half);
        }
    }
}

impl Spool {
    /// Opens the spool in a directory, and creates the directory if necessary. A new sink starts at the end of the
    /// spool.
    pub(crate) fn open(dir: &Path, max_bytes: u64, sinks: &[&'static str]) -> io::Result<Self> {
        create_private_dir(dir)?;
        cursor::remove_others(dir, sinks)?;
        let mut segments: VecDeque<Segment> = segment::list(dir)?.into();
        let known = sinks.iter().map(|sink| cursor::load(dir, sink)).collect::<io::Result<Vec<_>>>()?;
        let end = segments.back().map_or(0, |last| last.end);
        // A power failure may have removed delivered events. Their numbers are not used again.
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
                // The cursor is damaged: rather deliver events again than lose them.
                Some(None) => start,
                Some(Some(next)) => next,
            };
            cursor::store(dir, sink, next)?;
            cursors.push(Cursor { sink, next, position: None, lost: 0 });
        }
        let mut state = State { segments, file: None, cursors, to_sync: Vec::new(), is_dirty: false };
        state.skip_removed_events();
        let spool = Self { dir: dir.to_owned(), max_bytes, state: Mutex::new(state) };
        spool.remove_delivered(&mut spool.state.lock());
        Ok(spool)
    }

    /// Appends an event. Afterwards, it survives the end of the process.
    ///
    /// # Errors
    /// Errors of the file. Then the event is not in the spool.
    pub(crate) fn append(&self, event: &[u8]) -> io::Result<u64> {
        let line = record::encode(event);
        let length = line.len() as u64;
        let mut state = self.state.lock();
        let last = state.last();
        if last.bytes > 0 && last.bytes + length > self.segment_bytes() {
            self.begin_segment(&mut state);
        }
        self.free_space(&mut state, length);
        let last = state.last();
        let mut file = match state.file.take() {
            Some(file) => file,
            None => segment::open(&self.dir, last.first)?,
        };
        if let Err(error) = file.write_all(&line) {
            // A partial event must not become the beginning of the next one.
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
        Ok(last.end)
    }

    /// Returns whether a sink has received the event of this number.
    pub(crate) fn has_received(&self, sink: usize, number: u64) -> bool {
        self.state.lock().cursors[sink].next > number
    }

    /// Returns the next events for a sink; an empty batch if it has received all of them.
    pub(crate) fn read(&self, sink: usize) -> io::Result<Batch> {
        loop {
            let (next, position, segment, is_last) = {
                let mut state = self.state.lock();
                state.skip_removed_events();
                let Cursor { next, position, .. } = state.cursors[sink];
                let found = state.segments.iter().position(|segment| next < segment.end);
                let Some(index) = found else { return Ok(Batch { first: next, next, ..Batch::default() }) };
                (next, position, state.segments[index], index + 1 == state.segments.len())
            };
            match self.read_segment(next, position, segment, is_last) {
                // The segment was removed in the meantime, because the spool is full.
                Err(error) if error.kind() == ErrorKind::NotFound && !self.has(segment) => {}
                // Another program has removed the file.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let Segment { first, end, bytes } = segment;
                    let damaged = end - next;
                    return Ok(Batch {
                        events: Vec::new(),
                        first: next,
                        next: end,
                        position: (first, bytes),
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
        position: Option<(u64, u64)>,
        segment: Segment,
        is_last: bool,
    ) -> io::Result<Batch> {
        let Segment { first, end, bytes } = segment;
        let file = File::open(segment::path(&self.dir, first))?;
        let offset = match position {
            Some((segment_first, offset)) if segment_first == first => offset,
            _ => segment::offset_of(&file, next - first)?,
        };
        let lines = segment::read_lines(&file, offset, bytes, BATCH_MAX_BYTES, BATCH_MAX_EVENTS)?;
        let mut batch =
            Batch { first: next, next, position: (first, offset + lines.len() as u64), ..Batch::default() };
        for line in lines.split_inclusive(|byte| *byte == b'\n').take(usize_of(end - next)) {
            batch.next += 1;
            match record::decode(&line[..line.len() - 1]) {
                Some(event) => batch.events.push(event.to_vec()),
                None => batch.damaged += 1,
            }
        }
        if lines.is_empty() || (!is_last && batch.position.1 >= bytes) {
            // There are fewer lines than numbers, because a power failure has removed events.
            batch.damaged += end - batch.next;
            batch.next = end;
        }
        Ok(batch)
    }

    /// Records that a sink has received the events of a batch.
    ///
    /// # Errors
    /// Errors of the cursor file. Then the events are delivered again if the process ends before the next batch.
    pub(crate) fn commit(&self, sink: usize, batch: &Batch) -> io::Result<()> {
        let (name, next) = {
            let mut state = self.state.lock();
            let cursor = &mut state.cursors[sink];
            if cursor.next <= batch.next {
                cursor.next = batch.next;
                cursor.position = Some(batch.position);
            }
            cursor.lost += batch.damaged;
            let committed = (cursor.sink, cursor.next);
            self.remove_delivered(&mut state);
            committed
        };
        cursor::store(&self.dir, name, next)
    }

    /// Returns whether a power failure could lose events.
    pub(crate) fn is_dirty(&self) -> bool {
        let state = self.state.lock();
        state.is_dirty || !state.to_sync.is_empty()
    }

    /// Syncs all events to disk, so that they survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let (full, last) = {
            let mut state = self.state.lock();
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

    /// Returns the number of events that a sink has not received yet, and the number that it has lost.
    pub(crate) fn backlog_and_lost(&self, sink: usize) -> (u64, u64) {
        let state = self.state.lock();
        let Cursor { next, lost, .. } = state.cursors[sink];
        (state.last().end.saturating_sub(next), lost)
    }

    /// Returns the size of all segments in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.state.lock().bytes()
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

    /// Continues with another segment, because the end of this one is damaged and cannot be truncated.
    fn leave_segment(&self, state: &mut State, last: Segment) {
        if last.bytes > 0 {
            self.begin_segment(state);
        } else if let Err(error) = std::fs::remove_file(segment::path(&self.dir, last.first)) {
            tracing::warn!(%error, "a segment of the audit spool cannot be removed");
        }
    }

    /// Removes the oldest segments until `length` more bytes fit into the limit.
    fn free_space(&self, state: &mut State, length: u64) {
        while state.segments.len() > 1 && state.bytes() + length > self.max_bytes {
            self.remove_first(state);
        }
    }

    /// Removes the segments that all sinks have received.
    fn remove_delivered(&self, state: &mut State) {
        while state.segments.len() > 1
            && state.cursors.iter().all(|cursor| cursor.next >= state.segments[0].end)
        {
            self.remove_first(state);
        }
    }

    fn remove_first(&self, state: &mut State) {
        let Some(removed) = state.segments.pop_front() else { return };
        if let Err(error) = std::fs::remove_file(segment::path(&self.dir, removed.first))
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, "a segment of the audit spool cannot be removed");
        }
        state.skip_removed_events();
    }

    fn has(&self, segment: Segment) -> bool {
        self.state.lock().segments.iter().any(|known| known.first == segment.first)
    }
}

impl State {
    fn last(&self) -> Segment {
        self.segments.back().copied().unwrap_or(Segment { first: 0, end: 0, bytes: 0 })
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Moves the cursors to the first remaining event. Skipped events are counted as lost.
    fn skip_removed_events(&mut self) {
        let start = self.segments.front().map_or(0, |first| first.first);
        for cursor in &mut self.cursors {
            if cursor.next < start {
                let lost = start - cursor.next;
                tracing::error!(
                    sink = cursor.sink,
                    lost,
                    "audit events were removed from the spool before they were delivered"
                );
                cursor.lost += lost;
                cursor.next = start;
                cursor.position = None;
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

//! The segments of the spool. The name of a file is the number of its first event.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const EXTENSION: &str = "events";

/// A file of the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// The number of its first event.
    pub(super) first: u64,
    /// The number after its last event.
    pub(super) end: u64,
    pub(super) bytes: u64,
}

pub(super) fn path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:020}.{EXTENSION}"))
}

/// Opens a segment for appending.
pub(super) fn open(dir: &Path, first: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path(dir, first))
}

/// Returns the existing segments by number. An incomplete event at the end of the last one is removed.
pub(super) fn list(dir: &Path) -> io::Result<Vec<Segment>> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.path();
        let number = name.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if name.extension().is_some_and(|extension| extension == EXTENSION) {
            numbers.extend(number);
        }
    }
    numbers.sort_unstable();
    let mut segments = Vec::with_capacity(numbers.len());
    for (index, &first) in numbers.iter().enumerate() {
        let is_last = index + 1 == numbers.len();
        let (lines, bytes) = if is_last { repair(&path(dir, first))? } else { (0, size(&path(dir, first))?) };
        let end = numbers.get(index + 1).copied().unwrap_or(first + lines);
        segments.push(Segment { first, end, bytes });
    }
    Ok(segments)
}

fn size(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.len())
}

/// Truncates a file after its last complete line. Returns the number of its lines and bytes.
fn repair(path: &Path) -> io::Result<(u64, u64)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let (lines, bytes) = whole_lines(&file)?;
    if bytes < file.metadata()?.len() {
        file.set_len(bytes)?;
    }
    Ok((lines, bytes))
}

fn whole_lines(file: &File) -> io::Result<(u64, u64)> {
    let mut reader = BufReader::new(file);
    let (mut lines, mut complete, mut read) = (0, 0, 0);
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok((lines, complete));
        }
        for index in line_ends(chunk) {
            lines += 1;
            complete = read + index as u64 + 1;
        }
        let length = chunk.len();
        read += length as u64;
        reader.consume(length);
    }
}

fn line_ends(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index)
}

/// Returns the offset of the line with this number, counted from 0, or the end of the file if there are fewer lines.
pub(super) fn offset_of(file: &File, line: u64) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut lines, mut read) = (0, 0);
    while lines < line {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let missing = usize::try_from(line - lines).unwrap_or(usize::MAX);
        let ends: Vec<usize> = line_ends(chunk).take(missing).collect();
        lines += ends.len() as u64;
        let consumed = if lines == line { ends.last().map_or(0, |index| index + 1) } else { chunk.len() };
        read += consumed as u64;
        reader.consume(consumed);
    }
    Ok(read)
}

/// Reads complete lines from `offset` on, at most `max_bytes` and `max_lines`, up to the offset `end`. Returns them
/// with their line ends.
pub(super) fn read_lines(
    mut file: &File,
    offset: u64,
    end: u64,
    max_bytes: u64,
    max_lines: usize,
) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(max_bytes.min(end.saturating_sub(offset))).read_to_end(&mut bytes)?;
    let complete = line_ends(&bytes).take(max_lines).last().map_or(0, |index| index + 1);
    bytes.truncate(complete);
    Ok(bytes)
}

//! Reads OLE compound files ([MS-CFB]): storages and streams, whose sectors are chained in tables.

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::text_encoding::utf16;

/// The size of a directory entry.
const ENTRY_BYTES: usize = 128;
/// The sector numbers that are not sectors begin here.
const MAX_SECTOR: u32 = 0xffff_fffa;
/// The entry number that is none.
const NO_ENTRY: u32 = 0xffff_ffff;
/// The maximum number of entries.
const MAX_ENTRIES: usize = 10_000;

/// An entry of the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry(usize);

/// The values of an entry.
#[derive(Debug)]
struct Values {
    name: String,
    left: u32,
    right: u32,
    child: u32,
    start: u32,
    size: usize,
}

/// A compound file.
#[derive(Debug)]
pub(crate) struct CompoundFile<'b> {
    bytes: &'b [u8],
    sector_bytes: usize,
    /// The next sector of each sector, and of each small one.
    next: Vec<u32>,
    next_small: Vec<u32>,
    /// The content of the small sectors.
    small: Vec<u8>,
    /// The streams of a smaller size are in small sectors.
    cutoff: usize,
    entries: Vec<Values>,
}

impl<'b> CompoundFile<'b> {
    pub(crate) fn open(kind: DocumentKind, bytes: &'b [u8]) -> Result<Self, DocumentError> {
        let damaged = || DocumentError::damaged(kind, "its header is incomplete");
        let header = bytes.get(..512).ok_or_else(damaged)?;
        let sector_bytes = match header[30] {
            9 => 512,
            12 => 4096,
            _ => return Err(damaged()),
        };
        let mut file = Self {
            bytes,
            sector_bytes,
            next: Vec::new(),
            next_small: Vec::new(),
            small: Vec::new(),
            cutoff: number(header, 56) as usize,
            entries: Vec::new(),
        };
        file.next = file.allocation_table(header);
        file.entries =
            file.chain(number(header, 48)).chunks_exact(ENTRY_BYTES).take(MAX_ENTRIES).map(values).collect();
        file.next_small = numbers(&file.chain(number(header, 60)));
        if let Some(root) = file.entries.first() {
            file.small = file.chain(root.start);
        }
        if file.entries.is_empty() { Err(damaged()) } else { Ok(file) }
    }

    /// Returns the next sector of each sector. The first sectors of this table are named in the header, and the others
    /// in a chain of sectors.
    fn allocation_table(&self, header: &[u8]) -> Vec<u32> {
        let mut sectors: Vec<u32> = numbers(&header[76..512]);
        let mut list = number(header, 68);
        let max_sectors = self.bytes.len() / self.sector_bytes + 1;
        for _ in 0..max_sectors {
            let Some(sector) = self.sector(list) else { break };
            let mut named = numbers(sector);
            list = named.pop().unwrap_or(MAX_SECTOR);
            sectors.extend(named);
        }
        let sectors = sectors.into_iter().filter(|sector| *sector < MAX_SECTOR).take(max_sectors);
        sectors.filter_map(|sector| self.sector(sector)).flat_map(numbers).collect()
    }

    fn sector(&self, number: u32) -> Option<&'b [u8]> {
        if number >= MAX_SECTOR {
            return None;
        }
        let start = (number as usize).checked_add(1)?.checked_mul(self.sector_bytes)?;
        let end = (start + self.sector_bytes).min(self.bytes.len());
        self.bytes.get(start..end)
    }

    /// Returns the content of a chain of sectors. It is at most as long as the file, so a loop ends.
    fn chain(&self, start: u32) -> Vec<u8> {
        let mut content = Vec::new();
        let mut sector = start;
        while let Some(bytes) = self.sector(sector) {
            if bytes.is_empty() || content.len() + bytes.len() > self.bytes.len() {
                break;
            }
            content.extend_from_slice(bytes);
            sector = self.next.get(sector as usize).copied().unwrap_or(MAX_SECTOR);
        }
        content
    }

    pub(crate) fn root(&self) -> Entry {
        Entry(0)
    }

    pub(crate) fn name(&self, entry: Entry) -> &str {
        self.entries.get(entry.0).map_or("", |entry| entry.name.as_str())
    }

    /// Returns the entries of a storage, in no order.
    pub(crate) fn children(&self, storage: Entry) -> Vec<Entry> {
        let mut children = Vec::new();
        let mut is_visited = vec![false; self.entries.len()];
        let mut pending: Vec<u32> =
            self.entries.get(storage.0).map(|entry| entry.child).into_iter().collect();
        while let Some(number) = pending.pop() {
            let index = number as usize;
            let Some(entry) = self.entries.get(index).filter(|_| number != NO_ENTRY && !is_visited[index])
            else {
                continue;
            };
            is_visited[index] = true;
            children.push(Entry(index));
            pending.extend([entry.right, entry.left]);
        }
        children
    }

    /// Returns the entry of a storage with a name.
    pub(crate) fn child(&self, storage: Entry, name: &str) -> Option<Entry> {
        self.children(storage).into_iter().find(|entry| self.name(*entry).eq_ignore_ascii_case(name))
    }

    /// Returns the size of a stream in bytes.
    pub(crate) fn size(&self, stream: Entry) -> usize {
        self.entries.get(stream.0).map_or(0, |entry| entry.size)
    }

    /// Returns the content of a stream.
    pub(crate) fn read(&self, stream: Entry) -> Vec<u8> {
        let Some(entry) = self.entries.get(stream.0) else { return Vec::new() };
        let mut content =
            if entry.size < self.cutoff { self.small_chain(entry) } else { self.chain(entry.start) };
        content.truncate(entry.size);
        content
    }

    fn small_chain(&self, entry: &Values) -> Vec<u8> {
        const SMALL_BYTES: usize = 64;
        let mut content = Vec::new();
        let mut sector = entry.start;
        while sector < MAX_SECTOR && content.len() < entry.size {
            let start = (sector as usize).saturating_mul(SMALL_BYTES);
            let Some(bytes) = self.small.get(start..(start + SMALL_BYTES).min(self.small.len())) else {
                break;
            };
            if bytes.is_empty() {
                break;
            }
            content.extend_from_slice(bytes);
            sector = self.next_small.get(sector as usize).copied().unwrap_or(MAX_SECTOR);
        }
        content
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|bytes| number(bytes, 0)).collect()
}

fn values(entry: &[u8]) -> Values {
    let length = usize::from(u16::from_le_bytes([entry[64], entry[65]])).clamp(2, 64) - 2;
    Values {
        name: utf16(&entry[..length], u16::from_le_bytes),
        left: number(entry, 68),
        right: number(entry, 72),
        child: number(entry, 76),
        start: number(entry, 116),
        size: number(entry, 120) as usize,
    }
}

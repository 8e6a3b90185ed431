//! The journal: a file with the charges of a process that are not yet in the database, which survives the process.
//!
//! A charge is one small write without a database lock and without a disk flush. So the thread of the request can make
//! it before the response is sent. Each charge has a number and a slot in a ring. The database stores the number of the
//! last charge that was applied, so none is applied twice.
//!
//! The process keeps the file locked while it lives. The system releases the lock however the process ends, and only
//! then may other processes return its leases. A process that is merely suspended keeps its credits.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::private_file::create_private_dir;

/// The directory of the journals, in the data directory.
const DIRECTORY: &str = "ledger";
/// Size of a record: number, lease, credits and checksum, eight bytes each.
const RECORD_BYTES: usize = 32;
/// Number of slots in the ring: more than the charges between two flushes.
pub(super) const SLOTS: u64 = 65_536;

/// A charge in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charge {
    /// Number in the journal, from 1.
    pub(super) number: u64,
    /// The lease whose credits were charged.
    pub(super) lease: i64,
    pub(super) credits: u64,
}

/// The journal of this process.
#[derive(Debug)]
pub(super) struct Journal {
    name: String,
    path: PathBuf,
    file: File,
    /// Position in the file; unknown after a failure.
    position: Option<u64>,
    last: u64,
    applied: u64,
}

impl Journal {
    /// Creates and locks a journal with a random name.
    pub(super) fn create(data_dir: &Path) -> io::Result<Self> {
        let dir = directory(data_dir);
        create_private_dir(&dir)?;
        loop {
            let mut name = [0_u8; 8];
            getrandom::fill(&mut name).map_err(io::Error::other)?;
            let name = format!("{:016x}", u64::from_le_bytes(name));
            let path = dir.join(&name);
            let mut options = OpenOptions::new();
            options.create_new(true).read(true).write(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = match options.open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            // Before the lock, another process may have taken the file for that of a dead process and removed it.
            if !try_lock(&file)? || !path.exists() {
                continue;
            }
            return Ok(Self { name, path, file, position: Some(0), last: 0, applied: 0 });
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the last charge.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Returns the number of charges that may not be in the database yet.
    pub(super) fn unapplied(&self) -> u64 {
        self.last - self.applied
    }

    /// Records that the charges up to this number are in the database, so that their slots may be reused.
    pub(super) fn set_applied(&mut self, number: u64) {
        self.applied = self.applied.max(number);
    }

    /// Writes a charge. When this returns, the charge survives the process.
    ///
    /// # Errors
    /// Failures of the file, and a full ring. Even then the charge uses up its number: it is in memory, and reaches the
    /// database if the process lives until the next flush.
    pub(super) fn append(&mut self, lease: i64, credits: u64) -> io::Result<()> {
        self.last += 1;
        if self.unapplied() > SLOTS {
            return Err(io::Error::new(ErrorKind::StorageFull, "the journal of charges is full"));
        }
        let offset = (self.last % SLOTS) * RECORD_BYTES as u64;
        let record = encode(Charge { number: self.last, lease, credits });
        if self.position.take() != Some(offset) {
            self.file.seek(SeekFrom::Start(offset))?;
        }
        self.file.write_all(&record)?;
        self.position = Some(offset + RECORD_BYTES as u64);
        Ok(())
    }

    /// Removes the file, after all its charges were applied.
    pub(super) fn remove(self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// The journal of a dead process, locked by this one.
#[derive(Debug)]
pub(super) struct Orphan {
    pub(super) name: String,
    path: PathBuf,
    file: File,
}

impl Orphan {
    /// Returns the complete charges, in the order of their numbers.
    pub(super) fn charges(&mut self) -> io::Result<Vec<Charge>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        let mut charges: Vec<Charge> = bytes.chunks_exact(RECORD_BYTES).filter_map(decode).collect();
        charges.sort_unstable_by_key(|charge| charge.number);
        Ok(charges)
    }

    pub(super) fn remove(self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// Returns the journals of dead processes. While they exist here, other processes do not get them.
pub(super) fn orphans(data_dir: &Path) -> io::Result<Vec<Orphan>> {
    let files = match std::fs::read_dir(directory(data_dir)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let mut orphans = Vec::new();
    for entry in files {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = entry.path();
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            // Its owner or another process removed it in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            file => file?,
        };
        if try_lock(&file)? && path.exists() {
            orphans.push(Orphan { name, path, file });
        }
    }
    Ok(orphans)
}

/// Returns whether a journal with this name exists.
pub(super) fn exists(data_dir: &Path, name: &str) -> bool {
    directory(data_dir).join(name).exists()
}

fn directory(data_dir: &Path) -> PathBuf {
    data_dir.join(DIRECTORY)
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn encode(charge: Charge) -> [u8; RECORD_BYTES] {
    let Charge { number, lease, credits } = charge;
    let mut record = [0; RECORD_BYTES];
    record[..8].copy_from_slice(&number.to_le_bytes());
    record[8..16].copy_from_slice(&lease.to_le_bytes());
    record[16..24].copy_from_slice(&credits.to_le_bytes());
    let checksum = checksum(&record[..24]);
    record[24..].copy_from_slice(&checksum);
    record
}

/// Returns the charge; `None` for a slot that was never written, or not completely.
fn decode(record: &[u8]) -> Option<Charge> {
    let (body, stored_checksum) = record.split_at_checked(24)?;
    let word = |at: usize| <[u8; 8]>::try_from(body.get(at..at + 8)?).ok();
    let number = u64::from_le_bytes(word(0)?);
    if number == 0 || stored_checksum != checksum(body) {
        return None;
    }
    Some(Charge { number, lease: i64::from_le_bytes(word(8)?), credits: u64::from_le_bytes(word(16)?) })
}

fn checksum(body: &[u8]) -> [u8; 8] {
    let mut checksum = [0; 8];
    checksum.copy_from_slice(&Sha256::digest(body)[..8]);
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orphan(dir: &Path) -> Orphan {
        let mut orphans = orphans(dir).unwrap();
        assert_eq!(orphans.len(), 1);
        orphans.remove(0)
    }

    #[test]
    fn charges_survive_and_are_readable_only_after_the_process() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path()).unwrap();
        for credits in 1..=3 {
            journal.append(7, credits).unwrap();
        }
        assert!(orphans(dir.path()).unwrap().is_empty(), "the process of the journal lives");
        drop(journal);
        let mut orphan = orphan(dir.path());
        let expected = |number| Charge { number, lease: 7, credits: number };
        assert_eq!(orphan.charges().unwrap(), [expected(1), expected(2), expected(3)]);
        assert!(orphans(dir.path()).unwrap().is_empty(), "the journal is locked by the first recovery");
        orphan.remove().unwrap();
        assert!(orphans(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn torn_and_damaged_records_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path()).unwrap();
        (0..3).for_each(|_| journal.append(1, 5).unwrap());
        let path = journal.path.clone();
        drop(journal);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[2 * RECORD_BYTES + 16] ^= 1;
        bytes.truncate(bytes.len() - 1);
        std::fs::write(&path, bytes).unwrap();
        let numbers: Vec<u64> =
            orphan(dir.path()).charges().unwrap().iter().map(|charge| charge.number).collect();
        assert_eq!(numbers, [1]);
    }

    #[test]
    fn slots_are_reused_only_after_their_charges_are_applied() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path()).unwrap();
        (0..SLOTS).for_each(|_| journal.append(1, 1).unwrap());
        journal.append(1, 1).unwrap_err();
        journal.set_applied(10);
        journal.append(1, 1).unwrap();
        drop(journal);
        let charges = orphan(dir.path()).charges().unwrap();
        assert_eq!(charges.last().unwrap().number, SLOTS + 2);
        assert_eq!(charges.first().unwrap().number, 1, "the slot of the failed charge was not overwritten");
        assert_eq!(charges.len() as u64, SLOTS);
    }
}

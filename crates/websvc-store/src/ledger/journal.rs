//! The journal: what a process charged and has not yet written to the database, in a file that outlives the process.
//!
//! A charge is one small write that needs no lock of the database and no disk flush, so it can be made before the answer
//! is sent, on the thread of the request. Each has a number and a place of its own in a ring; the database knows up to
//! which number the charges are in it, so none counts twice.
//!
//! The process keeps the file locked for as long as it lives. The system frees the lock however it ends, and only then
//! may others give its leases back: a process that merely sleeps keeps what it was lent.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The directory of the journals, beside the database.
const DIRECTORY: &str = "ledger";
/// The bytes of one record: number, lease, credits and check, eight each.
const RECORD_BYTES: usize = 32;
/// How many charges have a place: more than are made between two writes to the database.
pub(super) const PLACES: u64 = 65_536;

/// A charge as the journal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charge {
    /// Its number in the journal, from 1.
    pub(super) number: u64,
    /// The lease that it was spent from.
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
    /// Makes a journal of a random name beside the database, and locks it.
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
            // Somebody who clears up may have taken the file for a dead one before it was locked.
            if !locked(&file)? || !path.exists() {
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

    /// Returns how many charges are not known to be in the database.
    pub(super) fn unapplied(&self) -> u64 {
        self.last - self.applied
    }

    /// Notes that the charges up to this number are in the database: their places may be used again.
    pub(super) fn applied(&mut self, number: u64) {
        self.applied = self.applied.max(number);
    }

    /// Writes a charge; when this returns, it outlives the process.
    ///
    /// # Errors
    /// Failures of the file, and that the ring is full. The charge has its number all the same: it is in memory, and
    /// will be in the database if the process lives until then.
    pub(super) fn append(&mut self, lease: i64, credits: u64) -> io::Result<()> {
        self.last += 1;
        if self.unapplied() > PLACES {
            return Err(io::Error::new(ErrorKind::StorageFull, "the journal of charges is full"));
        }
        let place = (self.last % PLACES) * RECORD_BYTES as u64;
        let record = encode(Charge { number: self.last, lease, credits });
        if self.position.take() != Some(place) {
            self.file.seek(SeekFrom::Start(place))?;
        }
        self.file.write_all(&record)?;
        self.position = Some(place + RECORD_BYTES as u64);
        Ok(())
    }

    /// Removes the file: nothing of it is needed any more.
    pub(super) fn remove(self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// The journal of a process that is dead, locked by this one.
#[derive(Debug)]
pub(super) struct Orphan {
    pub(super) name: String,
    path: PathBuf,
    file: File,
}

impl Orphan {
    /// Returns the charges that are whole, by number.
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

/// Returns the journals whose processes are dead; while they are held, nobody else gets them.
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
            // Its owner or somebody else cleared it up just now.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            file => file?,
        };
        if locked(&file)? && path.exists() {
            orphans.push(Orphan { name, path, file });
        }
    }
    Ok(orphans)
}

/// Returns whether there is a journal of this name.
pub(super) fn exists(data_dir: &Path, name: &str) -> bool {
    directory(data_dir).join(name).exists()
}

fn directory(data_dir: &Path) -> PathBuf {
    data_dir.join(DIRECTORY)
}

fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

fn locked(file: &File) -> io::Result<bool> {
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
    let check = check(&record[..24]);
    record[24..].copy_from_slice(&check);
    record
}

/// Returns the charge; `None` for a place that was never written, or not wholly.
fn decode(record: &[u8]) -> Option<Charge> {
    let (body, found) = record.split_at_checked(24)?;
    let word = |at: usize| <[u8; 8]>::try_from(body.get(at..at + 8)?).ok();
    let number = u64::from_le_bytes(word(0)?);
    if number == 0 || found != check(body) {
        return None;
    }
    Some(Charge { number, lease: i64::from_le_bytes(word(8)?), credits: u64::from_le_bytes(word(16)?) })
}

fn check(body: &[u8]) -> [u8; 8] {
    let mut check = [0; 8];
    check.copy_from_slice(&Sha256::digest(body)[..8]);
    check
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
    fn charges_outlive_the_journal_of_a_process_and_can_be_read_only_then() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path()).unwrap();
        for credits in 1..=3 {
            journal.append(7, credits).unwrap();
        }
        assert!(orphans(dir.path()).unwrap().is_empty(), "its process lives");
        drop(journal);
        let mut orphan = orphan(dir.path());
        let expected = |number| Charge { number, lease: 7, credits: number };
        assert_eq!(orphan.charges().unwrap(), [expected(1), expected(2), expected(3)]);
        assert!(orphans(dir.path()).unwrap().is_empty(), "somebody has it in hand");
        orphan.remove().unwrap();
        assert!(orphans(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn a_torn_or_damaged_record_is_no_charge() {
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
    fn places_are_used_again_only_when_their_charges_are_applied() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path()).unwrap();
        (0..PLACES).for_each(|_| journal.append(1, 1).unwrap());
        journal.append(1, 1).unwrap_err();
        journal.applied(10);
        journal.append(1, 1).unwrap();
        drop(journal);
        let charges = orphan(dir.path()).charges().unwrap();
        assert_eq!(charges.last().unwrap().number, PLACES + 2);
        assert_eq!(charges.first().unwrap().number, 1, "the place of the failed one was left alone");
        assert_eq!(charges.len() as u64, PLACES);
    }
}

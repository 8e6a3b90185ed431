//! The files of a vector store.
//!
//! `vectors/store.json` names the model, the dimensions and the number of the current pair of files. `keys.N` has eight bytes
//! for each row: the content hash of its page, zero for an empty row. `vectors.N` has the vector of each row. Vectors are on
//! disk before their keys, so whenever the process ends, each key has its vector.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::quantized::SCALE_BYTES;

/// The version of the files.
const FORMAT: u64 = 1;

/// Bytes of a key.
const KEY_BYTES: usize = 8;

const DESCRIPTION: &str = "store.json";

/// The model of the vectors and their dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) model: String,
    pub(super) dimensions: usize,
    /// The number of the current pair of files.
    number: u64,
}

/// The open files of a store.
#[derive(Debug)]
pub(super) struct StoreFiles {
    dir: PathBuf,
    pub(super) header: Header,
    keys: File,
    vectors: File,
}

/// The version of the file of keys, which changes whenever a row is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Version {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl StoreFiles {
    /// Opens the current files. Returns `None` if there are none, or they are of another format.
    pub(super) fn open(dir: &Path, writes: bool) -> io::Result<Option<Self>> {
        let Some(header) = Header::read(dir)? else { return Ok(None) };
        let open = |name: &str| {
            OpenOptions::new().read(true).write(writes).open(dir.join(format!("{name}.{}", header.number)))
        };
        match (open("keys"), open("vectors")) {
            (Ok(keys), Ok(vectors)) => Ok(Some(Self { dir: dir.to_owned(), header, keys, vectors })),
            (Err(error), _) | (_, Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(None),
        }
    }

    /// Creates an empty pair of files with the next number. Nothing refers to them before [`Self::publish`].
    pub(super) fn create(dir: &Path, model: &str, dimensions: usize) -> io::Result<Self> {
        create_dir(dir)?;
        let number = Header::read(dir)?.map_or(1, |header| header.number + 1);
        let header = Header { model: model.to_owned(), dimensions, number };
        let create = |name: &str| {
            let path = dir.join(format!("{name}.{number}"));
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)
        };
        Ok(Self { dir: dir.to_owned(), keys: create("keys")?, vectors: create("vectors")?, header })
    }

    /// Makes this pair the current one, and removes all other files.
    pub(super) fn publish(&self) -> io::Result<()> {
        self.vectors.sync_all()?;
        self.keys.sync_all()?;
        let Header { model, dimensions, number } = &self.header;
        let text = json!({ "format": FORMAT, "model": model, "dimensions": dimensions, "files": number });
        let (path, new) = (self.dir.join(DESCRIPTION), self.dir.join("store.json.new"));
        let mut file = File::create(&new)?;
        file.write_all(text.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let (kind, of) = name.split_once('.').unwrap_or_default();
            if matches!(kind, "keys" | "vectors") && of != number.to_string() {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Returns the bytes of a row.
    pub(super) fn row_bytes(&self) -> usize {
        SCALE_BYTES + self.header.dimensions
    }

    /// Returns the version of the keys.
    pub(super) fn version(&self) -> io::Result<Version> {
        version_of(&self.keys.metadata()?)
    }

    /// Returns the version of the keys of the current files in a directory, without opening them.
    pub(super) fn current_version(dir: &Path) -> io::Result<Option<Version>> {
        let Some(header) = Header::read(dir)? else { return Ok(None) };
        match fs::metadata(dir.join(format!("keys.{}", header.number))) {
            Ok(metadata) => version_of(&metadata).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads the keys of all complete rows.
    pub(super) fn read_keys(&self) -> io::Result<Vec<u64>> {
        let rows = self.keys.metadata()?.len() / KEY_BYTES as u64;
        let rows = rows.min(self.vectors.metadata()?.len() / self.row_bytes() as u64);
        let mut bytes = vec![0; usize::try_from(rows).unwrap_or(0) * KEY_BYTES];
        self.keys.read_exact_at(&mut bytes, 0)?;
        Ok(bytes.as_chunks().0.iter().map(|key| u64::from_le_bytes(*key)).collect())
    }

    /// Reads consecutive rows into a buffer, whose length is that of the rows.
    pub(super) fn read_rows(&self, first: u32, buffer: &mut [u8]) -> io::Result<()> {
        self.vectors.read_exact_at(buffer, u64::from(first) * self.row_bytes() as u64)
    }

    /// Writes consecutive rows: their vectors, and after these are on disk, their keys.
    pub(super) fn write_rows(&self, first: u32, keys: &[u64], rows: &[u8]) -> io::Result<()> {
        self.vectors.write_all_at(rows, u64::from(first) * self.row_bytes() as u64)?;
        self.vectors.sync_data()?;
        self.write_keys(first, keys)
    }

    /// Makes rows empty, and overwrites their vectors with zeros.
    pub(super) fn erase_rows(&self, first: u32, count: u32) -> io::Result<()> {
        self.write_keys(first, &vec![0; count as usize])?;
        let zeros = vec![0; count as usize * self.row_bytes()];
        self.vectors.write_all_at(&zeros, u64::from(first) * self.row_bytes() as u64)
    }

    /// Cuts off everything after a number of rows, such as a row that a killed process did not complete.
    pub(super) fn truncate(&self, rows: u32) -> io::Result<()> {
        self.keys.set_len(u64::from(rows) * KEY_BYTES as u64)?;
        self.vectors.set_len(u64::from(rows) * self.row_bytes() as u64)
    }

    /// Returns the bytes on disk.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        Ok(self.keys.metadata()?.len() + self.vectors.metadata()?.len())
    }

    fn write_keys(&self, first: u32, keys: &[u64]) -> io::Result<()> {
        let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        self.keys.write_all_at(&bytes, u64::from(first) * KEY_BYTES as u64)
    }
}

impl Header {
    fn read(dir: &Path) -> io::Result<Option<Self>> {
        let text = match fs::read(dir.join(DESCRIPTION)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let Ok(value) = serde_json::from_slice::<Value>(&text) else { return Ok(None) };
        let number = |name: &str| value[name].as_u64();
        let read = || {
            let dimensions =
                usize::try_from(number("dimensions")?).ok().filter(|dimensions| *dimensions > 0)?;
            let model = value["model"].as_str()?.to_owned();
            number("format").filter(|format| *format == FORMAT)?;
            Some(Self { model, dimensions, number: number("files")? })
        };
        Ok(read())
    }
}

/// Creates the directory of a store if there is none, but not that of its index: an index that was removed stays removed.
pub(super) fn create_dir(dir: &Path) -> io::Result<()> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn version_of(metadata: &fs::Metadata) -> io::Result<Version> {
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    Ok(Version { inode: metadata.ino(), bytes: metadata.len(), modified })
}

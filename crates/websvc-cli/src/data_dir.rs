//! The data directory: where it is, and who may write the index in it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use websvc_store::Store;

/// The name of the lock's file in the data directory: made by whoever opens the index to write it, and never removed.
pub(crate) const LOCK_FILE: &str = "lock";

/// The name of the index's folder in the data directory.
pub(crate) const INDEX_DIR: &str = "index";

/// The name of the folder of lists in the data directory.
const LISTS_DIR: &str = "lists";

/// Entries that mark a data directory: each command that creates one leaves at least one of them.
const OWN_ENTRIES: &[&str] = &[Store::FILE_NAME, INDEX_DIR, LISTS_DIR, LOCK_FILE];

/// A data directory that exists.
#[derive(Debug, Clone)]
pub(crate) struct DataDir(PathBuf);

/// The right to write the index; the operating system takes it back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct WriteLock(#[expect(dead_code, reason = "held, not read")] File);

impl DataDir {
    /// Returns where the directory is, whether it exists or not: the one given, else the platform's own for websvc.
    pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf> {
        match given {
            Some(path) => Ok(path.to_owned()),
            None => match directories::ProjectDirs::from("", "", "websvc") {
                Some(directories) => Ok(directories.data_dir().to_owned()),
                None => bail!(
                    "there is no home directory: give a data directory by --data-dir or WEBSVC_DATA_DIR"
                ),
            },
        }
    }

    /// Opens the directory given, else the platform's own for websvc, making it when it does not exist.
    pub(crate) fn open(given: Option<&Path>) -> Result<Self> {
        let path = Self::locate(given)?;
        create_private(&path)
            .with_context(|| format!("cannot make the data directory {}", path.display()))?;
        Ok(Self(path))
    }

    /// Opens the directory given, else the platform's own for websvc, that is there already. Nothing is made.
    ///
    /// # Errors
    /// It does not exist, or is a directory of something else.
    pub(crate) fn open_existing(given: Option<&Path>) -> Result<Self> {
        let path = Self::locate(given)?;
        let shown = path.display();
        ensure!(
            path.is_dir(),
            "the data directory {shown} does not exist: name the one of the service by --data-dir or WEBSVC_DATA_DIR"
        );
        let mut entries =
            path.read_dir().with_context(|| format!("cannot read the data directory {shown}"))?;
        ensure!(
            entries.next().is_none() || OWN_ENTRIES.iter().any(|name| path.join(name).exists()),
            "{shown} is not a data directory: it has other files, and none of {}; name the one of the service by \
             --data-dir or WEBSVC_DATA_DIR",
            OWN_ENTRIES.join(", ")
        );
        Ok(Self(path))
    }

    /// Stands for the data directory where nothing uses one: that there is none, or nowhere to put it, is no mistake then.
    pub(crate) fn unused(given: Option<&Path>) -> Self {
        Self(Self::locate(given).unwrap_or_default())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.0.join(INDEX_DIR)
    }

    pub(crate) fn artifacts(&self) -> PathBuf {
        self.0.join("artifacts")
    }

    pub(crate) fn uploads(&self) -> PathBuf {
        self.0.join("uploads")
    }

    pub(crate) fn audit(&self) -> PathBuf {
        self.0.join("audit")
    }

    pub(crate) fn lists(&self) -> PathBuf {
        self.0.join(LISTS_DIR)
    }

    /// Takes the right to write the index; `None` when another process has it.
    pub(crate) fn try_lock(&self) -> Result<Option<WriteLock>> {
        let path = self.0.join(LOCK_FILE);
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(WriteLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", path.display()))
            }
        }
    }

    /// Takes the right to write the index.
    pub(crate) fn lock(&self) -> Result<WriteLock> {
        self.try_lock()?.with_context(|| {
            format!(
                "the data directory {} is in use by another websvc; go through it with --server URL and --api-key KEY (or WEBSVC_API_KEY)",
                self.0.display()
            )
        })
    }
}

/// Makes a directory that only its owner can enter: it holds what was asked and read.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_that_is_not_there_or_of_others_is_refused_and_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        assert!(DataDir::open_existing(Some(parent.path())).is_ok(), "an empty one is a fresh installation");
        let missing = parent.path().join("data");
        let error = DataDir::open_existing(Some(&missing)).unwrap_err().to_string();
        assert!(error.contains("does not exist") && error.contains("--data-dir"), "{error}");
        assert!(!missing.exists());
        std::fs::write(parent.path().join("letter.txt"), "").unwrap();
        let error = DataDir::open_existing(Some(parent.path())).unwrap_err().to_string();
        assert!(error.contains("is not a data directory"), "{error}");
        std::fs::write(parent.path().join(Store::FILE_NAME), "").unwrap();
        assert!(DataDir::open_existing(Some(parent.path())).is_ok());
    }

    #[test]
    fn one_process_may_write() {
        let directory = tempfile::tempdir().unwrap();
        let data_dir = DataDir::open(Some(&directory.path().join("data"))).unwrap();
        let lock = data_dir.try_lock().unwrap();
        assert!(lock.is_some());
        assert!(data_dir.try_lock().unwrap().is_none());
        let error = data_dir.lock().unwrap_err().to_string();
        assert!(error.contains("--server URL"), "{error}");
        drop(lock);
        assert!(data_dir.try_lock().unwrap().is_some());
    }
}

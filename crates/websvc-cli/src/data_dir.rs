//! The data directory: its location, and the lock for writing its index.

use std::env;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use websvc_store::Store;

/// The lock file in the data directory. A process that opens the index for writing creates it; it is never removed.
pub(crate) const LOCK_FILE: &str = "lock";

/// The index in the data directory.
pub(crate) const INDEX_DIR: &str = "index";

/// The ad blocklists in the data directory.
const BLOCKLISTS_DIR: &str = "lists";

/// Entries that identify a data directory. Each command that creates one creates at least one of them.
const OWN_ENTRIES: &[&str] =
    &[Store::FILE_NAME, INDEX_DIR, BLOCKLISTS_DIR, LOCK_FILE, DataDir::BROWSER_SESSION];

/// An existing data directory.
#[derive(Debug, Clone)]
pub(crate) struct DataDir(PathBuf);

/// The lock for writing the index. The operating system releases it when the process ends.
#[derive(Debug)]
pub(crate) struct WriteLock(#[expect(dead_code, reason = "held, not read")] File);

impl DataDir {
    /// Returns the path of the data directory, which may not exist: the given one, or the platform's default.
    pub(crate) fn locate(given: Option<&Path>) -> Result<PathBuf> {
        match given {
            Some(path) => Ok(path.to_owned()),
            None => match default_path(env::var_os("XDG_DATA_HOME"), env::home_dir()) {
                Some(path) => Ok(path),
                None => bail!(
                    "no home directory found: set the data directory with --data-dir or WEBSVC_DATA_DIR"
                ),
            },
        }
    }

    /// Opens the given directory, or the platform's default, and creates it if it does not exist.
    pub(crate) fn open(given: Option<&Path>) -> Result<Self> {
        let path = Self::locate(given)?;
        create_private(&path)
            .with_context(|| format!("cannot create the data directory {}", path.display()))?;
        Ok(Self(path))
    }

    /// Opens the given directory, or the platform's default, without creating anything.
    ///
    /// # Errors
    /// The directory does not exist, or is not a data directory.
    pub(crate) fn open_existing(given: Option<&Path>) -> Result<Self> {
        let path = Self::locate(given)?;
        let shown = path.display();
        ensure!(
            path.is_dir(),
            "the data directory {shown} does not exist: set the one of the service with --data-dir or WEBSVC_DATA_DIR"
        );
        let mut entries =
            path.read_dir().with_context(|| format!("cannot read the data directory {shown}"))?;
        ensure!(
            entries.next().is_none() || OWN_ENTRIES.iter().any(|name| path.join(name).exists()),
            "{shown} is not a data directory: it contains files, but none of {}; set the one of the service with \
             --data-dir or WEBSVC_DATA_DIR",
            OWN_ENTRIES.join(", ")
        );
        Ok(Self(path))
    }

    /// Returns a placeholder for a command that does not use the data directory. It need not exist or be known.
    pub(crate) fn unused(given: Option<&Path>) -> Self {
        Self(Self::locate(given).unwrap_or_default())
    }

    /// The file with the session that `websvc browser` uses.
    pub(crate) const BROWSER_SESSION: &str = "browser-session.json";

    /// Creates the directory if it does not exist.
    ///
    /// # Errors
    /// It cannot be created, or its location is not known.
    pub(crate) fn ensure_exists(&self) -> Result<()> {
        let shown = self.0.display();
        ensure!(
            !self.0.as_os_str().is_empty(),
            "no home directory found: set the data directory with --data-dir"
        );
        create_private(&self.0).with_context(|| format!("cannot create the data directory {shown}"))
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

    pub(crate) fn blocklists(&self) -> PathBuf {
        self.0.join(BLOCKLISTS_DIR)
    }

    /// Acquires the lock for writing the index. Returns `None` if another process holds it.
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

    /// Acquires the lock for writing the index.
    pub(crate) fn lock(&self) -> Result<WriteLock> {
        self.try_lock()?.with_context(|| {
            format!(
                "the data directory {} is in use by another websvc process; use that server with --server URL and \
                 --api-key KEY (or WEBSVC_API_KEY)",
                self.0.display()
            )
        })
    }
}

/// Creates a directory that only its owner can access, because it contains queries and pages.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns the data directory of the platform: that of the XDG Base Directory Specification, or of macOS. Relative paths do
/// not count, because a service would have other data with each working directory.
fn default_path(xdg_data_home: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let home = home.filter(|home| home.is_absolute());
    let parent = if cfg!(target_os = "macos") {
        home?.join("Library/Application Support")
    } else {
        let configured = xdg_data_home.map(PathBuf::from).filter(|path| path.is_absolute());
        configured.or_else(|| Some(home?.join(".local/share")))?
    };
    Some(parent.join("websvc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn default_directory_is_that_of_xdg() {
        let check = |data: Option<&str>, home: Option<&str>, expected: Option<&str>| {
            let found = default_path(data.map(OsString::from), home.map(PathBuf::from));
            assert_eq!(found, expected.map(PathBuf::from), "{data:?} {home:?}");
        };
        check(Some("/data"), Some("/h/a"), Some("/data/websvc"));
        check(None, Some("/h/a"), Some("/h/a/.local/share/websvc"));
        check(Some(""), Some("/h/a"), Some("/h/a/.local/share/websvc"));
        check(Some("data"), Some("h"), None);
        check(None, None, None);
    }

    #[test]
    fn open_existing_rejects_missing_and_foreign_directories_without_changes() {
        let parent = tempfile::tempdir().unwrap();
        assert!(
            DataDir::open_existing(Some(parent.path())).is_ok(),
            "an empty directory is a new installation"
        );
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
    fn write_lock_is_exclusive() {
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

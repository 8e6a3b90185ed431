//! The cache folder outside the repository for downloads that the tests need.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Result;

/// Environment variable that overrides the location of the folder.
const VARIABLE: &str = "WEBSVC_CACHE_DIR";

/// The cache folder, locked so that two concurrent runs do not write to it at the same time.
pub(crate) struct Cache {
    dir: PathBuf,
    _lock: File,
}

impl Cache {
    /// Opens the folder. Waits while another process has it locked.
    pub(crate) fn open() -> Result<Self> {
        let dir = folder()?;
        fs::create_dir_all(&dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
        let lock = File::create(dir.join("lock"))?;
        lock.lock()?;
        Ok(Self { dir, _lock: lock })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Creates an empty subfolder with this name. Deletes an existing one and its contents.
    pub(crate) fn create_empty_dir(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir_all(&dir)?;
        Ok(dir)
    }
}

fn folder() -> Result<PathBuf> {
    let dir_from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    dir_from(VARIABLE)
        .or_else(|| dir_from("XDG_CACHE_HOME").map(|dir| dir.join("websvc")))
        .or_else(|| dir_from("HOME").map(|dir| dir.join(".cache/websvc")))
        .ok_or_else(|| format!("no folder for downloads: HOME is not set; set {VARIABLE}").into())
}

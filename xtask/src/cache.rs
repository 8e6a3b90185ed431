//! The folder outside the repository for what the tests need from elsewhere.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Result;

/// Overrides where the folder is.
const VARIABLE: &str = "WEBSVC_CACHE_DIR";

/// The cache folder, locked: two gates that run at once must not fill it together.
pub(crate) struct Cache {
    dir: PathBuf,
    _lock: File,
}

impl Cache {
    /// Opens the folder and waits until no other process uses it.
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

    /// Returns an empty folder of this name, without what was in it.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir_all(&dir)?;
        Ok(dir)
    }
}

fn folder() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(VARIABLE)
        .or_else(|| set("XDG_CACHE_HOME").map(|dir| dir.join("websvc")))
        .or_else(|| set("HOME").map(|dir| dir.join(".cache/websvc")))
        .ok_or_else(|| format!("set {VARIABLE}: there is no home directory to keep downloads in").into())
}

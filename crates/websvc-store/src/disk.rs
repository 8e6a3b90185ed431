//! The space of file systems.

use std::path::Path;

use crate::Store;

/// The size of a file system and what is free of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that a process without privileges can still write.
    pub available_bytes: u64,
    /// Size in bytes.
    pub total_bytes: u64,
}

impl DiskSpace {
    /// Returns the space of the file system with a file or directory; `None` if it is unknown. Blocks while the file system
    /// does.
    #[must_use]
    #[cfg(unix)]
    pub fn read(path: &Path) -> Option<Self> {
        let found = rustix::fs::statvfs(path).ok()?;
        Some(Self {
            available_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }

    /// Returns `None`: the space is read on Unix only.
    #[must_use]
    #[cfg(not(unix))]
    pub fn read(_path: &Path) -> Option<Self> {
        None
    }
}

impl Store {
    /// Returns the space of the data directory, as [`DiskSpace::read`] does.
    #[must_use]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        DiskSpace::read(self.directory())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn space_of_the_data_directory_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let space = Store::open(directory.path()).unwrap().disk_space().unwrap();
        assert!(space.total_bytes > 0 && space.available_bytes <= space.total_bytes, "{space:?}");
    }
}

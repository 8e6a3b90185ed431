//! The space of the file system with the data directory.

use crate::Store;

/// The size of a file system and what is free of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that a process without privileges can still write.
    pub available_bytes: u64,
    /// Size in bytes.
    pub total_bytes: u64,
}

impl Store {
    /// Returns the space of the data directory; `None` if the system does not tell it. Blocks while the file system does.
    #[must_use]
    #[cfg(target_os = "linux")]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        let found = rustix::fs::statvfs(self.directory()).ok()?;
        Some(DiskSpace {
            available_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            total_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }

    /// Returns `None`: the space is read on Linux only.
    #[must_use]
    #[cfg(not(target_os = "linux"))]
    pub fn disk_space(&self) -> Option<DiskSpace> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn space_of_the_data_directory_is_known() {
        let directory = tempfile::tempdir().unwrap();
        let space = Store::open(directory.path()).unwrap().disk_space().unwrap();
        assert!(space.total_bytes > 0 && space.available_bytes <= space.total_bytes, "{space:?}");
    }
}

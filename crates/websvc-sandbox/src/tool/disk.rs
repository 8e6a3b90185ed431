//! The disk space that the output of a tool uses.
//!
//! Files that a tool has deleted and still holds open or mapped are not among its files, but use the disk. A hostile tool
//! can hide them from every list of the kernel, so the free space of the file system is watched, too.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

/// The interval between two measurements. Between them, limits of the kernel bound each file.
const INTERVAL: Duration = Duration::from_millis(200);
/// The maximum size of all files, as a multiple of the maximum size of one: parts of a medium, and the whole.
const MAX_FILES_AT_MAXIMUM: u64 = 3;
/// The maximum number of files and directories. A stream in segments has one file for each of a few.
const MAX_ENTRIES: usize = 5_000;
/// The free space that a tool must leave, in bytes: more than it can write between two measurements.
const MIN_FREE_BYTES: u64 = 1024 * 1024 * 1024;
/// The maximum depth of directories.
const MAX_DEPTH: usize = 8;

/// Waits until a tool has written more than it may, and returns the reason to end it.
pub(super) async fn watch(output: Option<&Path>, max_file_bytes: u64) -> String {
    let Some(output) = output else { return std::future::pending().await };
    let max_bytes = max_file_bytes.saturating_mul(MAX_FILES_AT_MAXIMUM);
    let mut min_free = None;
    loop {
        let directory = output.to_owned();
        let measured = tokio::task::spawn_blocking(move || {
            let mut usage = Usage { bytes: 0, entries: 0 };
            usage.add(&directory, 0);
            (usage, free_bytes(&directory))
        });
        // A measurement that fails is repeated after the pause, too.
        if let Ok((usage, free)) = measured.await {
            if usage.bytes > max_bytes || usage.entries > MAX_ENTRIES {
                return format!("its files are larger than {} MiB", max_file_bytes / (1024 * 1024));
            }
            if let Some(free) = free
                && free < *min_free.get_or_insert_with(|| free_to_leave(free))
            {
                return "the disk is almost full".to_owned();
            }
        }
        sleep(INTERVAL).await;
    }
}

/// Returns the free space that a tool must leave on a file system with this free space. A small one may lose half of it.
fn free_to_leave(free_bytes: u64) -> u64 {
    MIN_FREE_BYTES.min(free_bytes / 2)
}

/// Returns the free space of the file system of a directory; `None` if it is unknown.
#[cfg(unix)]
fn free_bytes(directory: &Path) -> Option<u64> {
    let stats = rustix::fs::statvfs(directory).ok()?;
    Some(stats.f_bavail.saturating_mul(stats.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_directory: &Path) -> Option<u64> {
    None
}

/// The files below a directory.
struct Usage {
    bytes: u64,
    entries: usize,
}

impl Usage {
    /// Adds the files of a directory. Files that vanish meanwhile do not count; links are not followed. What a tool has made
    /// unreadable is beyond the maximum: it would hide files of any size.
    fn add(&mut self, directory: &Path, depth: usize) {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return self.exceed_unless_gone(&error),
        };
        for entry in entries {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return;
            }
            let found = entry.and_then(|entry| Ok((entry.path(), fs::symlink_metadata(entry.path())?)));
            match found {
                Ok((path, metadata)) if metadata.is_dir() && depth < MAX_DEPTH => self.add(&path, depth + 1),
                // No honest tool nests its files so deeply.
                Ok((_, metadata)) if metadata.is_dir() => self.exceed(),
                Ok((_, metadata)) => self.bytes = self.bytes.saturating_add(metadata.len()),
                Err(error) => self.exceed_unless_gone(&error),
            }
        }
    }

    fn exceed_unless_gone(&mut self, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.exceed();
        }
    }

    fn exceed(&mut self) {
        self.entries = MAX_ENTRIES + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_beyond_its_maximum_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("parts")).unwrap();
        fs::write(directory.path().join("parts/a"), vec![0; 2000]).unwrap();
        fs::write(directory.path().join("b"), vec![0; 2000]).unwrap();
        let reason = watch(Some(directory.path()), 1000).await;
        assert!(reason.contains("larger than"), "{reason}");
        let mut usage = Usage { bytes: 0, entries: 0 };
        usage.add(directory.path(), 0);
        assert_eq!((usage.bytes, usage.entries), (4000, 3));
    }

    #[test]
    fn tool_leaves_a_gibibyte_or_half_of_the_free_space() {
        const GIB: u64 = 1024 * 1024 * 1024;
        assert_eq!(free_to_leave(100 * GIB), GIB);
        assert_eq!(free_to_leave(GIB), GIB / 2);
        assert_eq!(free_to_leave(0), 0, "a full disk ends no tool: writing fails by itself");
        let directory = tempfile::tempdir().unwrap();
        assert!(cfg!(not(unix)) || free_bytes(directory.path()).is_some());
        assert_eq!(free_bytes(&directory.path().join("gone")), None);
    }

    #[test]
    fn deep_directories_are_noticed() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/b/c/d/e/f/g/h/i/j/k")).unwrap();
        let mut usage = Usage { bytes: 0, entries: 0 };
        usage.add(directory.path(), 0);
        assert!(usage.entries > MAX_ENTRIES);
    }

    #[test]
    fn directory_that_cannot_be_read_is_noticed() {
        // A file in the place of a directory, because root can read every directory.
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut usage = Usage { bytes: 0, entries: 0 };
        usage.add(file.path(), 0);
        assert!(usage.entries > MAX_ENTRIES);
        let mut usage = Usage { bytes: 0, entries: 0 };
        usage.add(&file.path().with_extension("gone"), 0);
        assert_eq!(usage.entries, 0, "it vanished");
    }
}

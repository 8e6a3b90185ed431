//! The clocks of the machine, and the file that keeps the difference between them.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::private_file::create_private_file;

/// The file in the data directory with the boot of the machine and the difference between the time and the time since
/// that boot.
pub(super) const FILE_NAME: &str = "clock";

/// Returns the time of the wall clock in milliseconds since the Unix epoch; 0 if it is set to an earlier time.
pub(super) fn wall_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the time since the boot of the machine in milliseconds. The time in which it was suspended counts.
#[cfg(target_os = "linux")]
pub(crate) fn boot_ms() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.tv_sec.saturating_mul(1000).saturating_add(time.tv_nsec / 1_000_000)
}

/// Returns the time since the start of the process in milliseconds: there is no portable time since the boot.
#[cfg(not(target_os = "linux"))]
pub(crate) fn boot_ms() -> i64 {
    static STARTED: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    i64::try_from(STARTED.elapsed().as_millis()).unwrap_or(i64::MAX)
}

/// Returns the name of the boot of the machine; `None` if it has none, or the time since it is not known.
fn boot() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// Returns the difference in a file, if it is of the current boot.
pub(super) fn read_offset(path: &Path) -> Option<i64> {
    let text = fs::read_to_string(path).ok()?;
    let (saved_boot, offset_ms) = text.trim().split_once(' ')?;
    if saved_boot != boot()? { None } else { offset_ms.parse().ok() }
}

/// Writes the difference to a file. Without the file only a clock that is set while the service is stopped is not
/// noticed, so a failure is ignored.
pub(super) fn save_offset(path: &Path, offset_ms: i64) {
    if let Some(boot) = boot() {
        let _ = create_private_file(path).and_then(|()| fs::write(path, format!("{boot} {offset_ms}\n")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_of_another_boot_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE_NAME);
        assert_eq!(read_offset(&path), None);
        save_offset(&path, -7);
        assert_eq!(read_offset(&path), boot().map(|_| -7));
        fs::write(&path, "3f0c 12\n").unwrap();
        assert_eq!(read_offset(&path), None);
        fs::write(&path, format!("{} twelve", boot().unwrap_or_default())).unwrap();
        assert_eq!(read_offset(&path), None);
    }
}

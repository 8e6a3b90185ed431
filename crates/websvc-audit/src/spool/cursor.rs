//! The cursor of a sink: the number of its next event, in a file of its own.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The prefix of the names of cursor files.
const PREFIX: &str = "cursor-";

/// Reads a cursor; `None` if there is none, `Some(None)` if it is damaged.
pub(super) fn load(dir: &Path, sink: &str) -> io::Result<Option<Option<u64>>> {
    match std::fs::read_to_string(path(dir, sink)) {
        Ok(text) => Ok(Some(text.trim().parse().ok())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => Ok(Some(None)),
        Err(error) => Err(error),
    }
}

/// Writes a cursor atomically, so that there is always a complete one.
pub(super) fn store(dir: &Path, sink: &str, next: u64) -> io::Result<()> {
    let temporary = dir.join(format!("{PREFIX}{sink}.new"));
    File::create(&temporary)?.write_all(format!("{next}\n").as_bytes())?;
    std::fs::rename(&temporary, path(dir, sink))
}

/// Removes the cursors of sinks that are no longer configured. If such a sink is added again, it starts at the end of
/// the spool.
pub(super) fn remove_others(dir: &Path, sinks: &[&str]) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let other = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if other.is_some_and(|name| !sinks.contains(&name)) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn path(dir: &Path, sink: &str) -> PathBuf {
    dir.join(format!("{PREFIX}{sink}"))
}

//! Text arguments that are in a file or on stdin.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};

/// A text, and the name of its file.
pub(super) struct Input {
    pub(super) name: String,
    /// The text. If it is longer than the maximum, a part that is longer by one byte.
    pub(super) text: String,
}

impl Input {
    /// Reads a text of at most `max_bytes` from a file, or from stdin for `-`.
    ///
    /// # Errors
    /// The file cannot be read, or is not UTF-8. The error begins with its name.
    pub(super) fn read(path: &Path, max_bytes: u64) -> Result<Self> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin { "stdin".to_owned() } else { path.display().to_string() };
        let mut text = String::new();
        let reading = if is_stdin {
            std::io::stdin().lock().take(max_bytes + 1).read_to_string(&mut text)
        } else {
            File::open(path).and_then(|file| file.take(max_bytes + 1).read_to_string(&mut text))
        };
        reading.with_context(|| name.clone())?;
        Ok(Self { name, text })
    }
}

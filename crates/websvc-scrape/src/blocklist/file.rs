//! The file of a fetched list, and the checks of its content.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use adblock::lists::{FilterFormat, ParseOptions, parse_filters};

use crate::blocklist::error::BlocklistError;

/// The maximum size of a list, several times that of the largest public ones.
pub const LIST_MAX_BYTES: u64 = 32 * 1024 * 1024;
/// The maximum length of the readable part of a file name.
const NAME_CHARS: usize = 60;

/// The file of a list that is fetched from a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFile {
    url: String,
    path: PathBuf,
}

/// The result of writing a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The number of supported filters.
    pub filters: usize,
    /// The size of the list, in bytes.
    pub bytes: u64,
}

impl ListFile {
    /// Returns the list of a URL in a directory. The file name shows the URL to a reader, but the URL cannot choose a path.
    #[must_use]
    pub fn new(directory: &Path, url: &str) -> Self {
        let readable: String = url
            .trim_start_matches("https://")
            .trim_start_matches("http://")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(NAME_CHARS)
            .collect();
        let path = directory.join(format!("{readable}-{:016x}.txt", fingerprint(url)));
        Self { url: url.to_owned(), path }
    }

    /// Returns the URL of the list.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content; `None` if it was never fetched.
    ///
    /// # Errors
    /// [`BlocklistError::Io`] if the file exists and cannot be read.
    pub fn read(&self) -> Result<Option<String>, BlocklistError> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.io(error)),
        }
    }

    /// Replaces the content atomically.
    ///
    /// # Errors
    /// [`BlocklistError::TooLarge`], [`BlocklistError::Invalid`] or [`BlocklistError::Io`]. The previous content remains.
    pub fn replace(&self, content: &[u8]) -> Result<WriteOutcome, BlocklistError> {
        let bytes = content.len() as u64;
        if bytes > LIST_MAX_BYTES {
            return Err(BlocklistError::TooLarge { bytes, max_bytes: LIST_MAX_BYTES });
        }
        let Ok(text) = std::str::from_utf8(content) else {
            return Err(BlocklistError::Invalid { reason: "it is not UTF-8" });
        };
        if text.trim_start().starts_with('<') {
            return Err(BlocklistError::Invalid { reason: "it is an HTML page" });
        }
        let filters = count_filters(text);
        if filters == 0 {
            return Err(BlocklistError::Invalid { reason: "it has no supported filter" });
        }
        self.write(content).map_err(|error| self.io(error))?;
        Ok(WriteOutcome { filters, bytes })
    }

    fn write(&self, content: &[u8]) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        let temporary = self.path.with_extension("part");
        let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            // The partial file is useless, and its size may be the reason of the failure.
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn io(&self, source: io::Error) -> BlocklistError {
        BlocklistError::Io { path: self.path.clone(), source }
    }
}

fn count_filters(text: &str) -> usize {
    let options = ParseOptions { format: format_of(text), ..ParseOptions::default() };
    let (network, cosmetic) = parse_filters(text.lines(), false, options);
    network.len() + cosmetic.len()
}

/// Returns the format of a list: a hosts file (`0.0.0.0 ads.example.com`) or filters.
pub(crate) fn format_of(text: &str) -> FilterFormat {
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '!', '[']));
    let is_entry = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        words.next().is_some_and(|word| word.parse::<std::net::IpAddr>().is_ok()) && words.next().is_some()
    };
    if lines.next().is_some_and(is_entry) { FilterFormat::Hosts } else { FilterFormat::Standard }
}

/// Returns the FNV-1a hash of a URL, which is the same in every version of this program.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

//! One list that was fetched: its file, and what may become its content.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use adblock::lists::{FilterFormat, ParseOptions, parse_filters};

use crate::error::BlocklistError;

/// The largest list: several times the largest public ones.
pub const LIST_MAX_BYTES: u64 = 32 * 1024 * 1024;
/// The longest readable part of a file name.
const NAME_CHARS: usize = 60;

/// A list that is fetched from a URL, and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFile {
    url: String,
    path: PathBuf,
}

/// Result of writing a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The filters that are understood.
    pub filters: usize,
    /// The size of the list.
    pub bytes: u64,
}

impl ListFile {
    /// Returns the list of this URL in a directory. The file's name says the URL to a reader, and is no path of the
    /// URL's choice.
    #[must_use]
    pub fn new(directory: &Path, url: &str) -> Self {
        let readable: String = url
            .trim_start_matches("https://")
            .trim_start_matches("http://")
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .take(NAME_CHARS)
            .collect();
        let path = directory.join(format!("{readable}-{:016x}.txt", fingerprint(url)));
        Self { url: url.to_owned(), path }
    }

    /// Returns where it comes from.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns where it is kept.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content; `None` when it was never fetched.
    ///
    /// # Errors
    /// [`BlocklistError::Io`]
    pub fn read(&self) -> Result<Option<String>, BlocklistError> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.io(error)),
        }
    }

    /// Takes what was fetched as the content, whole or not at all.
    ///
    /// # Errors
    /// [`BlocklistError::TooLarge`], [`BlocklistError::NoList`], [`BlocklistError::Io`]; the older content stays then.
    pub fn replace(&self, content: &[u8]) -> Result<WriteOutcome, BlocklistError> {
        let bytes = content.len() as u64;
        if bytes > LIST_MAX_BYTES {
            return Err(BlocklistError::TooLarge { bytes, max_bytes: LIST_MAX_BYTES });
        }
        let Ok(text) = std::str::from_utf8(content) else {
            return Err(BlocklistError::NoList { reason: "it is not UTF-8" });
        };
        if text.trim_start().starts_with('<') {
            return Err(BlocklistError::NoList { reason: "it is a page" });
        }
        let filters = count(text);
        if filters == 0 {
            return Err(BlocklistError::NoList { reason: "it has no filter that is understood" });
        }
        self.write(content).map_err(|error| self.io(error))?;
        Ok(WriteOutcome { filters, bytes })
    }

    fn write(&self, content: &[u8]) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        let part = self.path.with_extension("part");
        let written = fs::write(&part, content).and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            // What was written is of no use, and may be why there is no room.
            let _ = fs::remove_file(&part);
        }
        written
    }

    fn io(&self, source: io::Error) -> BlocklistError {
        BlocklistError::Io { path: self.path.clone(), source }
    }
}

fn count(text: &str) -> usize {
    let options = ParseOptions { format: format_of(text), ..ParseOptions::default() };
    let (network, cosmetic) = parse_filters(text.lines(), false, options);
    network.len() + cosmetic.len()
}

/// Tells a hosts file (`0.0.0.0 ads.example.com`) from filters.
pub(crate) fn format_of(text: &str) -> FilterFormat {
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '!', '[']));
    let is_entry = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        words.next().is_some_and(|word| word.parse::<std::net::IpAddr>().is_ok()) && words.next().is_some()
    };
    if lines.next().is_some_and(is_entry) { FilterFormat::Hosts } else { FilterFormat::Standard }
}

/// Returns a number that differs for different URLs (FNV-1a), and is the same in every version of this program.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

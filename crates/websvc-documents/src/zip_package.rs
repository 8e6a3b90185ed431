//! ZIP archives: the parts of office files and books, inflated within one budget.

use std::collections::HashMap;
use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use crate::error::DocumentError;
use crate::kind::DocumentKind;

/// An archive has at most so many entries.
const MAX_ENTRIES: usize = 50_000;

/// An archive whose parts are read by name.
pub(crate) struct Package {
    kind: DocumentKind,
    archive: ZipSliceArchive<Vec<u8>>,
    parts: HashMap<String, (CompressionMethod, ZipArchiveEntryWayfinder)>,
    /// How many bytes may come out of it yet.
    left: u64,
}

impl Package {
    pub(crate) fn open(kind: DocumentKind, bytes: Vec<u8>, max_inflated: u64) -> Result<Self, DocumentError> {
        let archive =
            ZipArchive::from_slice(bytes).map_err(|error| DocumentError::damaged(kind, error.to_string()))?;
        let mut parts = HashMap::new();
        let mut entries = archive.entries();
        loop {
            let entry = match entries.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                Err(error) => return Err(DocumentError::damaged(kind, error.to_string())),
            };
            if parts.len() >= MAX_ENTRIES {
                return Err(DocumentError::too_large(kind, "it has too many parts"));
            }
            if let Ok(path) = entry.file_path().try_normalize() {
                let name = path.as_ref().to_owned();
                parts.entry(name).or_insert((entry.compression_method(), entry.wayfinder()));
            }
        }
        Ok(Self { kind, archive, parts, left: max_inflated })
    }

    /// Returns the text of a part that has to be there.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, DocumentError> {
        self.part(name)?.ok_or_else(|| DocumentError::damaged(self.kind, format!("it has no {name}")))
    }

    /// Returns the text of a part, or `None` when there is none of that name.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        let Some((method, place)) = self.parts.get(name.trim_start_matches('/')).copied() else {
            return Ok(None);
        };
        let damaged = |reason: String| DocumentError::damaged(self.kind, format!("{name}: {reason}"));
        let entry = self.archive.get_entry(place).map_err(|error| damaged(error.to_string()))?;
        let mut bytes = Vec::new();
        // One byte more than there may be tells that there are more.
        let most = self.left.saturating_add(1);
        let read = match method {
            CompressionMethod::STORE => entry.data().take(most).read_to_end(&mut bytes),
            CompressionMethod::DEFLATE => {
                DeflateDecoder::new(entry.data()).take(most).read_to_end(&mut bytes)
            }
            _ => {
                return Err(DocumentError::Unsupported {
                    what: format!("a {} file that is packed so", self.kind),
                });
            }
        };
        read.map_err(|error| damaged(error.to_string()))?;
        let length = bytes.len() as u64;
        if length > self.left {
            return Err(DocumentError::too_large(self.kind, "its parts inflate beyond the bound"));
        }
        self.left -= length;
        Ok(Some(decoded(bytes)))
    }
}

/// Decodes XML: UTF-16 by its mark, else UTF-8.
fn decoded(bytes: Vec<u8>) -> String {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

fn utf16(bytes: &[u8], join: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Returns the path that a reference leads to from the part `from`.
pub(crate) fn resolve(from: &str, to: &str) -> String {
    if let Some(absolute) = to.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_against_their_part() {
        assert_eq!(resolve("ppt/slides/slide1.xml", "../media/a.png"), "ppt/media/a.png");
        assert_eq!(resolve("ppt/presentation.xml", "slides/slide1.xml"), "ppt/slides/slide1.xml");
        assert_eq!(resolve("a/b.xml", "/c/d.xml"), "c/d.xml");
        assert_eq!(resolve("b.xml", "../../../etc"), "etc");
    }
}

//! Reads the parts of ZIP-based documents (office files, EPUB), with a limit of the decompressed size.

use std::collections::HashMap;
use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use crate::error::DocumentError;
use crate::kind::DocumentKind;
use crate::text_encoding::decode_marked;

/// The maximum number of entries of an archive.
const MAX_ENTRIES: usize = 50_000;

/// A ZIP archive whose parts are read by name.
pub(crate) struct Package {
    kind: DocumentKind,
    archive: ZipSliceArchive<Vec<u8>>,
    parts: HashMap<String, (CompressionMethod, ZipArchiveEntryWayfinder)>,
    /// The remaining budget of decompressed bytes.
    remaining_bytes: u64,
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
        Ok(Self { kind, archive, parts, remaining_bytes: max_inflated })
    }

    /// Returns the text of a part; an error if it is missing.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, DocumentError> {
        self.part(name)?.ok_or_else(|| DocumentError::damaged(self.kind, format!("{name} is missing")))
    }

    /// Returns the text of a part; `None` if it is missing.
    pub(crate) fn part(&mut self, name: &str) -> Result<Option<String>, DocumentError> {
        Ok(self.bytes(name, self.remaining_bytes)?.map(decode_xml))
    }

    /// Returns the bytes of a part; `None` if it is missing or larger than `max_bytes`.
    pub(crate) fn small_part(
        &mut self,
        name: &str,
        max_bytes: u64,
    ) -> Result<Option<Vec<u8>>, DocumentError> {
        if max_bytes >= self.remaining_bytes {
            return Ok(None);
        }
        match self.bytes(name, max_bytes) {
            Err(DocumentError::TooLarge { .. }) => Ok(None),
            read => read,
        }
    }

    /// Returns the bytes of a part; an error if it is larger than `max_bytes`.
    fn bytes(&mut self, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, DocumentError> {
        let Some((method, wayfinder)) = self.parts.get(name.trim_start_matches('/')).copied() else {
            return Ok(None);
        };
        let damaged = |reason: String| DocumentError::damaged(self.kind, format!("{name}: {reason}"));
        let entry = self.archive.get_entry(wayfinder).map_err(|error| damaged(error.to_string()))?;
        let mut bytes = Vec::new();
        // Reads one byte more than allowed, to detect that the part exceeds the budget.
        let limit = max_bytes.saturating_add(1);
        let read = match method {
            CompressionMethod::STORE => entry.data().take(limit).read_to_end(&mut bytes),
            CompressionMethod::DEFLATE => {
                DeflateDecoder::new(entry.data()).take(limit).read_to_end(&mut bytes)
            }
            _ => {
                return Err(DocumentError::Unsupported {
                    feature: format!("a {} file with this compression method", self.kind),
                });
            }
        };
        read.map_err(|error| damaged(error.to_string()))?;
        let length = bytes.len() as u64;
        self.remaining_bytes = self.remaining_bytes.saturating_sub(length);
        if length > max_bytes {
            return Err(DocumentError::too_large(
                self.kind,
                "its parts decompress to more than the maximum size",
            ));
        }
        Ok(Some(bytes))
    }
}

/// Decodes XML: as UTF-16 if it has its byte order mark, else as UTF-8.
fn decode_xml(bytes: Vec<u8>) -> String {
    let marked = decode_marked(&bytes);
    marked.unwrap_or_else(|| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Resolves a reference in the part `from` to the path of a part.
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
    fn resolve_uses_the_directory_of_the_referring_part() {
        assert_eq!(resolve("ppt/slides/slide1.xml", "../media/a.png"), "ppt/media/a.png");
        assert_eq!(resolve("ppt/presentation.xml", "slides/slide1.xml"), "ppt/slides/slide1.xml");
        assert_eq!(resolve("a/b.xml", "/c/d.xml"), "c/d.xml");
        assert_eq!(resolve("b.xml", "../../../etc"), "etc");
    }
}

//! Detects the content of OLE compound files: Office files from before 2007, encrypted later ones, and messages.

use crate::kind::DocumentKind;

/// The signature at the start of a compound file.
pub(crate) const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The size of a directory entry. Entries begin at multiples of it.
const ENTRY_BYTES: usize = 128;

/// The streams that identify a kind, in order of precedence.
const STREAMS: &[(&str, DocumentKind)] = &[
    // A message may have files of the other kinds in it.
    ("__properties_version1.0", DocumentKind::Msg),
    ("EncryptedPackage", DocumentKind::Protected),
    ("WordDocument", DocumentKind::Doc),
    ("Workbook", DocumentKind::Xls),
    ("Book", DocumentKind::Xls),
    ("PowerPoint Document", DocumentKind::Ppt),
];

/// Returns the kind of a compound file, detected by the names of its streams.
///
/// The function does not follow the directory from the header. It examines every position at which a directory entry
/// can begin, so that files with a damaged header or sector chain are detected, too.
pub(crate) fn kind(bytes: &[u8]) -> Option<DocumentKind> {
    let mut found: Option<usize> = None;
    for entry in bytes.chunks_exact(ENTRY_BYTES) {
        let index = STREAMS.iter().position(|(name, _)| is_stream(entry, name));
        found = match (found, index) {
            (Some(found), Some(index)) => Some(found.min(index)),
            (found, index) => found.or(index),
        };
    }
    found.map(|index| STREAMS[index].1)
}

/// Returns whether an entry is a stream of this name ([MS-CFB], section 2.6.1).
fn is_stream(entry: &[u8], name: &str) -> bool {
    const STREAM: u8 = 2;
    let length = (name.len() + 1) * 2;
    let units = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
    entry[66] == STREAM
        && usize::from(u16::from_le_bytes([entry[64], entry[65]])) == length
        && units.eq(entry[..length].iter().copied())
}

//! OLE compound files: what Office wrote before 2007, and the envelope of later files that need a password.

use crate::kind::DocumentKind;

/// The sign that compound files begin with.
pub(crate) const SIGN: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Entries of the directory stand at multiples of this.
const ENTRY_BYTES: usize = 128;

/// The streams by which a kind is known, the most telling first.
const STREAMS: &[(&str, DocumentKind)] = &[
    ("EncryptedPackage", DocumentKind::Protected),
    ("WordDocument", DocumentKind::Doc),
    ("Workbook", DocumentKind::Xls),
    ("Book", DocumentKind::Xls),
    ("PowerPoint Document", DocumentKind::Ppt),
];

/// Tells what a compound file holds by the names in its directory.
///
/// The directory is not followed from the header: its sectors are looked for where they may be, so that files whose
/// header or chains are damaged are told, too.
pub(crate) fn kind(bytes: &[u8]) -> Option<DocumentKind> {
    let mut found: Option<usize> = None;
    for entry in bytes.chunks_exact(ENTRY_BYTES) {
        let at = STREAMS.iter().position(|(name, _)| is_stream(entry, name));
        found = match (found, at) {
            (Some(found), Some(at)) => Some(found.min(at)),
            (found, at) => found.or(at),
        };
    }
    found.map(|at| STREAMS[at].1)
}

/// Tells whether an entry is a stream of this name ([MS-CFB], section 2.6.1).
fn is_stream(entry: &[u8], name: &str) -> bool {
    const STREAM: u8 = 2;
    let length = (name.len() + 1) * 2;
    let units = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
    entry[66] == STREAM
        && usize::from(u16::from_le_bytes([entry[64], entry[65]])) == length
        && units.eq(entry[..length].iter().copied())
}

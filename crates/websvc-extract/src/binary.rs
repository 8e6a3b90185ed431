//! Recognizes binary content by its first bytes, and by bytes that do not occur in text.

/// First bytes of binary formats, with their offset and the name of the format.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"%PDF-", "pdf"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"PK\x05\x06", "zip"),
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"GIF87a", "gif"),
    (0, b"GIF89a", "gif"),
    (0, b"\xff\xd8\xff", "jpeg"),
    (8, b"WEBP", "webp"),
    (8, b"WAVE", "wav"),
    (4, b"ftyp", "mp4"),
    (0, b"OggS", "ogg"),
    (0, b"fLaC", "flac"),
    (0, b"ID3", "mp3"),
    (0, b"\x1a\x45\xdf\xa3", "webm"),
    (0, b"\x1f\x8b\x08", "gzip"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\x00", "xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "rar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (0, b"{\\rtf", "rtf"),
    (0, b"\x7fELF", "elf"),
    (0, b"MZ\x90\x00", "exe"),
    (0, b"wOFF", "font"),
    (0, b"wOF2", "font"),
    (0, b"\x00asm", "wasm"),
];

/// Number of first bytes in which a zero byte means binary content.
const HEAD_BYTES: usize = 2048;

/// Content up to this size is checked in full. Larger content is sampled, so that the cost does not grow with it.
const WHOLE_BYTES: usize = 64 * 1024;
const WINDOWS: usize = 16;
const WINDOW_BYTES: usize = WHOLE_BYTES / WINDOWS;

/// Text has at most one control character per this number of bytes; damaged pages have a few. In compressed data one
/// byte in ten is a control character.
const TEXT_BYTES_PER_CONTROL: usize = 50;
/// A short text may have up to this number of control characters, whatever their share.
const MAX_FREE_CONTROLS: usize = 8;

/// Returns a short name for binary content: `png`, `zip`, ..., or `binary`. `None` for content that can be text.
///
/// `content_type` is the declared media type. UTF-16 and UTF-32 have zero bytes and are still text.
#[must_use]
pub fn binary_kind(bytes: &[u8], content_type: Option<&str>) -> Option<&'static str> {
    if let Some(kind) = named_kind(bytes) {
        return Some(kind);
    }
    // Browsers treat a zero byte in a page as a mistake of its author.
    let is_forgiving =
        content_type.is_some_and(|declared| declared.contains("html") || declared.contains("json"));
    let has_zero = || !is_forgiving && bytes[..bytes.len().min(HEAD_BYTES)].contains(&0);
    (!is_wide(bytes, content_type) && (has_zero() || is_binary(bytes))).then_some("binary")
}

/// Returns the kind of content that has these first bytes.
fn named_kind(bytes: &[u8]) -> Option<&'static str> {
    let matches = |&&(offset, magic, _): &&(usize, &[u8], &str)| {
        bytes.get(offset..).is_some_and(|rest| rest.starts_with(magic))
    };
    MAGIC.iter().find(matches).map(|&(_, _, kind)| kind)
}

/// Returns whether the text is in an encoding with two or four bytes per character.
fn is_wide(bytes: &[u8], content_type: Option<&str>) -> bool {
    let declared = content_type.unwrap_or_default().to_ascii_lowercase();
    bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || ["utf-16", "utf-32", "ucs-2", "unicode"]
            .iter()
            .any(|name| declared.split_once("charset=").is_some_and(|(_, charset)| charset.contains(name)))
}

/// Returns whether there are too many control characters for text. The beginning alone is not enough: a fragment of a
/// document or an archive may begin with markup.
fn is_binary(bytes: &[u8]) -> bool {
    let (sampled, controls) = if bytes.len() <= WHOLE_BYTES {
        (bytes.len(), controls(bytes))
    } else {
        let last = bytes.len() - WINDOW_BYTES;
        let windows = (0..WINDOWS).map(|at| &bytes[last / (WINDOWS - 1) * at..][..WINDOW_BYTES]);
        (WHOLE_BYTES, windows.map(controls).sum())
    };
    controls >= MAX_FREE_CONTROLS && controls * TEXT_BYTES_PER_CONTROL > sampled
}

/// Counts the binary data bytes (WHATWG MIME Sniffing, section 3).
fn controls(bytes: &[u8]) -> usize {
    let is_control = |&&byte: &&u8| matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    bytes.iter().filter(is_control).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that look like compressed data, from a linear congruential generator.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    fn after(head: &str, len: usize) -> Vec<u8> {
        [head.as_bytes(), &noise(len)].concat()
    }

    #[test]
    fn binary_content_after_markup_is_binary() {
        let head = "<?xml version=\"1.0\"?><document>";
        for len in [200, 4000, 100_000, 3_000_000] {
            assert_eq!(binary_kind(&after(head, len), None), Some("binary"), "{len}");
        }
        let page = "<html><body>".to_owned() + &"<p>words of a page</p>".repeat(1000);
        assert_eq!(binary_kind(&after(&page, 100_000), Some("text/html")), Some("binary"));
    }

    #[test]
    fn text_in_each_encoding_is_not_binary() {
        let latin: Vec<u8> = (0..5000u32).map(|at| [b'a', 0xe4, b' ', 0x85, 0xff][at as usize % 5]).collect();
        let cyrillic = "Съешь ещё этих мягких булок. ".repeat(200);
        let escaped = "\u{1b}[1mbold\u{1b}[0m \u{c}\t\r\n".repeat(200);
        let damaged =
            format!("{}\u{1}\u{2}{}", "a page ".repeat(200), "with two control characters ".repeat(100));
        for bytes in [&b""[..], &latin, cyrillic.as_bytes(), escaped.as_bytes(), damaged.as_bytes()] {
            assert_eq!(binary_kind(bytes, None), None, "{:?}", &bytes[..bytes.len().min(20)]);
        }
        let wide: Vec<u8> = "words".repeat(100).encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(binary_kind(&wide, Some("text/html; charset=UTF-16LE")), None);
        assert_eq!(binary_kind(&[b"\xff\xfe", &wide[..]].concat(), None), None);
        assert_eq!(binary_kind(&wide, None), Some("binary"));
    }

    #[test]
    fn first_bytes_determine_the_kind() {
        assert_eq!(binary_kind(b"\x89PNG\r\n\x1a\n", Some("text/html")), Some("png"));
        assert_eq!(binary_kind(b"a\0b", None), Some("binary"));
        assert_eq!(binary_kind(b"a\0b", Some("text/html")), None);
        assert_eq!(binary_kind(b"RIFF....WEBPVP8 ", None), Some("webp"));
    }
}

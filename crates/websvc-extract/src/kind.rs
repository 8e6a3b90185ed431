//! What sort of thing a page's bytes are: told by their first bytes as much as by the declared type.

use crate::error::ExtractError;

/// The sorts of content that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// HTML, read by the rules of browsers.
    Html,
    /// XHTML, read by the same rules.
    Xhtml,
    /// Plain text, kept verbatim.
    Text,
    /// JSON, kept verbatim.
    Json,
    /// XML and feeds, kept as text.
    Xml,
}

/// First bytes that name a binary kind, with the offset they stand at.
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

/// How many bytes are looked at.
const SNIFF_BYTES: usize = 2048;

/// How many bytes are looked at to tell text from what is none.
const BINARY_BYTES: usize = 32 * 1024;

/// Text has fewer control characters than this, and fewer than one in so many bytes. Of compressed bytes one in ten is.
const MIN_CONTROLS: usize = 8;
const CONTROL_SHARE: usize = 50;

impl Kind {
    /// Tells whether the content is markup with a tree.
    pub fn is_html(self) -> bool {
        matches!(self, Kind::Html | Kind::Xhtml)
    }

    /// Finds out what `bytes` are.
    ///
    /// # Errors
    /// [`ExtractError::Unsupported`] for binary kinds.
    pub(crate) fn sniff(bytes: &[u8], content_type: Option<&str>) -> Result<Kind, ExtractError> {
        let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
        if let Some(kind) = binary_kind(bytes) {
            return Err(unsupported(kind));
        }
        let declared = content_type.unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        match declared.as_str() {
            "text/html" => return Ok(Kind::Html),
            "application/xhtml+xml" => return Ok(Kind::Xhtml),
            "application/json" | "text/json" => return Ok(Kind::Json),
            declared if declared.ends_with("+json") => return Ok(Kind::Json),
            _ => {}
        }
        let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        if !marked && head.contains(&0) {
            return Err(unsupported(name_of(&declared)));
        }
        let by_content = sniff_text(head);
        match declared.as_str() {
            "application/xml" | "text/xml" => {
                Ok(by_content.filter(|kind| kind.is_html()).unwrap_or(Kind::Xml))
            }
            declared if declared.ends_with("+xml") && declared != "image/svg+xml" => Ok(Kind::Xml),
            declared if declared.starts_with("text/") => Ok(Kind::Text),
            declared => match by_content {
                Some(kind) => Ok(kind),
                None if is_binary_type(declared) => Err(unsupported(name_of(declared))),
                None => Ok(Kind::Text),
            },
        }
    }
}

/// Returns the name of the binary kind that bytes are, `binary` when it has none; `None` for text. A beginning that looks
/// like markup says little: a fragment of any file may have it, so more of the bytes is looked at.
pub fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    let is_at = |(offset, magic, _): &&(usize, &[u8], &str)| {
        bytes.get(*offset..).is_some_and(|rest| rest.starts_with(magic))
    };
    if let Some((_, _, kind)) = MAGIC.iter().find(is_at) {
        return Some(kind);
    }
    let is_utf_16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let sample = &bytes[..bytes.len().min(BINARY_BYTES)];
    let zeros = sample.iter().filter(|byte| **byte == 0).count();
    // Half of the bytes of Western text in UTF-16 are zero.
    if is_utf_16 || zeros > sample.len() / 5 {
        return None;
    }
    let is_control = |byte: &&u8| matches!(byte, 1..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let controls = sample.iter().filter(is_control).count() + zeros;
    (controls >= MIN_CONTROLS && controls * CONTROL_SHARE > sample.len()).then_some("binary")
}

fn unsupported(kind: &str) -> ExtractError {
    ExtractError::Unsupported { kind: kind.to_owned() }
}

/// Returns a short name for a declared media type.
fn name_of(declared: &str) -> &str {
    match declared.split_once('/') {
        Some((_, "octet-stream")) | None => "binary",
        Some((_, subtype)) => subtype,
    }
}

fn is_binary_type(declared: &str) -> bool {
    ["image/", "audio/", "video/", "font/"].iter().any(|prefix| declared.starts_with(prefix))
        || (declared.starts_with("application/")
            && !matches!(
                declared,
                "application/octet-stream"
                    | "application/javascript"
                    | "application/yaml"
                    | "application/toml"
            ))
}

/// Recognises markup and JSON by how they start.
fn sniff_text(head: &[u8]) -> Option<Kind> {
    let mut text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let lower = text.to_ascii_lowercase();
    if lower.starts_with(b"<?xml") {
        let xhtml = lower.windows(5).any(|w| w == b"<html");
        return Some(if xhtml { Kind::Xhtml } else { Kind::Xml });
    }
    while text.starts_with(b"<!--") {
        text = text
            .windows(3)
            .position(|w| w == b"-->")
            .map_or(&[][..], |end| text[end + 3..].trim_ascii_start());
    }
    match text.first()? {
        b'<' => {
            let name: Vec<u8> = text[1..]
                .iter()
                .take(16)
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'!' | b'/' | b'-'))
                .map(u8::to_ascii_lowercase)
                .collect();
            match name.as_slice() {
                b"rss" | b"feed" | b"urlset" | b"sitemapindex" | b"opml" | b"svg" => Some(Kind::Xml),
                b"" => None,
                _ => Some(Kind::Html),
            }
        }
        b'{' | b'[' if text.get(1..).is_some_and(starts_json) => Some(Kind::Json),
        _ => None,
    }
}

/// Tells whether what follows an opening bracket can be JSON.
fn starts_json(rest: &[u8]) -> bool {
    matches!(
        rest.trim_ascii_start().first(),
        Some(b'"' | b'{' | b'[' | b'}' | b']' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    )
}

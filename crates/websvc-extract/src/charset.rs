//! Decodes bytes to text: by the byte order mark, the declared charset, a prescan of meta tags, or detection.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Number of first bytes of a page in which a charset declaration is searched.
const PRESCAN_BYTES: usize = 4096;

/// Number of first bytes of a page that the detector reads.
const DETECT_BYTES: usize = 256 << 10;

/// Number of well-formed multi-byte characters that cannot be a coincidence in another encoding.
const SURE_MULTIBYTE: usize = 16;

/// Decodes a page. Malformed sequences become U+FFFD.
pub(crate) fn decode(bytes: &[u8], header_charset: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    let from_header = header_charset.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let declared = from_header.or_else(|| prescan(bytes));
    let valid_utf8 = std::str::from_utf8(bytes).ok();
    match (declared, valid_utf8) {
        // A page that is declared as Latin-1 and is valid UTF-8 is UTF-8 under a server's default label: Latin-1 text
        // with accents is practically never valid UTF-8.
        (None, Some(text)) => return text.to_owned(),
        (Some(encoding), Some(text)) if encoding == UTF_8 || encoding == WINDOWS_1252 => {
            return text.to_owned();
        }
        // The same holds for a page that was saved as UTF-8 and kept its old label. ISO-2022-JP has only ASCII bytes.
        (Some(_), Some(text)) if from_header.is_none() && count_multibyte(text) >= SURE_MULTIBYTE => {
            return text.to_owned();
        }
        _ => {}
    }
    let encoding = declared.unwrap_or_else(|| detect(bytes));
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// Returns the charset of a page that declares none, given the text that a browser decoded in windows-1252; `None` if it is
/// windows-1252, or has only ASCII.
///
/// The text may have characters that were no bytes of the page: character references, and what scripts inserted.
#[must_use]
pub fn undeclared_charset(text: &str) -> Option<&'static str> {
    // The bytes of the page. Characters outside of windows-1252 were inserted.
    let mut bytes = Vec::with_capacity(text.len());
    // Serialized documents have a reference in place of this character, whose byte is part of many others.
    for c in text.replace("&nbsp;", "\u{a0}").chars() {
        let mut buffer = [0; 4];
        let (encoded, _, is_lossy) = WINDOWS_1252.encode(c.encode_utf8(&mut buffer));
        if !is_lossy {
            bytes.extend_from_slice(&encoded);
        }
    }
    if bytes.is_ascii() {
        return None;
    }
    let encoding =
        prescan(&bytes).unwrap_or_else(|| if is_mostly_utf8(&bytes) { UTF_8 } else { detect(&bytes) });
    (encoding != WINDOWS_1252).then_some(encoding.name())
}

/// Returns whether the multi-byte characters of a text outnumber the other bytes above ASCII. Single symbols do not count,
/// such as the copyright sign: they are often written as character references.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let is_high = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| !byte.is_ascii());
    let (mut characters, mut others, mut at) = (0_usize, 0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        at += chunk.valid().len();
        let invalid = chunk.invalid();
        let has_neighbor = is_high(at.checked_sub(1)) || is_high(Some(at + invalid.len()));
        let is_symbol = matches!(invalid, [byte] if *byte < 0xc0) && !has_neighbor;
        others += if is_symbol { 0 } else { invalid.len() };
        at += invalid.len();
    }
    characters > 0 && characters >= others
}

/// Counts multi-byte characters, up to `SURE_MULTIBYTE`.
fn count_multibyte(text: &str) -> usize {
    text.chars().filter(|c| !c.is_ascii()).take(SURE_MULTIBYTE).count()
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let sample = &bytes[..bytes.len().min(DETECT_BYTES)];
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

/// Finds the charset that a page declares in an XML declaration or a meta tag.
fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    let head = head.to_ascii_lowercase();
    if head.starts_with(b"<?xml") {
        let end = head.iter().position(|&b| b == b'>').unwrap_or(head.len());
        if let Some(encoding) = labeled(&head[..end], b"encoding") {
            return Some(encoding);
        }
    }
    let mut rest = &head[..];
    while let Some(start) = find(rest, b"<") {
        rest = &rest[start..];
        if rest.starts_with(b"<!--") {
            rest = &rest[find(rest, b"-->")?..];
        } else if rest.starts_with(b"<meta") {
            let end = find(rest, b">").unwrap_or(rest.len());
            if let Some(encoding) = labeled(&rest[..end], b"charset") {
                return Some(encoding);
            }
        }
        rest = &rest[1..];
    }
    None
}

/// Reads the label of `key = label` from lower-case bytes.
fn labeled(bytes: &[u8], key: &[u8]) -> Option<&'static Encoding> {
    let rest =
        bytes[find(bytes, key)? + key.len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest
        .iter()
        .position(|&b| matches!(b, b'"' | b'\'' | b';' | b'>' | b'/' | b'?') || b.is_ascii_whitespace())
        .unwrap_or(rest.len());
    let encoding = Encoding::for_label(&rest[..end])?;
    // The label was readable as ASCII, so the page is not UTF-16.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use encoding_rs::SHIFT_JIS;

    use super::*;

    /// Returns a text as a browser shows it that takes its bytes for windows-1252.
    fn misread(bytes: &[u8]) -> String {
        WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
    }

    #[test]
    fn charset_is_detected_in_text_that_was_decoded_as_windows_1252() {
        let japanese = "<title>お茶</title><p>緑茶は三分間蒸らします。</p>";
        let french = "<p>Un café à la crème, très léger, s’il vous plaît.";
        let utf8 = |text: &str| misread(text.as_bytes());
        for (text, expected) in [
            (utf8("<p>Café"), Some("UTF-8")),
            (utf8(french), Some("UTF-8")),
            (utf8(japanese), Some("UTF-8")),
            (utf8("<p>だだだ").replace('\u{a0}', "&nbsp;"), Some("UTF-8")),
            (utf8("<p>Café") + "<p>\u{a9} \u{bb} \u{2014} \u{201c}", Some("UTF-8")),
            (utf8("<p>Café") + "<p>\u{4f60}\u{597d}", Some("UTF-8")),
            (misread(&SHIFT_JIS.encode(japanese).0), Some("Shift_JIS")),
            (french.to_owned(), None),
            ("<p>\u{a9} 2024".to_owned(), None),
            ("<p>plain".to_owned(), None),
            ("<meta charset=iso-8859-1>".to_owned() + &utf8("<p>Café"), None),
            ("<meta charset=koi8-r>".to_owned() + &utf8("<p>Café"), Some("KOI8-R")),
        ] {
            assert_eq!(undeclared_charset(&text), expected, "{text}");
        }
    }
}

//! Reads the size of an image from the first bytes of its file.

use super::detail::pixels;
use crate::dom::{self, Tag};

/// Maximum number of bytes of an SVG file that are parsed for its root element.
const MAX_SVG_BYTES: usize = 64 * 1024;

/// Returns the width and height in pixels of a PNG, GIF, JPEG, WebP, AVIF or SVG file. The first bytes are enough,
/// nearly always 64 kB.
///
/// The size is that of the stored image, without a rotation in its metadata. An SVG has the size of its `width` and
/// `height`, else of its `viewBox`. `None` for other formats, for invalid files, and for sizes that are not whole
/// numbers of pixels.
pub fn image_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        (bytes.get(12..16)? == b"IHDR").then_some(())?;
        (be32(bytes, 16)?, be32(bytes, 20)?)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        (le16(bytes, 6)?, le16(bytes, 8)?)
    } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
        jpeg(bytes)?
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        webp(bytes)?
    } else if bytes.get(4..8) == Some(b"ftyp") {
        avif(bytes)?
    } else {
        svg(bytes)?
    };
    (size.0 > 0 && size.1 > 0).then_some(size)
}

/// Searches the segments of a JPEG for the frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        (*bytes.get(at)? == 0xff).then_some(())?;
        let marker = *bytes.get(at + 1)?;
        match marker {
            // Markers may have fill bytes before them.
            0xff => at += 1,
            0x01 | 0xd0..=0xd7 => at += 2,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?));
            }
            // The image data begins without a frame header, or the file ends.
            0xd9 | 0xda => return None,
            _ => at += 2 + be16(bytes, at + 2)? as usize,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => {
            (bytes.get(23..26)? == [0x9d, 0x01, 0x2a]).then_some(())?;
            Some((le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff))
        }
        b"VP8L" => {
            (*bytes.get(20)? == 0x2f).then_some(())?;
            let bits = le16(bytes, 21)? | (le16(bytes, 23)? << 16);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side = |at: usize| Some((le16(bytes, at)? | (u32::from(*bytes.get(at + 2)?) << 16)) + 1);
            Some((side(24)?, side(27)?))
        }
        _ => None,
    }
}

/// Returns the largest `ispe` property: an image of tiles has one for itself and one for its tiles.
fn avif(bytes: &[u8]) -> Option<(u32, u32)> {
    let brands = bytes.get(8..(be32(bytes, 0)? as usize).min(bytes.len()))?;
    brands.chunks_exact(4).any(|brand| matches!(brand, b"avif" | b"avis")).then_some(())?;
    let boxes = bytes.windows(8).enumerate().filter(|(_, window)| *window == b"\0\0\0\x14ispe");
    let sizes = boxes.filter_map(|(at, _)| Some((be32(bytes, at + 12)?, be32(bytes, at + 16)?)));
    sizes.max_by_key(|(width, height)| u64::from(*width) * u64::from(*height))
}

fn svg(bytes: &[u8]) -> Option<(u32, u32)> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SVG_BYTES)]);
    start.contains("<svg").then_some(())?;
    let dom = dom::parse(&start);
    let root = dom.first_element(Tag::Svg)?;
    let side = |name: &str| dom.attribute(root, name).and_then(pixels);
    if let (Some(width), Some(height)) = (side("width"), side("height")) {
        return Some((width, height));
    }
    let view = dom.attribute(root, "viewBox")?;
    let numbers: Vec<&str> = view.split([' ', ',']).filter(|number| !number.is_empty()).collect();
    let [_, _, width, height] = numbers[..] else { return None };
    Some((pixels(width)?, pixels(height)?))
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u32::from(pair[0]) << 8 | u32::from(pair[1]))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u32::from(pair[1]) << 8 | u32::from(pair[0]))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(be16(bytes, at)? << 16 | be16(bytes, at + 2)?)
}

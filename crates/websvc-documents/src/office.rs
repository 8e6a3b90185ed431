//! Shared parts of the office formats: relations between parts, document metadata, images, and fonts with a meaning.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::DocumentError;
use crate::inline::is_web_url;
use crate::kind::DocumentKind;
use crate::parsed_document::DocumentMetadata;
use crate::xml::{Tag, Xml};
use crate::zip_package::{Package, resolve};

/// The targets of the relations of a part, by ID.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    targets: HashMap<String, String>,
    /// The targets by the last segment of the type of the relation; of several, the first.
    by_type: HashMap<String, String>,
}

impl Relations {
    pub(crate) fn read(package: &mut Package, kind: DocumentKind, part: &str) -> Result<Self, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let mut relations = Self::default();
        let Some(text) = package.part(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(relations) };
        let mut xml = Xml::new(kind, &text);
        while let Some(tag) = xml.start()? {
            if let (Some(id), Some(target)) = (tag.get("Id"), tag.get("Target")) {
                let is_external = tag.get("TargetMode") == Some("External");
                let target = if is_external { target.to_owned() } else { resolve(part, target) };
                let name = tag.get("Type").and_then(|name| name.rsplit('/').next()).unwrap_or_default();
                relations.by_type.entry(name.to_owned()).or_insert_with(|| target.clone());
                relations.targets.insert(id.to_owned(), target);
            }
        }
        Ok(relations)
    }

    /// Returns the target to which an attribute of an element refers.
    pub(crate) fn of_attribute(&self, tag: &Tag, name: &str) -> Option<&str> {
        self.get(tag.get_exact(name)?)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&str> {
        self.targets.get(id).map(String::as_str)
    }

    /// Returns the target of the first relation whose type ends with a name, such as `notesSlide`.
    pub(crate) fn of_type(&self, name: &str) -> Option<&str> {
        self.by_type.get(name).map(String::as_str)
    }
}

/// Reads the Dublin Core metadata, which all office formats and EPUB have.
pub(crate) fn read_metadata(
    package: &mut Package,
    kind: DocumentKind,
    part: &str,
) -> Result<DocumentMetadata, DocumentError> {
    let Some(text) = package.part(part)? else { return Ok(DocumentMetadata::default()) };
    let mut metadata = DocumentMetadata::default();
    let mut xml = Xml::new(kind, &text);
    while let Some(tag) = xml.start()? {
        let field = match tag.name.as_str() {
            "title" => &mut metadata.title,
            "creator" | "initial-creator" => &mut metadata.author,
            "subject" | "description" => &mut metadata.description,
            "keywords" | "keyword" => &mut metadata.keywords,
            "language" => &mut metadata.language,
            "created" | "creation-date" => &mut metadata.created,
            "modified" | "date" => &mut metadata.modified,
            _ => continue,
        };
        let text = xml.text()?;
        if field.is_none() && !text.trim().is_empty() {
            *field = Some(text.trim().to_owned());
        }
    }
    Ok(metadata)
}

/// The maximum size of an image that is put into the output, and of all images of a document, in bytes.
pub(crate) const MAX_IMAGE_BYTES: usize = 1024 * 1024;
const MAX_IMAGES_BYTES: usize = 4 * 1024 * 1024;

/// The images of a document, as URLs.
#[derive(Debug, Default)]
pub(crate) struct Images {
    /// The number of bytes of the images so far.
    bytes: usize,
}

impl Images {
    /// Returns the URL of an image: of one on the web its own, of one in the file a `data:` URL. `None` for an image that
    /// is missing, too large, or in a format that browsers do not show.
    pub(crate) fn url(
        &mut self,
        package: &mut Package,
        target: &str,
    ) -> Result<Option<String>, DocumentError> {
        if is_web_url(target) {
            return Ok(Some(target.to_owned()));
        }
        let remaining = MAX_IMAGE_BYTES.min(MAX_IMAGES_BYTES.saturating_sub(self.bytes));
        let Some(bytes) = package.small_part(target, remaining as u64)? else { return Ok(None) };
        Ok(self.data_url(&bytes))
    }

    /// Returns the URL of an image whose bytes are written as hexadecimal digits.
    pub(crate) fn hexadecimal_url(&mut self, text: &str) -> Option<String> {
        let digits: Vec<u8> =
            text.bytes().filter_map(|digit| u8::try_from(char::from(digit).to_digit(16)?).ok()).collect();
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        self.data_url(&bytes)
    }

    fn data_url(&mut self, bytes: &[u8]) -> Option<String> {
        if bytes.len() > MAX_IMAGE_BYTES || self.bytes + bytes.len() > MAX_IMAGES_BYTES {
            return None;
        }
        let media_type = image_type(bytes)?;
        self.bytes += bytes.len();
        Some(format!("data:{media_type};base64,{}", STANDARD.encode(bytes)))
    }
}

/// Returns the media type of an image, detected by its signature.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        _ => is_webp.then_some("image/webp"),
    }
}

/// Returns the level of a heading style by its name in lower case, such as `heading 2`.
pub(crate) fn heading_of_name(name: &str) -> Option<u32> {
    match name.strip_prefix("heading") {
        Some(number) => number.trim().parse().ok().filter(|level| (1..=9).contains(level)),
        None => (name == "title").then_some(1),
    }
}

/// Returns whether a font has characters of the same width, as code is set in.
pub(crate) fn is_monospace(font: &str) -> bool {
    const NAMES: [&str; 11] = [
        "courier",
        "consolas",
        "mono",
        "menlo",
        "monaco",
        "lucida console",
        "source code",
        "fira code",
        "inconsolata",
        "typewriter",
        "cascadia",
    ];
    let font = font.to_ascii_lowercase();
    NAMES.iter().any(|name| font.contains(name)) && !font.contains("monotype")
}

/// Returns whether the characters of a font are symbols, whatever their codes mean elsewhere.
pub(crate) fn is_symbol_font(font: &str) -> bool {
    font.eq_ignore_ascii_case("symbol") || font.to_ascii_lowercase().starts_with("wingdings")
}

/// Returns text in a symbol font as its characters. Unknown symbols are left out.
pub(crate) fn symbols(font: &str, text: &str) -> String {
    text.chars()
        .filter_map(|character| {
            if character.is_whitespace() { Some(character) } else { symbol(font, u32::from(character)) }
        })
        .collect()
}

/// Returns the character of a symbol font at a code; `None` for an unknown symbol.
pub(crate) fn symbol(font: &str, code: u32) -> Option<char> {
    /// The Greek letters of the font Symbol at `A` to `Z` and `a` to `z`.
    const GREEK: [&str; 2] = ["ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"];
    // Symbol fonts are at this offset in the private use area.
    let index = code.checked_sub(0xf000).unwrap_or(code);
    let font = font.to_ascii_lowercase();
    let letter = |first: u32, letters: &str| {
        index.checked_sub(first).and_then(|offset| letters.chars().nth(usize::try_from(offset).ok()?))
    };
    if font.contains("wingdings") {
        return Some(match index {
            0xfc | 0x50 => '✓',
            0xfb | 0x4f => '✗',
            0xfe | 0x52 => '☑',
            0xfd | 0x51 => '☒',
            0xa8 | 0x6f | 0x71 => '☐',
            0xa7 | 0x6e => '■',
            0xe0 | 0xe8 => '→',
            0xdf => '←',
            0x4a => '☺',
            0x6c | 0x9f => '●',
            _ => return None,
        });
    }
    if font == "symbol" {
        let greek = letter(0x41, GREEK[0]).or_else(|| letter(0x61, GREEK[1]));
        return greek.or(match index {
            0xb7 => Some('•'),
            0xb0 => Some('°'),
            0xb1 => Some('±'),
            0xa3 => Some('≤'),
            0xb3 => Some('≥'),
            0xb4 => Some('×'),
            0xb9 => Some('≠'),
            0xbb => Some('≈'),
            0xa5 => Some('∞'),
            0xae => Some('→'),
            0xd6 => Some('√'),
            0xe5 => Some('∑'),
            0xf2 => Some('∫'),
            0x20..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e => char::from_u32(index),
            _ => None,
        });
    }
    // A private character has no meaning without its font.
    char::from_u32(code)
        .filter(|character| !('\u{e000}'..='\u{f8ff}').contains(character) && !character.is_control())
}

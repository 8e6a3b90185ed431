//! Reads the fonts of a document: the text and advance of character codes, and the style of a font.

use std::collections::HashMap;
use std::sync::Arc;

use hayro_cmap::BfString;
use hayro_font::{
    CMapResolverFn, Font, FontCache, FontGlyph, FontQuery, FontResolverFn, GlyphId, StandardFont,
};
use hayro_syntax::object::{Array, Dict, Name, Object};

use super::tex_font::TexEncoding;

/// The maximum number of widths of a font that are examined.
const MAX_WIDTHS: usize = 1024;
/// The minimum number of equal widths of a monospace font. The digits of other fonts have equal widths, too.
const MIN_EQUAL_WIDTHS: usize = 13;

/// The style of a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(super) struct Style {
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) mono: bool,
    /// The letter is smaller and higher than its line.
    pub(super) superscript: bool,
}

/// The text and advance of a character code.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// The text; empty if the font has no mapping to Unicode.
    pub(super) text: Arc<str>,
    /// The advance, in ems.
    pub(super) advance: f64,
}

/// A loaded font.
pub(super) struct PdfFont<'a> {
    font: Font<'a>,
    pub(super) style: Style,
    /// The height of an em relative to the font size. It is 1 except for Type 3 fonts.
    pub(super) em: f64,
    /// The character codes are Unicode code points.
    unicode_codes: bool,
    /// The encoding of the codes of a bitmap font of TeX.
    tex: Option<TexEncoding>,
    codes: HashMap<u32, Code>,
}

/// The fonts of a document.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
    faces: Vec<PdfFont<'a>>,
    /// Indexes into `faces`, by address and length of the font dictionary. Its bytes are in the file or in an object
    /// stream, which live as long as the document, so the address is unique.
    by_dict: HashMap<(usize, usize), Option<usize>>,
    fallback: Option<usize>,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            font_resolver: Arc::new(|query| {
                Some(match query {
                    FontQuery::Standard(font) => font.get_font_data(),
                    FontQuery::Fallback(query) => query.pick_standard_font().get_font_data(),
                })
            }),
            cmap_resolver: Arc::new(hayro_cmap::load_embedded),
            faces: Vec::new(),
            by_dict: HashMap::new(),
            fallback: None,
        }
    }

    pub(super) fn face(&mut self, index: usize) -> &mut PdfFont<'a> {
        &mut self.faces[index]
    }

    /// Returns the index of the font of a dictionary; `None` if the font cannot be read.
    pub(super) fn load(&mut self, dict: &Dict<'a>) -> Option<usize> {
        let data = dict.data();
        let key = (data.as_ptr() as usize, data.len());
        if let Some(index) = self.by_dict.get(&key) {
            return *index;
        }
        let loaded = self.cache.font(dict, &self.font_resolver, &self.cmap_resolver).map(|font| {
            self.faces.push(PdfFont::new(font, dict));
            self.faces.len() - 1
        });
        self.by_dict.insert(key, loaded);
        loaded
    }

    /// Returns the index of the font for text without a font.
    pub(super) fn fallback(&mut self) -> Option<usize> {
        if self.fallback.is_none() {
            let font = self.cache.standard_font(StandardFont::Helvetica, &self.font_resolver)?;
            self.faces.push(PdfFont {
                font,
                style: Style::default(),
                em: 1.0,
                unicode_codes: false,
                tex: None,
                codes: HashMap::new(),
            });
            self.fallback = Some(self.faces.len() - 1);
        }
        self.fallback
    }
}

impl<'a> PdfFont<'a> {
    fn new(font: Font<'a>, dict: &Dict<'a>) -> Self {
        let encoding = dict.get::<Name<'_>>(b"Encoding");
        let unicode_codes = encoding.is_some_and(|name| {
            let name = name.as_str();
            name.contains("UCS2") || name.contains("UTF16")
        });
        let tex = TexEncoding::of_bitmap_font(dict);
        Self { font, style: style(dict), em: em(dict), unicode_codes, tex, codes: HashMap::new() }
    }

    pub(super) fn is_horizontal(&self) -> bool {
        self.font.is_horizontal()
    }

    /// Returns the character code at a position, and its length in bytes.
    pub(super) fn read_code(&self, bytes: &[u8], position: usize) -> (u32, usize) {
        let (code, length) = self.font.read_code(bytes, position);
        (code, length.max(1))
    }

    pub(super) fn code(&mut self, code: u32) -> &Code {
        let (font, unicode_codes, tex) = (&self.font, self.unicode_codes, self.tex);
        self.codes.entry(code).or_insert_with(|| {
            let unicode = match font.glyph(GlyphId::NOTDEF, code) {
                FontGlyph::Outline(glyph) => glyph.as_unicode(),
                FontGlyph::Type3(glyph) => glyph.as_unicode(),
            };
            let text: Arc<str> = match unicode {
                Some(BfString::Char(character)) => Arc::from(character.to_string()),
                Some(BfString::String(text)) => Arc::from(unswapped(text)),
                None if unicode_codes => {
                    Arc::from(char::from_u32(code).map(String::from).unwrap_or_default())
                }
                None => Arc::from(tex.map(|encoding| encoding.text(code)).unwrap_or_default()),
            };
            let advance = font.code_advance(code);
            let advance = if font.is_horizontal() { advance.x } else { advance.y };
            Code { text, advance: advance / f64::from(hayro_font::UNITS_PER_EM) }
        })
    }
}

/// Returns the letters of a ligature in the right byte order. Some writers store `fi` as the characters 昀椀.
fn unswapped(text: String) -> String {
    let letter = |character: char| {
        let swapped = u16::try_from(u32::from(character)).ok()?.swap_bytes();
        char::from_u32(u32::from(swapped)).filter(char::is_ascii_lowercase)
    };
    text.chars().map(letter).collect::<Option<String>>().filter(|letters| letters.len() > 1).unwrap_or(text)
}

/// Detects the style of a font from its name and its descriptor.
fn style(dict: &Dict<'_>) -> Style {
    let descendant =
        dict.get::<Array<'_>>(b"DescendantFonts").and_then(|fonts| fonts.iter::<Dict<'_>>().next());
    let inner = descendant.as_ref().unwrap_or(dict);
    let name = dict.get::<Name<'_>>(b"BaseFont").or_else(|| dict.get::<Name<'_>>(b"Name"));
    let name = name.map(|name| name.as_str().to_ascii_lowercase()).unwrap_or_default();
    // The name of a subset is `ABCDEF+Name`.
    let name = name.split_once('+').map_or(name.as_str(), |(_, name)| name);
    let descriptor = inner.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
    let flags = descriptor.get::<i64>(b"Flags").unwrap_or(0);
    let contains = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let starts_with = |parts: &[&str]| parts.iter().any(|part| name.starts_with(part));
    Style {
        bold: contains(&["bold", "black", "heavy", "demi", "-bd"])
            // The bold fonts of the families that replace Times and Century Schoolbook in TeX and PostScript.
            || ["-medi", "-mediital"].iter().any(|end| name.ends_with(end))
            || starts_with(&["cmbx", "cmb1", "sfbx", "sfrb", "cmssbx", "ecbx"])
            || flags & (1 << 18) != 0,
        italic: contains(&["ital", "obli", "slant"])
            || starts_with(&["cmti", "cmsl", "sfti", "sfsl", "ecti", "ecsl"])
            || flags & (1 << 6) != 0,
        // The letters below a scan have the widths of its words, whatever the font states.
        mono: !name.contains("glyphless")
            && (contains(&["mono", "courier", "typewriter", "consol", "menlo", "inconsolata"])
                || starts_with(&["cmtt", "cmsltt", "cmitt", "sftt", "ectt", "lmtt", "cmtcsc"])
                || (flags & 1 != 0 && !starts_with(&["cm", "sf"]))
                || has_equal_widths(dict, inner)),
        superscript: false,
    }
}

/// Returns whether a font states the same width for many letters, as fonts of listings do.
fn has_equal_widths(dict: &Dict<'_>, inner: &Dict<'_>) -> bool {
    let mut widths: Vec<f64> = Vec::new();
    if let Some(array) = dict.get::<Array<'_>>(b"Widths") {
        widths.extend(array.iter::<f64>().take(MAX_WIDTHS));
    } else if let Some(array) = inner.get::<Array<'_>>(b"W") {
        // Only lists of single widths: a range can be the full width of all ideographs.
        let lists = array.iter::<Object<'_>>().take(MAX_WIDTHS).filter_map(Object::into_array);
        widths.extend(lists.flat_map(|list| list.iter::<f64>().collect::<Vec<f64>>()).take(MAX_WIDTHS));
    }
    widths.retain(|width| *width > 0.0);
    let scale = dict.get::<[f64; 6]>(b"FontMatrix").map_or(0.001, |matrix| matrix[0].abs());
    let Some(first) = widths.first().copied() else { return false };
    widths.len() >= MIN_EQUAL_WIDTHS
        && (0.4..0.75).contains(&(first * scale))
        && widths.iter().all(|width| (width - first).abs() <= 0.005 * first)
}

/// Returns the height of an em relative to the font size, for [`PdfFont::em`].
fn em(dict: &Dict<'_>) -> f64 {
    if dict.get::<Name<'_>>(b"Subtype").is_none_or(|name| name.as_str() != "Type3") {
        return 1.0;
    }
    let matrix = dict.get::<[f64; 6]>(b"FontMatrix").unwrap_or([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]);
    let bounds = dict.get::<[f64; 4]>(b"FontBBox").unwrap_or([0.0; 4]);
    let height = ((bounds[3] - bounds[1]) * matrix[3]).abs();
    // The bounding box of all glyphs is slightly higher than the em.
    if height.is_normal() { height * 0.8 } else { (matrix[3] * 1000.0).abs() }
}

//! Reads the codes of TeX's bitmap fonts, whose glyph names are only the numbers of their codes.

use hayro_syntax::object::{Array, Dict, Name, Object};

/// The maximum number of glyph names that are examined.
const MAX_NAMES: usize = 1024;

/// An encoding of TeX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TexEncoding {
    /// The original encoding with 128 codes.
    Ot1,
    /// The encoding with 256 codes for European languages.
    T1,
}

impl TexEncoding {
    /// Returns the encoding of a bitmap font, in which the code 65 has the name `a65`; `None` for all other fonts.
    pub(super) fn of_bitmap_font(dict: &Dict<'_>) -> Option<Self> {
        dict.get::<Name<'_>>(b"Subtype").filter(|name| name.as_str() == "Type3")?;
        let names = dict.get::<Dict<'_>>(b"Encoding")?.get::<Array<'_>>(b"Differences")?;
        let (mut code, mut count) = (0_u32, 0);
        let mut encoding = Self::Ot1;
        for entry in names.iter::<Object<'_>>().take(MAX_NAMES) {
            match entry {
                Object::Number(number) => code = number.as_f64().clamp(0.0, 65535.0) as u32,
                Object::Name(name) => {
                    if name.as_str() != ".notdef" {
                        if name.as_str().strip_prefix('a')?.parse() != Ok(code) {
                            return None;
                        }
                        count += 1;
                        if matches!(code, 16..=31 | 128..) {
                            encoding = Self::T1;
                        }
                    }
                    code += 1;
                }
                _ => return None,
            }
        }
        (count > 0).then_some(encoding)
    }

    /// Returns the text of a code; empty if the encoding has no letter for it.
    pub(super) fn text(self, code: u32) -> String {
        const LIGATURES: [&str; 5] = ["ff", "fi", "fl", "ffi", "ffl"];
        let ligature = |first: u32| LIGATURES[(code - first) as usize].to_owned();
        match (self, code) {
            (Self::Ot1, 11..=15) => ligature(11),
            (Self::Ot1, 34) | (Self::T1, 17) => "”".to_owned(),
            (Self::Ot1, 92) | (Self::T1, 16) => "“".to_owned(),
            (Self::Ot1, 123) | (Self::T1, 21) => "–".to_owned(),
            (Self::Ot1, 124) | (Self::T1, 22) => "—".to_owned(),
            (Self::T1, 27..=31) => ligature(27),
            (Self::T1, 215) => "Œ".to_owned(),
            (Self::T1, 247) => "œ".to_owned(),
            (Self::T1, 255) => "ß".to_owned(),
            (_, 39) => "’".to_owned(),
            (_, 96) => "‘".to_owned(),
            (_, 33..=126) | (Self::T1, 192..=254) => {
                char::from_u32(code).map(String::from).unwrap_or_default()
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_both_encodings_become_text() {
        let text = |encoding: TexEncoding, codes: &[u32]| -> String {
            codes.iter().map(|code| encoding.text(*code)).collect()
        };
        assert_eq!(text(TexEncoding::Ot1, &[111, 14, 99, 101]), "office");
        assert_eq!(text(TexEncoding::T1, &[111, 30, 99, 233]), "officé");
        assert_eq!(text(TexEncoding::Ot1, &[3, 200, 70_000]), "");
    }
}

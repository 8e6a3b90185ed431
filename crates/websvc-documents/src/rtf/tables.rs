//! The fonts and the styles that an RTF file defines at its beginning.

use std::collections::{HashMap, HashSet};

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::office::{heading_of_name, is_monospace};

/// A font.
#[derive(Debug, Clone, Copy)]
pub(super) struct Font {
    /// The font has characters of the same width.
    pub(super) is_code: bool,
    /// The encoding of text in this font; `None` for that of the file.
    pub(super) encoding: Option<&'static Encoding>,
}

/// The entry of a table that is being read.
#[derive(Debug, Default)]
struct Entry {
    number: i32,
    name: String,
    charset: i32,
    is_modern: bool,
    outline: Option<u32>,
}

/// The fonts and the heading styles by number.
#[derive(Debug, Default)]
pub(super) struct Tables {
    fonts: HashMap<i32, Font>,
    headings: HashMap<i32, u32>,
    quotes: HashSet<i32>,
    entry: Entry,
}

impl Tables {
    /// Reads a control word in the table of fonts.
    pub(super) fn font_word(&mut self, word: &str, number: i32) {
        match word {
            "f" => self.entry = Entry { number, ..Entry::default() },
            "fcharset" => self.entry.charset = number,
            "fmodern" => self.entry.is_modern = true,
            _ => {}
        }
    }

    /// Reads a control word in the table of styles.
    pub(super) fn style_word(&mut self, word: &str, number: i32) {
        match word {
            "s" => self.entry = Entry { number, ..Entry::default() },
            "outlinelevel" => {
                self.entry.outline =
                    u32::try_from(number).ok().filter(|level| *level < 9).map(|level| level + 1);
            }
            _ => {}
        }
    }

    /// Reads the name of a font or style, which ends with a semicolon.
    pub(super) fn name(&mut self, text: &str, is_font: bool) {
        for (index, piece) in text.split(';').enumerate() {
            if index > 0 {
                self.end_entry(is_font);
            }
            if self.entry.name.len() < 200 {
                self.entry.name.push_str(piece);
            }
        }
    }

    fn end_entry(&mut self, is_font: bool) {
        let Entry { number, name, charset, is_modern, outline } = std::mem::take(&mut self.entry);
        if is_font {
            let font = Font {
                is_code: is_monospace(&name) || is_modern && name.is_empty(),
                encoding: encoding(charset),
            };
            self.fonts.entry(number).or_insert(font);
            return;
        }
        let name = name.trim().to_ascii_lowercase();
        if matches!(name.as_str(), "quote" | "intense quote" | "block text" | "quotations") {
            self.quotes.insert(number);
        }
        if let Some(level) = heading_of_name(&name).or(outline) {
            self.headings.insert(number, level);
        }
    }

    pub(super) fn font(&self, number: i32) -> Option<Font> {
        self.fonts.get(&number).copied()
    }

    /// Returns whether a style is that of quotes.
    pub(super) fn is_quote(&self, style: i32) -> bool {
        self.quotes.contains(&style)
    }

    /// Returns the level of a heading style.
    pub(super) fn heading(&self, style: i32) -> Option<u32> {
        self.headings.get(&style).copied()
    }
}

/// Returns the encoding of a character set of a font.
fn encoding(charset: i32) -> Option<&'static Encoding> {
    let page = match charset {
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    Some(code_page(page))
}

/// Returns the encoding of a code page.
pub(super) fn code_page(number: i32) -> &'static Encoding {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        65001 => "utf-8".to_owned(),
        10000 => "macintosh".to_owned(),
        number => format!("windows-{number}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

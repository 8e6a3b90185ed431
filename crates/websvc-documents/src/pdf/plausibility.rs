//! Finds fonts that map their letters to wrong characters, and decodes those whose characters are only shifted.
//!
//! Some writers store the number of a glyph as its character, or shift all characters, to prevent copying. The page looks
//! right, but its text is unreadable. The frequencies of letters are similar in all languages with Latin script, so they
//! show such fonts without a dictionary.

use super::glyphs::Glyph;

/// The frequencies of the letters from `a` to `z` in European languages, per thousand.
const USUAL: [f32; 26] = [
    75.0, 13.0, 30.0, 43.0, 140.0, 15.0, 18.0, 30.0, 74.0, 3.0, 7.0, 45.0, 28.0, 78.0, 60.0, 24.0, 6.0, 65.0,
    68.0, 70.0, 45.0, 14.0, 10.0, 2.0, 8.0, 6.0,
];
/// The minimum number of letters of a font that can be judged.
const MIN_LETTERS: u32 = 120;
/// The similarity to the usual frequencies above which the letters are plausible.
const PLAUSIBLE: f32 = 0.75;
/// The similarity that shifted letters must reach.
const DECODED: f32 = 0.9;
/// The similarity below which letters are unreadable, and the number of letters that this takes.
const UNREADABLE: f32 = 0.5;
const MIN_UNREADABLE: u32 = 400;
/// The minimum number of different letters of a text. Sequences of genes and hexadecimal numbers have fewer.
const MIN_DISTINCT: usize = 15;
/// The maximum number of fonts that are judged.
const MAX_FONTS: usize = 1000;

/// The letters of a font that were read so far.
#[derive(Debug, Clone, Default)]
struct Letters {
    counts: [u32; 26],
    /// The number of capital letters.
    capitals: u32,
    /// Letters outside of `a` to `z`.
    other: u32,
    /// Replacement characters and characters without a meaning.
    meaningless: u32,
    /// The characters are those of the text plus this number.
    shift: Option<i32>,
    /// The number of letters when they were judged.
    judged: u32,
}

/// The letters of the fonts of a document.
#[derive(Debug, Default)]
pub(super) struct FontLetters {
    fonts: Vec<Letters>,
}

/// The state of the text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readability {
    Plausible,
    /// Its characters were shifted, and are decoded.
    Decoded,
    /// Most of its characters are unreadable, and were removed.
    Unreadable,
}

impl FontLetters {
    /// Counts the letters of a page, decodes shifted ones, and removes the text if most of it is unreadable.
    pub(super) fn check(&mut self, glyphs: &mut Vec<Glyph>) -> Readability {
        let mut used = Vec::new();
        for glyph in glyphs.iter() {
            let font = usize::from(glyph.font);
            if font >= MAX_FONTS {
                continue;
            }
            if font >= self.fonts.len() {
                self.fonts.resize(font + 1, Letters::default());
            }
            self.fonts[font].count(glyph.character);
            if used.last() != Some(&font) && !used.contains(&font) {
                used.push(font);
            }
        }
        used.iter().for_each(|font| self.fonts[*font].judge());
        let is_shifted = |font: &&usize| self.fonts[**font].shift.is_some();
        let decoded = used.iter().filter(is_shifted).count() > 0;
        if decoded {
            for glyph in glyphs.iter_mut() {
                let letters = self.fonts.get(usize::from(glyph.font));
                if let Some(shift) = letters.and_then(|letters| letters.shift) {
                    glyph.character = unshifted(glyph.character, shift);
                }
            }
        }
        let unreadable: Vec<usize> =
            used.iter().copied().filter(|font| self.fonts[*font].is_unreadable()).collect();
        let is_unreadable = |glyph: &&Glyph| unreadable.contains(&usize::from(glyph.font));
        if !unreadable.is_empty() && glyphs.iter().filter(is_unreadable).count() * 2 > glyphs.len() {
            glyphs.clear();
            return Readability::Unreadable;
        }
        if decoded { Readability::Decoded } else { Readability::Plausible }
    }
}

impl Letters {
    fn count(&mut self, character: char) {
        match character {
            'a'..='z' => self.counts[(character as u8 - b'a') as usize] += 1,
            'A'..='Z' => {
                self.counts[(character as u8 - b'A') as usize] += 1;
                self.capitals += 1;
            }
            '\u{fffd}' | '\u{e000}'..='\u{f8ff}' => self.meaningless += 1,
            other if other.is_alphabetic() => self.other += 1,
            _ => {}
        }
    }

    fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Decides whether the characters are shifted. The decision stays, because it decides about earlier pages, too.
    fn judge(&mut self) {
        let total = self.total();
        if self.shift.is_some() || total < MIN_LETTERS.max(self.judged * 2) || self.other * 4 > total {
            return;
        }
        self.judged = total;
        let similarity = self.similarity(0);
        let best = (1..26).map(|shift| (self.similarity(shift), shift));
        let Some((decoded, shift)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        if similarity < PLAUSIBLE && decoded > DECODED {
            // Numbers of glyphs are smaller than the characters by 29, so that `h` becomes `K`.
            let is_glyph_number = shift == 3 && self.capitals * 10 > total * 9;
            let signed = if shift <= 13 { shift as i32 } else { shift as i32 - 26 };
            self.shift = Some(if is_glyph_number { -29 } else { signed });
        }
    }

    fn is_unreadable(&self) -> bool {
        let total = self.total();
        let distinct = self.counts.iter().filter(|count| **count * 500 > total).count();
        self.meaningless > total.max(MIN_LETTERS)
            || (self.shift.is_none()
                && total >= MIN_UNREADABLE
                && self.other * 4 <= total
                && distinct >= MIN_DISTINCT
                && self.similarity(0) < UNREADABLE)
    }

    /// Returns the similarity to the usual frequencies, from 0 to 1, if all letters were shifted by this number.
    fn similarity(&self, shift: usize) -> f32 {
        let counts = |letter: usize| self.counts[(letter + shift) % 26] as f32;
        let product: f32 = (0..26).map(|letter| counts(letter) * USUAL[letter]).sum();
        let square: f32 = (0..26).map(|letter| counts(letter) * counts(letter)).sum();
        let usual: f32 = USUAL.iter().map(|frequency| frequency * frequency).sum();
        product / (square * usual).sqrt().max(f32::MIN_POSITIVE)
    }
}

/// Returns the character whose code is smaller by `shift`. A letter stays a letter.
fn unshifted(character: char, shift: i32) -> char {
    let code = character as i32 - shift;
    let decoded = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(' ');
    if decoded <= ' ' {
        return ' ';
    }
    if shift.abs() < 26 && character.is_ascii_alphabetic() && !decoded.is_ascii_alphabetic() {
        let around = u32::try_from(code + 26 * shift.signum()).ok().and_then(char::from_u32);
        return around.filter(char::is_ascii_alphabetic).unwrap_or(decoded);
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::font::Style;

    const TEXT: &str = "The quarterly inventory of the harbour was taken by two clerks. All ropes are dry and all the lamps \
        are filled with clean oil. The certificate of the northern crane expires in the autumn, and its renewal needs \
        three signatures and one witness at least, as every one of us knows.";

    fn check(text: impl Iterator<Item = char>) -> (Readability, String) {
        let style = Style::default();
        let glyph = |character| Glyph {
            character,
            x0: 0.0,
            x1: 1.0,
            y: 0.0,
            size: 10.0,
            style,
            rotation: 0,
            artifact: false,
            link: 0,
            font: 0,
            mcid: None,
        };
        let mut glyphs: Vec<Glyph> = text.map(glyph).collect();
        let readability = FontLetters::default().check(&mut glyphs);
        (readability, glyphs.iter().map(|glyph| glyph.character).collect())
    }

    #[test]
    fn shifted_characters_are_decoded() {
        assert_eq!(check(TEXT.chars()), (Readability::Plausible, TEXT.to_owned()));
        for shift in [1, 3, -1] {
            let text =
                TEXT.chars().map(|character| char::from_u32((character as i32 + shift) as u32).unwrap());
            assert_eq!(check(text), (Readability::Decoded, TEXT.to_owned()), "{shift}");
        }
        let glyph_numbers =
            TEXT.chars().filter(|character| *character != ' ').map(|c| (c as u8 - 29) as char);
        assert_eq!(check(glyph_numbers), (Readability::Decoded, TEXT.replace(' ', "")));
    }

    #[test]
    fn letters_of_another_order_are_unreadable() {
        let order = "qzjxkvbpygfwmucldrhsnioate".as_bytes();
        let text = TEXT.to_lowercase().repeat(3);
        let mixed = text
            .chars()
            .map(|c| if c.is_ascii_lowercase() { order[(c as u8 - b'a') as usize] as char } else { c });
        assert_eq!(check(mixed), (Readability::Unreadable, String::new()));
    }

    #[test]
    fn texts_that_are_no_sentences_are_plausible() {
        let texts =
            ["ACGTTGCA".repeat(100), "deadbeef0123456789abcdef".repeat(100), "x = y * z;".repeat(100)];
        for text in texts {
            assert_eq!(check(text.chars()), (Readability::Plausible, text.clone()));
        }
    }
}

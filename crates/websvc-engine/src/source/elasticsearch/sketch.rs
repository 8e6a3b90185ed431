//! Sketches of texts, by which copies of a page under other URLs are recognized among the hits.
//!
//! A search returns no texts, so each page is stored with a small sketch: for each of 64 classes of its shingles
//! (sequences of four words), the least hash. The share of equal hashes of two sketches estimates the share of equal
//! shingles of the texts, by which the embedded index recognizes copies.

use std::fmt;
use std::str::FromStr;

use websvc_index::{MIN_COPY_WORDS, MIN_RESEMBLANCE, SHINGLE_WORDS, can_be_copies, folded_words};

/// The number of classes of shingles.
const CLASSES: usize = 64;

/// The maximum size of the beginning of a text that is sketched.
const MAX_BYTES: usize = 1024 * 1024;

/// A sketch of a text. It is stored as text, and must stay the same in all versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sketch {
    words: u32,
    /// The least hash of each class; the maximum for a class without shingles.
    hashes: [u16; CLASSES],
}

impl Sketch {
    /// Returns the sketch of a text; `None` if it is too short to have copies.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let folded = folded_words(&text[..text.floor_char_boundary(MAX_BYTES)]);
        let words: Vec<&str> = folded.split_whitespace().collect();
        let count = u32::try_from(words.len()).ok().filter(|count| *count >= MIN_COPY_WORDS)?;
        let mut hashes = [u16::MAX; CLASSES];
        for shingle in words.windows(SHINGLE_WORDS) {
            let hash = hash(shingle);
            let class = usize::try_from(hash % CLASSES as u64).unwrap_or_default();
            // The bits above those that select the class.
            let value = u16::try_from((hash >> 32) & 0xffff).unwrap_or(u16::MAX);
            hashes[class] = hashes[class].min(value);
        }
        Some(Self { words: count, hashes })
    }

    /// Returns whether the texts are nearly equal.
    pub(super) fn resembles(&self, other: &Self) -> bool {
        if !can_be_copies(self.words, other.words) {
            return false;
        }
        let used = self.hashes.iter().zip(&other.hashes).filter(|(a, b)| **a != u16::MAX || **b != u16::MAX);
        let (mut all, mut equal) = (0_u32, 0_u32);
        for (a, b) in used {
            all += 1;
            equal += u32::from(a == b);
        }
        f64::from(equal) >= MIN_RESEMBLANCE * f64::from(all)
    }
}

impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.words)?;
        self.hashes.iter().try_for_each(|hash| write!(f, "{hash:04x}"))
    }
}

/// A text that is not a sketch, such as the empty text of a page without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoSketch;

impl FromStr for Sketch {
    type Err = NoSketch;

    fn from_str(text: &str) -> Result<Self, NoSketch> {
        let (words, hex) = text.split_once(':').ok_or(NoSketch)?;
        let mut hashes = [u16::MAX; CLASSES];
        if hex.len() != CLASSES * 4 || !hex.is_ascii() {
            return Err(NoSketch);
        }
        for (at, hash) in hashes.iter_mut().enumerate() {
            *hash = u16::from_str_radix(&hex[at * 4..at * 4 + 4], 16).map_err(|_| NoSketch)?;
        }
        Ok(Self { words: words.parse().map_err(|_| NoSketch)?, hashes })
    }
}

/// Returns the 64-bit FNV-1a hash of words, mixed so that all of its bits depend on all words.
fn hash(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0xff]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text of distinct words, some of which are replaced.
    fn text(words: usize, replaced: &[usize]) -> String {
        let word = |at| if replaced.contains(&at) { format!("other{at}") } else { format!("word{at}") };
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    }

    fn sketch(words: usize, replaced: &[usize]) -> Sketch {
        Sketch::from_text(&text(words, replaced)).unwrap()
    }

    #[test]
    fn nearly_equal_texts_resemble_each_other() {
        let original = sketch(400, &[]);
        assert!(original.resembles(&original));
        assert!(original.resembles(&sketch(400, &[200])), "one word differs");
        let tenth: Vec<usize> = (0..400).step_by(10).collect();
        assert!(!original.resembles(&sketch(400, &tenth)), "every tenth word differs");
        assert!(!original.resembles(&sketch(300, &[])), "the other text is shorter");
        assert!(sketch(20, &[]).resembles(&sketch(20, &[])));
        assert!(!sketch(20, &[]).resembles(&sketch(20, &[5, 15])));
    }

    #[test]
    fn sketch_is_read_as_it_is_written() {
        let sketch = sketch(400, &[]);
        assert_eq!(sketch.to_string().parse(), Ok(sketch));
        for text in ["", "12:", "x:00", &format!("1:{}", "z".repeat(256)), &format!("1:{}", "é".repeat(128))]
        {
            assert_eq!(text.parse::<Sketch>(), Err(NoSketch), "{text}");
        }
    }

    #[test]
    fn sketch_of_a_text_never_changes() {
        assert_eq!(Sketch::from_text(&text(15, &[])), None, "it is too short");
        let hash = hash(&["one", "two", "three", "four"]);
        assert_eq!(hash, EXPECTED_HASH);
    }

    /// Stored sketches are compared with those of later versions.
    const EXPECTED_HASH: u64 = 0x0cef_5457_0c87_aa00;
}

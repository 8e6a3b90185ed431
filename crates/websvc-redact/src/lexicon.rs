//! The embedded gazetteer: given names, family names, places and the words around them, compiled by the project from general knowledge.
//!
//! The lists are text; a table over them is made when the first text is redacted, so that a service that never redacts
//! does not pay for it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// Possible meanings of a word or a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WordSense(u32);

impl WordSense {
    /// A given name.
    pub(crate) const GIVEN: Self = Self(1 << 0);
    /// A given name that is as often something else.
    pub(crate) const GIVEN_DOUBTFUL: Self = Self(1 << 1);
    /// A family name.
    pub(crate) const FAMILY: Self = Self(1 << 2);
    /// A country, region or city.
    pub(crate) const PLACE: Self = Self(1 << 3);
    /// A place whose name is as often something else.
    pub(crate) const PLACE_DOUBTFUL: Self = Self(1 << 4);
    /// The first word of a place of several words.
    pub(crate) const BEGINS_PLACE: Self = Self(1 << 5);
    /// A title that nothing but a name follows.
    pub(crate) const TITLE: Self = Self(1 << 6);
    /// A title that is a word of its own: a known name has to follow.
    pub(crate) const WEAK_TITLE: Self = Self(1 << 7);
    /// Label before a name, with a colon.
    pub(crate) const LABEL: Self = Self(1 << 8);
    /// Word that no name contains: words of sentences, companies, places, times.
    pub(crate) const NEVER: Self = Self(1 << 9);
    /// A family name that is a word: behind a doubtful given name it proves nothing.
    pub(crate) const COMMON: Self = Self(1 << 10);
    /// Particle that joins the parts of a name.
    pub(crate) const PARTICLE: Self = Self(1 << 11);
    /// Ending of English streets.
    pub(crate) const STREET: Self = Self(1 << 12);
    /// Ending of English streets that is as often something else.
    pub(crate) const WEAK_STREET: Self = Self(1 << 13);
    /// Beginning of French streets.
    pub(crate) const FRENCH_STREET: Self = Self(1 << 14);
    /// Beginning of streets whose number is last.
    pub(crate) const STREET_HEAD: Self = Self(1 << 15);
    /// The same, but only as a capital word.
    pub(crate) const CAPITAL_STREET_HEAD: Self = Self(1 << 16);
    /// A word of its own that ends a street, the number being behind it.
    pub(crate) const STREET_LAST: Self = Self(1 << 17);
    /// Small word in the name of a street.
    pub(crate) const SMALL: Self = Self(1 << 18);
    /// A part of a house.
    pub(crate) const UNIT: Self = Self(1 << 19);
    /// Word before a place.
    pub(crate) const BEFORE_PLACE: Self = Self(1 << 20);
    /// Word that turns the name of a person into the name of something else: `Johns Hopkins University`.
    pub(crate) const THING: Self = Self(1 << 21);

    /// The kinds of `data/words.txt`.
    const KINDS: [(&str, Self); 16] = [
        ("title", Self::TITLE),
        ("weak-title", Self::WEAK_TITLE),
        ("label", Self::LABEL),
        ("never", Self::NEVER),
        ("common", Self::COMMON),
        ("particle", Self::PARTICLE),
        ("street", Self::STREET),
        ("weak-street", Self::WEAK_STREET),
        ("french-street", Self::FRENCH_STREET),
        ("street-head", Self::STREET_HEAD),
        ("capital-street-head", Self::CAPITAL_STREET_HEAD),
        ("street-last", Self::STREET_LAST),
        ("small", Self::SMALL),
        ("unit", Self::UNIT),
        ("before-place", Self::BEFORE_PLACE),
        ("thing", Self::THING),
    ];

    pub(crate) fn is(self, meaning: Self) -> bool {
        self.0 & meaning.0 != 0
    }
}

type Table = HashMap<&'static [u8], WordSense, BuildHasherDefault<GazetteerHasher>>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::with_capacity_and_hasher(4096, BuildHasherDefault::default());
    let mut add = |entry: &'static str, sure: WordSense, doubtful: WordSense| {
        let (entry, meaning) = match entry.strip_prefix('*') {
            Some(entry) => (entry, doubtful),
            None => (entry, sure),
        };
        table.entry(entry.as_bytes()).or_default().0 |= meaning.0;
        entry
    };
    for name in include_str!("../data/given.txt").split_whitespace() {
        add(name, WordSense::GIVEN, WordSense::GIVEN_DOUBTFUL);
    }
    for name in include_str!("../data/family.txt").split_whitespace() {
        add(name, WordSense::FAMILY, WordSense::FAMILY);
    }
    for place in include_str!("../data/places.txt").split([',', '\n']).filter(|place| !place.is_empty()) {
        let place = add(place, WordSense::PLACE, WordSense::PLACE_DOUBTFUL);
        if let Some((first, _)) = place.split_once([' ', '.']) {
            add(first, WordSense::BEGINS_PLACE, WordSense::BEGINS_PLACE);
        }
    }
    for line in include_str!("../data/words.txt").lines() {
        let Some((kind, words)) = line.split_once(": ") else { continue };
        let Some((_, meaning)) = WordSense::KINDS.iter().find(|(name, _)| *name == kind) else { continue };
        for word in words.split(' ') {
            add(word, *meaning, *meaning);
        }
    }
    // What is doubtful anywhere is doubtful.
    for meaning in table.values_mut() {
        if meaning.is(WordSense::GIVEN_DOUBTFUL) {
            meaning.0 &= !WordSense::GIVEN.0;
        }
        if meaning.is(WordSense::PLACE_DOUBTFUL) {
            meaning.0 &= !WordSense::PLACE.0;
        }
    }
    table
});

/// By the first two letters: which lengths there are, one bit for each, the last one for all beyond.
static LENGTHS: LazyLock<Box<[u64; 1024]>> = LazyLock::new(|| {
    let mut lengths = Box::new([0; 1024]);
    for entry in TABLE.keys() {
        lengths[pair(entry)] |= 1 << entry.len().min(63);
    }
    lengths
});

/// Returns a number for the first two bytes of a word that is the same for capital letters.
fn pair(word: &[u8]) -> usize {
    let byte = |at: usize| usize::from(word.get(at).copied().unwrap_or_default() & 31);
    byte(0) << 5 | byte(1)
}

/// Returns what a word or phrase may be, whatever its case.
pub(crate) fn meaning(words: &str) -> WordSense {
    const LONGEST: usize = 48;
    let mut low = [0_u8; LONGEST];
    let found = if words.is_ascii() {
        if LENGTHS[pair(words.as_bytes())] & 1 << words.len().min(63) == 0 {
            return WordSense::default();
        }
        let Some(low) = low.get_mut(..words.len()) else { return WordSense::default() };
        low.copy_from_slice(words.as_bytes());
        low.make_ascii_lowercase();
        TABLE.get(&*low)
    } else {
        TABLE.get(words.to_lowercase().as_bytes())
    };
    found.copied().unwrap_or_default()
}

/// Multiplies eight bytes at a time: the keys are short and ours.
#[derive(Debug, Default)]
struct GazetteerHasher(u64);

impl GazetteerHasher {
    fn add(&mut self, word: u64) {
        // An odd number without a pattern; the high half of a product depends on all that went into it.
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

impl Hasher for GazetteerHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes")));
        }
        let rest = chunks.remainder();
        let last = rest.iter().fold(rest.len() as u64, |word, b| word << 8 | u64::from(*b));
        self.add(last);
    }

    fn write_usize(&mut self, _length: usize) {
        // The length of the key is in its last word.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_lower_case() {
        for entry in TABLE.keys().map(|entry| str::from_utf8(entry).unwrap()) {
            assert_eq!(entry, entry.to_lowercase(), "{entry}");
            assert_eq!(entry, entry.trim(), "{entry:?}");
        }
    }

    #[test]
    fn every_kind_of_word_has_a_line() {
        let lines: Vec<&str> = include_str!("../data/words.txt")
            .lines()
            .filter_map(|line| Some(line.split_once(": ")?.0))
            .collect();
        assert_eq!(lines, WordSense::KINDS.map(|(name, _)| name));
    }

    #[test]
    fn words_are_found_in_any_case() {
        assert!(meaning("BERLIN").is(WordSense::PLACE) && meaning("Zürich").is(WordSense::PLACE));
        assert!(meaning("new york").is(WordSense::PLACE) && meaning("New").is(WordSense::BEGINS_PLACE));
        assert!(meaning("Will").is(WordSense::GIVEN_DOUBTFUL) && !meaning("will").is(WordSense::GIVEN));
        assert_eq!(meaning("xyzzy"), WordSense::default());
    }
}

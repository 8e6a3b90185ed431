//! The embedded gazetteer: given names, family names, places and words that occur near them, compiled by the project
//! from general knowledge.
//!
//! The lists are text. A table over them is built when the first text is redacted, so that it costs nothing in a
//! service that never redacts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// Possible meanings of a word or a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WordSense(u32);

impl WordSense {
    /// A given name.
    pub(crate) const GIVEN: Self = Self(1 << 0);
    /// A given name that often is another word.
    pub(crate) const GIVEN_DOUBTFUL: Self = Self(1 << 1);
    /// A family name.
    pub(crate) const FAMILY: Self = Self(1 << 2);
    /// A country, region or city.
    pub(crate) const PLACE: Self = Self(1 << 3);
    /// A place whose name often is another word.
    pub(crate) const PLACE_DOUBTFUL: Self = Self(1 << 4);
    /// The first word of a place of several words.
    pub(crate) const PLACE_START: Self = Self(1 << 5);
    /// A title, which only a name follows.
    pub(crate) const TITLE: Self = Self(1 << 6);
    /// A title that also is another word: a known name has to follow.
    pub(crate) const WEAK_TITLE: Self = Self(1 << 7);
    /// A label with a colon before a name.
    pub(crate) const LABEL: Self = Self(1 << 8);
    /// A word that no name contains: words of sentences, companies, places, times.
    pub(crate) const NEVER: Self = Self(1 << 9);
    /// A family name that also is another word: it does not confirm a doubtful given name.
    pub(crate) const COMMON: Self = Self(1 << 10);
    /// A particle that joins the parts of a name.
    pub(crate) const PARTICLE: Self = Self(1 << 11);
    /// The last word of English streets.
    pub(crate) const STREET: Self = Self(1 << 12);
    /// The last word of English streets that often is another word.
    pub(crate) const WEAK_STREET: Self = Self(1 << 13);
    /// The first word of French streets.
    pub(crate) const FRENCH_STREET: Self = Self(1 << 14);
    /// The first word of streets before name and number.
    pub(crate) const STREET_HEAD: Self = Self(1 << 15);
    /// The same, but only if capitalized.
    pub(crate) const CAPITAL_STREET_HEAD: Self = Self(1 << 16);
    /// The last word of streets before the number.
    pub(crate) const STREET_LAST: Self = Self(1 << 17);
    /// A small word in the name of a street.
    pub(crate) const SMALL: Self = Self(1 << 18);
    /// A part of a building, such as `Apt`.
    pub(crate) const UNIT: Self = Self(1 << 19);
    /// A word before a place.
    pub(crate) const BEFORE_PLACE: Self = Self(1 << 20);
    /// A word after a person's name that makes it the name of something else: `Johns Hopkins University`.
    pub(crate) const THING: Self = Self(1 << 21);

    /// A greeting at the start of a letter.
    pub(crate) const GREETING: Self = Self(1 << 22);
    /// A word before the author of a work.
    pub(crate) const BYLINE: Self = Self(1 << 23);
    /// A word that often precedes a name, but also other words.
    pub(crate) const BEFORE_NAME: Self = Self(1 << 24);
    /// A label with a colon that only a name follows.
    pub(crate) const CERTAIN_LABEL: Self = Self(1 << 25);
    /// A closing of a letter, before the signature.
    pub(crate) const CLOSING: Self = Self(1 << 26);
    /// A word after a greeting or `by` that is not a person.
    pub(crate) const NOT_PERSON: Self = Self(1 << 27);

    /// The kinds of words in `data/words.txt`.
    const KINDS: [(&str, Self); 22] = [
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
        ("greeting", Self::GREETING),
        ("byline", Self::BYLINE),
        ("before-name", Self::BEFORE_NAME),
        ("certain-label", Self::CERTAIN_LABEL),
        ("closing", Self::CLOSING),
        ("not-person", Self::NOT_PERSON),
    ];

    /// Returns the senses of both.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether these senses include one of `senses`.
    pub(crate) fn is(self, senses: Self) -> bool {
        self.0 & senses.0 != 0
    }
}

type Table = HashMap<&'static [u8], WordSense, BuildHasherDefault<GazetteerHasher>>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::with_capacity_and_hasher(4096, BuildHasherDefault::default());
    // An asterisk marks a doubtful entry.
    let mut add = |entry: &'static str, certain: WordSense, doubtful: WordSense| {
        let (entry, senses) = match entry.strip_prefix('*') {
            Some(entry) => (entry, doubtful),
            None => (entry, certain),
        };
        table.entry(entry.as_bytes()).or_default().0 |= senses.0;
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
            add(first, WordSense::PLACE_START, WordSense::PLACE_START);
        }
    }
    for line in include_str!("../data/words.txt").lines() {
        let Some((kind, words)) = line.split_once(": ") else { continue };
        let Some((_, senses)) = WordSense::KINDS.iter().find(|(name, _)| *name == kind) else { continue };
        for word in words.split(' ') {
            add(word, *senses, *senses);
        }
    }
    // An entry that is doubtful in one list is doubtful in all.
    for senses in table.values_mut() {
        if senses.is(WordSense::GIVEN_DOUBTFUL) {
            senses.0 &= !WordSense::GIVEN.0;
        }
        if senses.is(WordSense::PLACE_DOUBTFUL) {
            senses.0 &= !WordSense::PLACE.0;
        }
    }
    table
});

/// The lengths of the entries by their first two letters: one bit per length, the last one for all longer entries.
static LENGTHS: LazyLock<Box<[u64; 1024]>> = LazyLock::new(|| {
    let mut lengths = Box::new([0; 1024]);
    for entry in TABLE.keys() {
        lengths[pair_index(entry)] |= 1 << entry.len().min(63);
    }
    lengths
});

/// Returns the index of the first two letters of a word in [`LENGTHS`], whatever their case.
fn pair_index(word: &[u8]) -> usize {
    let byte = |at: usize| usize::from(word.get(at).copied().unwrap_or_default() & 31);
    byte(0) << 5 | byte(1)
}

/// Returns the senses of a word or phrase, whatever its case.
pub(crate) fn senses(words: &str) -> WordSense {
    const MAX_BYTES: usize = 48;
    let mut lower = [0_u8; MAX_BYTES];
    let senses = if words.is_ascii() {
        if LENGTHS[pair_index(words.as_bytes())] & 1 << words.len().min(63) == 0 {
            return WordSense::default();
        }
        let Some(lower) = lower.get_mut(..words.len()) else { return WordSense::default() };
        lower.copy_from_slice(words.as_bytes());
        lower.make_ascii_lowercase();
        TABLE.get(&*lower)
    } else {
        TABLE.get(words.to_lowercase().as_bytes())
    };
    senses.copied().unwrap_or_default()
}

/// A fast hasher that multiplies eight bytes at a time. It resists no attacks, which short constant keys do not need.
#[derive(Debug, Default)]
struct GazetteerHasher(u64);

impl GazetteerHasher {
    fn add(&mut self, word: u64) {
        // An odd constant without a pattern. The high half of the product depends on all bits of the input.
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
        // The last word contains the length of the key.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_lower_case() {
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
        assert!(senses("BERLIN").is(WordSense::PLACE) && senses("Zürich").is(WordSense::PLACE));
        assert!(senses("new york").is(WordSense::PLACE) && senses("New").is(WordSense::PLACE_START));
        assert!(senses("Will").is(WordSense::GIVEN_DOUBTFUL) && !senses("will").is(WordSense::GIVEN));
        assert_eq!(senses("xyzzy"), WordSense::default());
    }
}

//! The embedded gazetteer: given names, family names and places, compiled by the project from general knowledge.
//!
//! The lists are text; a table over them is made when the first text is redacted, so that a service that never redacts
//! does not pay for it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// What a word or a phrase may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Meaning(u8);

impl Meaning {
    /// A given name.
    pub(crate) const GIVEN: Self = Self(1);
    /// A given name that is as often something else.
    pub(crate) const GIVEN_DOUBTFUL: Self = Self(2);
    /// A family name.
    pub(crate) const FAMILY: Self = Self(4);
    /// A country, region or city.
    pub(crate) const PLACE: Self = Self(8);
    /// A place whose name is as often something else.
    pub(crate) const PLACE_DOUBTFUL: Self = Self(16);
    /// The first word of a place of several words.
    pub(crate) const BEGINS_PLACE: Self = Self(32);

    pub(crate) fn is(self, meaning: Self) -> bool {
        self.0 & meaning.0 != 0
    }
}

type Table = HashMap<&'static str, Meaning, BuildHasherDefault<Fnv>>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::with_capacity_and_hasher(4096, BuildHasherDefault::default());
    let mut add = |entry: &'static str, sure: Meaning, doubtful: Meaning| {
        let (entry, meaning) = match entry.strip_prefix('*') {
            Some(entry) => (entry, doubtful),
            None => (entry, sure),
        };
        table.entry(entry).or_default().0 |= meaning.0;
        entry
    };
    for name in include_str!("../data/given.txt").split_whitespace() {
        add(name, Meaning::GIVEN, Meaning::GIVEN_DOUBTFUL);
    }
    for name in include_str!("../data/family.txt").split_whitespace() {
        add(name, Meaning::FAMILY, Meaning::FAMILY);
    }
    for place in include_str!("../data/places.txt").split([',', '\n']).filter(|place| !place.is_empty()) {
        let place = add(place, Meaning::PLACE, Meaning::PLACE_DOUBTFUL);
        if let Some((first, _)) = place.split_once([' ', '.']) {
            add(first, Meaning::BEGINS_PLACE, Meaning::BEGINS_PLACE);
        }
    }
    // What is doubtful anywhere is doubtful.
    for meaning in table.values_mut() {
        if meaning.is(Meaning::GIVEN_DOUBTFUL) {
            meaning.0 &= !Meaning::GIVEN.0;
        }
        if meaning.is(Meaning::PLACE_DOUBTFUL) {
            meaning.0 &= !Meaning::PLACE.0;
        }
    }
    table
});

/// Returns what a word or phrase may be, whatever its case.
pub(crate) fn meaning(words: &str) -> Meaning {
    const LONGEST: usize = 48;
    let mut low = [0_u8; LONGEST];
    let found = if words.is_ascii() {
        let Some(low) = low.get_mut(..words.len()) else { return Meaning::default() };
        low.copy_from_slice(words.as_bytes());
        low.make_ascii_lowercase();
        str::from_utf8(low).ok().and_then(|low| TABLE.get(low))
    } else {
        TABLE.get(words.to_lowercase().as_str())
    };
    found.copied().unwrap_or_default()
}

/// Fowler, Noll and Vo's hash: the keys are short and ours.
#[derive(Debug)]
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
        }
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
        for entry in TABLE.keys() {
            assert_eq!(*entry, entry.to_lowercase(), "{entry}");
            assert_eq!(*entry, entry.trim(), "{entry:?}");
        }
    }

    #[test]
    fn words_are_found_in_any_case() {
        assert!(meaning("BERLIN").is(Meaning::PLACE) && meaning("Zürich").is(Meaning::PLACE));
        assert!(meaning("new york").is(Meaning::PLACE) && meaning("New").is(Meaning::BEGINS_PLACE));
        assert!(meaning("Will").is(Meaning::GIVEN_DOUBTFUL) && !meaning("will").is(Meaning::GIVEN));
        assert_eq!(meaning("compiler"), Meaning::default());
    }
}

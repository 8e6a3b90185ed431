//! The words that show that a page has a menu, in several languages.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The meanings of a word for menus.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MenuSense(u16);

impl MenuSense {
    /// A word for a menu.
    pub(super) const MENU: Self = Self(1 << 0);
    /// A word of a section of a menu.
    pub(super) const SECTION: Self = Self(1 << 1);
    /// A word of a section that price lists other than menus have, too: a meal that a hotel charges for, or a thing.
    pub(super) const AMBIGUOUS: Self = Self(1 << 2);
    /// A place where people eat.
    pub(super) const PLACE: Self = Self(1 << 3);
    /// A word of a page that sells articles or rents rooms.
    pub(super) const OTHER_TRADE: Self = Self(1 << 4);
    /// A first course.
    pub(super) const STARTER: Self = Self(1 << 5);
    /// A main course.
    pub(super) const MAIN: Self = Self(1 << 6);
    /// A last course.
    pub(super) const DESSERT: Self = Self(1 << 7);
    /// A word that follows `main` in the name of a section.
    pub(super) const OF_MAIN: Self = Self(1 << 8);

    /// The kinds of words in `data/menu_words.txt`.
    const KINDS: [(&str, Self); 9] = [
        ("menu", Self::MENU),
        ("section", Self::SECTION),
        ("ambiguous", Self::AMBIGUOUS),
        ("place", Self::PLACE),
        ("other-trade", Self::OTHER_TRADE),
        ("starter", Self::STARTER),
        ("main", Self::MAIN),
        ("dessert", Self::DESSERT),
        ("of-main", Self::OF_MAIN),
    ];

    /// Returns whether this is one of the meanings.
    pub(super) fn is(self, sense: Self) -> bool {
        self.0 & sense.0 != 0
    }
}

static TABLE: LazyLock<HashMap<&str, MenuSense>> = LazyLock::new(|| {
    let mut table: HashMap<&str, MenuSense> = HashMap::new();
    for line in include_str!("../../data/menu_words.txt").lines() {
        let Some((kind, words)) = line.split_once(": ") else { continue };
        let sense = MenuSense::KINDS.iter().find(|(name, _)| *name == kind).map_or(0, |(_, sense)| sense.0);
        words.split(' ').for_each(|word| table.entry(word).or_default().0 |= sense);
    }
    table
});

/// Returns the meanings of a word in lower case.
pub(super) fn sense(word: &str) -> MenuSense {
    TABLE.get(word).copied().unwrap_or_default()
}

/// Returns whether one of the words has a meaning.
pub(super) fn has_sense(words: &[String], wanted: MenuSense) -> bool {
    words.iter().any(|word| sense(word).is(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_word_has_a_line_in_lower_case() {
        let text = include_str!("../../data/menu_words.txt");
        let kinds: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        assert_eq!(kinds, MenuSense::KINDS.map(|(name, _)| name));
        assert_eq!(text, text.to_lowercase());
        assert!(sense("lunch").is(MenuSense::MENU) && sense("lunch").is(MenuSense::AMBIGUOUS));
    }
}

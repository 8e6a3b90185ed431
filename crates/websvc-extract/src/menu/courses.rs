//! Evidence that a page without a word for a menu has one all the same: its sections are the courses of a meal, or it
//! names a place where people eat.
//!
//! A price list of a shop and a table of tariffs look the same, so a single section of food is not enough, and the page
//! must neither sell articles nor name a shop.

use crate::product::identity::words;

/// Words for places where people eat, in lower case.
const PLACES: [&str; 33] = [
    "restaurant",
    "ristorante",
    "restaurante",
    "restaurang",
    "bistro",
    "bistrot",
    "brasserie",
    "trattoria",
    "osteria",
    "pizzeria",
    "taverna",
    "taverne",
    "taberna",
    "taqueria",
    "taquería",
    "cafe",
    "café",
    "caffè",
    "caffe",
    "cafetería",
    "cafeteria",
    "gasthaus",
    "gasthof",
    "gaststätte",
    "wirtshaus",
    "weinstube",
    "imbiss",
    "steakhouse",
    "eatery",
    "gastropub",
    "crêperie",
    "eetcafé",
    "eethuis",
];

/// Words of pages that sell articles or rent rooms, in lower case.
const OTHER_TRADES: [&str; 37] = [
    "shop",
    "shops",
    "store",
    "stores",
    "webshop",
    "onlineshop",
    "supermarket",
    "grocer",
    "groceries",
    "grocery",
    "wholesale",
    "equipment",
    "supplies",
    "supply",
    "furniture",
    "machines",
    "machine",
    "collections",
    "products",
    "hotel",
    "tickets",
    "zubehör",
    "bedarf",
    "großhandel",
    "ausstattung",
    "möbel",
    "maschinen",
    "supermarkt",
    "tienda",
    "boutique",
    "magasin",
    "épicerie",
    "negozio",
    "loja",
    "winkel",
    "butik",
    "recipes",
];

const STARTERS: [&str; 11] = [
    "starters",
    "appetizers",
    "appetisers",
    "entrées",
    "vorspeisen",
    "antipasti",
    "entrantes",
    "voorgerechten",
    "förrätter",
    "forretter",
    "amuses",
];

const MAINS: [&str; 13] = [
    "mains",
    "hauptgerichte",
    "hauptspeisen",
    "hauptgänge",
    "plats",
    "primi",
    "secondi",
    "segundos",
    "hoofdgerechten",
    "huvudrätter",
    "varmrätter",
    "hovedretter",
    "entrees",
];

const DESSERTS: [&str; 12] = [
    "desserts",
    "dessert",
    "nachspeisen",
    "nachtisch",
    "süßspeisen",
    "dolci",
    "postres",
    "sobremesas",
    "nagerechten",
    "efterrätter",
    "puddings",
    "afters",
];

/// Words that follow `main` in the name of a section.
const OF_MAIN: [&str; 5] = ["course", "courses", "dish", "dishes", "plates"];

/// Maximum number of words in the name of a section that is a course.
const MAX_WORDS: usize = 4;

/// Minimum number of different courses.
const MIN_COURSES: usize = 2;

/// Returns whether words name a place where people eat.
pub(super) fn is_place(words: &[String]) -> bool {
    words.iter().any(|word| PLACES.contains(&word.as_str()))
}

/// Returns whether words name a trade that is not that of a restaurant.
pub(super) fn is_other_trade(words: &[String]) -> bool {
    words.iter().any(|word| OTHER_TRADES.contains(&word.as_str()))
}

/// Returns whether the names of sections have several courses of a meal.
pub(super) fn has_several<'t>(names: impl Iterator<Item = &'t str>) -> bool {
    courses_in(names).iter().filter(|is_present| **is_present).count() >= MIN_COURSES
}

/// Returns whether the names of sections have a course of a meal.
pub(super) fn has_one<'t>(names: impl Iterator<Item = &'t str>) -> bool {
    courses_in(names).contains(&true)
}

/// Returns which of starters, mains and desserts the names of sections have.
fn courses_in<'t>(names: impl Iterator<Item = &'t str>) -> [bool; 3] {
    let mut courses = [false; 3];
    for name in names {
        let words = words(name);
        if words.len() <= MAX_WORDS {
            courses[0] |= words.iter().any(|word| STARTERS.contains(&word.as_str()));
            courses[1] |= is_main_course(&words);
            courses[2] |= words.iter().any(|word| DESSERTS.contains(&word.as_str()));
        }
    }
    courses
}

fn is_main_course(words: &[String]) -> bool {
    let is_named_main = |pair: &[String]| pair[0] == "main" && OF_MAIN.contains(&pair[1].as_str());
    words.iter().any(|word| MAINS.contains(&word.as_str())) || words.windows(2).any(is_named_main)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_courses_are_needed() {
        let check = |names: &[&str], expected: bool| {
            assert_eq!(has_several(names.iter().copied()), expected, "{names:?}");
        };
        check(&["Starters", "Mains"], true);
        check(&["Our starters", "Main courses", "Extras"], true);
        check(&["Vorspeisen", "Dessert"], true);
        check(&["Antipasti", "Primi", "Secondi"], true);
        check(&["Primi", "Secondi"], false);
        check(&["Starters"], false);
        check(&["Starter", "Professional"], false);
        check(&["Main", "Dessert"], false);
        check(&["Starters of cars and trucks with warranty", "Mains"], false);
    }
}

//! Evidence that a page is about food and has a menu.

use super::courses;
use super::entity::is_food_establishment;
use crate::document::Document;
use crate::metadata;
use crate::product::identity::{heading_texts, words};
use crate::structured::StructuredData;
use std::collections::HashSet;

/// Words for a menu, in lower case.
const MENU_WORDS: [&str; 19] = [
    "menu",
    "menus",
    "menü",
    "speisekarte",
    "speisen",
    "getränkekarte",
    "karte",
    "mittagskarte",
    "wochenkarte",
    "carte",
    "carta",
    "menú",
    "cardápio",
    "kaart",
    "menukaart",
    "ementa",
    "meny",
    "lunch",
    "dinner",
];

/// Words of sections of menus, in lower case.
const SECTION_WORDS: [&str; 74] = [
    "starters",
    "starter",
    "appetizers",
    "appetisers",
    "mains",
    "main",
    "entrees",
    "entrées",
    "desserts",
    "dessert",
    "drinks",
    "beverages",
    "salads",
    "salad",
    "soups",
    "soup",
    "pizza",
    "pizzas",
    "pasta",
    "burgers",
    "sandwiches",
    "sides",
    "breakfast",
    "brunch",
    "lunch",
    "dinner",
    "coffee",
    "tea",
    "teas",
    "wine",
    "wines",
    "cocktails",
    "beer",
    "beers",
    "sushi",
    "rolls",
    "noodles",
    "tacos",
    "tapas",
    "grill",
    "seafood",
    "snacks",
    "vorspeisen",
    "hauptgerichte",
    "hauptspeisen",
    "nachspeisen",
    "desserts",
    "getränke",
    "suppen",
    "salate",
    "beilagen",
    "frühstück",
    "kaffee",
    "weine",
    "bier",
    "plats",
    "boissons",
    "fromages",
    "antipasti",
    "primi",
    "secondi",
    "dolci",
    "contorni",
    "bevande",
    "vini",
    "entrantes",
    "ensaladas",
    "sopas",
    "carnes",
    "pescados",
    "postres",
    "bebidas",
    "sobremesas",
    "nagerechten",
];

/// Words of sections that price lists other than menus have, too: meals that a hotel charges for, and things.
const AMBIGUOUS_WORDS: [&str; 9] =
    ["main", "breakfast", "brunch", "lunch", "dinner", "frühstück", "rolls", "grill", "sides"];

/// The evidence of a page.
#[derive(Debug)]
pub(super) struct MenuSignals {
    /// True if the structured data names a restaurant, café or the like as the subject of the page.
    pub(super) is_food_establishment: bool,
    /// True if the title, a main heading or the URL has a word for a menu.
    pub(super) names_menu: bool,
    /// True if the title, a main heading or the name of the site has a word for a place where people eat.
    names_place: bool,
    /// True if the title, a main heading, the name of the site or the URL has a word of another trade.
    names_other_trade: bool,
}

impl MenuSignals {
    pub(super) fn new(document: &Document, data: &StructuredData) -> MenuSignals {
        let graphs = [&data.json_ld, &data.microdata, &data.rdfa];
        let is_food_establishment = graphs.iter().flat_map(|graph| graph.roots()).any(is_food_establishment)
            || data.meta(&["og:type"]).is_some_and(|kind| kind.starts_with("restaurant"));
        let path = document.url.path().to_lowercase();
        let site = data.meta(&["og:site_name"]).map(words).unwrap_or_default();
        let texts = heading_texts(document).into_iter().chain(metadata::title(&document.dom));
        let names: Vec<String> = texts.flat_map(|text| words(&text)).collect();
        let path = words(&path);
        let names_menu = names.iter().chain(&path).any(|word| MENU_WORDS.contains(&word.as_str()));
        MenuSignals {
            is_food_establishment,
            names_menu,
            names_place: courses::is_place(&names) || courses::is_place(&site),
            names_other_trade: [&names, &site, &path].into_iter().any(|words| courses::is_other_trade(words)),
        }
    }

    /// Returns whether sections of the visible text are those of a menu on this page, by the names of all of them and by
    /// those of the large ones. A page that sells articles, as `can_buy` says, has to call itself a menu.
    pub(super) fn accept_text(&self, all: &[&str], large: &[&str], can_buy: impl FnOnce() -> bool) -> bool {
        if self.accept(all.iter().copied()) {
            return true;
        }
        let is_food = |name: &&str| {
            let is_clear = |word: &String| {
                let word = word.as_str();
                SECTION_WORDS.contains(&word) && !AMBIGUOUS_WORDS.contains(&word)
            };
            words(name).iter().any(is_clear)
        };
        let has_courses =
            || courses::has_several(all.iter().copied()) && courses::has_one(large.iter().copied());
        let is_named = self.names_place && large.iter().any(is_food);
        !self.names_other_trade && (is_named || has_courses()) && !can_buy()
    }

    /// Returns whether sections with these names are those of a menu on this page that calls itself one.
    pub(super) fn accept<'t>(&self, section_names: impl Iterator<Item = &'t str>) -> bool {
        if self.is_food_establishment {
            return true;
        }
        let known: HashSet<String> = section_names.flat_map(words).collect();
        self.names_menu && SECTION_WORDS.iter().any(|word| known.contains(*word))
    }
}

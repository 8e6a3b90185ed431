//! Evidence that a page is about food and has a menu.

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

/// The evidence of a page.
#[derive(Debug)]
pub(super) struct MenuSignals {
    /// True if the structured data names a restaurant, café or the like as the subject of the page.
    pub(super) is_food_establishment: bool,
    /// True if the title, a main heading or the URL has a word for a menu.
    pub(super) names_menu: bool,
}

impl MenuSignals {
    pub(super) fn new(document: &Document, data: &StructuredData) -> MenuSignals {
        let graphs = [&data.json_ld, &data.microdata, &data.rdfa];
        let is_food_establishment = graphs.iter().flat_map(|graph| graph.roots()).any(is_food_establishment)
            || data.meta(&["og:type"]).is_some_and(|kind| kind.starts_with("restaurant"));
        let path = document.url.path().to_lowercase();
        let texts = heading_texts(document).into_iter().chain(metadata::title(&document.dom)).chain([path]);
        let names_menu = texts.flat_map(|text| words(&text)).any(|word| MENU_WORDS.contains(&word.as_str()));
        MenuSignals { is_food_establishment, names_menu }
    }

    /// Returns whether sections with these names are those of a menu on this page.
    pub(super) fn accept<'t>(&self, section_names: impl Iterator<Item = &'t str>) -> bool {
        if self.is_food_establishment {
            return true;
        }
        let known: HashSet<String> = section_names.flat_map(words).collect();
        self.names_menu && SECTION_WORDS.iter().any(|word| known.contains(*word))
    }
}

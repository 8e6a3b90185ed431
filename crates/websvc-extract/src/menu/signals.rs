//! Evidence that a page is about food and has a menu.

use super::courses;
use super::entity::is_food_establishment;
use super::lexicon::{MenuSense, has_sense, sense};
use crate::document::Document;
use crate::metadata;
use crate::product::identity::{heading_texts, words};
use crate::structured::StructuredData;

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
        let names_menu = has_sense(&names, MenuSense::MENU) || has_sense(&path, MenuSense::MENU);
        MenuSignals {
            is_food_establishment,
            names_menu,
            names_place: has_sense(&names, MenuSense::PLACE) || has_sense(&site, MenuSense::PLACE),
            names_other_trade: [names, site, path]
                .iter()
                .any(|words| has_sense(words, MenuSense::OTHER_TRADE)),
        }
    }

    /// Returns whether sections of the visible text are those of a menu on this page, by the names of all of them and by
    /// those of the large ones. A page that sells articles, as `can_buy` says, has to call itself a menu.
    pub(super) fn accept_text(&self, all: &[&str], large: &[&str], can_buy: impl FnOnce() -> bool) -> bool {
        if self.accept(all.iter().copied()) {
            return true;
        }
        let is_food = |name: &&str| {
            let is_clear =
                |word: &String| sense(word).is(MenuSense::SECTION) && !sense(word).is(MenuSense::AMBIGUOUS);
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
        self.names_menu && section_names.flat_map(words).any(|word| sense(&word).is(MenuSense::SECTION))
    }
}

//! A menu as one source describes it.

use crate::product::identity::PageIdentity;
use crate::structured::{StructuredData, plain_text};
use crate::text::shorten;
use std::collections::{HashMap, HashSet};
use websvc_types::limits::{MENU_DESCRIPTION_MAX_CHARS, MENU_ITEMS_MAX, MENU_SECTIONS_MAX};
use websvc_types::menu::{MenuItem, MenuMerchant, MenuSection, PageMenu};

/// Maximum number of characters of an ID that is made from a name.
const MAX_ID_CHARS: usize = 80;

/// Sections with items, whose IDs may be empty.
#[derive(Debug, Default)]
pub(super) struct MenuDraft {
    pub(super) confidence: f64,
    pub(super) sections: Vec<MenuSection>,
}

impl MenuDraft {
    /// Returns a menu, unless it has no items.
    pub(super) fn new(confidence: f64, mut sections: Vec<MenuSection>) -> Option<MenuDraft> {
        sections.retain(|section| !section.items.is_empty());
        sections.truncate(MENU_SECTIONS_MAX);
        let mut left = MENU_ITEMS_MAX;
        for section in &mut sections {
            section.items.truncate(left);
            left -= section.items.len();
        }
        sections.retain(|section| !section.items.is_empty());
        (!sections.is_empty()).then_some(MenuDraft { confidence, sections })
    }

    pub(super) fn item_count(&self) -> usize {
        self.sections.iter().map(|section| section.items.len()).sum()
    }

    /// Returns the menu with unique IDs, the merchant, and the currency if all prices have the same.
    pub(super) fn finish(
        self,
        merchant: Option<MenuMerchant>,
        page: &PageIdentity,
        data: &StructuredData,
    ) -> PageMenu {
        let MenuDraft { confidence, mut sections } = self;
        let source_url = page.url().to_string();
        let (mut section_ids, mut item_ids) = (UniqueIds::default(), UniqueIds::default());
        for section in &mut sections {
            section.id = section_ids.add(&section.id, &section.name);
            for item in &mut section.items {
                item.id = item_ids.add(&item.id, &item.name);
                item.source_url.clone_from(&source_url);
            }
        }
        let site = || data.meta(&["og:site_name"]).map(str::to_owned).or_else(|| page.title());
        let merchant = merchant.unwrap_or_else(|| MenuMerchant {
            name: site().unwrap_or_else(|| page.url().host_str().unwrap_or_default().to_owned()),
            ..MenuMerchant::default()
        });
        PageMenu { is_menu: true, confidence, merchant, currency: currency(&sections), sections, source_url }
    }
}

/// Returns the currency of all prices, if it is the same and known.
fn currency(sections: &[MenuSection]) -> Option<String> {
    let prices =
        sections.iter().flat_map(|section| &section.items).filter_map(|item: &MenuItem| item.price.as_ref());
    let currencies: HashSet<Option<&String>> = prices.map(|price| price.currency.as_ref()).collect();
    match currencies.into_iter().collect::<Vec<_>>().as_slice() {
        [Some(single)] => Some((*single).clone()),
        _ => None,
    }
}

/// The IDs of a menu.
#[derive(Debug, Default)]
struct UniqueIds {
    used: HashSet<String>,
    /// The number that is tried next for an ID that is used.
    next: HashMap<String, usize>,
}

impl UniqueIds {
    /// Adds an ID that is not used yet: that of the data, else the words of the name, with a number if needed.
    fn add(&mut self, id: &str, name: &str) -> String {
        let base = if id.is_empty() { slug(name) } else { id.to_owned() };
        if self.used.insert(base.clone()) {
            return base;
        }
        let number = self.next.entry(base.clone()).or_insert(2);
        loop {
            let candidate = format!("{base}-{number}");
            *number += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    let slug: String = slug.chars().take(MAX_ID_CHARS).collect();
    if slug.is_empty() { "item".to_owned() } else { slug }
}

/// Returns a description without markup and within the limit.
pub(super) fn description(text: &str) -> Option<String> {
    let mut text = plain_text(text);
    shorten(&mut text, MENU_DESCRIPTION_MAX_CHARS);
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ids_get_numbers() {
        let mut ids = UniqueIds::default();
        let added = [("tea", ""), ("tea-2", ""), ("tea", ""), ("", "Tea"), ("", "!"), ("", "!")];
        let added: Vec<String> = added.iter().map(|(id, name)| ids.add(id, name)).collect();
        assert_eq!(added, ["tea", "tea-2", "tea-3", "tea-4", "item", "item-2"]);
    }
}

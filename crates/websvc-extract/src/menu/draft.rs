//! A menu as one source describes it.

use crate::product::identity::PageIdentity;
use crate::structured::{StructuredData, plain_text};
use crate::text::shorten;
use std::collections::HashSet;
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
        let (mut section_ids, mut item_ids) = (HashSet::new(), HashSet::new());
        for section in &mut sections {
            section.id = unique(&section.id, &section.name, &mut section_ids);
            for item in &mut section.items {
                item.id = unique(&item.id, &item.name, &mut item_ids);
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

/// Returns an ID that is not used yet: that of the data, else the words of the name, with a number if needed.
fn unique(id: &str, name: &str, used: &mut HashSet<String>) -> String {
    let base = if id.is_empty() { slug(name) } else { id.to_owned() };
    let mut candidate = base.clone();
    let mut number = 2;
    while !used.insert(candidate.clone()) {
        candidate = format!("{base}-{number}");
        number += 1;
    }
    candidate
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

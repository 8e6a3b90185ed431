//! Menus in the visible text: headings as sections, and lines with a name and a price.

use super::diet;
use super::draft::{MenuDraft, description};
use super::signals::MenuSignals;
use super::text_lines::{self, Line};
use crate::document::Document;
use crate::product::identity::PageIdentity;
use websvc_types::menu::{MenuItem, MenuSection};
use websvc_types::product::{Availability, Price};

/// Confidence for a page whose structured data names a restaurant, and for other pages.
const ESTABLISHMENT: f64 = 0.6;
const OTHER: f64 = 0.5;

/// Minimum number of items with a price in one section.
const MIN_ITEMS: usize = 3;

/// Maximum number of characters of a name and of a description.
const MAX_NAME_CHARS: usize = 120;
const MAX_DESCRIPTION_CHARS: usize = 400;

/// Number of lines after a heading in which the price of a dish with this name is expected.
const PRICE_DISTANCE: usize = 3;

/// Returns the menu in the visible text, if the page and its sections have the signs of one.
pub(super) fn draft(
    document: &Document,
    page: &PageIdentity<'_>,
    signals: &MenuSignals,
) -> Option<MenuDraft> {
    let lines = text_lines::read(document);
    let mut sections = sections(&lines);
    sections.retain(|section| !section.items.is_empty());
    let is_large = |section: &MenuSection| section.items.len() >= MIN_ITEMS;
    let all: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
    let large = sections.iter().filter(|section| is_large(section));
    let large: Vec<&str> = large.map(|section| section.name.as_str()).collect();
    if large.is_empty() || !signals.accept_text(&all, &large, || page.can_buy()) {
        return None;
    }
    MenuDraft::new(if signals.is_food_establishment { ESTABLISHMENT } else { OTHER }, sections)
}

fn sections(lines: &[Line]) -> Vec<MenuSection> {
    let mut sections: Vec<MenuSection> = Vec::new();
    // The levels of the sections: a heading of the same level as a section with items is a section too.
    let mut levels: Vec<u8> = Vec::new();
    // Lines since the last item or section that may be the name and the description of an item.
    let mut pending: Vec<&str> = Vec::new();
    let mut is_after_item = false;
    for (at, Line { text, price, heading }) in lines.iter().enumerate() {
        let is_item = is_name_of_item(lines, at);
        match (price, heading) {
            (Some(price), _) => {
                let (name, text) = match (text.as_str(), pending.as_slice()) {
                    ("", []) => continue,
                    ("", [name, rest @ ..]) => (*name, rest.first().copied()),
                    (name, _) => (name, None),
                };
                // A description before the price means that none follows it.
                is_after_item = add_item(&mut sections, name, text, price) && text.is_none();
                pending.clear();
            }
            (None, Some(level)) if !is_item || is_level_of_section(*level, &levels, &sections) => {
                pending.clear();
                is_after_item = false;
                levels.push(*level);
                sections.push(MenuSection { name: text.clone(), ..MenuSection::default() });
            }
            (None, Some(_)) => {
                pending = vec![text];
                is_after_item = false;
            }
            (None, None) if is_after_item && !is_item => {
                describe_last(&mut sections, text);
                is_after_item = false;
            }
            (None, None) if pending.len() < PRICE_DISTANCE => pending.push(text),
            (None, None) => {}
        }
    }
    sections
}

fn is_level_of_section(level: u8, levels: &[u8], sections: &[MenuSection]) -> bool {
    levels.iter().zip(sections).any(|(known, section)| *known == level && !section.items.is_empty())
}

/// Returns whether a line without a price is the name of an item: the next line is nothing but a price. With a
/// description between a heading and the price, no other price may follow before the next heading.
fn is_name_of_item(lines: &[Line], at: usize) -> bool {
    let following = || lines[at + 1..].iter().take_while(|line| line.heading.is_none());
    let is_price = |line: &Line| line.price.is_some() && line.text.is_empty();
    match following().take(PRICE_DISTANCE).position(|line| line.price.is_some()) {
        Some(0) => following().next().is_some_and(is_price),
        Some(distance) if lines[at].heading.is_some() => {
            following().nth(distance).is_some_and(is_price)
                && following().filter(|line| line.price.is_some()).take(2).count() == 1
        }
        Some(_) | None => false,
    }
}

/// Adds an item to the last section. Returns false if the name is not one.
fn add_item(sections: &mut [MenuSection], name: &str, text: Option<&str>, price: &Price) -> bool {
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let Some(section) = sections.last_mut() else { return false };
    if letters < 2 || name.chars().count() > MAX_NAME_CHARS {
        return false;
    }
    let mut name = name.to_owned();
    let mut dietary = diet::take_marks(&mut name);
    dietary.extend(diet::in_words(&name));
    section.items.push(MenuItem {
        name,
        price: Some(price.clone()),
        availability: Availability { in_stock: true, text: None },
        dietary: diet::distinct(dietary),
        ..MenuItem::default()
    });
    if let Some(text) = text {
        describe(section, text);
    }
    true
}

fn describe_last(sections: &mut [MenuSection], text: &str) {
    if let Some(section) = sections.last_mut() {
        describe(section, text);
    }
}

/// Sets the description of the last item, unless it has one.
fn describe(section: &mut MenuSection, text: &str) {
    let Some(item) = section.items.last_mut().filter(|item| item.description.is_none()) else { return };
    if text.chars().count() <= MAX_DESCRIPTION_CHARS {
        item.dietary.extend(diet::in_words(text));
        item.dietary = diet::distinct(std::mem::take(&mut item.dietary));
        item.description = description(text);
    }
}

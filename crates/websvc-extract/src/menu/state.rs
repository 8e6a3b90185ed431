//! Menus in the state of web applications, as delivery services embed them.

use super::diet;
use super::draft::{MenuDraft, description};
use super::signals::MenuSignals;
use crate::embedded::{EmbeddedValue, Origin};
use crate::offer::StockStatus;
use crate::product::identity::PageIdentity;
use crate::product::state_fields::{self as fields, Object};
use serde_json::Value;
use websvc_types::limits::MENU_ITEMS_MAX;
use websvc_types::menu::{MenuItem, MenuItemIdentifiers, MenuSection};
use websvc_types::product::Availability;

/// Confidence of data under a field that names a menu, and of other data.
const NAMED: f64 = 0.9;
const UNNAMED: f64 = 0.8;

/// Maximum number of values that are visited, and their maximum depth.
const MAX_VALUES: usize = 200_000;
const MAX_DEPTH: usize = 60;

/// Minimum number of items with a price.
const MIN_ITEMS: usize = 3;

/// Fields of a section with its items.
const ITEM_FIELDS: [&str; 9] = [
    "menuItems",
    "menu_items",
    "dishes",
    "items",
    "products",
    "catalogItems",
    "entries",
    "itemsList",
    "meals",
];

/// Returns the list of sections with the most items.
pub(super) fn draft(
    embedded: &[EmbeddedValue],
    page: &PageIdentity,
    signals: &MenuSignals,
) -> Option<MenuDraft> {
    let mut search = MenuSearch { page, budget: MAX_VALUES, best: None };
    for value in embedded.iter().filter(|value| value.origin == Origin::State) {
        search.visit(&value.value, UNNAMED, 0);
    }
    search.best.filter(|best| {
        best.confidence >= NAMED || signals.accept(best.sections.iter().map(|section| section.name.as_str()))
    })
}

struct MenuSearch<'a> {
    page: &'a PageIdentity<'a>,
    budget: usize,
    best: Option<MenuDraft>,
}

impl MenuSearch<'_> {
    fn visit(&mut self, value: &Value, confidence: f64, depth: usize) {
        let Some(budget) = self.budget.checked_sub(1) else { return };
        self.budget = budget;
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Array(items) => {
                if !self.read_sections(items, confidence) {
                    items.iter().for_each(|item| self.visit(item, confidence, depth + 1));
                }
            }
            Value::Object(object) => {
                for (key, inner) in object {
                    self.visit(inner, if names_food_menu(key) { NAMED } else { confidence }, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Reads a list of sections. Returns false if it is not one.
    fn read_sections(&mut self, list: &[Value], confidence: f64) -> bool {
        let mut confidence = confidence;
        let mut sections = Vec::new();
        for object in list.iter().filter_map(Value::as_object) {
            let found = ITEM_FIELDS.iter().find_map(|field| Some((*field, object.get(*field)?.as_array()?)));
            let (Some((field, items)), Some(name)) = (found, fields::item_name(object)) else { continue };
            if names_food_menu(field) || field == "dishes" {
                confidence = NAMED;
            }
            let items = items.iter().take(MENU_ITEMS_MAX).filter_map(Value::as_object);
            sections.push(MenuSection {
                id: fields::id(object).unwrap_or_default(),
                name,
                description: object.get("description").and_then(Value::as_str).and_then(description),
                items: items.filter_map(|item| read_item(item, self.page)).collect(),
            });
        }
        let Some(draft) = MenuDraft::new(confidence, sections) else { return false };
        let items = || draft.sections.iter().flat_map(|section| &section.items);
        if items().filter(|item| item.price.is_some()).count() < MIN_ITEMS {
            return false;
        }
        if self.best.as_ref().is_none_or(|best| draft.item_count() > best.item_count()) {
            self.best = Some(draft);
        }
        true
    }
}

/// Returns whether a field has the menu of a restaurant. `menu` alone may be the navigation of the site, whose entries
/// have no prices.
fn names_food_menu(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.contains("menu") || key.contains("dishes") || key.contains("restaurant")
}

fn read_item(object: &Object, page: &PageIdentity) -> Option<MenuItem> {
    let mut name = fields::item_name(object)?;
    let text = object.get("description").and_then(Value::as_str).and_then(description);
    let mut dietary = diet::take_marks(&mut name);
    let tags =
        ["dietary", "dietaryTags", "tags", "labels"].iter().find_map(|field| object.get(*field)?.as_array());
    let tags = tags.into_iter().flatten().take(20).filter_map(Value::as_str);
    dietary.extend(tags.flat_map(diet::in_words));
    dietary.extend(diet::in_words(&name));
    dietary.extend(text.as_deref().map(diet::in_words).unwrap_or_default());
    let (status, status_text) = fields::status(object);
    let id = fields::id(object);
    let sold_out = ["soldOut", "isSoldOut", "sold_out"]
        .iter()
        .any(|field| object.get(*field) == Some(&Value::Bool(true)));
    Some(MenuItem {
        id: id.clone().unwrap_or_default(),
        name,
        description: text,
        images: fields::images(object, page),
        price: fields::price(object, page),
        availability: Availability {
            in_stock: status != Some(StockStatus::OutOfStock) && !sold_out,
            text: status_text,
        },
        dietary: diet::distinct(dietary),
        calories: object.get("calories").and_then(Value::as_f64),
        option_groups: Vec::new(),
        identifiers: MenuItemIdentifiers { merchant_item_id: id },
        url: None,
        source_url: String::new(),
    })
}

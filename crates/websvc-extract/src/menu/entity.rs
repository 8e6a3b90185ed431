//! Menus of schema.org, in JSON-LD, microdata or RDFa.

use super::diet;
use super::draft::{MenuDraft, description};
use crate::links::resolve;
use crate::offer::{StockStatus, status_text};
use crate::product::draft::name;
use crate::product::identity::PageIdentity;
use crate::product::offers::prices;
use crate::product::properties::images;
use crate::structured::{Entity, Graph, StructuredData};
use crate::text::collapsed;
use std::collections::HashSet;
use websvc_types::limits::MENU_ITEMS_MAX;
use websvc_types::menu::{
    MenuItem, MenuItemIdentifiers, MenuMerchant, MenuOption, MenuOptionGroup, MenuSection,
};
use websvc_types::product::{Availability, Price};

/// Types of restaurants and shops with food.
const FOOD_ESTABLISHMENTS: [&str; 11] = [
    "Restaurant",
    "FoodEstablishment",
    "CafeOrCoffeeShop",
    "BarOrPub",
    "Bakery",
    "FastFoodRestaurant",
    "IceCreamShop",
    "Winery",
    "Brewery",
    "Distillery",
    "FoodTruck",
];

/// Maximum depth of nested sections.
const MAX_DEPTH: usize = 8;

/// Maximum number of extras of an item.
const MAX_OPTIONS: usize = 100;

/// Maximum number of bytes of the items of a menu.
const MAX_BYTES: usize = 16 << 20;

/// Returns whether an entity is a restaurant or the like.
pub(super) fn is_food_establishment(entity: Entity<'_>) -> bool {
    entity.is(&FOOD_ESTABLISHMENTS)
}

/// Returns the restaurant or shop of the page's menu.
pub(super) fn merchant(data: &StructuredData) -> Option<MenuMerchant> {
    let graphs = [&data.json_ld, &data.microdata, &data.rdfa];
    let has_menu = |entity: &Entity<'_>| menus_of(*entity).next().is_some();
    let entities = || graphs.iter().flat_map(|graph| graph.entities());
    let entity =
        entities().find(has_menu).or_else(|| entities().find(|entity| is_food_establishment(*entity)))?;
    let kind =
        entity.types().find(|kind| FOOD_ESTABLISHMENTS.contains(kind)).or_else(|| entity.types().next());
    Some(MenuMerchant {
        name: entity.text("name").and_then(name)?,
        kind: kind.map(str::to_owned),
        location: address(entity),
    })
}

fn address(entity: Entity<'_>) -> Option<String> {
    if let Some(text) = entity.text("address") {
        return name(text);
    }
    let address = entity.entities("address").next()?;
    let fields = ["streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry"];
    let parts: Vec<String> = fields.iter().filter_map(|field| address.label(field)).map(collapsed).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn menus_of(entity: Entity<'_>) -> impl Iterator<Item = Entity<'_>> {
    entity.entities("hasMenu").chain(entity.entities("menu"))
}

/// Returns the menu of a graph.
pub(super) fn draft(graph: &Graph, page: &PageIdentity, confidence: f64) -> Option<MenuDraft> {
    let owned: Vec<Entity<'_>> = graph.entities().flat_map(menus_of).collect();
    let menus = owned.into_iter().chain(graph.roots().filter(|root| root.is(&["Menu"])));
    let mut reader =
        MenuReader { page, seen: HashSet::new(), item_count: 0, bytes: MAX_BYTES, sections: Vec::new() };
    menus.for_each(|menu| reader.read_section(menu, 0));
    if reader.sections.is_empty() {
        graph.roots().filter(|root| root.is(&["MenuSection"])).for_each(|root| reader.read_section(root, 0));
    }
    MenuDraft::new(confidence, reader.sections)
}

struct MenuReader<'a> {
    page: &'a PageIdentity<'a>,
    /// Sections that are read: one may be referred to several times.
    seen: HashSet<crate::structured::EntityId>,
    item_count: usize,
    /// The bytes of items that may still be read: items may be referred to several times, and share images and extras.
    bytes: usize,
    sections: Vec<MenuSection>,
}

impl MenuReader<'_> {
    /// Reads a menu or a section, and the sections in it.
    fn read_section(&mut self, section: Entity<'_>, depth: usize) {
        if depth > MAX_DEPTH || !self.seen.insert(section.id) {
            return;
        }
        let members = section.entities("hasMenuItem").chain(section.entities("menuItem"));
        let left = MENU_ITEMS_MAX.saturating_sub(self.item_count);
        let mut items = Vec::new();
        for item in members.take(left).filter_map(|entity| item(entity, self.page)) {
            let Some(bytes) = self.bytes.checked_sub(weight(&item)) else {
                self.bytes = 0;
                break;
            };
            self.bytes = bytes;
            items.push(item);
        }
        self.item_count += items.len();
        if !items.is_empty() {
            self.sections.push(MenuSection {
                id: id(section),
                name: section.text("name").and_then(name).unwrap_or_else(|| "Menu".to_owned()),
                description: section.text("description").and_then(description),
                items,
            });
        }
        for inner in section.entities("hasMenuSection").chain(section.entities("menuSection")) {
            self.read_section(inner, depth + 1);
        }
    }
}

/// Returns the approximate number of bytes of an item.
fn weight(item: &MenuItem) -> usize {
    let images = item.images.iter().map(|image| 100 + image.url.len());
    let groups = item.option_groups.iter();
    let options = groups.flat_map(|group| &group.options).map(|option| 100 + option.name.len());
    let text = item.description.as_ref().map_or(0, String::len);
    500 + text + item.dietary.iter().map(String::len).chain(images).chain(options).sum::<usize>()
}

/// Returns the ID that the data gives an entity: an identifier, or the fragment of its `@id`.
fn id(entity: Entity<'_>) -> String {
    let own = ["identifier", "sku", "productID"].iter().find_map(|field| entity.label(field));
    let fragment = || {
        entity.identifier().filter(|id| !id.starts_with("_:")).map(|id| id.rsplit('#').next().unwrap_or(id))
    };
    own.or_else(fragment).and_then(name).unwrap_or_default()
}

fn item(entity: Entity<'_>, page: &PageIdentity) -> Option<MenuItem> {
    let mut title = entity.text("name").and_then(name)?;
    let text = entity.text("description").and_then(description);
    let mut dietary: Vec<String> = entity.labels("suitableForDiet").filter_map(diet::of_term).collect();
    dietary.extend(diet::take_marks(&mut title));
    dietary.extend(diet::in_words(&title));
    dietary.extend(text.as_deref().map(diet::in_words).unwrap_or_default());
    let offers: Vec<Entity<'_>> = entity.entities("offers").take(MAX_OPTIONS).collect();
    let calories =
        entity.entities("nutrition").find_map(|nutrition| nutrition.text("calories").and_then(number));
    let merchant_item_id = ["sku", "productID", "identifier"].iter().find_map(|field| entity.label(field));
    Some(MenuItem {
        id: id(entity),
        description: text,
        images: images(entity, page.base()),
        price: lowest_price(&offers).or_else(|| prices(entity).0),
        availability: availability(&offers),
        dietary: diet::distinct(dietary),
        calories,
        option_groups: option_groups(entity, &offers),
        identifiers: MenuItemIdentifiers { merchant_item_id: merchant_item_id.map(str::to_owned) },
        url: entity.text("url").and_then(|url| resolve(page.base(), url)).map(String::from),
        name: title,
        source_url: String::new(),
    })
}

fn lowest_price(offers: &[Entity<'_>]) -> Option<Price> {
    let found = offers.iter().filter_map(|offer| prices(*offer).0);
    found.min_by(|a, b| a.amount.total_cmp(&b.amount))
}

fn availability(offers: &[Entity<'_>]) -> Availability {
    let text = offers.iter().find_map(|offer| offer.label("availability"));
    let status = text.and_then(StockStatus::from_text);
    Availability { in_stock: status != Some(StockStatus::OutOfStock), text: text.and_then(status_text) }
}

/// Returns the extras of an item, and its sizes if each offer has a name.
fn option_groups(item: Entity<'_>, offers: &[Entity<'_>]) -> Vec<MenuOptionGroup> {
    let mut groups = Vec::new();
    let sizes: Vec<MenuOption> = offers.iter().filter_map(|offer| option(*offer)).collect();
    if sizes.len() > 1 && sizes.len() == offers.len() {
        groups.push(MenuOptionGroup { name: None, options: sizes });
    }
    let mut single = Vec::new();
    for extra in item.entities("menuAddOn").take(MAX_OPTIONS) {
        let members: Vec<MenuOption> =
            extra.entities("hasMenuItem").take(MAX_OPTIONS).filter_map(option).collect();
        if members.is_empty() {
            single.extend(option(extra));
        } else {
            groups.push(MenuOptionGroup { name: extra.text("name").and_then(name), options: members });
        }
    }
    if !single.is_empty() {
        groups.push(MenuOptionGroup { name: None, options: single });
    }
    groups
}

fn option(entity: Entity<'_>) -> Option<MenuOption> {
    let offers: Vec<Entity<'_>> = entity.entities("offers").take(MAX_OPTIONS).collect();
    let price = lowest_price(&offers).or_else(|| prices(entity).0);
    Some(MenuOption { name: entity.text("name").and_then(name)?, price })
}

/// Returns the number at the start of a text such as `520 calories`.
fn number(text: &str) -> Option<f64> {
    let digits: String = text.trim().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().ok().filter(|number: &f64| *number < 100_000.0)
}

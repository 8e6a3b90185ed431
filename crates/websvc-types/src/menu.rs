//! Menu of a page, for the format `menu` (operations.md, section 8.2).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::product::{Availability, ItemImage, Price};

/// Menu of the restaurant or shop that a page shows.
///
/// # Examples
///
/// ```
/// use websvc_types::menu::PageMenu;
///
/// let menu: PageMenu = serde_json::from_str(r#"{
///     "isMenu": true,
///     "confidence": 0.95,
///     "merchant": { "name": "Tea House" },
///     "sections": [{ "id": "teas", "name": "Teas", "items": [{
///         "id": "sencha",
///         "name": "Sencha",
///         "availability": { "inStock": true },
///         "sourceUrl": "https://tea.example/menu"
///     }] }],
///     "sourceUrl": "https://tea.example/menu"
/// }"#)?;
/// assert_eq!(menu.sections[0].items[0].name, "Sencha");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageMenu {
    /// Always true.
    pub is_menu: bool,
    /// Confidence that this is the menu, from 0 to 1. It depends on the source: 0.95 for JSON-LD, 0.9 for data of web
    /// applications in a field that names a menu, 0.8 for their other data and for microdata and RDFa, 0.6 for the
    /// visible text of a page whose data names a restaurant, 0.5 for that of other pages.
    pub confidence: f64,
    /// Restaurant or shop.
    pub merchant: MenuMerchant,
    /// Currency of the prices, ISO 4217, if all have the same.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub currency: Option<String>,
    /// Sections in the order of the page, at most 200.
    #[serde(default)]
    pub sections: Vec<MenuSection>,
    /// URL of the page.
    pub source_url: String,
}

/// Restaurant or shop of a menu.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MenuMerchant {
    /// Name: of the restaurant, else of the site, else the title of the page.
    pub name: String,
    /// Schema.org type, such as `Restaurant`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Postal address.
    pub location: Option<String>,
}

/// Section of a menu.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MenuSection {
    /// ID, unique in the menu: that of the data, else made from the name.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub description: Option<String>,
    /// Items in the order of the page. A menu has at most 2,000.
    #[serde(default)]
    pub items: Vec<MenuItem>,
}

/// Item of a menu.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MenuItem {
    /// ID, unique in the menu: that of the data, else made from the name.
    pub id: String,
    /// Name.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Images.
    #[serde(default)]
    pub images: Vec<ItemImage>,
    /// Price; the lowest one of several.
    pub price: Option<Price>,
    /// Availability; in stock unless the page says otherwise.
    pub availability: Availability,
    /// Diets: `vegetarian`, `vegan`, `gluten-free`, `halal`, `kosher`, or another one that the data names.
    #[serde(default)]
    pub dietary: Vec<String>,
    /// Calories.
    pub calories: Option<f64>,
    /// Extras and choices.
    #[serde(default)]
    pub option_groups: Vec<MenuOptionGroup>,
    /// IDs of other systems.
    #[serde(default)]
    pub identifiers: MenuItemIdentifiers,
    /// URL of the item.
    pub url: Option<String>,
    /// URL of the page with the item.
    pub source_url: String,
}

/// Extras or choices of an item of a menu.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MenuOptionGroup {
    /// Name; absent if the data has none.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub name: Option<String>,
    /// Options.
    #[serde(default)]
    pub options: Vec<MenuOption>,
}

/// Option of a group.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MenuOption {
    /// Name.
    pub name: String,
    /// Price.
    #[cfg_attr(feature = "schemars", schemars(with = "Price"))]
    pub price: Option<Price>,
}

/// IDs of an item of a menu in other systems.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MenuItemIdentifiers {
    /// ID that the restaurant or shop gives the item.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub merchant_item_id: Option<String>,
}

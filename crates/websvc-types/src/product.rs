//! Product of a page, for the format `product` (operations.md, section 8.1).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

/// Product that a page offers. Price, stock and images belong to its variants; a single article has one variant.
///
/// # Examples
///
/// ```
/// use websvc_types::product::PageProduct;
///
/// let product: PageProduct = serde_json::from_str(r#"{
///     "title": "Sencha",
///     "url": "https://tea.example/sencha",
///     "variants": [{
///         "price": { "amount": 12.5, "currency": "EUR" },
///         "availability": { "inStock": true, "text": "InStock" }
///     }]
/// }"#)?;
/// assert!(product.variants[0].availability.in_stock);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct PageProduct {
    /// Name of the product.
    pub title: String,
    /// URL of the product: the one that its data names, else the canonical URL of the page, else its URL.
    pub url: String,
    /// Brand.
    pub brand: Option<String>,
    /// Category; the levels of a path are joined by ` > `.
    pub category: Option<String>,
    /// Description as plain text.
    pub description: Option<String>,
    /// Variants that can be bought, at least one and at most 250.
    #[serde(default)]
    pub variants: Vec<ProductVariant>,
}

/// Variant of a product, such as one size in one color.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct ProductVariant {
    /// GTIN, else the ID that the shop gives the variant.
    pub id: Option<String>,
    /// Stock keeping unit.
    pub sku: Option<String>,
    /// Name of the variant, if it differs from that of the product.
    pub title: Option<String>,
    /// Options by name, such as `color` and `size`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Price; the lowest one of a range.
    pub price: Option<Price>,
    /// Reduction, if the original price is higher than the price.
    pub sale: Option<ProductSale>,
    /// Availability.
    pub availability: Availability,
    /// Images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ItemImage>,
}

/// Reduction of the price of a variant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProductSale {
    /// Price before the reduction.
    pub original_price: Price,
}

/// Amount of money.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct Price {
    /// Amount in units of the currency, such as 12.5.
    pub amount: f64,
    /// Currency, ISO 4217. Absent if the page does not name it: a symbol that several currencies share is not enough.
    pub currency: Option<String>,
    /// Price as the page shows it.
    pub formatted: Option<String>,
}

/// Availability of a variant or of an item of a menu.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Availability {
    /// True if it can be ordered, including preorders. If the page does not say it: true if there is a price or a button
    /// to buy.
    pub in_stock: bool,
    /// Availability as the page states it, such as `InStock`; absent if it does not.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub text: Option<String>,
}

/// Image of a product or of an item of a menu.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ItemImage {
    /// Absolute URL.
    pub url: String,
    /// Alternative text.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub alt: Option<String>,
}

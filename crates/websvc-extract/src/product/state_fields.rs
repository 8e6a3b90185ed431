//! Fields of products and dishes in the state of web applications, under the names that shop systems use.

use super::draft::{VariantDraft, image, name};
use super::identity::PageIdentity;
use crate::offer::{Notation, StockStatus, amount_of, code, price_of, status_text};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use websvc_types::limits::PRODUCT_IMAGES_MAX;
use websvc_types::product::{ItemImage, Price};

/// An object of the state.
pub(crate) type Object = Map<String, Value>;

const NAMES: [&str; 5] = ["name", "title", "productName", "displayName", "product_name"];
const IDS: [&str; 9] =
    ["id", "productId", "product_id", "variantId", "_id", "entityId", "objectID", "articleNumber", "itemId"];
const SKUS: [&str; 5] = ["sku", "SKU", "productNumber", "itemNumber", "partNumber"];
const GTINS: [&str; 5] = ["gtin", "gtin13", "ean", "upc", "barcode"];
const PRICES: [&str; 15] = [
    "salePrice",
    "sale_price",
    "specialPrice",
    "special_price",
    "discountedPrice",
    "finalPrice",
    "final_price",
    "currentPrice",
    "price",
    "priceV2",
    "calculatedPrice",
    "prices",
    "priceRange",
    "price_range",
    "unitPrice",
];
const ORIGINAL_PRICES: [&str; 11] = [
    "originalPrice",
    "original_price",
    "regularPrice",
    "regular_price",
    "listPrice",
    "wasPrice",
    "compareAtPrice",
    "compare_at_price",
    "compareAtPriceV2",
    "oldPrice",
    "retailPrice",
];
/// Fields of an object that is a price.
const AMOUNTS: [&str; 14] = [
    "amount",
    "value",
    "sale",
    "current",
    "unitPrice",
    "gross",
    "final_price",
    "finalPrice",
    "price",
    "minVariantPrice",
    "minimum_price",
    "min",
    "withTax",
    "raw",
];
const CURRENCIES: [&str; 6] =
    ["currency", "currencyCode", "currency_code", "priceCurrency", "currencyIsoCode", "currencyISO"];
const FORMATTED: [&str; 6] =
    ["formatted", "formattedPrice", "formattedValue", "displayPrice", "priceFormatted", "displayString"];
/// Fields with whole numbers of hundredths.
const HUNDREDTHS: [&str; 5] = ["centAmount", "priceInCents", "priceCents", "price_cents", "amountCents"];
const FLAGS: [&str; 8] = [
    "availableForSale",
    "inStock",
    "in_stock",
    "isInStock",
    "is_in_stock",
    "available",
    "isAvailable",
    "instock",
];
const STATUSES: [&str; 5] =
    ["availability", "stockStatus", "stock_status", "stockLevelStatus", "availabilityStatus"];
const IMAGES: [&str; 9] =
    ["images", "image", "featuredImage", "imageUrl", "image_url", "media", "thumbnail", "cover", "gallery"];
const OPTION_NAMES: [&str; 4] = ["color", "colour", "size", "material"];

/// Maximum depth of the object of a price.
const MAX_PRICE_DEPTH: usize = 3;

/// Returns the first text under one of the names.
pub(crate) fn text(object: &Object, names: &[&str]) -> Option<String> {
    names.iter().find_map(|field| match object.get(*field)? {
        Value::String(text) => name(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    })
}

/// Returns the first string under one of the names, as it is.
pub(super) fn string<'a>(object: &'a Object, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|field| object.get(*field)?.as_str())
}

/// Returns the name of a product or dish.
pub(crate) fn item_name(object: &Object) -> Option<String> {
    string(object, &NAMES).and_then(name)
}

/// Returns the ID of an object in the system that it comes from.
pub(crate) fn id(object: &Object) -> Option<String> {
    text(object, &IDS)
}

/// Returns the SKU.
pub(super) fn sku(object: &Object) -> Option<String> {
    text(object, &SKUS)
}

/// Returns the GTIN.
pub(super) fn gtin(object: &Object) -> Option<String> {
    text(object, &GTINS)
}

/// Returns a text, or the name of an object, under one of the names.
pub(super) fn label(object: &Object, names: &[&str]) -> Option<String> {
    names.iter().find_map(|field| match object.get(*field)? {
        Value::String(text) => name(text),
        Value::Object(inner) => item_name(inner),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    })
}

/// Returns the price of an object.
pub(crate) fn price(object: &Object, page: &PageIdentity) -> Option<Price> {
    let hundredths = price_of_hundredths(object);
    hundredths
        .map(|price| Price { currency: currency(object), ..price })
        .or_else(|| field_price(object, &PRICES, page))
}

/// Returns the price, without its currency, in a field with hundredths.
fn price_of_hundredths(object: &Object) -> Option<Price> {
    let hundredths = HUNDREDTHS.iter().find_map(|field| object.get(*field)?.as_i64())?;
    Some(Price { amount: hundredths_to_units(hundredths), ..Price::default() })
}

/// Returns the price before a reduction.
pub(super) fn original_price(object: &Object, page: &PageIdentity) -> Option<Price> {
    let nested = ["prices", "price", "priceRange", "price_range", "calculatedPrice"];
    field_price(object, &ORIGINAL_PRICES, page).or_else(|| {
        let inner = nested.iter().find_map(|field| object.get(*field)?.as_object())?;
        let minimum = inner.get("minimum_price").and_then(Value::as_object).unwrap_or(inner);
        field_price(minimum, &ORIGINAL_PRICES, page).or_else(|| field_price(minimum, &["listPrice"], page))
    })
}

fn field_price(object: &Object, fields: &[&str], page: &PageIdentity) -> Option<Price> {
    fields.iter().find_map(|field| {
        let mut price = money(object.get(*field)?, page, 0)?;
        price.currency = price.currency.or_else(|| currency(object));
        let formatted = || {
            text(object, &FORMATTED).filter(|text| amount_of(text, Notation::Visible) == Some(price.amount))
        };
        price.formatted = price.formatted.take().or_else(formatted);
        Some(price)
    })
}

/// Reads an amount: a number, a text, or an object with an amount and a currency.
fn money(value: &Value, page: &PageIdentity, depth: usize) -> Option<Price> {
    match value {
        Value::Number(number) => {
            // A whole number may be units or hundredths: the page decides.
            let amount = match number.as_i64() {
                Some(whole) => page.shown_amount(whole)?,
                None => number.as_f64()?,
            };
            (amount > 0.0).then(|| Price { amount, ..Price::default() })
        }
        Value::String(text) => {
            if let Ok(whole) = text.trim().parse::<i64>() {
                return money(&Value::Number(whole.into()), page, depth);
            }
            let is_plain = text.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            price_of(text, if is_plain { Notation::Data } else { Notation::Visible })
        }
        Value::Object(object) if depth < MAX_PRICE_DEPTH => {
            let by_text = || text(object, &FORMATTED).and_then(|text| price_of(&text, Notation::Visible));
            let by_amount = || AMOUNTS.iter().find_map(|field| money(object.get(*field)?, page, depth + 1));
            let mut price = price_of_hundredths(object).or_else(by_text).or_else(by_amount)?;
            price.currency = currency(object).or(price.currency);
            Some(price)
        }
        // Lists of prices by country or customer group do not say which one applies.
        Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
pub(super) fn hundredths_to_units(hundredths: i64) -> f64 {
    hundredths as f64 / 100.0
}

fn currency(object: &Object) -> Option<String> {
    CURRENCIES.iter().find_map(|field| match object.get(*field)? {
        Value::String(text) => code(text),
        Value::Object(inner) => inner.get("code").or_else(|| inner.get("isoCode"))?.as_str().and_then(code),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    })
}

/// Returns the availability with its text.
pub(crate) fn status(object: &Object) -> (Option<StockStatus>, Option<String>) {
    let flag = FLAGS.iter().find_map(|field| object.get(*field)?.as_bool());
    if let Some(flag) = flag {
        return (Some(StockStatus::of_flag(flag)), None);
    }
    match string(object, &STATUSES).map(|text| text.replace('_', " ")) {
        Some(text) => (StockStatus::from_text(&text), status_text(&text)),
        None => (None, None),
    }
}

/// Returns the images of an object.
pub(crate) fn images(object: &Object, page: &PageIdentity) -> Vec<ItemImage> {
    let lists = IMAGES.iter().filter_map(|field| object.get(*field));
    let mut found: Vec<ItemImage> = Vec::new();
    for list in lists {
        let items = members(list).unwrap_or(std::slice::from_ref(list));
        found.extend(items.iter().take(PRODUCT_IMAGES_MAX).filter_map(|item| one_image(item, page)));
        if !found.is_empty() {
            break;
        }
    }
    found
}

fn one_image(value: &Value, page: &PageIdentity) -> Option<ItemImage> {
    match value {
        Value::String(url) => image(page.base(), url, None),
        Value::Object(object) => {
            let object = node(object);
            let url = string(object, &["url", "src", "originalSrc", "full_src", "large"])?;
            image(page.base(), url, string(object, &["alt", "altText", "label"]))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// Returns the members of a list, or of a connection of GraphQL.
pub(super) fn members(value: &Value) -> Option<&[Value]> {
    let list = match value {
        Value::Object(connection) => {
            connection.get("nodes").or_else(|| connection.get("edges")).or_else(|| connection.get("items"))?
        }
        list => list,
    };
    list.as_array().map(Vec::as_slice)
}

/// Returns the object that an edge of GraphQL leads to, or the object itself.
pub(super) fn node(object: &Object) -> &Object {
    object.get("node").and_then(Value::as_object).unwrap_or(object)
}

/// Returns the options that a variant selects.
pub(super) fn options(object: &Object, parent: &Object) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for field in ["selectedOptions", "attributes", "options", "optionValues"] {
        match object.get(field) {
            Some(Value::Array(items)) => {
                for item in items.iter().take(20).filter_map(Value::as_object) {
                    let key = label(item, &["name", "label", "group", "attribute", "key"]);
                    if let (Some(key), Some(value)) = (key, label(item, &["value", "option", "displayValue"]))
                    {
                        values.insert(key, value);
                    }
                }
            }
            Some(Value::Object(items)) => {
                let texts =
                    items.iter().take(20).filter_map(|(key, value)| Some((key, name(value.as_str()?)?)));
                values.extend(texts.map(|(key, value)| (key.clone(), value)));
            }
            _ => {}
        }
    }
    for option in OPTION_NAMES {
        if let Some(value) = label(object, &[option]) {
            values.entry(option.to_owned()).or_insert(value);
        }
    }
    // Shopify numbers the options of a variant, and the product names them.
    let names = parent.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, option) in names.iter().take(3).enumerate() {
        let key = option.as_str().map(str::to_owned).or_else(|| item_name(option.as_object()?));
        let value = text(object, &[["option1", "option2", "option3"][index]]);
        if let (Some(key), Some(value)) = (key.and_then(|key| name(&key)), value) {
            values.entry(key).or_insert(value);
        }
    }
    values
}

/// Returns a variant as an object of the state describes it.
pub(super) fn variant(object: &Object, parent: &Object, page: &PageIdentity) -> VariantDraft {
    let mut draft = VariantDraft::default();
    draft.set_price(price(object, page), original_price(object, page));
    let (status, text) = status(object);
    draft.status = status;
    draft.variant.availability.text = text;
    draft.variant.id = gtin(object).or_else(|| id(object));
    draft.variant.sku = sku(object);
    draft.variant.values = options(object, parent);
    draft.variant.images = images(object, page);
    draft
}

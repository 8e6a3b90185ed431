//! Data of particular shop systems and of Google Analytics.

use super::draft::{ProductDraft, VariantDraft, image, name};
use super::identity::PageIdentity;
use super::state_fields::{self as fields, Object, hundredths_to_units};
use crate::embedded::{EmbeddedValue, Origin};
use crate::offer::{Notation, StockStatus, code, price_of};
use serde_json::Value;
use std::collections::BTreeMap;
use websvc_types::limits::PRODUCT_VARIANTS_MAX;
use websvc_types::product::Price;

/// Returns the variants of a product as Shopify's themes embed it: its prices are whole hundredths. `None` if the object
/// is not of this kind.
pub(super) fn shopify_variants(product: &Object, page: &PageIdentity) -> Option<Vec<VariantDraft>> {
    let is_shopify = product.contains_key("price_varies") && product.contains_key("compare_at_price_varies");
    let variants = product.get("variants").filter(|_| is_shopify)?.as_array()?;
    let hundredths = |object: &Object, field: &str| -> Option<Price> {
        let amount = hundredths_to_units(object.get(field)?.as_i64()?);
        Some(Price { amount, ..Price::default() })
    };
    let read = |variant: &Object| {
        let mut draft = fields::variant(variant, product, page);
        draft.set_price(hundredths(variant, "price"), hundredths(variant, "compare_at_price"));
        draft.variant.title = fields::text(variant, &["title"]).filter(|title| title != "Default Title");
        draft.variant.values.retain(|key, value| !(key == "Title" && value == "Default Title"));
        draft
    };
    Some(variants.iter().take(PRODUCT_VARIANTS_MAX).filter_map(Value::as_object).map(read).collect())
}

/// Returns the products of `ShopifyAnalytics.meta`, whose prices are whole hundredths.
pub(super) fn shopify_drafts(embedded: &[EmbeddedValue]) -> Vec<ProductDraft> {
    let metas = embedded.iter().filter(|value| value.origin == Origin::ShopifyMeta);
    metas.filter_map(|value| shopify_meta(value.value.get("product")?.as_object()?)).collect()
}

fn shopify_meta(product: &Object) -> Option<ProductDraft> {
    let variants: Vec<&Object> = product
        .get("variants")?
        .as_array()?
        .iter()
        .take(PRODUCT_VARIANTS_MAX)
        .filter_map(Value::as_object)
        .collect();
    let title = variants.iter().find_map(|variant| {
        let (full, public) = (fields::text(variant, &["name"])?, fields::text(variant, &["public_title"]));
        let suffix = public.map(|public| format!(" - {public}")).unwrap_or_default();
        full.strip_suffix(&suffix).and_then(name)
    })?;
    let drafts: Vec<VariantDraft> = variants
        .iter()
        .map(|variant| {
            let mut draft = VariantDraft::default();
            let price = variant.get("price").and_then(Value::as_i64).map(hundredths_to_units);
            draft.set_price(price.map(|amount| Price { amount, ..Price::default() }), None);
            draft.variant.id = fields::id(variant);
            draft.variant.sku = fields::sku(variant);
            draft.variant.title = fields::text(variant, &["public_title"]);
            draft
        })
        .collect();
    Some(ProductDraft {
        title,
        brand: fields::label(product, &["vendor"]),
        category: fields::label(product, &["type"]),
        codes: drafts.iter().filter_map(|draft| draft.variant.sku.clone()).collect(),
        variants: drafts,
        ..ProductDraft::default()
    })
}

/// Returns the products that events of Google Analytics say are viewed: `view_item` with exactly one item.
pub(super) fn analytics_drafts(embedded: &[EmbeddedValue]) -> Vec<ProductDraft> {
    let events = embedded.iter().filter(|value| value.origin == Origin::AnalyticsEvent);
    events.filter_map(|event| analytics_draft(event.value.as_object()?)).collect()
}

fn analytics_draft(event: &Object) -> Option<ProductDraft> {
    let commerce = event.get("ecommerce")?.as_object()?;
    let (items, scope) = match commerce.get("detail").and_then(Value::as_object) {
        Some(detail) => (detail.get("products")?, commerce),
        None if event.get("event").and_then(Value::as_str) == Some("view_item") => {
            (commerce.get("items")?, commerce)
        }
        None => return None,
    };
    let [item] = items.as_array()?.as_slice() else { return None };
    let item = item.as_object()?;
    let currency = [item, scope].iter().find_map(|object| {
        ["currency", "currencyCode"].iter().find_map(|field| object.get(*field)?.as_str()).and_then(code)
    });
    // Amounts of Google Analytics are always units.
    let mut price = match item.get("price")? {
        Value::Number(number) => Price { amount: number.as_f64()?, ..Price::default() },
        Value::String(text) => price_of(text, Notation::Data)?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    price.currency = currency.or(price.currency);
    let mut draft = VariantDraft::default();
    draft.set_price(Some(price), None);
    draft.variant.price.as_ref()?;
    let id = fields::text(item, &["item_id", "id"]);
    draft.variant.id.clone_from(&id);
    let levels = ["item_category", "item_category2", "item_category3", "item_category4", "item_category5"];
    let levels: Vec<String> = levels.iter().filter_map(|field| fields::text(item, &[field])).collect();
    Some(ProductDraft {
        title: fields::text(item, &["item_name", "name"])?,
        brand: fields::text(item, &["item_brand", "brand"]),
        category: (!levels.is_empty())
            .then(|| levels.join(" > "))
            .or_else(|| Some(fields::text(item, &["category"])?.replace('/', " > "))),
        codes: id.into_iter().collect(),
        variants: vec![draft],
        ..ProductDraft::default()
    })
}

/// Returns the variants in the attribute `data-product_variations` of WooCommerce.
pub(super) fn woocommerce_variants(value: &Value, page: &PageIdentity) -> Vec<VariantDraft> {
    let variations = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let variations = variations.iter().take(PRODUCT_VARIANTS_MAX).filter_map(Value::as_object);
    variations.map(|variation| woocommerce_variant(variation, page)).collect()
}

fn woocommerce_variant(variation: &Object, page: &PageIdentity) -> VariantDraft {
    let amount = |field: &str| {
        let amount = variation.get(field)?.as_f64()?;
        Some(Price { amount, ..Price::default() })
    };
    let mut draft = VariantDraft::default();
    draft.set_price(amount("display_price"), amount("display_regular_price"));
    draft.status = variation.get("is_in_stock").and_then(Value::as_bool).map(StockStatus::of_flag);
    draft.variant.id = fields::text(variation, &["variation_id"]);
    draft.variant.sku = fields::sku(variation);
    draft.variant.values = woocommerce_options(variation);
    let photo = variation.get("image").and_then(Value::as_object).and_then(|photo| {
        let alt = photo.get("alt").and_then(Value::as_str);
        image(page.base(), photo.get("url")?.as_str()?, alt)
    });
    draft.variant.images.extend(photo);
    draft
}

/// Returns the options: `{"attribute_pa_color": "blue"}` is the color blue.
fn woocommerce_options(variation: &Object) -> BTreeMap<String, String> {
    let attributes = variation.get("attributes").and_then(Value::as_object);
    let pairs = attributes.into_iter().flatten().take(20).filter_map(|(key, value)| {
        let key = key.trim_start_matches("attribute_").trim_start_matches("pa_");
        Some((name(key)?, name(value.as_str()?)?))
    });
    pairs.collect()
}

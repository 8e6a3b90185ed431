//! Products of Open Graph and other meta tags: only those with a price.

use super::draft::{ProductDraft, VariantDraft, image, name};
use super::identity::PageIdentity;
use crate::links::resolve;
use crate::meta_tags::MetaValue;
use crate::offer::{Notation, StockStatus, code, price_of, status_text};
use crate::structured::StructuredData;
use websvc_types::limits::PRODUCT_IMAGES_MAX;
use websvc_types::product::{ItemImage, Price};

/// Returns the product that the meta tags describe.
pub(super) fn draft(data: &StructuredData, page: &PageIdentity) -> Option<ProductDraft> {
    let title = data.meta(&["og:title"]).and_then(|title| name(without_site(title, data)))?;
    let currency = data.meta(&["product:price:currency", "og:price:currency", "product:sale_price:currency"]);
    let currency = currency.and_then(code);
    let price = |names: &[&str]| -> Option<Price> {
        let mut price = price_of(data.meta(names)?, Notation::Data)?;
        price.currency = currency.clone().or(price.currency);
        Some(price)
    };
    let regular = price(&["product:price:amount", "og:price:amount", "product:price"]);
    let sale = price(&["product:sale_price:amount"]);
    let original = price(&["product:original_price:amount", "og:price:standard_amount"]);
    let (price, original) = match sale {
        Some(sale) => (Some(sale), original.or(regular)),
        None => (regular, original),
    };
    let mut variant = VariantDraft::default();
    variant.set_price(Some(price?), original);
    variant.variant.price.as_ref()?;
    if let Some(text) = data.meta(&["product:availability", "og:availability", "og:product:availability"]) {
        variant.status = StockStatus::from_text(text);
        variant.variant.availability.text = status_text(text);
    }
    let text = |names: &[&str]| data.meta(names).and_then(name);
    variant.variant.sku = text(&["product:retailer_item_id"]);
    variant.variant.images = images(data, page);
    Some(ProductDraft {
        title,
        url: data.meta(&["og:url"]).and_then(|url| resolve(page.base(), url)),
        brand: text(&["product:brand", "og:brand"]),
        category: text(&["product:category"]),
        description: data.meta(&["og:description", "description"]).map(str::to_owned),
        codes: variant.variant.sku.iter().cloned().collect(),
        variants: vec![variant],
        group: None,
        is_main: false,
    })
}

fn images(data: &StructuredData, page: &PageIdentity) -> Vec<ItemImage> {
    let values: &[String] = match data.meta.get("og:image") {
        Some(MetaValue::One(value)) => std::slice::from_ref(value),
        Some(MetaValue::Many(values)) => values,
        None => &[],
    };
    values.iter().filter_map(|value| image(page.base(), value, None)).take(PRODUCT_IMAGES_MAX).collect()
}

/// Removes the name of the site and its separator from the end of a title.
fn without_site<'a>(title: &'a str, data: &StructuredData) -> &'a str {
    let Some(site) = data.meta(&["og:site_name"]) else { return title };
    let Some(rest) = title.trim_end().strip_suffix(site) else { return title };
    let name = rest.trim_end().trim_end_matches(['|', '-', '–', '—', '·', ':', '»']).trim_end();
    // The name itself may end like that of the site.
    if name.is_empty() || name.len() == rest.trim_end().len() { title } else { name }
}

//! Products in the state of web applications: objects with a name, a price and an ID.

use super::budget::DraftBudget;
use super::draft::{ProductDraft, VariantDraft, name};
use super::identity::PageIdentity;
use super::shop::shopify_variants;
use super::state_fields::{self as fields, Object};
use crate::embedded::{EmbeddedValue, Origin};
use crate::links::resolve;
use serde_json::Value;
use websvc_types::limits::PRODUCT_VARIANTS_MAX;

/// Maximum number of values that are visited, and their maximum depth.
const MAX_VALUES: usize = 200_000;
const MAX_DEPTH: usize = 60;

/// Maximum number of products that are read.
const MAX_PRODUCTS: usize = 200;

/// Parts of the names of fields with other products than the one of the page.
const OTHERS: [&str; 12] = [
    "related",
    "recommend",
    "upsell",
    "crosssell",
    "similar",
    "recent",
    "accessor",
    "cart",
    "wishlist",
    "bundle",
    "navigation",
    "menu",
];

/// Names of the field with the product of the page.
const MAINS: [&str; 9] = [
    "product",
    "productdata",
    "productdetail",
    "productdetails",
    "currentproduct",
    "selectedproduct",
    "initialproduct",
    "pdp",
    "productbyslug",
];

/// Returns the products in the states of a page.
pub(super) fn drafts(embedded: &[EmbeddedValue], page: &PageIdentity) -> Vec<ProductDraft> {
    let mut search =
        ProductSearch { page, budget: MAX_VALUES, drafts: DraftBudget::new(), found: Vec::new() };
    for value in embedded.iter().filter(|value| value.origin == Origin::State) {
        search.visit(&value.value, "", 0);
    }
    search.found
}

struct ProductSearch<'a> {
    page: &'a PageIdentity<'a>,
    budget: usize,
    drafts: DraftBudget,
    found: Vec<ProductDraft>,
}

impl ProductSearch<'_> {
    fn visit(&mut self, value: &Value, key: &str, depth: usize) {
        let Some(budget) = self.budget.checked_sub(1) else { return };
        self.budget = budget;
        if depth > MAX_DEPTH || self.found.len() >= MAX_PRODUCTS {
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.visit(item, "", depth + 1)),
            Value::Object(object) => {
                if let Some(mut draft) = draft(object, self.page, &mut self.drafts) {
                    draft.is_main = MAINS.contains(&&*letters(key)) && self.page.mentions(&draft.title);
                    self.found.push(draft);
                    return;
                }
                for (key, inner) in object {
                    let letters = letters(key);
                    if !OTHERS.iter().any(|part| letters.contains(part)) {
                        self.visit(inner, key, depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

fn letters(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the product that an object clearly is: it has a name, an ID and a price, its own or those of its variants.
fn draft(object: &Object, page: &PageIdentity, budget: &mut DraftBudget) -> Option<ProductDraft> {
    let title = fields::item_name(object)?;
    let (id, sku) = (fields::id(object), fields::sku(object));
    let slug = fields::text(object, &["handle", "slug", "urlKey", "url_key"]);
    if id.is_none() && sku.is_none() && slug.is_none() {
        return None;
    }
    let (variants, shop_category) = match shopify_variants(object, page) {
        Some(variants) => (variants, fields::label(object, &["type"])),
        None => (variants(object, page), None),
    };
    if !variants.iter().any(|draft| draft.variant.price.is_some()) {
        return None;
    }
    let variants = limited(variants, object, page, budget);
    let url = fields::text(object, &["url", "canonicalUrl", "link", "permalink"]);
    let url = url.and_then(|url| resolve(page.base(), &url));
    // The address of a product that is named only by its slug is that of the page.
    let url = url.or_else(|| slug.filter(|slug| page.has_slug(slug)).map(|_| page.own_url().clone()));
    let codes = [sku, fields::gtin(object)].into_iter().flatten();
    let codes = codes.chain(variants.iter().filter_map(|draft| draft.variant.sku.clone())).collect();
    Some(ProductDraft {
        title,
        url,
        brand: fields::label(object, &["brand", "vendor", "manufacturer", "brandName"]),
        category: fields::label(object, &["category", "productType", "product_type", "categoryName"])
            .or(shop_category),
        description: fields::string(
            object,
            &["description", "descriptionHtml", "shortDescription", "body_html", "short_description"],
        )
        .map(str::to_owned),
        variants,
        codes,
        group: None,
        is_main: false,
    })
}

/// Returns the variants that fit into the budget, at least one, each with images of its own or those of the product.
fn limited(
    variants: Vec<VariantDraft>,
    object: &Object,
    page: &PageIdentity,
    budget: &mut DraftBudget,
) -> Vec<VariantDraft> {
    let images = fields::images(object, page);
    let mut drafts = Vec::new();
    for draft in variants {
        if !drafts.is_empty() && budget.is_spent() {
            break;
        }
        let mut draft = budget.charged(draft);
        budget.add_images(&mut draft, &images);
        drafts.push(draft);
    }
    drafts
}

fn variants(object: &Object, page: &PageIdentity) -> Vec<VariantDraft> {
    let own = fields::variant(object, object, page);
    let lists = ["variants", "skus", "variations", "productVariants", "children"];
    let list = lists.iter().find_map(|field| fields::members(object.get(*field)?));
    let members = list.unwrap_or_default().iter().take(PRODUCT_VARIANTS_MAX).filter_map(Value::as_object);
    let mut drafts: Vec<VariantDraft> =
        members.filter_map(|member| variant(fields::node(member), object, page)).collect();
    if drafts.is_empty() {
        return vec![own];
    }
    for draft in &mut drafts {
        if draft.variant.price.is_none() {
            draft.variant.price.clone_from(&own.variant.price);
            draft.variant.sale.clone_from(&own.variant.sale);
        }
    }
    drafts
}

/// Returns a variant that has an ID or a price of its own.
fn variant(object: &Object, parent: &Object, page: &PageIdentity) -> Option<VariantDraft> {
    let mut draft = fields::variant(object, parent, page);
    draft.variant.title = fields::text(object, &["title", "name"]).and_then(|title| name(&title));
    (draft.variant.price.is_some() || draft.variant.sku.is_some() || draft.variant.id.is_some())
        .then_some(draft)
}

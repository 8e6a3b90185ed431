//! Merging of drafts that describe the same product.

use super::budget::DraftBudget;
use super::draft::{ProductDraft, VariantDraft};
use super::identity::{is_same_page, words};
use std::collections::BTreeMap;
use websvc_types::limits::PRODUCT_VARIANTS_MAX;
use websvc_types::product::Price;

/// Maximum number of drafts of one source that are compared with each other.
pub(super) const MAX_DRAFTS: usize = 300;

/// Combines the drafts of one source: repeated ones, and those that are variants of one product.
pub(super) fn combined(drafts: Vec<ProductDraft>) -> Vec<ProductDraft> {
    let mut distinct: Vec<ProductDraft> = Vec::new();
    for draft in drafts.into_iter().take(MAX_DRAFTS) {
        let same_group = |known: &ProductDraft| known.group.is_some() && known.group == draft.group;
        if let Some(known) = distinct.iter_mut().find(|known| same_group(known)) {
            add_group_member(known, draft);
        } else if let Some(known) = distinct.iter_mut().find(|known| is_same_product(known, &draft)) {
            fill(known, draft);
        } else {
            distinct.push(draft);
        }
    }
    distinct
}

/// Adds what the drafts of another source say about the same product.
pub(super) fn fill_from(product: &mut ProductDraft, drafts: Vec<ProductDraft>) {
    for draft in drafts.into_iter().take(MAX_DRAFTS) {
        if is_same_product(product, &draft) {
            fill(product, draft);
        }
    }
}

/// Replaces a single variant by the variations of the same product.
pub(super) fn add_variations(product: &mut ProductDraft, variations: Vec<VariantDraft>) {
    if product.variants.len() <= 1 && !variations.is_empty() {
        replace_variants(product, variations);
    }
}

/// Returns whether two drafts are one product: by a code, by URL, or by name. Different codes of the same kind of source
/// do not contradict a name, because sources use SKU and GTIN differently.
fn is_same_product(a: &ProductDraft, b: &ProductDraft) -> bool {
    let same_url = || match (&a.url, &b.url) {
        (Some(a), Some(b)) => is_same_page(a, b),
        _ => false,
    };
    let other_url = || match (&a.url, &b.url) {
        (Some(a), Some(b)) => !is_same_page(a, b),
        _ => false,
    };
    let same_name = || words(&a.title) == words(&b.title);
    a.codes.iter().any(|code| b.codes.contains(code))
        || same_name() && !other_url()
        || same_url() && shares_words(&a.title, &b.title)
}

/// Returns whether two names share a word that is not a number.
fn shares_words(a: &str, b: &str) -> bool {
    let (a, b) = (words(a), words(b));
    a.iter().any(|word| word.chars().any(char::is_alphabetic) && b.contains(word))
}

/// Adds a product that is a variant of the same product as another one.
fn add_group_member(product: &mut ProductDraft, member: ProductDraft) {
    let title = member.title.clone();
    let variants = fill_facts(product, member);
    // The group itself has neither price nor stock; its members have.
    product.variants.retain(|known| known.variant.price.is_some() || known.variant.sku.is_some());
    for mut draft in variants {
        draft.variant.title.get_or_insert_with(|| title.clone());
        product.variants.push(draft);
    }
}

/// Adds what another draft says about the product itself. Returns the variants of that draft.
fn fill_facts(product: &mut ProductDraft, other: ProductDraft) -> Vec<VariantDraft> {
    let ProductDraft { title: _, url: _, brand, category, description, variants, codes, group: _, is_main } =
        other;
    product.is_main |= is_main;
    product.brand = product.brand.take().or(brand);
    product.category = product.category.take().or(category);
    product.description = product.description.take().or(description);
    product.codes.extend(codes);
    variants
}

fn fill(product: &mut ProductDraft, mut other: ProductDraft) {
    product.url = product.url.take().or(other.url.take());
    let variants = fill_facts(product, other);
    match (product.variants.as_mut_slice(), variants.len()) {
        ([], _) => product.variants = variants,
        ([single], 1) => variants.into_iter().for_each(|draft| fill_variant(single, draft)),
        ([_], 2..) => replace_variants(product, variants),
        (known, _) => {
            for draft in variants {
                if let Some(known) = known.iter_mut().find(|known| is_same_variant(known, &draft)) {
                    fill_variant(known, draft);
                }
            }
        }
    }
}

/// Replaces the single variant of a product. What it says about the whole product is kept: currency and images.
fn replace_variants(product: &mut ProductDraft, variants: Vec<VariantDraft>) {
    let whole = product.variants.pop().map(|draft| draft.variant).unwrap_or_default();
    let currency = whole.price.as_ref().and_then(|price| price.currency.clone());
    product.variants = variants;
    product.variants.truncate(PRODUCT_VARIANTS_MAX);
    let mut budget = DraftBudget::new();
    for draft in &mut product.variants {
        budget.add_images(draft, &whole.images);
        let variant = &mut draft.variant;
        let prices = [variant.price.as_mut(), variant.sale.as_mut().map(|sale| &mut sale.original_price)];
        for price in prices.into_iter().flatten() {
            if price.currency.is_none() {
                price.currency.clone_from(&currency);
            }
        }
    }
}

fn is_same_variant(a: &VariantDraft, b: &VariantDraft) -> bool {
    let (a, b) = (&a.variant, &b.variant);
    a.sku.is_some() && a.sku == b.sku || a.id.is_some() && a.id == b.id
}

fn fill_variant(known: &mut VariantDraft, other: VariantDraft) {
    let VariantDraft { variant: other, status } = other;
    if known.status.is_none() {
        known.status = status;
    }
    let variant = &mut known.variant;
    let is_same_amount = |a: &Price, b: &Price| (a.amount - b.amount).abs() < 0.005;
    match (&mut variant.price, other.price) {
        (price @ None, other_price) => {
            *price = other_price;
            variant.sale = other.sale;
        }
        (Some(price), Some(other_price)) if is_same_amount(price, &other_price) => {
            if price.currency.is_none() {
                price.currency = other_price.currency;
            }
            price.formatted = price.formatted.take().or(other_price.formatted);
            if variant.sale.is_none() {
                variant.sale = other.sale;
            }
        }
        (Some(_), _) => {}
    }
    if variant.availability.text.is_none() && known.status == status {
        variant.availability.text = other.availability.text;
    }
    variant.id = variant.id.take().or(other.id);
    variant.sku = variant.sku.take().or(other.sku);
    variant.title = variant.title.take().or(other.title);
    if variant.values.is_empty() {
        variant.values = other.values;
    } else {
        let missing: BTreeMap<String, String> = other.values;
        for (name, value) in missing {
            variant.values.entry(name).or_insert(value);
        }
    }
    if variant.images.is_empty() {
        variant.images = other.images;
    }
}

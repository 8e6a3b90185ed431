//! Offers of schema.org as variants with prices and availabilities.

use super::budget::DraftBudget;
use super::draft::{VariantDraft, name};
use super::identity::PageIdentity;
use super::properties::{gtin, images, options};
use crate::offer::{Notation, StockStatus, code, price_of, status_text};
use crate::structured::{Entity, Literal};
use std::collections::HashSet;
use websvc_types::limits::PRODUCT_VARIANTS_MAX;
use websvc_types::product::Price;

/// Types of prices that a reduced price is compared with.
const ORIGINAL_PRICES: [&str; 6] =
    ["ListPrice", "StrikethroughPrice", "SRP", "MSRP", "RegularPrice", "SuggestedRetailPrice"];

/// Maximum number of price specifications of an offer.
const MAX_SPECIFICATIONS: usize = 20;

/// Returns the variants of a product by its offers: at least one, and at most `max`.
pub(super) fn offer_variants(
    product: Entity<'_>,
    page: &PageIdentity,
    max: usize,
    budget: &mut DraftBudget,
) -> Vec<VariantDraft> {
    // The best offer of each article with its terms. Only these are described, because offers may share long texts.
    let mut best: Vec<(Option<String>, Entity<'_>, VariantDraft)> = Vec::new();
    for offer in distinct_offers(product) {
        if !budget.compare(cost(offer, product)) {
            break;
        }
        let mut terms = VariantDraft::default();
        apply_terms(&mut terms, offer);
        let key = key(offer, product, page);
        match best.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, known_offer, known)) if is_better(&terms, known) => {
                (*known_offer, *known) = (offer, terms);
            }
            Some(_) => {}
            None => best.push((key, offer, terms)),
        }
    }
    let mut drafts = Vec::new();
    for (_, offer, _) in best.into_iter().take(max) {
        if !drafts.is_empty() && budget.is_spent() {
            break;
        }
        drafts.push(budget.charged(variant(product, offer, page)));
    }
    if drafts.is_empty() {
        drafts.push(budget.charged(without_offer(product, page)));
    }
    drafts
}

/// Returns the offers of a product, and those in its aggregated offers, each once.
fn distinct_offers(product: Entity<'_>) -> Vec<Entity<'_>> {
    // An offer may be in its own list, so the lists have sets of their own.
    let (mut seen, mut seen_inner) = (HashSet::new(), HashSet::new());
    let mut found = Vec::new();
    let outer: Vec<Entity<'_>> =
        product.entities("offers").filter(|offer| seen.insert(offer.id)).take(PRODUCT_VARIANTS_MAX).collect();
    for offer in outer {
        let mut inner = offer.entities("offers").peekable();
        if inner.peek().is_none() {
            found.push(offer);
        } else {
            let left = PRODUCT_VARIANTS_MAX.saturating_sub(found.len());
            found.extend(inner.filter(|offer| seen_inner.insert(offer.id)).take(left));
        }
    }
    found.truncate(PRODUCT_VARIANTS_MAX);
    found
}

/// Returns the number of properties that are looked through for an offer of a product.
fn cost(offer: Entity<'_>, product: Entity<'_>) -> usize {
    let inner = offer.entities("priceSpecification").take(MAX_SPECIFICATIONS);
    let inner = inner.chain(offer.entities("itemOffered").take(1));
    [offer, product].into_iter().chain(inner).map(Entity::property_count).sum()
}

/// Returns what distinguishes an offer from others of the same product; `None` for an offer of the product itself, such
/// as that of another seller.
fn key(offer: Entity<'_>, product: Entity<'_>, page: &PageIdentity) -> Option<String> {
    let item = offer.entities("itemOffered").next();
    let text = |field: &str| offer.text(field).or_else(|| item.and_then(|item| item.text(field)));
    let own = text("sku").or_else(|| text("gtin13")).or_else(|| text("gtin")).or_else(|| text("mpn"));
    if let Some(own) = own {
        return Some(own.to_owned());
    }
    if let Some(title) = text("name").filter(|title| Some(*title) != product.text("name")) {
        return Some(title.to_owned());
    }
    let url = offer.text("url").and_then(|url| page.base().join(url).ok())?;
    let is_selection = url.query().is_some() && page.has_url(&url);
    is_selection.then(|| url.into())
}

/// Returns whether an offer is better than another one of the same article: in stock, and cheaper.
fn is_better(offer: &VariantDraft, other: &VariantDraft) -> bool {
    let is_gone = |draft: &VariantDraft| draft.status == Some(StockStatus::OutOfStock);
    let amount = |draft: &VariantDraft| draft.variant.price.as_ref().map_or(f64::MAX, |price| price.amount);
    match (is_gone(offer), is_gone(other)) {
        (true, false) => false,
        (false, true) => true,
        _ => amount(offer) < amount(other),
    }
}

fn without_offer(product: Entity<'_>, page: &PageIdentity) -> VariantDraft {
    let mut draft = VariantDraft::default();
    describe(&mut draft, product, page);
    // Microdata often has the price and the availability at the product itself.
    apply_terms(&mut draft, product);
    draft
}

fn variant(product: Entity<'_>, offer: Entity<'_>, page: &PageIdentity) -> VariantDraft {
    let mut draft = VariantDraft::default();
    let item = offer.entities("itemOffered").next();
    for entity in [Some(offer), item].into_iter().flatten() {
        describe(&mut draft, entity, page);
    }
    let title = [Some(offer), item].into_iter().flatten().find_map(|entity| entity.text("name"));
    draft.variant.title = title.and_then(name).filter(|title| product.text("name") != Some(title));
    describe(&mut draft, product, page);
    apply_terms(&mut draft, offer);
    draft
}

/// Adds IDs, options and images that are not known yet.
fn describe(draft: &mut VariantDraft, entity: Entity<'_>, page: &PageIdentity) {
    let variant = &mut draft.variant;
    let text = |field: &str| entity.text(field).and_then(name);
    variant.sku = variant.sku.take().or_else(|| text("sku"));
    variant.id = variant.id.take().or_else(|| gtin(entity)).or_else(|| text("productID"));
    for (option, value) in options(entity) {
        variant.values.entry(option).or_insert(value);
    }
    if variant.images.is_empty() {
        variant.images = images(entity, page.base());
    }
}

/// Sets the price and the availability of an offer.
fn apply_terms(draft: &mut VariantDraft, offer: Entity<'_>) {
    let (price, original) = prices(offer);
    draft.set_price(price, original);
    if let Some(text) = offer.label("availability") {
        draft.status = StockStatus::from_text(text);
        draft.variant.availability.text = status_text(text);
    }
}

/// Returns the price of an offer and its original price.
pub(crate) fn prices(offer: Entity<'_>) -> (Option<Price>, Option<Price>) {
    let mut price = first_price(offer, "price", None);
    let mut original = None;
    for specification in offer.entities("priceSpecification").take(MAX_SPECIFICATIONS) {
        let is_conditional = specification.values("validForMemberTier").next().is_some()
            || specification.values("referenceQuantity").next().is_some();
        let found = first_price(specification, "price", Some(offer));
        let kind = specification.label("priceType").unwrap_or_default();
        if ORIGINAL_PRICES.iter().any(|name| kind.ends_with(name)) {
            original = original.or(found);
        } else if !is_conditional {
            price = price.or(found);
        }
    }
    let low = || first_price(offer, "lowPrice", None);
    (price.or_else(low), original)
}

fn first_price(entity: Entity<'_>, property: &str, around: Option<Entity<'_>>) -> Option<Price> {
    let named = entity.text("priceCurrency").or_else(|| around?.text("priceCurrency")).and_then(code);
    entity.literals(property).find_map(|literal| {
        let mut price = match literal {
            Literal::Data(text) => price_of(text, Notation::Data)?,
            Literal::Text(text) => price_of(text, Notation::Visible)?,
        };
        price.currency = named.clone().or(price.currency);
        Some(price)
    })
}

//! Products of schema.org, in JSON-LD, microdata or RDFa.

use super::budget::DraftBudget;
use super::draft::{ProductDraft, VariantDraft, name};
use super::identity::PageIdentity;
use super::merge::MAX_DRAFTS;
use super::offers;
use super::properties::{MAX_OPTIONS, gtin, images};
use crate::limits::MAX_LABEL_BYTES;
use crate::links::resolve_web;
use crate::structured::{Entity, Graph};
use crate::text::start_of;
use std::collections::{BTreeMap, HashSet};
use websvc_types::limits::PRODUCT_VARIANTS_MAX;

/// Types of products.
pub(super) const PRODUCT_TYPES: [&str; 8] = [
    "Product",
    "ProductGroup",
    "IndividualProduct",
    "ProductModel",
    "SomeProducts",
    "Vehicle",
    "Car",
    "Motorcycle",
];

/// Types of entities that list products.
const LIST_TYPES: [&str; 5] = ["ItemList", "OfferCatalog", "CollectionPage", "SearchResultsPage", "ListItem"];

/// Properties whose values are other things than the one that the page is about.
const RELATIONS: [&str; 11] = [
    "isRelatedTo",
    "isSimilarTo",
    "isAccessoryOrSparePartFor",
    "isConsumableFor",
    "itemListElement",
    "item",
    "itemReviewed",
    "mentions",
    "hasVariant",
    "itemOffered",
    "model",
];

/// Returns the products that are entities of their own, not values of another one.
pub(super) fn drafts(graph: &Graph, page: &PageIdentity) -> Vec<ProductDraft> {
    let related = graph.values_of(&RELATIONS);
    let mains: HashSet<_> =
        graph.roots().flat_map(|root| root.entities("mainEntity")).map(|entity| entity.id).collect();
    let is_inside = |entity: &Entity<'_>| {
        entity.enclosing().is_some_and(|around| around.is(&PRODUCT_TYPES) || around.is(&LIST_TYPES))
    };
    let roots = graph.roots().filter(|root| !related.contains(&root.id) && !is_inside(root));
    let inner = graph.entities().filter(|entity| mains.contains(&entity.id));
    let mut seen = HashSet::new();
    let products = roots.chain(inner).filter(|entity| entity.is(&PRODUCT_TYPES) && seen.insert(entity.id));
    let mut budget = DraftBudget::new();
    products
        .filter_map(|entity| draft(entity, page, mains.contains(&entity.id), &mut budget))
        .take(MAX_DRAFTS)
        .collect()
}

fn draft(
    entity: Entity<'_>,
    page: &PageIdentity,
    is_main: bool,
    budget: &mut DraftBudget,
) -> Option<ProductDraft> {
    let own_name = entity.text("name").and_then(name);
    let parent = entity.entities("isVariantOf").next();
    let title = parent.and_then(|parent| parent.text("name")).and_then(name).or_else(|| own_name.clone())?;
    let mut variants = variants(entity, page, budget);
    if let ([single], Some(own_name)) = (variants.as_mut_slice(), own_name) {
        single.variant.title.get_or_insert(own_name);
    }
    let images = images(entity, page.base());
    variants.iter_mut().for_each(|draft| budget.add_images(draft, &images));
    let mut codes = codes(entity);
    for draft in &variants {
        codes.extend([&draft.variant.sku, &draft.variant.id].into_iter().flatten().cloned());
    }
    Some(ProductDraft {
        title,
        url: entity.text("url").and_then(|url| resolve_web(page.base(), url)),
        brand: entity.label("brand").map(str::to_owned),
        category: category(entity),
        description: entity.text("description").map(str::to_owned),
        variants,
        codes,
        group: group(entity, parent),
        is_main,
    })
}

/// Returns the ID of the group of a product, or of a group itself.
fn group(entity: Entity<'_>, parent: Option<Entity<'_>>) -> Option<String> {
    let id = |group: Entity<'_>| group.text("productGroupID").or(group.identifier()).map(str::to_owned);
    let own = if entity.is(&["ProductGroup"]) { id(entity) } else { None };
    let by_parent =
        || parent.and_then(|parent| id(parent).or_else(|| parent.text("name").map(str::to_owned)));
    entity.text("inProductGroupWithID").map(str::to_owned).or_else(by_parent).or(own)
}

/// Returns the category: a path, or the levels of a list joined to one.
fn category(entity: Entity<'_>) -> Option<String> {
    let levels: Vec<&str> = entity.labels("category").filter(|text| !text.contains("://")).take(10).collect();
    (!levels.is_empty()).then(|| start_of(&levels.join(" > "), MAX_LABEL_BYTES).to_owned())
}

fn variants(entity: Entity<'_>, page: &PageIdentity, budget: &mut DraftBudget) -> Vec<VariantDraft> {
    let mut members = Vec::new();
    let mut seen = HashSet::new();
    let distinct = entity.entities("hasVariant").filter(|member| seen.insert(member.id));
    for member in distinct.take(PRODUCT_VARIANTS_MAX) {
        if budget.is_spent() {
            break;
        }
        let Some(mut draft) = offers::offer_variants(member, page, 1, budget).into_iter().next() else {
            continue;
        };
        draft.variant.title = member.text("name").and_then(name).or(draft.variant.title);
        add_varying_options(&mut draft.variant.values, entity, member);
        // A member that only has a URL is described on a page of its own.
        let variant = &draft.variant;
        if variant.price.is_some() || variant.sku.is_some() || !variant.values.is_empty() {
            members.push(draft);
        }
    }
    if members.is_empty() {
        offers::offer_variants(entity, page, PRODUCT_VARIANTS_MAX, budget)
    } else {
        members
    }
}

/// Adds the properties that a group names in `variesBy`.
fn add_varying_options(values: &mut BTreeMap<String, String>, group: Entity<'_>, member: Entity<'_>) {
    for property in group.literals("variesBy").take(MAX_OPTIONS) {
        let property =
            property.as_str().trim_end_matches('/').rsplit(['/', '#', ':']).next().unwrap_or_default();
        if let Some(value) = member.label(property).and_then(name) {
            values.entry(property.to_owned()).or_insert(value);
        }
    }
}

/// Returns the IDs of a product that other sources may name too.
fn codes(entity: Entity<'_>) -> Vec<String> {
    entity.text("sku").and_then(name).into_iter().chain(gtin(entity)).collect()
}

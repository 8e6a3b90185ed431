//! The product that a page offers (operations.md, section 8.1), without a language model.
//!
//! Each source yields drafts. The first source whose drafts name one product decides which product this is; the others
//! only add what they say about the same product. Several products of equal rank mean that the page is a listing: then
//! there is none.

mod budget;
pub(crate) mod draft;
mod entity;
pub(crate) mod identity;
mod merge;
mod meta;
pub(crate) mod offers;
pub(crate) mod properties;
mod select;
mod shop;
mod state;
pub(crate) mod state_fields;

use crate::document::Document;
use crate::embedded::{self, Origin};
use draft::ProductDraft;
use identity::PageIdentity;
use select::{Requirement, Selection, select};
use websvc_types::product::PageProduct;

/// Returns the product of a page, if the page says that it has exactly one.
pub(crate) fn read(document: &Document) -> Option<PageProduct> {
    if !document.kind.is_html() {
        return None;
    }
    let data = document.structured_data();
    let page = PageIdentity::new(document, data);
    let embedded = embedded::values(document);
    let sources: [(Vec<ProductDraft>, Requirement); 7] = [
        (entity::drafts(&data.json_ld, &page), Requirement::None),
        (entity::drafts(&data.microdata, &page), Requirement::None),
        (entity::drafts(&data.rdfa, &page), Requirement::None),
        (state::drafts(&embedded, &page), Requirement::MatchesPage),
        (shop::shopify_drafts(&embedded), Requirement::MatchesPage),
        (shop::analytics_drafts(&embedded), Requirement::MatchesPage),
        (meta::draft(data, &page).into_iter().collect(), Requirement::None),
    ];
    let mut chosen: Option<ProductDraft> = None;
    for (drafts, requirement) in sources {
        if let Some(product) = &mut chosen {
            merge::fill_from(product, drafts);
            continue;
        }
        match select(drafts, &page, requirement) {
            Selection::Product(product) => chosen = Some(*product),
            Selection::Ambiguous if requirement == Requirement::None => return None,
            Selection::Ambiguous | Selection::None => {}
        }
    }
    let mut product = chosen?;
    let variations = embedded.iter().filter(|value| value.origin == Origin::WooCommerceVariations);
    if let [value] = variations.collect::<Vec<_>>().as_slice() {
        merge::add_variations(&mut product, shop::woocommerce_variants(&value.value, &page));
    }
    Some(product.finish(&page))
}

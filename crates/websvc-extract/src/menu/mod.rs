//! The menu of a restaurant or shop that a page shows (operations.md, section 8.2), without a language model.
//!
//! Structured data comes first. The visible text is a menu only if the page calls itself one, names a place where people
//! eat, or has several courses, because a list of articles in a shop looks the same.

mod courses;
mod diet;
mod draft;
mod entity;
mod lexicon;
mod signals;
mod state;
mod text;
mod text_lines;

use crate::document::Document;
use crate::embedded;
use crate::product::identity::PageIdentity;
use draft::MenuDraft;
use signals::MenuSignals;
use websvc_types::menu::PageMenu;

/// Confidence of the sources.
const JSON_LD: f64 = 0.95;
const MARKUP: f64 = 0.8;

/// Visible text replaces structured data that has fewer items than one in this number.
const MIN_SHARE: usize = 3;

/// Returns the menu of a page, if it shows one.
pub(crate) fn read(document: &Document) -> Option<PageMenu> {
    if !document.kind.is_html() {
        return None;
    }
    let data = document.structured_data();
    let page = PageIdentity::new(document, data);
    let signals = MenuSignals::new(document, data);
    let embedded = embedded::values(document);
    let structured = [
        state::draft(&embedded, &page, &signals),
        entity::draft(&data.json_ld, &page, JSON_LD),
        entity::draft(&data.microdata, &page, MARKUP),
        entity::draft(&data.rdfa, &page, MARKUP),
    ];
    // Of sources with the same number of items, the first one is the most reliable.
    let structured = structured.into_iter().flatten().rev().max_by_key(MenuDraft::item_count);
    let known = structured.as_ref().map_or(0, MenuDraft::item_count);
    let visible =
        text::draft(document, &page, &signals).filter(|draft| draft.item_count() > MIN_SHARE * known);
    let draft = visible.or(structured)?;
    Some(draft.finish(entity::merchant(data), &page, data))
}

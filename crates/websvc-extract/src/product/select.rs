//! Selection of the one product that a page is about.

use super::draft::ProductDraft;
use super::identity::PageIdentity;
use super::merge;

/// The condition on the drafts of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Requirement {
    /// The source describes the page, so a single draft is its product.
    None,
    /// The source has data of other products too: the name or URL of a draft must be that of the page.
    MatchesPage,
}

/// The result of a selection.
#[derive(Debug)]
pub(super) enum Selection {
    /// The source has no product.
    None,
    /// The product of the page.
    Product(Box<ProductDraft>),
    /// The source has several products of equal rank.
    Ambiguous,
}

/// Selects the product of a page from the drafts of a source.
pub(super) fn select(drafts: Vec<ProductDraft>, page: &PageIdentity, requirement: Requirement) -> Selection {
    let mut drafts = merge::combined(drafts);
    for is_preferred in [is_main, has_url_of_page, has_name_of_page] {
        let preferred: Vec<usize> = (0..drafts.len()).filter(|&at| is_preferred(&drafts[at], page)).collect();
        if let [single] = preferred[..] {
            return Selection::Product(Box::new(drafts.swap_remove(single)));
        }
    }
    match (requirement, drafts.len()) {
        (_, 0) => Selection::None,
        (Requirement::None, 1) if !is_of_another_page(&drafts[0], page) => {
            Selection::Product(Box::new(drafts.swap_remove(0)))
        }
        (Requirement::None, 1) => Selection::None,
        (Requirement::None | Requirement::MatchesPage, _) => Selection::Ambiguous,
    }
}

fn is_main(draft: &ProductDraft, _page: &PageIdentity) -> bool {
    draft.is_main
}

fn has_url_of_page(draft: &ProductDraft, page: &PageIdentity) -> bool {
    draft.url.as_ref().is_some_and(|url| page.has_url(url))
}

fn has_name_of_page(draft: &ProductDraft, page: &PageIdentity) -> bool {
    page.is_named(&draft.title)
}

/// Returns whether a draft has another URL than the page, and a name that the page does not mention.
fn is_of_another_page(draft: &ProductDraft, page: &PageIdentity) -> bool {
    draft.url.as_ref().is_some_and(|url| !page.has_url(url)) && !page.mentions(&draft.title)
}

//! Finds the page's own heading: the `<h1>` with its title, wherever it stands.
//!
//! The model often takes it for a part of the site's header. A reader of the markdown misses it there.

use super::blocks::hash_of;
use super::tokens;
use crate::content_view::ContentView;
use crate::dom::{Dom, NodeId, Tag};
use url::Url;

/// Maximum number of `<h1>` elements of a page that are compared.
const MAX_CANDIDATES: usize = 20;

/// Maximum size of a heading in bytes.
const MAX_BYTES: usize = 400;

/// Returns the `<h1>` with the title of the page, else the only one.
pub(super) fn find(dom: &Dom, view: &ContentView, base: &Url, titles: &[u64]) -> Option<NodeId> {
    let headings = view.nodes(dom).filter(|&id| dom.is(id, Tag::H1)).take(MAX_CANDIDATES);
    let candidates: Vec<(NodeId, u64)> = headings
        .filter(|&id| !is_of_site(dom, id, base))
        .filter_map(|id| {
            let text = view.text_up_to(dom, id, MAX_BYTES + 1);
            (text.len() <= MAX_BYTES).then(|| (id, hash_of(&text))).filter(|&(_, hash)| hash != 0)
        })
        .collect();
    let with_title = candidates.iter().find(|(_, hash)| titles.contains(hash));
    with_title.or(candidates.first().filter(|_| candidates.len() == 1)).map(|&(id, _)| id)
}

/// Returns whether a heading is the name of the site, which links to its home page, or belongs to another part of it.
fn is_of_site(dom: &Dom, heading: NodeId, base: &Url) -> bool {
    let is_home = |id: NodeId| {
        let href = dom.attribute(id, "href").filter(|_| dom.is(id, Tag::A));
        href.is_some_and(|href| {
            let target = base.join(href.trim());
            target.is_ok_and(|url| url.path() == "/" && url.query().is_none() && url.fragment().is_none())
        }) && base.path() != "/"
    };
    let around = || std::iter::once(heading).chain(dom.ancestors(heading));
    let other_part = tokens::IN_NAV | tokens::IN_FOOTER | tokens::IN_ASIDE | tokens::CONSENT;
    dom.descendants(heading).take(20).chain(dom.ancestors(heading).take(3)).any(is_home)
        || around().any(|id| tokens::of_element(dom, id).0 & other_part != 0)
}

//! Finds the headings that are the titles of cards: they get the link around or over the whole card.

use super::OutputContext;
use super::escape::escape_target;
use crate::dom::{Dom, NodeId, Tag};
use crate::links;
use crate::text::collapsed;
use std::collections::HashMap;

/// Maximum number of nodes of a card.
const MAX_CARD_NODES: usize = 200;

/// Maximum number of headings whose cards are searched for a link, and of elements next to a heading.
const MAX_TITLES: usize = 2_000;
const MAX_SIBLINGS: usize = 32;

/// Maximum length of the title of a card that is compared with the label of its link, in bytes.
const MAX_TITLE_BYTES: usize = 200;

/// Parts of the classes of links that cover a card.
const COVER_CLASSES: [&str; 7] =
    ["stretched", "overlay", "cover", "card-link", "cardlink", "block-link", "full-link"];

/// Returns the first heading with text below an element, if there is one near.
pub(super) fn title_of(context: OutputContext<'_>, id: NodeId) -> Option<NodeId> {
    let OutputContext { dom, view, .. } = context;
    // Most links have only text.
    if dom.children(id).all(|child| dom.tag(child).is_none()) {
        return None;
    }
    let is_title = |&inner: &NodeId| is_heading(dom, inner) && view.has_text(dom, inner);
    view.below(dom, id).skip(1).take(MAX_CARD_NODES).find(is_title)
}

fn is_heading(dom: &Dom, id: NodeId) -> bool {
    dom.tag(id).is_some_and(|tag| {
        tag.heading_level().is_some()
            || matches!(tag, Tag::Div | Tag::Span | Tag::P) && dom.attribute(id, "role") == Some("heading")
    })
}

/// Finds the titles of cards that an empty link covers, with the targets of these links.
pub(super) fn covered_titles(context: OutputContext<'_>, headings: &[NodeId]) -> HashMap<NodeId, String> {
    let OutputContext { dom, base, .. } = context;
    let mut titles = HashMap::new();
    for &heading in headings.iter().take(MAX_TITLES) {
        let has_link = dom.descendants(heading).take(MAX_SIBLINGS).any(|id| dom.is(id, Tag::A));
        if has_link {
            continue;
        }
        if let Some(link) = covering_link(context, heading)
            && let Some(url) = links::resolve(base, dom.attribute(link, "href").unwrap_or_default())
        {
            titles.insert(heading, escape_target(url.as_str()));
        }
    }
    titles
}

/// Returns the empty link for the whole card whose only heading is `heading`.
fn covering_link(context: OutputContext<'_>, heading: NodeId) -> Option<NodeId> {
    let OutputContext { dom, .. } = context;
    for card in dom.ancestors(heading).take(3) {
        if matches!(dom.tag(card), None | Some(Tag::Body | Tag::Main | Tag::Html | Tag::Header | Tag::Nav)) {
            return None;
        }
        let links = dom.children(card).take(MAX_SIBLINGS).filter_map(|child| empty_link(dom, child));
        let mut covering = links.filter(|&link| covers(context, link, heading));
        if let Some(link) = covering.next() {
            let inside = dom.descendants(card).skip(1).take(MAX_CARD_NODES);
            let is_only = inside.filter(|&id| is_heading(dom, id)).count() == 1;
            return is_only.then_some(link);
        }
    }
    None
}

/// Returns an element, or its first child, if it is a link to another page without text and images.
fn empty_link(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let link =
        if dom.is(id, Tag::A) { id } else { dom.first_child(id).filter(|&child| dom.is(child, Tag::A))? };
    let is_blank = |inner: NodeId| !dom.is(inner, Tag::Img) && dom.text(inner).trim().is_empty();
    let href = dom.attribute(link, "href")?.trim_start();
    let leads_away = !href.is_empty() && !href.starts_with('#');
    (leads_away && dom.descendants(link).take(8).all(is_blank)).then_some(link)
}

/// Returns whether an empty link covers its card: its label or its class says so, or it is next to the title and leads to
/// the same site without an icon.
fn covers(context: OutputContext<'_>, link: NodeId, heading: NodeId) -> bool {
    let OutputContext { dom, view, base, .. } = context;
    let class = dom.attribute(link, "class").unwrap_or_default().to_ascii_lowercase();
    if COVER_CLASSES.iter().any(|part| class.contains(part)) {
        return true;
    }
    match dom.first_attribute(link, &["aria-label", "title"]) {
        Some(label) => {
            let title = view.text_up_to(dom, heading, MAX_TITLE_BYTES).to_lowercase();
            let label = collapsed(label).to_lowercase();
            !title.is_empty() && (label.contains(&title) || title.contains(&label))
        }
        None => {
            let is_empty = dom.children(link).all(|child| dom.tag(child).is_none());
            let url = links::resolve(base, dom.attribute(link, "href").unwrap_or_default());
            let is_of_site = url.is_some_and(|url| url.host() == base.host());
            is_empty && is_of_site && dom.parent(link) == dom.parent(heading)
        }
    }
}

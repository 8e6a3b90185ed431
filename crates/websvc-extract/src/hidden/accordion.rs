//! Finds the bodies of accordions that are closed by an inline `display: none`: a reader opens them with the title before
//! them.

use crate::dom::{Dom, NodeId, Tag};
use crate::text::start_of;

/// Maximum size of the title of a part of an accordion in bytes.
const MAX_TITLE_BYTES: usize = 400;

/// Maximum number of nodes of a title that are read.
const MAX_TITLE_NODES: usize = 60;

/// Parts of class names and IDs of accordions.
const ACCORDION_PARTS: [&str; 9] =
    ["accordion", "collaps", "faq", "toggle", "expand", "spoiler", "question", "answer", "tab-content"];

/// Elements above a closed part that make it a menu.
const MENU_LEVELS: usize = 12;

/// Returns whether a closed element is the body of an accordion: after its title, which is a control or has the name of one.
pub(super) fn is_body(dom: &Dom, id: NodeId) -> bool {
    let Some(title) = previous_element(dom, id) else { return false };
    if !has_title_text(dom, title) || is_in_menu(dom, id) {
        return false;
    }
    (dom.is(id, Tag::Dd) && dom.is(title, Tag::Dt))
        || has_control(dom, title)
        || has_accordion_name(dom, id, title)
}

fn previous_element(dom: &Dom, id: NodeId) -> Option<NodeId> {
    let mut before =
        std::iter::successors(dom.previous_sibling(id), |&node| dom.previous_sibling(node)).take(4);
    before.find(|&node| dom.tag(node).is_some_and(|tag| !matches!(tag, Tag::Script | Tag::Style)))
}

fn has_title_text(dom: &Dom, title: NodeId) -> bool {
    let mut bytes = 0;
    for node in dom.descendants(title).take(MAX_TITLE_NODES) {
        bytes += start_of(dom.text(node).trim(), MAX_TITLE_BYTES + 1).len();
    }
    (1..=MAX_TITLE_BYTES).contains(&bytes)
}

/// Returns whether a title is a button or acts as one.
fn has_control(dom: &Dom, title: NodeId) -> bool {
    dom.descendants(title).take(MAX_TITLE_NODES).any(|node| {
        dom.is(node, Tag::Button)
            || dom.attribute(node, "aria-expanded").is_some()
            || dom.attribute(node, "onclick").is_some()
            || dom.attribute(node, "role") == Some("button")
    })
}

fn has_accordion_name(dom: &Dom, id: NodeId, title: NodeId) -> bool {
    let around = dom.ancestors(id).take(2);
    [id, title].into_iter().chain(around).any(|node| {
        let names = ["class", "id"].iter().filter_map(|name| dom.attribute(node, name));
        names.into_iter().any(|names| {
            let names = start_of(names, 400).to_ascii_lowercase();
            ACCORDION_PARTS.iter().any(|part| names.contains(part))
        })
    })
}

fn is_in_menu(dom: &Dom, id: NodeId) -> bool {
    std::iter::once(id).chain(dom.ancestors(id).take(MENU_LEVELS)).any(|above| {
        let class = start_of(dom.attribute(above, "class").unwrap_or_default(), 400);
        matches!(dom.tag(above), Some(Tag::Nav | Tag::Header | Tag::Footer | Tag::Menu | Tag::Form))
            || matches!(
                dom.attribute(above, "role"),
                Some("navigation" | "menu" | "menubar" | "search" | "dialog")
            )
            || class.split(|c: char| !c.is_ascii_alphabetic()).any(|word| {
                matches!(
                    word,
                    "menu" | "nav" | "navbar" | "navigation" | "submenu" | "dropdown" | "modal" | "popup"
                )
            })
    })
}

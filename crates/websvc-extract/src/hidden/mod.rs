//! Finds content that browsers do not show: hidden by a tag, an attribute, an inline style, or a rule in a `<style>` of
//! the page.
//!
//! Injected instructions are texts that no reader sees (security.md, S21). Content that a reader can open, such as a
//! collapsed answer, counts as visible. So does most of a page that waits for a script.

mod accordion;
mod declarations;
pub(crate) mod sheet;

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use declarations::StyleDeclarations;
use html5ever::local_name;
use sheet::Sheet;
use std::collections::HashSet;

/// Parts of class names and IDs of elements that open or move into view.
const OPENING_PARTS: [&str; 20] = [
    "accordion",
    "collaps",
    "faq",
    "toggle",
    "panel",
    "dropdown",
    "expand",
    "spoiler",
    "fold",
    "slide",
    "carousel",
    "swiper",
    "fade",
    "anim",
    "aos",
    "reveal",
    "wow",
    "motion",
    "scroll",
    "lazy",
];

/// Whole words of such names.
const OPENING_WORDS: [&str; 3] = ["tab", "tabs", "more"];

/// Visibility of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    /// The element itself is shown but not its content, as for a video with a link.
    Empty,
    /// Hidden by the page's styles, but a script may show it.
    Uncertain,
    Hidden,
}

/// The visibility rules of a page.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    dom: &'a Dom,
    /// IDs of elements that other elements of the page open and close.
    controlled: HashSet<&'a str>,
    sheet: Sheet<'a>,
}

impl<'a> Rules<'a> {
    pub(crate) fn from_dom(dom: &'a Dom) -> Rules<'a> {
        Rules { dom, controlled: controlled_ids(dom), sheet: Sheet::read(dom.styles()) }
    }

    /// Returns the visibility of a node by itself, without its ancestors.
    pub(crate) fn visibility(&self, id: NodeId) -> Visibility {
        let dom = self.dom;
        let NodeKind::Element(tag) = dom.kind(id) else {
            return if dom.kind(id) == NodeKind::Nothing { Visibility::Hidden } else { Visibility::Shown };
        };
        if tag == Tag::Script && dom.attribute(id, "type").is_some_and(|kind| kind.starts_with("math/tex")) {
            return Visibility::Shown;
        }
        if tag.is_invisible() {
            return if crate::embed::address(dom, id).is_some() {
                Visibility::Empty
            } else {
                Visibility::Hidden
            };
        }
        if tag == Tag::Dialog && dom.attribute(id, "open").is_none() {
            return Visibility::Hidden;
        }
        let attributes = HidingAttributes::from_element(dom, id, &self.controlled);
        // Authors put aria-hidden on whole pages behind dialogs. Only an empty element or an icon is safe to drop.
        if attributes.is_edit_link
            || (tag == Tag::Button && is_copy_button(dom, id))
            || (attributes.class.starts_with("MathJax") && is_rendered_formula(dom, id, attributes.class))
            || (attributes.aria_hidden && is_icon(dom, id, tag))
        {
            return Visibility::Hidden;
        }
        if attributes.is_openable || matches!(tag, Tag::Html | Tag::Body | Tag::Math) {
            return Visibility::Shown;
        }
        let inline_style = attributes.style.map(StyleDeclarations::read).unwrap_or_default();
        if attributes.hidden
            || inline_style.display_none == Some(true)
            || inline_style.visibility_hidden == Some(true)
        {
            let is_closed = inline_style.visibility_hidden != Some(true) && accordion::is_body(dom, id);
            return if is_closed { Visibility::Shown } else { Visibility::Hidden };
        }
        let mut style = inline_style;
        if !self.sheet.is_empty() {
            style = inline_style.overriding(self.sheet.style(dom, id, attributes.class, attributes.id));
        }
        if self.is_unseen(id, style) && !self.may_open(id) {
            Visibility::Uncertain
        } else {
            Visibility::Shown
        }
    }

    fn is_unseen(&self, id: NodeId, style: StyleDeclarations) -> bool {
        let hidden = [style.display_none, style.visibility_hidden, style.unseen].contains(&Some(true))
            || style.collapsed;
        (hidden && !has_formula(self.dom, id)) || (style.zero_size && has_own_text(self.dom, id))
    }

    /// Returns whether an element, or one closely above it, has the name of something that opens or moves.
    fn may_open(&self, id: NodeId) -> bool {
        let near = std::iter::once(id).chain(self.dom.ancestors(id)).take(3);
        near.into_iter().flat_map(|id| self.dom.attributes(id)).any(|(name, value)| match name {
            "class" | "id" => {
                let value = value.to_ascii_lowercase();
                let mut words = value.split(|c: char| !c.is_alphanumeric());
                OPENING_PARTS.iter().any(|part| value.contains(part))
                    || words.any(|word| OPENING_WORDS.contains(&word))
            }
            name => name == "data-w-id" || name.starts_with("data-aos"),
        })
    }
}

/// Attributes of an element that can hide or show it.
#[derive(Debug, Default)]
struct HidingAttributes<'a> {
    class: &'a str,
    id: &'a str,
    style: Option<&'a str>,
    hidden: bool,
    aria_hidden: bool,
    is_openable: bool,
    is_edit_link: bool,
}

impl<'a> HidingAttributes<'a> {
    fn from_element(dom: &'a Dom, id: NodeId, controlled: &HashSet<&str>) -> HidingAttributes<'a> {
        let mut attributes = HidingAttributes::default();
        for (name, value) in dom.named_attributes(id) {
            match *name {
                local_name!("class") => {
                    attributes.class = value;
                    attributes.is_edit_link = is_edit_link(value);
                }
                // React streams parts of a page as hidden siblings that a script moves to their places.
                local_name!("id") => {
                    attributes.id = value;
                    attributes.is_openable |= controlled.contains(value) || value.starts_with("S:");
                }
                local_name!("style") => attributes.style = Some(value),
                // `until-found` is shown when the reader searches in the page: it is collapsed, not hidden.
                local_name!("hidden") => attributes.hidden |= !value.eq_ignore_ascii_case("until-found"),
                local_name!("role") => attributes.is_openable |= value == "tabpanel",
                local_name!("aria-hidden") => attributes.aria_hidden = value == "true",
                _ => {}
            }
        }
        attributes
    }
}

/// Returns whether a class is that of the section edit links of MediaWiki.
fn is_edit_link(class: &str) -> bool {
    class.starts_with("mw-editsection")
}

/// Collects the IDs of elements that other elements of the page open and close.
fn controlled_ids(dom: &Dom) -> HashSet<&str> {
    let mut ids = HashSet::new();
    for id in dom.descendants(NodeId::ROOT).filter(|&id| dom.tag(id).is_some()) {
        for (name, value) in dom.named_attributes(id) {
            if *name == local_name!("href") {
                ids.extend(value.strip_prefix('#'));
            } else if *name != local_name!("class") {
                match &**name {
                    "aria-controls" => ids.extend(value.split_ascii_whitespace()),
                    "data-target" | "data-bs-target" => ids.extend(value.strip_prefix('#')),
                    _ => {}
                }
            }
        }
    }
    ids
}

fn is_icon(dom: &Dom, id: NodeId, tag: Tag) -> bool {
    if dom.has_class(id, |class| class == "katex-html") {
        // The rendering of KaTeX, if the formula itself is next to it.
        return dom.previous_sibling(id).is_some();
    }
    let mut length = 0;
    for (count, child) in dom.descendants(id).enumerate() {
        length += dom.text(child).trim().chars().take(3).count();
        if count > 8 || length > 2 || dom.is(child, Tag::Img) {
            return false;
        }
    }
    matches!(tag, Tag::I | Tag::Span | Tag::A | Tag::Button)
}

/// Returns whether a button copies code next to it.
fn is_copy_button(dom: &Dom, id: NodeId) -> bool {
    let text: String = dom.descendants(id).take(8).map(|inner| dom.text(inner)).collect();
    let text = text.trim().trim_end_matches('!').to_ascii_lowercase();
    matches!(text.as_str(), "copy" | "copied" | "copy code" | "copy to clipboard" | "copy snippet")
}

/// Returns whether an element is MathJax's rendering of a formula whose source is in a script after it.
fn is_rendered_formula(dom: &Dom, id: NodeId, class: &str) -> bool {
    let mut next = dom.next_sibling(id);
    for _ in 0..3 {
        let Some(sibling) = next else { break };
        if dom.is(sibling, Tag::Script) {
            return dom.attribute(sibling, "type").is_some_and(|kind| kind.starts_with("math/tex"));
        }
        next = dom.next_sibling(sibling);
    }
    class.starts_with("MathJax_Preview")
}

/// Returns whether an element has MathML. Formulas for screen readers are hidden visually, but they are the better
/// source.
fn has_formula(dom: &Dom, id: NodeId) -> bool {
    dom.descendants(id).take(4).any(|inner| dom.is(inner, Tag::Math))
}

/// Returns whether text is directly in an element, or in descendants without styles of their own.
fn has_own_text(dom: &Dom, id: NodeId) -> bool {
    let has_style =
        |inner: NodeId| ["class", "style", "id"].iter().any(|name| dom.attribute(inner, name).is_some());
    dom.children(id).any(|child| !dom.text(child).trim().is_empty())
        || !dom.descendants(id).skip(1).any(|inner| dom.tag(inner).is_some() && has_style(inner))
}

//! Content that browsers do not show: hidden by tag, attribute, inline style, or a rule in a `<style>` of the
//! page.
//!
//! Text that no reader sees is what injected instructions are made of (security.md, S21). What a reader can open, such
//! as a folded answer, counts as shown, and so does the bulk of a page that waits for a script.

mod declarations;
mod sheet;

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use declarations::StyleDeclarations;
use html5ever::local_name;
use sheet::Sheet;
use std::collections::HashSet;

/// Parts of the names of what opens and of what moves into view.
const OPENS: [&str; 20] = [
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

/// Words in such names.
const OPENING_WORDS: [&str; 3] = ["tab", "tabs", "more"];

/// Visibility of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    /// Shown, but not what is inside of it: a video that is linked to.
    Empty,
    /// Hidden, as far as the page's styles tell: a script may show it all the same.
    Doubtful,
    Hidden,
}

/// The rules of one page about what shows.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    dom: &'a Dom,
    /// The ids of elements that something on the page opens and closes.
    controlled: HashSet<&'a str>,
    sheet: Sheet<'a>,
}

impl<'a> Rules<'a> {
    pub(crate) fn of(dom: &'a Dom) -> Rules<'a> {
        Rules { dom, controlled: controlled_ids(dom), sheet: Sheet::read(dom.styles()) }
    }

    /// Tells whether a node shows, what is around it aside.
    pub(crate) fn sight(&self, id: NodeId) -> Visibility {
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
        let marks = HidingAttributes::of(dom, id, &self.controlled);
        // Authors put aria-hidden on whole pages behind dialogs; only an empty element or an icon is safe to drop.
        if marks.is_furniture
            || (tag == Tag::Button && is_copy_button(dom, id))
            || (marks.class.starts_with("MathJax") && is_drawn_formula(dom, id, marks.class))
            || (marks.aria_hidden && is_icon(dom, id, tag))
        {
            return Visibility::Hidden;
        }
        if marks.reachable || matches!(tag, Tag::Html | Tag::Body | Tag::Math) {
            return Visibility::Shown;
        }
        let own = marks.style.map(StyleDeclarations::read).unwrap_or_default();
        if marks.hidden || own.undisplayed == Some(true) || own.invisible == Some(true) {
            return Visibility::Hidden;
        }
        let mut look = own;
        if !self.sheet.is_empty() {
            look = own.over(self.sheet.look(dom, id, marks.class, marks.id));
        }
        if self.is_unseen(id, look) && !self.may_open(id) { Visibility::Doubtful } else { Visibility::Shown }
    }

    fn is_unseen(&self, id: NodeId, look: StyleDeclarations) -> bool {
        let hidden = [look.undisplayed, look.invisible, look.unseen].contains(&Some(true)) || look.folded;
        (hidden && !holds_formula(self.dom, id)) || (look.tiny && has_letters_of_its_own(self.dom, id))
    }

    /// Tells whether an element, or one right above it, is named as what opens or moves.
    fn may_open(&self, id: NodeId) -> bool {
        let near = std::iter::once(id).chain(self.dom.ancestors(id)).take(3);
        near.into_iter().flat_map(|id| self.dom.attributes(id)).any(|(name, value)| match name {
            "class" | "id" => {
                let value = value.to_ascii_lowercase();
                let mut words = value.split(|c: char| !c.is_alphanumeric());
                OPENS.iter().any(|part| value.contains(part))
                    || words.any(|word| OPENING_WORDS.contains(&word))
            }
            name => name == "data-w-id" || name.starts_with("data-aos"),
        })
    }
}

/// Attributes of an element that can hide it.
#[derive(Debug, Default)]
struct HidingAttributes<'a> {
    class: &'a str,
    id: &'a str,
    style: Option<&'a str>,
    hidden: bool,
    aria_hidden: bool,
    reachable: bool,
    is_furniture: bool,
}

impl<'a> HidingAttributes<'a> {
    fn of(dom: &'a Dom, id: NodeId, controlled: &HashSet<&str>) -> HidingAttributes<'a> {
        let mut marks = HidingAttributes::default();
        for (name, value) in dom.named_attributes(id) {
            match *name {
                local_name!("class") => {
                    marks.class = value;
                    marks.is_furniture = is_furniture(value);
                }
                // React streams parts of a page as hidden siblings that a script moves into place.
                local_name!("id") => {
                    marks.id = value;
                    marks.reachable |= controlled.contains(value) || value.starts_with("S:");
                }
                local_name!("style") => marks.style = Some(value),
                // `until-found` is shown by searching in the page: collapsed, not hidden.
                local_name!("hidden") => marks.hidden |= !value.eq_ignore_ascii_case("until-found"),
                local_name!("role") => marks.reachable |= value == "tabpanel",
                local_name!("aria-hidden") => marks.aria_hidden = value == "true",
                _ => {}
            }
        }
        marks
    }
}

/// Tells whether a class is that of links to edit a section (MediaWiki).
fn is_furniture(class: &str) -> bool {
    class.starts_with("mw-editsection")
}

/// Collects the ids of elements that something on the page opens and closes.
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
    let class = dom.attribute(id, "class").unwrap_or_default();
    if class.split_ascii_whitespace().any(|c| c == "katex-html") {
        // What KaTeX has drawn, if the formula itself stands beside it.
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

/// Tells whether a button copies code that stands beside it.
fn is_copy_button(dom: &Dom, id: NodeId) -> bool {
    let text: String = dom.descendants(id).take(8).map(|inner| dom.text(inner)).collect();
    let text = text.trim().trim_end_matches('!').to_ascii_lowercase();
    matches!(text.as_str(), "copy" | "copied" | "copy code" | "copy to clipboard" | "copy snippet")
}

/// Tells whether an element is what MathJax has drawn of a formula whose source stands in a script behind it.
fn is_drawn_formula(dom: &Dom, id: NodeId, class: &str) -> bool {
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

/// Formulas for readers who hear a page are hidden from those who see it; they are the better ones.
fn holds_formula(dom: &Dom, id: NodeId) -> bool {
    dom.descendants(id).take(4).any(|inner| dom.is(inner, Tag::Math))
}

/// Tells whether text without a size stands directly in an element, or in elements in it that say nothing of theirs.
fn has_letters_of_its_own(dom: &Dom, id: NodeId) -> bool {
    let styled =
        |inner: NodeId| ["class", "style", "id"].iter().any(|name| dom.attribute(inner, name).is_some());
    dom.children(id).any(|child| !dom.text(child).trim().is_empty())
        || !dom.descendants(id).skip(1).any(|inner| dom.tag(inner).is_some() && styled(inner))
}

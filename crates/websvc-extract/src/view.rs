//! A view: the part of the DOM that is asked for, as roots and the nodes left out below them.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use std::collections::HashSet;

/// A page with fewer letters than this shows nothing without scripts.
const FEW_LETTERS: usize = 400;

/// A page that shows fewer letters than this may wait for a script to show what it hides.
const WAITING_LETTERS: usize = 2_500;

/// How many letters a hidden part must hold to be what such a page waits with.
const REVEALED_LETTERS: usize = 3_000;

/// What becomes of the content of `<noscript>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noscript {
    Hidden,
    Shown,
}

/// The selected part of a page. Writers walk it and never look at what is left out.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) roots: Vec<NodeId>,
    left_out: Vec<bool>,
}

impl View {
    /// Returns everything of the page that is visible.
    ///
    /// A page that shows next to nothing without scripts is taken by what it offers in `<noscript>`.
    pub(crate) fn visible(dom: &Dom) -> View {
        let view = View::shown(dom, Noscript::Hidden);
        let letters = view.letters(dom, FEW_LETTERS);
        if letters < FEW_LETTERS && dom.descendants(NodeId::ROOT).any(|id| dom.is(id, Tag::Noscript)) {
            let other = View::shown(dom, Noscript::Shown);
            // A request to turn scripts on is no content.
            if other.letters(dom, FEW_LETTERS) > 2 * letters + 80 {
                return other;
            }
        }
        view.revealed(dom)
    }

    /// Shows what a page hides until a script runs: one part that holds several times more than all that is shown.
    ///
    /// Short hidden texts stay hidden whatever the page shows: they are what injected instructions look like.
    fn revealed(mut self, dom: &Dom) -> View {
        let shown = self.letters(dom, WAITING_LETTERS);
        if shown >= WAITING_LETTERS {
            return self;
        }
        let hidden = |&id: &NodeId| {
            self.is_left_out(id) && matches!(dom.kind(id), NodeKind::Element(tag) if !tag.is_invisible())
        };
        let wanted = REVEALED_LETTERS.max(3 * shown);
        let letters = letters_below(dom);
        let part = dom.descendants(NodeId::ROOT).filter(hidden).find(|id| letters[id.index()] >= wanted);
        if let Some(part) = part {
            self.left_out[part.index()] = false;
            let controlled = controlled_ids(dom);
            let mut walk = dom.descendants(part);
            walk.next();
            while let Some(id) = walk.next() {
                if is_hidden(dom, id, &controlled) {
                    self.leave_out(id);
                    walk.skip_children(id);
                }
            }
        }
        self
    }

    /// Counts the letters and digits in the view, up to about `limit`.
    pub(crate) fn letters(&self, dom: &Dom, limit: usize) -> usize {
        let mut seen = 0;
        let mut nodes = self.nodes(dom);
        while seen < limit
            && let Some(id) = nodes.next()
        {
            seen += dom.text(id).chars().filter(|c| c.is_alphanumeric()).count();
        }
        seen
    }

    fn shown(dom: &Dom, noscript: Noscript) -> View {
        let mut view = View { roots: vec![NodeId::ROOT], left_out: vec![false; dom.len()] };
        let controlled = controlled_ids(dom);
        let mut walk = dom.descendants(NodeId::ROOT);
        while let Some(id) = walk.next() {
            let opened = noscript == Noscript::Shown && dom.is(id, Tag::Noscript);
            if !opened && is_hidden(dom, id, &controlled) {
                view.leave_out(id);
                walk.skip_children(id);
            }
        }
        view
    }

    /// Leaves out a node and what is below it.
    pub(crate) fn leave_out(&mut self, id: NodeId) {
        self.left_out[id.index()] = true;
    }

    /// Tells whether the node itself is left out; nodes below one that is are not marked.
    pub(crate) fn is_left_out(&self, id: NodeId) -> bool {
        self.left_out[id.index()]
    }

    /// Iterates over the children of a node that are in the view.
    pub(crate) fn children<'a>(&'a self, dom: &'a Dom, id: NodeId) -> impl Iterator<Item = NodeId> + 'a {
        dom.children(id).filter(|&child| !self.is_left_out(child))
    }

    /// Walks the view in document order.
    pub(crate) fn nodes<'a>(&'a self, dom: &'a Dom) -> impl Iterator<Item = NodeId> + 'a {
        self.roots.iter().flat_map(move |&root| self.below(dom, root))
    }

    /// Walks what the view holds of one subtree, `top` first.
    pub(crate) fn below<'a>(&'a self, dom: &'a Dom, top: NodeId) -> impl Iterator<Item = NodeId> + 'a {
        let mut walk = dom.descendants(top);
        std::iter::from_fn(move || {
            loop {
                let id = walk.next()?;
                if !self.is_left_out(id) {
                    return Some(id);
                }
                walk.skip_children(id);
            }
        })
    }

    /// Returns the text of a subtree, white space collapsed.
    pub(crate) fn text(&self, dom: &Dom, top: NodeId) -> String {
        self.text_up_to(dom, top, usize::MAX)
    }

    /// Returns the text of a part of the view, about `max` bytes of it.
    pub(crate) fn text_up_to(&self, dom: &Dom, top: NodeId, max: usize) -> String {
        let mut out = String::new();
        for id in self.below(dom, top) {
            if out.len() >= max {
                break;
            }
            match dom.kind(id) {
                NodeKind::Text => {
                    crate::text::push_collapsed(&mut out, crate::text::start_of(dom.text(id), max));
                }
                NodeKind::Element(tag) if (tag.is_block() || tag == Tag::Br) && !out.ends_with(' ') => {
                    crate::text::push_collapsed(&mut out, " ");
                }
                _ => {}
            }
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// Collects the ids of elements that something on the page opens and closes.
fn controlled_ids(dom: &Dom) -> HashSet<&str> {
    let mut ids = HashSet::new();
    for id in dom.descendants(NodeId::ROOT).filter(|&id| dom.tag(id).is_some()) {
        for (name, value) in dom.attributes(id) {
            match name {
                "aria-controls" => ids.extend(value.split_ascii_whitespace()),
                "href" | "data-target" | "data-bs-target" => ids.extend(value.strip_prefix('#')),
                _ => {}
            }
        }
    }
    ids
}

/// Tells whether browsers do not show the node, by its tag, its attributes or its inline style. What a reader can open,
/// such as a folded answer, counts as shown.
fn is_hidden(dom: &Dom, id: NodeId, controlled: &HashSet<&str>) -> bool {
    let NodeKind::Element(tag) = dom.kind(id) else { return dom.kind(id) == NodeKind::Nothing };
    if tag == Tag::Script && dom.attribute(id, "type").is_some_and(|kind| kind.starts_with("math/tex")) {
        return false;
    }
    if tag.is_invisible() {
        return true;
    }
    if tag == Tag::Dialog && dom.attribute(id, "open").is_none() {
        return true;
    }
    let mut hidden = false;
    let mut aria_hidden = false;
    let mut reachable = false;
    for (name, value) in dom.attributes(id) {
        match name {
            // `until-found` is shown by searching in the page: collapsed, not hidden.
            "hidden" => hidden |= !value.eq_ignore_ascii_case("until-found"),
            "style" => hidden |= hides(value),
            // React streams parts of a page as hidden siblings that a script moves into place.
            "id" => reachable = controlled.contains(value) || value.starts_with("S:"),
            "role" => reachable |= value == "tabpanel",
            "aria-hidden" => aria_hidden = value == "true",
            _ => {}
        }
    }
    // Authors put aria-hidden on whole pages behind dialogs; only an empty element or an icon is safe to drop.
    (hidden && !reachable) || (aria_hidden && is_icon(dom, id, tag))
}

fn is_icon(dom: &Dom, id: NodeId, tag: Tag) -> bool {
    if dom
        .attribute(id, "class")
        .is_some_and(|class| class.split_ascii_whitespace().any(|c| c == "katex-html"))
    {
        return true;
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

/// Tells whether an inline style makes its element invisible.
fn hides(style: &str) -> bool {
    style.split(';').any(|declaration| {
        let Some((property, value)) = declaration.split_once(':') else { return false };
        let value = value.trim().trim_end_matches("!important").trim_end();
        match property.trim() {
            p if p.eq_ignore_ascii_case("display") => value.eq_ignore_ascii_case("none"),
            p if p.eq_ignore_ascii_case("visibility") => value.eq_ignore_ascii_case("hidden"),
            _ => false,
        }
    })
}

/// Returns for each node how many letters below it would show if it did. One pass: hidden parts may stand in hidden parts
/// to any depth.
fn letters_below(dom: &Dom) -> Vec<usize> {
    let nodes: Vec<NodeId> = dom.descendants(NodeId::ROOT).collect();
    let mut letters = vec![0; dom.len()];
    for &id in nodes.iter().rev() {
        letters[id.index()] += dom.text(id).chars().filter(|c| c.is_alphanumeric()).count();
        let is_invisible = matches!(dom.tag(id), Some(tag) if tag.is_invisible());
        if let Some(parent) = dom.parent(id).filter(|_| !is_invisible) {
            letters[parent.index()] += letters[id.index()];
        }
    }
    letters
}

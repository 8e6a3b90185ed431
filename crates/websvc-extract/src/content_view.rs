//! A view of the DOM: the selected part of a page, as roots and the nodes that are excluded below them.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::hidden::{Rules, Visibility};
use crate::text::{is_missing, letters_of};

/// A page with fewer letters than this shows nothing without scripts.
const MIN_LETTERS: usize = 400;

/// A page that shows fewer letters than this may wait for a script to show hidden parts.
const COMPLETE_LETTERS: usize = 2_500;

/// Minimum number of letters of a hidden part that a script may show later.
const REVEALED_LETTERS: usize = 3_000;

/// A styled-away part up to this size is excluded, whatever its share of the page.
const SMALL_PART_BYTES: usize = 1_000;

/// A `<noscript>` with less text than this is a request to enable scripts, or an image.
const MIN_NOSCRIPT_BYTES: usize = 600;

/// Maximum number of `<noscript>` elements that are compared with the page.
const MAX_NOSCRIPTS: usize = 20;

/// Maximum size of the text of a page that is compared with them.
const MAX_COMPARED_BYTES: usize = 1 << 20;

/// Handling of `<noscript>` content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noscript {
    Hidden,
    Shown,
}

/// The selected part of a page. Writers never visit excluded nodes.
#[derive(Debug, Clone)]
pub(crate) struct ContentView {
    pub(crate) roots: Vec<NodeId>,
    excluded: Vec<bool>,
}

impl ContentView {
    /// Returns the visible part of the page.
    ///
    /// A page that shows almost nothing without scripts may have its content in `<noscript>`.
    pub(crate) fn visible(dom: &Dom) -> ContentView {
        let mut view = ContentView::without_hidden(dom, Noscript::Hidden);
        let noscripts: Vec<NodeId> = dom.elements(Tag::Noscript).collect();
        if noscripts.is_empty() {
            return view.reveal_hidden_part(dom);
        }
        let letters = view.letters(dom, MIN_LETTERS);
        if letters < MIN_LETTERS {
            let with_noscript = ContentView::without_hidden(dom, Noscript::Shown);
            // A request to enable JavaScript is not content.
            if with_noscript.letters(dom, MIN_LETTERS) > 2 * letters + 80 {
                return with_noscript;
            }
        }
        view.add_noscripts(dom, noscripts);
        view.reveal_hidden_part(dom)
    }

    /// Shows the `<noscript>` elements that have a text which the rest of the page does not show.
    fn add_noscripts(&mut self, dom: &Dom, noscripts: Vec<NodeId>) {
        let is_long = |&id: &NodeId| {
            let texts = dom.descendants(id).map(|inner| dom.text(inner).trim().len());
            texts.sum::<usize>() >= MIN_NOSCRIPT_BYTES
        };
        // They cannot be nested.
        let long: Vec<NodeId> = noscripts.into_iter().filter(is_long).take(MAX_NOSCRIPTS).collect();
        if long.is_empty() {
            return;
        }
        let visible = letters_of(&self.text_up_to(dom, NodeId::ROOT, MAX_COMPARED_BYTES));
        for id in long {
            let mut own = ContentView { roots: vec![id], excluded: self.excluded.clone() };
            own.excluded[id.index()] = false;
            own.hide(dom, id, Noscript::Shown);
            let letters = letters_of(&own.text(dom, id));
            if letters.len() >= MIN_NOSCRIPT_BYTES / 2 && is_missing(&letters, &visible) {
                self.excluded = own.excluded;
            }
        }
    }

    /// Shows a part that a page hides until a script runs: one part with several times more letters than the visible
    /// page.
    ///
    /// Short hidden texts stay hidden in any case: injected instructions look like that.
    fn reveal_hidden_part(mut self, dom: &Dom) -> ContentView {
        let visible = self.letters(dom, COMPLETE_LETTERS);
        if visible >= COMPLETE_LETTERS {
            return self;
        }
        let hidden = |&id: &NodeId| {
            self.is_excluded(id) && matches!(dom.kind(id), NodeKind::Element(tag) if !tag.is_invisible())
        };
        let required = REVEALED_LETTERS.max(3 * visible);
        let letters = letters_below(dom);
        let part = dom.descendants(NodeId::ROOT).filter(hidden).find(|id| letters[id.index()] >= required);
        if let Some(part) = part {
            self.excluded[part.index()] = false;
            self.hide(dom, part, Noscript::Hidden);
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

    fn without_hidden(dom: &Dom, noscript: Noscript) -> ContentView {
        let mut view = ContentView { roots: vec![NodeId::ROOT], excluded: vec![false; dom.len()] };
        view.hide(dom, NodeId::ROOT, noscript);
        view
    }

    /// Excludes the invisible nodes below `top`.
    fn hide(&mut self, dom: &Dom, top: NodeId, noscript: Noscript) {
        let rules = Rules::from_dom(dom);
        let mut uncertain = Vec::new();
        let mut walk = dom.descendants(top);
        while let Some(id) = walk.next() {
            if id == top || noscript == Noscript::Shown && dom.is(id, Tag::Noscript) {
                continue;
            }
            match rules.visibility(id) {
                Visibility::Shown => {}
                Visibility::Uncertain => uncertain.push(id),
                Visibility::Hidden => {
                    self.exclude(id);
                    walk.skip_children(id);
                }
                Visibility::Empty => {
                    dom.children(id).for_each(|child| self.exclude(child));
                    walk.skip_children(id);
                }
            }
        }
        self.hide_unless_large(dom, top, &uncertain);
    }

    /// Excludes nodes that styles hide, unless they are a large part of the page: then a script will show them.
    fn hide_unless_large(&mut self, dom: &Dom, top: NodeId, uncertain: &[NodeId]) {
        if uncertain.is_empty() {
            return;
        }
        let bytes = |view: &ContentView, id: NodeId| -> usize {
            view.below(dom, id).map(|inner| dom.text(inner).trim().len()).sum()
        };
        let mut outermost: Vec<(NodeId, usize)> = Vec::new();
        let mut inside = top;
        for &id in uncertain {
            // The nodes are in document order, so descendants follow their ancestor.
            if inside == top || !dom.ancestors(id).any(|above| above == inside) {
                outermost.push((id, bytes(self, id)));
                inside = id;
            }
        }
        let all = bytes(self, top);
        let sum: usize = outermost.iter().map(|&(_, bytes)| bytes).sum();
        if sum > SMALL_PART_BYTES && sum * 3 > all {
            return;
        }
        for (id, bytes) in outermost {
            // A node without text is an image that fades in.
            if bytes > 0 && (bytes <= SMALL_PART_BYTES || bytes * 5 <= all) {
                self.exclude(id);
            }
        }
    }

    /// Excludes a node and its descendants.
    pub(crate) fn exclude(&mut self, id: NodeId) {
        self.excluded[id.index()] = true;
    }

    /// Restores the excluded nodes of a subtree that another view includes.
    pub(crate) fn restore(&mut self, dom: &Dom, top: NodeId, other: &ContentView) {
        for id in dom.descendants(top) {
            self.excluded[id.index()] = other.is_excluded(id);
        }
    }

    /// Returns whether the node itself is excluded. Descendants of an excluded node are not marked.
    pub(crate) fn is_excluded(&self, id: NodeId) -> bool {
        self.excluded[id.index()]
    }

    /// Returns whether a node is in the view.
    pub(crate) fn contains(&self, dom: &Dom, id: NodeId) -> bool {
        for id in std::iter::once(id).chain(dom.ancestors(id)) {
            if self.is_excluded(id) || self.roots.contains(&id) {
                return !self.is_excluded(id);
            }
        }
        false
    }

    /// Iterates over the children of a node that are in the view.
    pub(crate) fn children<'a>(&'a self, dom: &'a Dom, id: NodeId) -> impl Iterator<Item = NodeId> + 'a {
        dom.children(id).filter(|&child| !self.is_excluded(child))
    }

    /// Iterates over the view in document order.
    pub(crate) fn nodes<'a>(&'a self, dom: &'a Dom) -> impl Iterator<Item = NodeId> + 'a {
        self.roots.iter().flat_map(move |&root| self.below(dom, root))
    }

    /// Iterates over the part of a subtree that is in the view, `top` first.
    pub(crate) fn below<'a>(&'a self, dom: &'a Dom, top: NodeId) -> impl Iterator<Item = NodeId> + 'a {
        let mut walk = dom.descendants(top);
        std::iter::from_fn(move || {
            loop {
                let id = walk.next()?;
                if !self.is_excluded(id) {
                    return Some(id);
                }
                walk.skip_children(id);
            }
        })
    }

    /// Returns whether a subtree has text that is not white space.
    pub(crate) fn has_text(&self, dom: &Dom, top: NodeId) -> bool {
        self.below(dom, top).any(|id| dom.text(id).chars().any(|c| !crate::text::is_space(c)))
    }

    /// Returns the text of a subtree with collapsed white space.
    pub(crate) fn text(&self, dom: &Dom, top: NodeId) -> String {
        self.text_up_to(dom, top, usize::MAX)
    }

    /// Returns the text of a subtree of the view, up to about `max` bytes.
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

/// Returns for each node the number of letters below it, as if no style hid them. This takes one pass, because hidden
/// parts can be nested to any depth.
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

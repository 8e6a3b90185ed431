//! A view: the part of the DOM that is asked for, as roots and the nodes left out below them.

use crate::dom::{Dom, NodeId, NodeKind, Tag};
use crate::hidden::{Rules, Visibility};

/// A page with fewer letters than this shows nothing without scripts.
const FEW_LETTERS: usize = 400;

/// A page that shows fewer letters than this may wait for a script to show what it hides.
const WAITING_LETTERS: usize = 2_500;

/// How many letters a hidden part must hold to be what such a page waits with.
const REVEALED_LETTERS: usize = 3_000;

/// No bulk of a page has fewer bytes than this: so much is left out whatever its share.
const FEW_BYTES: usize = 1_000;

/// Handling of `<noscript>` content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noscript {
    Hidden,
    Shown,
}

/// The selected part of a page. Writers walk it and never look at what is left out.
#[derive(Debug, Clone)]
pub(crate) struct ContentView {
    pub(crate) roots: Vec<NodeId>,
    left_out: Vec<bool>,
}

impl ContentView {
    /// Returns everything of the page that is visible.
    ///
    /// A page that shows next to nothing without scripts is taken by what it offers in `<noscript>`.
    pub(crate) fn visible(dom: &Dom) -> ContentView {
        let view = ContentView::shown(dom, Noscript::Hidden);
        let letters = view.letters(dom, FEW_LETTERS);
        if letters < FEW_LETTERS && dom.descendants(NodeId::ROOT).any(|id| dom.is(id, Tag::Noscript)) {
            let other = ContentView::shown(dom, Noscript::Shown);
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
    fn revealed(mut self, dom: &Dom) -> ContentView {
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

    fn shown(dom: &Dom, noscript: Noscript) -> ContentView {
        let mut view = ContentView { roots: vec![NodeId::ROOT], left_out: vec![false; dom.len()] };
        view.hide(dom, NodeId::ROOT, noscript);
        view
    }

    /// Leaves out what does not show below `top`.
    fn hide(&mut self, dom: &Dom, top: NodeId, noscript: Noscript) {
        let rules = Rules::of(dom);
        let mut doubtful = Vec::new();
        let mut walk = dom.descendants(top);
        while let Some(id) = walk.next() {
            if id == top || noscript == Noscript::Shown && dom.is(id, Tag::Noscript) {
                continue;
            }
            match rules.sight(id) {
                Visibility::Shown => {}
                Visibility::Doubtful => doubtful.push(id),
                Visibility::Hidden => {
                    self.leave_out(id);
                    walk.skip_children(id);
                }
                Visibility::Empty => {
                    dom.children(id).for_each(|child| self.leave_out(child));
                    walk.skip_children(id);
                }
            }
        }
        self.hide_unless_large(dom, top, &doubtful);
    }

    /// Leaves out what styles hide, unless it is a large part of the page: then scripts will show it.
    fn hide_unless_large(&mut self, dom: &Dom, top: NodeId, doubtful: &[NodeId]) {
        if doubtful.is_empty() {
            return;
        }
        let bytes = |view: &ContentView, id: NodeId| -> usize {
            view.below(dom, id).map(|inner| dom.text(inner).trim().len()).sum()
        };
        let mut outermost: Vec<(NodeId, usize)> = Vec::new();
        let mut inside = top;
        for &id in doubtful {
            // In document order: what is inside of another follows it.
            if inside == top || !dom.ancestors(id).any(|above| above == inside) {
                outermost.push((id, bytes(self, id)));
                inside = id;
            }
        }
        let all = bytes(self, top);
        let sum: usize = outermost.iter().map(|&(_, bytes)| bytes).sum();
        if sum > FEW_BYTES && sum * 3 > all {
            return;
        }
        for (id, bytes) in outermost {
            // An image that fades in has no text.
            if bytes > 0 && (bytes <= FEW_BYTES || bytes * 5 <= all) {
                self.leave_out(id);
            }
        }
    }

    /// Leaves out a node and what is below it.
    pub(crate) fn leave_out(&mut self, id: NodeId) {
        self.left_out[id.index()] = true;
    }

    /// Takes back what is left out in a subtree, as far as another view shows it.
    pub(crate) fn restore(&mut self, dom: &Dom, top: NodeId, other: &ContentView) {
        for id in dom.descendants(top) {
            self.left_out[id.index()] = other.is_left_out(id);
        }
    }

    /// Tells whether the node itself is left out; nodes below one that is are not marked.
    pub(crate) fn is_left_out(&self, id: NodeId) -> bool {
        self.left_out[id.index()]
    }

    /// Tells whether a node is in the view.
    pub(crate) fn shows(&self, dom: &Dom, id: NodeId) -> bool {
        for id in std::iter::once(id).chain(dom.ancestors(id)) {
            if self.is_left_out(id) || self.roots.contains(&id) {
                return !self.is_left_out(id);
            }
        }
        false
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

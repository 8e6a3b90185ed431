//! Matches CSS selectors against the DOM with the `selectors` crate.

use super::{Dom, Namespace, NodeId, NodeKind};
use crate::limits::MAX_SIBLING_STEPS;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::{ElementSelectorFlags, matches_selector_list};
use selectors::{Element, OpaqueElement};
use std::cell::Cell;
use std::fmt;
use websvc_selector::{Css, CssString, Dialect, PseudoClass, PseudoElement, Selector, SelectorError};

/// Parsed selectors. Each entry is one selector list as the caller wrote it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SelectorSet(Vec<Selector>);

impl SelectorSet {
    /// Parses one selector list and adds it.
    pub(crate) fn add(&mut self, selector: &str) -> Result<(), SelectorError> {
        self.0.push(Selector::parse(selector, Dialect::Page)?);
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the elements of `top`'s subtree that match any selector, in document order, and whether the whole
    /// subtree was searched: on a page with very many siblings some selectors cost too much.
    pub(crate) fn matches(&self, dom: &Dom, top: NodeId) -> (Vec<NodeId>, MatchScope) {
        if self.is_empty() {
            return (Vec::new(), MatchScope::All);
        }
        let steps = &Cell::new(MAX_SIBLING_STEPS);
        let mut caches = SelectorCaches::default();
        let quirks = if dom.quirks { QuirksMode::Quirks } else { QuirksMode::NoQuirks };
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut caches,
            quirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        let elements = dom.descendants(top).filter(|&id| matches!(dom.kind(id), NodeKind::Element(_)));
        let matching = elements.take_while(|_| steps.get() > 0).filter(|&id| {
            self.0.iter().any(|selector| {
                matches_selector_list(selector.list(), SelectorElement { dom, id, steps }, &mut context)
            })
        });
        let found = matching.collect();
        (found, if steps.get() > 0 { MatchScope::All } else { MatchScope::Beginning })
    }
}

/// The part of a page in which matches were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchScope {
    All,
    Beginning,
}

/// An element with its tree, as required by `selectors`.
#[derive(Clone, Copy)]
struct SelectorElement<'a> {
    dom: &'a Dom,
    id: NodeId,
    /// Number of remaining steps between siblings.
    steps: &'a Cell<u32>,
}

impl fmt::Debug for SelectorElement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.dom.name(self.id), self.id.0)
    }
}

impl SelectorElement<'_> {
    fn at(self, id: NodeId) -> Self {
        SelectorElement { id, ..self }
    }

    /// Returns the first element of an iterator of siblings.
    fn first_of(self, siblings: impl Iterator<Item = NodeId>) -> Option<Self> {
        for id in siblings {
            self.steps.set(self.steps.get().saturating_sub(1));
            // Even one element may cost too much: `a ~ b ~ c` starts again at each `b`.
            if self.steps.get() == 0 {
                return None;
            }
            if self.is_element(id) {
                return Some(self.at(id));
            }
        }
        None
    }

    fn is_element(&self, id: NodeId) -> bool {
        matches!(self.dom.kind(id), NodeKind::Element(_))
    }

    fn is_html(&self) -> bool {
        self.dom.nodes[self.id.index()].namespace == Namespace::Html
    }
}

impl Element for SelectorElement<'_> {
    type Impl = Css;

    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(&self.dom.nodes[self.id.index()])
    }

    fn parent_element(&self) -> Option<Self> {
        self.dom.parent(self.id).filter(|&id| self.is_element(id)).map(|id| self.at(id))
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        false
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        None
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let previous = |&id: &NodeId| self.dom.previous_sibling(id);
        self.first_of(std::iter::successors(self.dom.previous_sibling(self.id), previous))
    }

    fn next_sibling_element(&self) -> Option<Self> {
        let next = |&id: &NodeId| self.dom.next_sibling(id);
        self.first_of(std::iter::successors(self.dom.next_sibling(self.id), next))
    }

    fn first_element_child(&self) -> Option<Self> {
        self.first_of(self.dom.children(self.id))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.is_html()
    }

    fn has_local_name(&self, name: &CssString) -> bool {
        self.dom.name(self.id) == name.as_ref()
    }

    fn has_namespace(&self, _namespace: &CssString) -> bool {
        true
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.dom.name(self.id) == other.dom.name(other.id) && self.is_html() == other.is_html()
    }

    fn attr_matches(
        &self,
        _namespace: &NamespaceConstraint<&CssString>,
        name: &CssString,
        operation: &AttrSelectorOperation<&CssString>,
    ) -> bool {
        self.dom.attribute(self.id, name.as_ref()).is_some_and(|value| operation.eval_str(value))
    }

    fn match_non_ts_pseudo_class(&self, _class: &PseudoClass, _context: &mut MatchingContext<Css>) -> bool {
        // Pages use the dialect without states.
        false
    }

    fn match_pseudo_element(&self, element: &PseudoElement, _context: &mut MatchingContext<Css>) -> bool {
        match *element {}
    }

    fn apply_selector_flags(&self, _flags: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.dom.name(self.id) == "a" && self.dom.attribute(self.id, "href").is_some()
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &CssString, case: CaseSensitivity) -> bool {
        self.dom
            .attribute(self.id, "id")
            .is_some_and(|value| case.eq(value.as_bytes(), id.as_ref().as_bytes()))
    }

    fn has_class(&self, name: &CssString, case: CaseSensitivity) -> bool {
        let classes = self.dom.attribute(self.id, "class").unwrap_or("");
        classes.split_ascii_whitespace().any(|class| case.eq(class.as_bytes(), name.as_ref().as_bytes()))
    }

    fn has_custom_state(&self, _name: &CssString) -> bool {
        false
    }

    fn imported_part(&self, _name: &CssString) -> Option<CssString> {
        None
    }

    fn is_part(&self, _name: &CssString) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        self.dom.children(self.id).all(|id| !self.is_element(id) && self.dom.text(id).is_empty())
    }

    fn is_root(&self) -> bool {
        self.dom.parent(self.id) == Some(NodeId::ROOT)
    }

    fn add_element_unique_hashes(&self, _filter: &mut BloomFilter) -> bool {
        false
    }
}

//! CSS selectors over the DOM, by the `selectors` crate.

use super::{Dom, Namespace, NodeId, NodeKind};
use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode, SelectorCaches,
};
use selectors::matching::{ElementSelectorFlags, matches_selector_list};
use selectors::parser::{ParseRelative, SelectorList, SelectorParseErrorKind};
use selectors::{Element, OpaqueElement};
use std::fmt;

/// Selectors that were parsed; each entry is one selector list as the caller wrote it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SelectorSet(Vec<SelectorList<Css>>);

impl SelectorSet {
    /// Parses one selector list and adds it; `Err` when it is not one.
    pub(crate) fn add(&mut self, selector: &str) -> Result<(), ()> {
        let mut parser = cssparser::Parser::new(selector);
        let list =
            SelectorList::parse_disallow_pseudo(&Reader, &mut parser, ParseRelative::No).map_err(|_| ())?;
        parser.expect_exhausted().map_err(|_| ())?;
        self.0.push(list);
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the elements of `top`'s subtree that match any selector, in document order.
    pub(crate) fn matches(&self, dom: &Dom, top: NodeId) -> Vec<NodeId> {
        if self.is_empty() {
            return Vec::new();
        }
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
        elements
            .filter(|&id| {
                self.0.iter().any(|list| matches_selector_list(list, Item { dom, id }, &mut context))
            })
            .collect()
    }
}

/// The names of our side of the `selectors` crate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Css;

/// A string inside a selector.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Text(Box<str>);

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.into())
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for Text {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl PrecomputedHash for Text {
    fn precomputed_hash(&self) -> u32 {
        self.0.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

/// The states and pseudo-elements we know: none.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Never {}

impl ToCss for Never {
    fn to_css<W: fmt::Write>(&self, _out: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl selectors::parser::NonTSPseudoClass for Never {
    fn is_active_or_hover(&self) -> bool {
        match *self {}
    }

    fn is_user_action_state(&self) -> bool {
        match *self {}
    }
}

impl selectors::parser::PseudoElement for Never {}

impl selectors::parser::SelectorImpl for Css {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Text;
    type Identifier = Text;
    type LocalName = Text;
    type NamespaceUrl = Text;
    type NamespacePrefix = Text;
    type BorrowedNamespaceUrl = Text;
    type BorrowedLocalName = Text;
    type NonTSPseudoClass = Never;
    type PseudoElement = Never;
}

struct Reader;

impl selectors::parser::Parser<'_> for Reader {
    type Impl = Css;
    type Error = SelectorParseErrorKind;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_nth_child_of(&self) -> bool {
        true
    }
}

/// An element with its tree, as `selectors` wants it.
#[derive(Clone, Copy)]
struct Item<'a> {
    dom: &'a Dom,
    id: NodeId,
}

impl fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.dom.name(self.id), self.id.0)
    }
}

impl Item<'_> {
    fn at(self, id: NodeId) -> Self {
        Item { id, ..self }
    }

    fn is_element(&self, id: NodeId) -> bool {
        matches!(self.dom.kind(id), NodeKind::Element(_))
    }

    fn is_html(&self) -> bool {
        self.dom.nodes[self.id.index()].namespace == Namespace::Html
    }
}

impl Element for Item<'_> {
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
        std::iter::successors(self.dom.previous_sibling(self.id), |&id| self.dom.previous_sibling(id))
            .find(|&id| self.is_element(id))
            .map(|id| self.at(id))
    }

    fn next_sibling_element(&self) -> Option<Self> {
        std::iter::successors(self.dom.next_sibling(self.id), |&id| self.dom.next_sibling(id))
            .find(|&id| self.is_element(id))
            .map(|id| self.at(id))
    }

    fn first_element_child(&self) -> Option<Self> {
        self.dom.children(self.id).find(|&id| self.is_element(id)).map(|id| self.at(id))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.is_html()
    }

    fn has_local_name(&self, name: &Text) -> bool {
        self.dom.name(self.id) == &*name.0
    }

    fn has_namespace(&self, _namespace: &Text) -> bool {
        true
    }

    fn is_same_type(&self, other: &Self) -> bool {
        self.dom.name(self.id) == other.dom.name(other.id) && self.is_html() == other.is_html()
    }

    fn attr_matches(
        &self,
        _namespace: &NamespaceConstraint<&Text>,
        name: &Text,
        operation: &AttrSelectorOperation<&Text>,
    ) -> bool {
        self.dom.attribute(self.id, &name.0).is_some_and(|value| operation.eval_str(value))
    }

    fn match_non_ts_pseudo_class(&self, class: &Never, _context: &mut MatchingContext<Css>) -> bool {
        match *class {}
    }

    fn match_pseudo_element(&self, element: &Never, _context: &mut MatchingContext<Css>) -> bool {
        match *element {}
    }

    fn apply_selector_flags(&self, _flags: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.dom.name(self.id) == "a" && self.dom.attribute(self.id, "href").is_some()
    }

    fn is_html_slot_element(&self) -> bool {
        false
    }

    fn has_id(&self, id: &Text, case: CaseSensitivity) -> bool {
        self.dom.attribute(self.id, "id").is_some_and(|value| case.eq(value.as_bytes(), id.0.as_bytes()))
    }

    fn has_class(&self, name: &Text, case: CaseSensitivity) -> bool {
        let classes = self.dom.attribute(self.id, "class").unwrap_or("");
        classes.split_ascii_whitespace().any(|class| case.eq(class.as_bytes(), name.0.as_bytes()))
    }

    fn has_custom_state(&self, _name: &Text) -> bool {
        false
    }

    fn imported_part(&self, _name: &Text) -> Option<Text> {
        None
    }

    fn is_part(&self, _name: &Text) -> bool {
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

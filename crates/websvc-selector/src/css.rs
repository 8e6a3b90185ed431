//! Types of this crate for the generic selectors of the `selectors` crate.

use std::fmt;

use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;

/// Types of the parts of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Css;

/// A string in a selector, such as a class name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CssString(Box<str>);

impl From<&str> for CssString {
    fn from(text: &str) -> CssString {
        CssString(text.into())
    }
}

impl AsRef<str> for CssString {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl ToCss for CssString {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl PrecomputedHash for CssString {
    fn precomputed_hash(&self) -> u32 {
        self.0.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }
}

/// A pseudo-class that only a browser can evaluate, such as `:hover`. Only
/// [`Dialect::Browser`](crate::Dialect::Browser) has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PseudoClass(pub(crate) CssString);

impl ToCss for PseudoClass {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        out.write_char(':')?;
        self.0.to_css(out)
    }
}

impl selectors::parser::NonTSPseudoClass for PseudoClass {
    fn is_active_or_hover(&self) -> bool {
        matches!(self.0.as_ref(), "active" | "hover")
    }

    fn is_user_action_state(&self) -> bool {
        matches!(self.0.as_ref(), "active" | "hover" | "focus")
    }
}

/// A pseudo-element. No dialect has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PseudoElement {}

impl ToCss for PseudoElement {
    fn to_css<W: fmt::Write>(&self, _out: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl selectors::parser::PseudoElement for PseudoElement {}

impl selectors::parser::SelectorImpl for Css {
    type ExtraMatchingData<'a> = ();
    type AttrValue = CssString;
    type Identifier = CssString;
    type LocalName = CssString;
    type NamespaceUrl = CssString;
    type NamespacePrefix = CssString;
    type BorrowedNamespaceUrl = CssString;
    type BorrowedLocalName = CssString;
    type NonTSPseudoClass = PseudoClass;
    type PseudoElement = PseudoElement;
}

//! The names of our side of the `selectors` crate.

use std::fmt;

use cssparser::ToCss;
use precomputed_hash::PrecomputedHash;

/// The types of which selectors are made here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Css;

/// A string inside a selector.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(Box<str>);

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

/// A pseudo-class that only a browser can tell, such as `:hover`; the page dialect has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State(pub(crate) Text);

impl ToCss for State {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        out.write_char(':')?;
        self.0.to_css(out)
    }
}

impl selectors::parser::NonTSPseudoClass for State {
    fn is_active_or_hover(&self) -> bool {
        matches!(self.0.as_ref(), "active" | "hover")
    }

    fn is_user_action_state(&self) -> bool {
        matches!(self.0.as_ref(), "active" | "hover" | "focus")
    }
}

/// A pseudo-element; no dialect has any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {}

impl ToCss for Unknown {
    fn to_css<W: fmt::Write>(&self, _out: &mut W) -> fmt::Result {
        match *self {}
    }
}

impl selectors::parser::PseudoElement for Unknown {}

impl selectors::parser::SelectorImpl for Css {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Text;
    type Identifier = Text;
    type LocalName = Text;
    type NamespaceUrl = Text;
    type NamespacePrefix = Text;
    type BorrowedNamespaceUrl = Text;
    type BorrowedLocalName = Text;
    type NonTSPseudoClass = State;
    type PseudoElement = Unknown;
}

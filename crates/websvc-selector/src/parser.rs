//! Grammar of selectors in both dialects.

use cssparser::{ParseError, Parser};
use selectors::parser::SelectorParseErrorKind;

use crate::css::{Css, CssString, PseudoClass};

/// Target of a selector, which determines the supported grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The DOM of a parsed page: structure and attributes, no states such as `:hover`, no `:has`.
    Page,
    /// The DOM in a browser: every pseudo-class, even if the browser does not know it. Pseudo-elements are not
    /// supported, because they cannot be clicked.
    Browser,
}

/// Rules of a dialect for the parser of the `selectors` crate.
pub(crate) struct DialectParser {
    dialect: Dialect,
}

impl DialectParser {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }

    /// Returns a pseudo-class if the dialect supports them.
    fn pseudo_class(&self, name: &str) -> Result<PseudoClass, ParseError<SelectorParseErrorKind>> {
        match self.dialect {
            Dialect::Page => Err(ParseError::custom(SelectorParseErrorKind::UnsupportedPseudoClassOrElement)),
            Dialect::Browser => Ok(PseudoClass(CssString::from(name))),
        }
    }
}

impl<'i> selectors::parser::Parser<'i> for DialectParser {
    type Impl = Css;
    type Error = SelectorParseErrorKind;

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        self.dialect == Dialect::Browser
    }

    /// An invalid selector within `:is()` is an error.
    fn allow_forgiving_selectors(&self) -> bool {
        false
    }

    fn parse_non_ts_pseudo_class(
        &self,
        name: &str,
    ) -> Result<PseudoClass, ParseError<SelectorParseErrorKind>> {
        self.pseudo_class(name)
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        arguments: &mut Parser<'i>,
        _after_part: bool,
    ) -> Result<PseudoClass, ParseError<SelectorParseErrorKind>> {
        arguments.expect_no_error_token()?;
        self.pseudo_class(name)
    }
}

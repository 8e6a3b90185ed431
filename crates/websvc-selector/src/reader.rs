//! Grammar of selectors in both dialects.

use cssparser::{ParseError, Parser};
use selectors::parser::SelectorParseErrorKind;

use crate::css::{Css, State, Text};
use crate::selector::Dialect;

/// The hooks of the `selectors` crate.
pub(crate) struct Reader {
    dialect: Dialect,
}

impl Reader {
    /// Returns the hooks of a dialect.
    pub(crate) fn parser_for(dialect: Dialect) -> Self {
        Self { dialect }
    }

    fn state(&self, name: &str) -> Result<State, ParseError<SelectorParseErrorKind>> {
        match self.dialect {
            Dialect::Page => Err(ParseError::custom(SelectorParseErrorKind::UnsupportedPseudoClassOrElement)),
            Dialect::Browser => Ok(State(Text::from(name))),
        }
    }
}

impl<'i> selectors::parser::Parser<'i> for Reader {
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

    /// A mistake inside of `:is()` is a mistake of the caller too.
    fn allow_forgiving_selectors(&self) -> bool {
        false
    }

    fn parse_non_ts_pseudo_class(&self, name: &str) -> Result<State, ParseError<SelectorParseErrorKind>> {
        self.state(name)
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        arguments: &mut Parser<'i>,
        _after_part: bool,
    ) -> Result<State, ParseError<SelectorParseErrorKind>> {
        arguments.expect_no_error_token()?;
        self.state(name)
    }
}

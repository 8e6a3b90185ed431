//! Selector lists and their dialects.

use cssparser::Parser;
use selectors::parser::{ParseRelative, SelectorList};

use crate::css::Css;
use crate::error::SelectorError;
use crate::parser::{Dialect, DialectParser};

/// Maximum length of a selector, in bytes.
pub const MAX_BYTES: usize = 8_000;

/// Maximum number of opening brackets in a selector. The parser is recursive, so that nesting must be bounded.
pub const MAX_BRACKETS: usize = 64;

/// A selector list such as `article > p, #main`.
#[derive(Debug, Clone)]
pub struct Selector(SelectorList<Css>);

impl Selector {
    /// Parses a selector list.
    ///
    /// # Errors
    /// Fails if the text is too long, has too many brackets, or is not a selector that the dialect supports.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, SelectorError> {
        if text.len() > MAX_BYTES {
            return Err(SelectorError::TooLong);
        }
        if text.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() > MAX_BRACKETS {
            return Err(SelectorError::TooNested);
        }
        let mut parser = Parser::new(text);
        let list =
            SelectorList::parse_disallow_pseudo(&DialectParser::new(dialect), &mut parser, ParseRelative::No)
                .map_err(|_| SelectorError::Syntax)?;
        parser.expect_exhausted().map_err(|_| SelectorError::Syntax)?;
        Ok(Self(list))
    }

    /// Returns the list for the matching functions of the `selectors` crate.
    #[must_use]
    pub fn list(&self) -> &SelectorList<Css> {
        &self.0
    }
}

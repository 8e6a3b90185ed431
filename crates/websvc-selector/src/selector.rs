//! A selector list, and where it is to be matched.

use cssparser::Parser;
use selectors::parser::{ParseRelative, SelectorList};

use crate::css::Css;
use crate::error::SelectorError;
use crate::reader::Reader;

/// Longest selector, in bytes.
pub const MAX_BYTES: usize = 8_000;

/// Most opening brackets of a selector: it is read by recursion, and a stack is finite.
pub const MAX_BRACKETS: usize = 64;

/// Place where a selector is matched, which determines the supported grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// In the tree of a page: structure and attributes, no states such as `:hover`, no `:has`.
    Page,
    /// In a browser: every pseudo-class, known to it or not, but no pseudo-element, which nobody can click.
    Browser,
}

/// A selector list such as `article > p, #main`.
#[derive(Debug, Clone)]
pub struct Selector(SelectorList<Css>);

impl Selector {
    /// Reads a selector list.
    ///
    /// # Errors
    /// [`SelectorError`]
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, SelectorError> {
        if text.len() > MAX_BYTES {
            return Err(SelectorError::TooLong);
        }
        if text.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() > MAX_BRACKETS {
            return Err(SelectorError::TooNested);
        }
        let mut parser = Parser::new(text);
        let list =
            SelectorList::parse_disallow_pseudo(&Reader::parser_for(dialect), &mut parser, ParseRelative::No)
                .map_err(|_| SelectorError::Syntax)?;
        parser.expect_exhausted().map_err(|_| SelectorError::Syntax)?;
        Ok(Self(list))
    }

    /// Returns the list as the `selectors` crate matches it.
    #[must_use]
    pub fn list(&self) -> &SelectorList<Css> {
        &self.0
    }
}

//! CSS selectors: one grammar for the validator and for the extractor, which matches them.
//!
//! The grammar is that of the `selectors` crate. The validator and the extractor both parse selectors with this crate,
//! so that every selector that a request may contain can be matched.
//!
//! ```
//! use websvc_selector::{Dialect, Selector};
//!
//! assert!(Selector::parse("article > p:not(.ad)", Dialect::Page).is_ok());
//! assert!(Selector::parse("a:hover", Dialect::Page).is_err());
//! assert!(Selector::parse("a:hover", Dialect::Browser).is_ok());
//! ```
#![deny(missing_docs)]

mod css;
mod error;
mod parser;
mod selector;

pub use css::{Css, CssString, PseudoClass, PseudoElement};
pub use error::SelectorError;
pub use parser::Dialect;
pub use selector::{MAX_BRACKETS, MAX_BYTES, Selector};

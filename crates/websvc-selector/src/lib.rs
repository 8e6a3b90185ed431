//! CSS selectors: one grammar for the validator, which refuses, and the extractor, which matches.
//!
//! The grammar is that of the `selectors` crate. What a request may hold and what a page can be asked for are the
//! same by construction, because both are read here.
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
mod reader;
mod selector;

pub use css::{Css, State, Text, Unknown};
pub use error::SelectorError;
pub use selector::{Dialect, MAX_BRACKETS, MAX_BYTES, Selector};

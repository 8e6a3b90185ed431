//! The query operators and time filters of websvc: lexer, parser, syntax tree, printer.
//!
//! Pure text work without IO. [`parse`] reads the query language of the specification's section 2.5 and
//! never fails: what cannot be an operator becomes plain words and a warning. [`parse_tbs`] reads the time
//! filter of section 2.4 and is strict, because a wrong date would silently change the answer.
//!
//! ```
//! let parsed = websvc_query::parse(r#"site:docs.python.org "context manager" -filetype:pdf"#);
//! assert!(parsed.warnings.is_empty());
//! assert_eq!(parsed.query.words().collect::<Vec<_>>(), ["context manager"]);
//! assert_eq!(websvc_query::parse(&parsed.query.to_string()).query, parsed.query);
//! ```
#![deny(missing_docs)]

mod ast;
mod error;
mod lexer;
mod operator;
mod parser;
mod printer;
mod site;
mod tbs;
mod tokens;

pub use ast::{Node, Operator, Query, Site, Size, Term, Words};
pub use error::TbsError;
pub use parser::{MAX_DEPTH, Parsed, parse};
pub use tbs::{Sort, Tbs, TbsRange, TbsUnit, parse_tbs};

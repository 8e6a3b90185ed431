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
//!
//! Both print what they read ([`Query`] and [`Tbs`] by [`Display`](std::fmt::Display)), in one form for everything
//! that is read the same, and what is printed is read as the same again.
//!
//! # How a query is read
//!
//! | Typed | Read as |
//! |---|---|
//! | `a b` | both words, [`Node::And`]. A word ends at white space, control characters, the zero width space, double quotes and parentheses, and nowhere else: `c++`, `std::vector`, `12:30`, `http://x`, `well-known`, `it's` are words |
//! | `"a b"` | [`Node::Phrase`]. Typographic (`“”„‟`) and full-width quotes are quotes too; guillemets and single quotes are not. Nothing inside is special |
//! | `"a b`, `5" disk` | a quote without partner (the last of an odd number) is ignored |
//! | `""` | nothing, together with a `-` that touches it |
//! | `-a`, `-"a b"`, `-site:x.org`, `-(a OR b)` | [`Node::Not`]. The dash must touch what it negates: `a - b` is two words. `--help` and `---` are words. `-(-a)` is `a`. Nothing but negations is a query too |
//! | `a OR b`, `a \| b` | [`Node::Or`]; binds closer than standing side by side: `a b OR c d` is `a (b OR c) d`. In upper case and by itself only: `a or b`, `a\|b` and `AND` are plain words |
//! | `OR a`, `a OR`, `(OR)`, `-OR` | an `OR` that does not stand between two operands is the word "or"; a row of them is one |
//! | `(a b)` | a group. Nested up to [`MAX_DEPTH`]; parentheses beyond, those without partner and empty ones are ignored, with a `-` before the ignored or empty one |
//! | `（`, `）`, `：`, `－` | the full-width forms of parentheses, colon and dash mean the same |
//! | soft hyphen, byte order mark, word joiner, marks of direction | left out. The joiners U+200C and U+200D are spelling and stay |
//! | `name:argument` | an operator, the name in any case; any other name makes a plain word. The argument may be in quotes, and may follow after a space (for `site:` and `related:` then only if it contains a dot, so that "the official site: rust" remains prose) |
//! | `site:host`, `site:host:port/path` | [`Operator::Site`]: the host and its subdomains, below the path. Upper case, international names, a final dot, `*.host`, `.host`, `http://`, `https://`, `?query`, `#fragment`, a trailing `/` or `/*`, and the ports 80 and 443 are normalised away. Bad: what IDNA refuses, half an IPv4 address (`3.11`), IPv6, other schemes, user names, other wildcards, ports beyond 65535 |
//! | `filetype:pdf`, `ext:pdf` | [`Operator::FileType`], in any case, with or without the dot; 1 to 12 ASCII letters and digits |
//! | `inurl:a`, `intitle:"a b"` | [`Operator::InUrl`], [`Operator::InTitle`]: one word or phrase; the words after it are plain |
//! | `allinurl: a b`, `allintitle: a "b c"` | [`Operator::AllInUrl`], [`Operator::AllInTitle`]: all words and phrases that follow, up to another operator, a `-`, an `OR` or a parenthesis |
//! | `related:host` | [`Operator::Related`]; the argument as for `site:`, of which the host is kept |
//! | `imagesize:800x600`, `larger:800x600` | [`Operator::ImageSize`], [`Operator::Larger`]; also with `X`, `*` or `×`; each 1 to 4294967295 |
//! | an operator with a bad argument (`site:a..b`) | the word as typed and a warning; in quotes (`site:"a b"`), the phrase alone |
//! | an operator without argument (`site:`, `site:""`, `site:(a OR b)`) | its name as a plain word and a warning; with a `-` before it, nothing and a warning |
//!
//! No text is an error, every text takes linear time, and the tree is at most about three times [`MAX_DEPTH`] deep.
//! There is no limit of length here; that of requests (500 characters) is the matter of `websvc-validate`.
//!
//! # How a time filter is read
//!
//! Items separated by commas, in any order, with white space around them. Everything is as written here: in lower case,
//! and once.
//!
//! | Item | Read as | Refused |
//! |---|---|---|
//! | empty or blank text | not given | an empty item beside others |
//! | `qdr:h`, `d`, `w`, `m`, `y` | [`TbsRange::Last`]: the last hour, day (24 hours), week, calendar month, calendar year | other units, such as `qdr:n`; together with `cdr:1` |
//! | `qdr:d3` | the last three days | a count of 0, above 9999, of more than four digits, or signed |
//! | `cdr:1` with `cd_min`, `cd_max` or both | [`TbsRange::Between`], both days included, in UTC | `cdr:1` without a date; a first day after the last; `cdr:0` |
//! | `cd_min:MM/DD/YYYY`, `cd_max:MM/DD/YYYY` | a bound; the zeros of month and day may be missing (`1/5/2024`). Without a date (`cd_max:`) it is open | days that the calendar has not (`02/29/2023`), years not of four digits, year 0; without `cdr:1` |
//! | `sbd:1` | [`Sort::Date`], newest first | `sbd:0` |
//! | anything else | | always |
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

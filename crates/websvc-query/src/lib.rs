//! Query operators and time filters of websvc: lexer, parser, syntax tree, printer.
//!
//! [`parse`] parses the query language (specification 2.5) and never fails: an operator with an invalid argument
//! becomes plain words and a warning. [`parse_tbs`] parses the time filter (specification 2.4) and is strict, because a
//! wrong date would change the results without notice. The crate does no IO.
//!
//! ```
//! let parsed = websvc_query::parse(r#"site:docs.python.org "context manager" -filetype:pdf"#);
//! assert!(parsed.warnings.is_empty());
//! assert_eq!(parsed.query.words().collect::<Vec<_>>(), ["context manager"]);
//! assert_eq!(websvc_query::parse(&parsed.query.to_string()).query, parsed.query);
//! ```
//!
//! [`Query`] and [`Tbs`] implement [`Display`](std::fmt::Display). Equal values are printed in the same form, and the
//! printed text parses to an equal value.
//!
//! # Query language
//!
//! | Typed | Parsed as |
//! |---|---|
//! | `a b` | both words, [`Node::And`]. A word ends only at white space, control characters, the zero width space, double quotes and parentheses: `c++`, `std::vector`, `12:30`, `http://x`, `well-known`, `it's` are words |
//! | `"a b"` | [`Node::Phrase`]. Typographic (`“”„‟`) and full-width double quotes are quotes too; guillemets and single quotes are not. The text between quotes is literal |
//! | `"a b`, `5" disk` | an unpaired quote (the last of an odd number) is ignored |
//! | `""` | ignored, with a `-` directly before it |
//! | `-a`, `-"a b"`, `-site:x.org`, `-(a OR b)` | [`Node::Not`]. The dash must be directly before its operand: `a - b` is two words. `--help` and `---` are words. `-(-a)` is `a`. A query may consist of negations only |
//! | `-80`, `-80°C`, `-3.5 V` | a dash before a number is a minus sign, U+2212 in the tree, and a warning says so. The number ends with the word; units are `C`, `F`, `V`, `mV`, `dB`, `dBm` and anything that is not a letter. `-3d` and `-7zip` are negations, and so is a number in a query that negates something else too: `tea -milk -80`. `-"80"` and `-(80)` are always negations |
//! | `a OR b`, `a \| b` | [`Node::Or`]; binds tighter than the conjunction: `a b OR c d` is `a (b OR c) d`. Only in upper case and as a separate word: `a or b`, `a\|b` and `AND` are plain words |
//! | `OR a`, `a OR`, `(OR)`, `-OR` | an `OR` that is not between two operands is the word `or`; consecutive ones count as one |
//! | `TO BE OR NOT` | in a text of capitals only without any other operator, `OR` is the word `or`; `\|` is still an operator |
//! | `(a b)` | a group, nested up to [`MAX_DEPTH`] levels. Deeper, unbalanced and empty parentheses are ignored, with a `-` directly before them |
//! | `（`, `）`, `：`, `－` | full-width parentheses, colon and dash: same as the ASCII characters |
//! | soft hyphen, byte order mark, word joiner, direction marks | removed. The joiners U+200C and U+200D are part of the spelling and stay |
//! | `name:argument` | an operator, with its name in any letter case; with an unknown name, a plain word. The argument may be in quotes, and may follow after a space (for `site:` and `related:` only if it contains a dot, so that `the official site: rust` consists of words) |
//! | `site:host`, `site:host:port/path` | [`Operator::Site`]: the host and its subdomains, below the path. Normalized: upper case, international names, a final dot, `*.host`, `.host`, `http://`, `https://`, `?query`, `#fragment`, a trailing `/` or `/*`, and the ports 80 and 443. Invalid: hosts that IDNA does not allow, incomplete IPv4 addresses (`3.11`), IPv6, other schemes, user names, other wildcards, ports above 65535 |
//! | `filetype:pdf`, `ext:pdf` | [`Operator::FileType`], in any letter case, with or without the dot; 1 to 12 ASCII letters and digits |
//! | `inurl:a`, `intitle:"a b"` | [`Operator::InUrl`], [`Operator::InTitle`]: one word or phrase; later words are plain words |
//! | `allinurl: a b`, `allintitle: a "b c"` | [`Operator::AllInUrl`], [`Operator::AllInTitle`]: all following words and phrases, up to another operator, a `-`, an `OR` or a parenthesis |
//! | `related:host` | [`Operator::Related`]; the argument is that of `site:`, of which only the host is used |
//! | `imagesize:800x600`, `larger:800x600` | [`Operator::ImageSize`], [`Operator::Larger`]; also with `X`, `*` or `×`; width and height are 1 to 4294967295 |
//! | an operator with an invalid argument (`site:a..b`) | the word as typed and a warning; if the argument is in quotes (`site:"a b"`), the phrase and a warning |
//! | an operator without an argument (`site:`, `site:""`, `site:(a OR b)`) | its name as a plain word and a warning; with a `-` before it, ignored with a warning |
//!
//! No text is an error, parsing takes linear time, and the depth of the tree is at most about three times
//! [`MAX_DEPTH`]. This crate does not limit the length of a query; `websvc-validate` does (500 characters).
//!
//! # Time filters
//!
//! Items are separated by commas, in any order, with optional white space around them. They are in lower case, and each
//! occurs at most once.
//!
//! | Item | Parsed as | Invalid |
//! |---|---|---|
//! | empty or blank text | `None` | an empty item next to others |
//! | `qdr:h`, `d`, `w`, `m`, `y` | [`TbsRange::Last`]: the last hour, day (24 hours), week, calendar month, calendar year | other units, such as `qdr:n`; a combination with `cdr:1` |
//! | `qdr:d3` | the last three days | a count that is 0, is above 9999, has more than four digits, or has a sign |
//! | `cdr:1` with `cd_min`, `cd_max` or both | [`TbsRange::Between`], both days included, in UTC | `cdr:1` without a date; a first day after the last day; `cdr:0` |
//! | `cd_min:MM/DD/YYYY`, `cd_max:MM/DD/YYYY` | a bound; the leading zeros of month and day are optional (`1/5/2024`). Without a date (`cd_max:`), the range is open at this end | days that do not exist (`02/29/2023`), years without exactly four digits, year 0; a bound without `cdr:1` |
//! | `sbd:1` | [`Sort::Date`], newest first | `sbd:0` |
//! | anything else | | always |
#![deny(missing_docs)]

mod ast;
mod character;
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
pub use parser::{Parsed, parse};
pub use tbs::{Sort, Tbs, TbsRange, TbsUnit, parse_tbs};
pub use tokens::MAX_DEPTH;

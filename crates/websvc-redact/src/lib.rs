//! Redaction of personal data in texts.
//!
//! [`redact`] finds mail addresses, telephone numbers, bank and card numbers, secrets, addresses, places and names of
//! people by rules and an embedded gazetteer, without a model. It preserves the structure of markdown: code, URLs, and
//! the marks of emphasis, tables and links. Every rule examines a fixed number of bytes around its trigger, so that the
//! work is linear in the length of any text.

mod address;
mod cjk;
mod comparison;
mod context;
mod digit_run;
mod email;
mod financial;
mod finding;
mod form;
mod kind;
mod lexicon;
mod name_context;
mod named;
mod number;
mod options;
mod person;
mod phone;
mod place;
mod plan;
mod postcode;
mod redaction;
mod repeat;
mod rules;
mod scan;
mod secret;
mod word;
mod zone;

pub use comparison::{Comparison, compare, is_doubtful_alone, without_ordinary_words};
pub use finding::Finding;
pub use kind::{Kind, Kinds};
pub use named::{NamedPart, NamedText, redact_named};
pub use options::{Options, RedactMode, ReplacementStyle, Syntax};
pub use redaction::{Redaction, redact};

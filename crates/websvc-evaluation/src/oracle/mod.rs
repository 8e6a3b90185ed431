//! The oracle.
mod rules;
pub(crate) use rules::{apply, compare, name_of};
#[cfg(test)]
pub(crate) use rules::rule_text;
/// The oracle.
#[derive(Debug)]
pub struct Oracle;

//! Options: kinds to find, mode, and replacement.

use crate::kind::Kinds;

/// How a text is redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How hard to look.
    pub mode: RedactMode,
    /// Kinds to find.
    pub kinds: Kinds,
    /// Replacement of a finding.
    pub style: ReplacementStyle,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: RedactMode::Fast, kinds: Kinds::ALL, style: ReplacementStyle::Tag }
    }
}

/// How hard to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RedactMode {
    /// By rules that are right nearly always.
    #[default]
    Fast,
    /// By rules, too, that are right more often than not: more is found, and more is found that is none.
    Aggressive,
}

/// Replacement of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplacementStyle {
    /// The name of its kind, such as `<EMAIL>`.
    #[default]
    Tag,
    /// As many `*` as it had characters; line breaks stay.
    Mask,
    /// Nothing.
    Remove,
}

/// How a text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// As it is; URLs stay.
    Plain,
    /// As markdown: code and the targets of links stay.
    #[default]
    Markdown,
}

//! Options: kinds to find, mode, and replacement.

use crate::kind::Kinds;

/// The options of a redaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The rules to apply.
    pub mode: RedactMode,
    /// The kinds to find.
    pub kinds: Kinds,
    /// The replacement of a finding.
    pub style: ReplacementStyle,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: RedactMode::Fast, kinds: Kinds::ALL, style: ReplacementStyle::Tag }
    }
}

/// The set of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RedactMode {
    /// Rules with few false positives.
    #[default]
    Fast,
    /// Also rules that are right more often than not: they find more, with more false positives.
    Aggressive,
}

/// The replacement of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplacementStyle {
    /// The name of its kind, such as `<EMAIL>`.
    #[default]
    Tag,
    /// One `*` per character; line breaks stay.
    Mask,
    /// Nothing.
    Remove,
}

/// The syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// Plain text; URLs are not redacted.
    Plain,
    /// Markdown; code and the targets of links are not redacted, except for secrets.
    #[default]
    Markdown,
}

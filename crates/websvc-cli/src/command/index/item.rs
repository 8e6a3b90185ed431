//! Items of an input: documents, and skipped inputs with the reason.

use std::fmt::Display;

use serde::Serialize;
use websvc::types::index::IndexDocument;

/// Something that was read.
pub(super) enum Item {
    /// A document.
    Document(Box<IndexDocument>),
    /// An input that is skipped by design.
    Skipped(SkipReason),
    /// An input that could not be read.
    Failed {
        /// Its place.
        what: String,
        /// Failure of the read.
        fault: ReadFailure,
    },
}

/// Why something cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(super) struct ReadFailure {
    pub(super) why: SkipReason,
    reason: String,
}

impl ReadFailure {
    pub(super) fn new(why: SkipReason, reason: impl Into<String>) -> Self {
        Self { why, reason: reason.into() }
    }

    /// Something that is not what it should be.
    pub(super) fn broken(reason: &dyn Display) -> Self {
        Self::new(SkipReason::Broken, reason.to_string())
    }

    pub(super) fn too_large(limit: u64) -> Self {
        Self::new(SkipReason::TooLarge, format!("larger than {limit} bytes"))
    }

    pub(super) fn no_text() -> Self {
        Self::new(SkipReason::NoText, "there is no text in it")
    }
}

/// The reasons for leaving something out, as they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SkipReason {
    /// A record of an archive that is not an answer to a request for a page.
    NotAPage,
    /// The answer has another status than 200.
    NotOk,
    /// The answer is not HTML.
    NotHtml,
    /// There is no text in it.
    NoText,
    /// The page asks not to be indexed.
    Noindex,
    /// It is larger than what is read.
    TooLarge,
    /// It is damaged or malformed.
    Broken,
    /// A file of a kind that cannot be read.
    Unsupported,
}

impl SkipReason {
    pub(super) const ALL: [Self; 8] = [
        Self::NotAPage,
        Self::NotOk,
        Self::NotHtml,
        Self::NoText,
        Self::Noindex,
        Self::TooLarge,
        Self::Broken,
        Self::Unsupported,
    ];

    /// Returns the reason as people read it behind a number.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::NotAPage => "not a page",
            Self::NotOk => "not status 200",
            Self::NotHtml => "not HTML",
            Self::NoText => "without text",
            Self::Noindex => "noindex",
            Self::TooLarge => "too large",
            Self::Broken => "broken",
            Self::Unsupported => "of a kind that cannot be read",
        }
    }
}

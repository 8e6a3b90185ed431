//! Items of an input: documents, skipped inputs and failures.

use std::fmt::Display;

use serde::Serialize;
use websvc::types::index::IndexDocument;

/// Maximum size of a file or line.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A callback for each item. An error ends the reading.
pub(super) type DocumentVisitor<'a> = dyn FnMut(Item) -> anyhow::Result<()> + 'a;

/// An item of an input.
pub(super) enum Item {
    /// A document.
    Document(Box<IndexDocument>),
    /// An input that is skipped by design.
    Skipped(SkipReason),
    /// An input that could not be read.
    Failed {
        /// The file, line or record.
        subject: String,
        /// The failure of the read.
        failure: ReadFailure,
    },
}

/// The reason why an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(super) struct ReadFailure {
    pub(super) kind: SkipReason,
    reason: String,
}

impl ReadFailure {
    pub(super) fn new(kind: SkipReason, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    /// Returns the failure of a damaged or malformed input.
    pub(super) fn broken(reason: &dyn Display) -> Self {
        Self::new(SkipReason::Broken, reason.to_string())
    }

    pub(super) fn too_large(limit: u64) -> Self {
        Self::new(SkipReason::TooLarge, format!("larger than {limit} bytes"))
    }

    pub(super) fn no_text() -> Self {
        Self::new(SkipReason::NoText, "no text")
    }
}

/// The reason for skipping an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SkipReason {
    /// A record of an archive that is not the response to a request for a page.
    NotAPage,
    /// The status of the response is not 200.
    NotOk,
    /// The response is not HTML.
    NotHtml,
    /// The input has no text.
    NoText,
    /// The page has the robots rule `noindex`.
    Noindex,
    /// The page is in a language that the import leaves out.
    OtherLanguage,
    /// The page is of a host that the import leaves out.
    OtherHost,
    /// The page has too few words, or does not consist of text.
    LowQuality,
    /// The input is larger than the maximum.
    TooLarge,
    /// The input is damaged or malformed.
    Broken,
    /// The file format is not supported.
    Unsupported,
}

impl SkipReason {
    /// All reasons, each with its label after a number.
    const LABELS: [(Self, &str); 11] = [
        (Self::NotAPage, "not a page"),
        (Self::NotOk, "not status 200"),
        (Self::NotHtml, "not HTML"),
        (Self::NoText, "without text"),
        (Self::Noindex, "noindex"),
        (Self::OtherLanguage, "in another language"),
        (Self::OtherHost, "of another host"),
        (Self::LowQuality, "of low quality"),
        (Self::TooLarge, "too large"),
        (Self::Broken, "broken"),
        (Self::Unsupported, "of an unsupported format"),
    ];

    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::LABELS.into_iter().map(|(reason, _)| reason)
    }

    /// Returns the label of the reason after a number.
    pub(super) fn label(self) -> &'static str {
        Self::LABELS.iter().find(|(reason, _)| *reason == self).map_or("", |(_, label)| label)
    }
}

//! Why a document could not be read.

use serde::{Deserialize, Serialize};

use crate::kind::DocumentKind;

/// Why a document could not be read. The messages are what a caller may see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file needs a password.
    #[error("the {kind} file is encrypted and needs a password: save it without one")]
    Encrypted {
        /// The kind of file.
        kind: DocumentKind,
    },
    /// The file is broken beyond reading.
    #[error("the {kind} file is damaged: {reason}")]
    Damaged {
        /// The kind of file.
        kind: DocumentKind,
        /// Reason why the document cannot be read.
        reason: String,
    },
    /// The file inflates, nests or repeats beyond what an honest one does.
    #[error("the {kind} file exceeds the limits: {reason}")]
    TooLarge {
        /// The kind of file.
        kind: DocumentKind,
        /// Which limit was reached.
        reason: String,
    },
    /// A file of before 2007 that only its own program reads.
    #[error("a {program} file of before 2007 (.{kind}) is not read: save it as .{modern}")]
    Old {
        /// The program that wrote it.
        program: String,
        /// The kind of file.
        kind: DocumentKind,
        /// The kind that the program writes today.
        modern: DocumentKind,
    },
    /// The kind of file is known and cannot be read.
    #[error("{what} cannot be read")]
    Unsupported {
        /// The kind of file or the feature.
        what: String,
    },
}

impl DocumentError {
    pub(crate) fn damaged(kind: DocumentKind, reason: impl Into<String>) -> Self {
        Self::Damaged { kind, reason: reason.into() }
    }

    pub(crate) fn too_large(kind: DocumentKind, reason: impl Into<String>) -> Self {
        Self::TooLarge { kind, reason: reason.into() }
    }
}

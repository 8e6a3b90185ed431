//! The error of reading a document.

use serde::{Deserialize, Serialize};

use crate::kind::DocumentKind;

/// An error of reading a document. The message is shown to the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file needs a password.
    #[error("the {kind} file is encrypted and needs a password: save it without one")]
    Encrypted {
        /// The kind of file.
        kind: DocumentKind,
    },
    /// The file is damaged and cannot be read.
    #[error("the {kind} file is damaged: {reason}")]
    Damaged {
        /// The kind of file.
        kind: DocumentKind,
        /// The reason why the file cannot be read.
        reason: String,
    },
    /// The file exceeds a limit, for example of its decompressed size, its nesting or its number of parts.
    #[error("the {kind} file exceeds the limits: {reason}")]
    TooLarge {
        /// The kind of file.
        kind: DocumentKind,
        /// The exceeded limit.
        reason: String,
    },
    /// A Word or PowerPoint file from before 2007, which is detected but not supported.
    #[error("{program} files from before 2007 (.{kind}) are not supported: save the file as .{modern}")]
    Old {
        /// The program that wrote it.
        program: String,
        /// The kind of file.
        kind: DocumentKind,
        /// The kind that newer versions of the program write.
        modern: DocumentKind,
    },
    /// The file uses a feature that is not supported.
    #[error("{feature} cannot be read")]
    Unsupported {
        /// The kind of file and the feature.
        #[serde(rename = "what")]
        feature: String,
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

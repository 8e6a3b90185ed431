//! The error of a model that cannot be used.

use std::path::{Path, PathBuf};

/// The error of a directory that has no usable model.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ModelFileError {
    path: PathBuf,
    reason: String,
}

impl ModelFileError {
    pub(crate) fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }
}

//! Retention of what a search leaves behind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of data retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RetentionOption {
    /// Anonymized zero data retention.
    Anon,
    /// Zero data retention end to end.
    Zdr,
    /// The ordinary retention, as some clients write it.
    Default,
}

/// Old name of [`RetentionOption`].
#[deprecated(note = "renamed to `RetentionOption`")]
pub type Enterprise = RetentionOption;

//! Results of the comparison of a page.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of the comparison of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorPageStatus {
    /// The page did not change.
    Same,
    /// The page is new.
    New,
    /// The page changed.
    Changed,
    /// The page no longer exists.
    Removed,
    /// The page could not be checked.
    Error,
}

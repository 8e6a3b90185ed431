//! Data retention of a search.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data retention of a search. Other values than `default` must be enabled for the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RetentionOption {
    /// Zero data retention for content; the request is also recorded without its caller.
    Anon,
    /// Zero data retention, end to end.
    Zdr,
    /// Ordinary retention, the same as an empty list.
    Default,
}

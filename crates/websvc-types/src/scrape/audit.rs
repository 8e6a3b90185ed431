//! User that a request is made for.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::USERNAME_MAX_CHARS;

/// User that a request is made for, recorded in the audit events of the team if the operator enables them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuditMetadata {
    /// Name of the user, at most 1024 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = USERNAME_MAX_CHARS)))]
    pub username: String,
}

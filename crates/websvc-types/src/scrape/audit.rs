//! End user of a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::USERNAME_MAX_CHARS;

/// Attribution of a request in the organization's logging events, when that is enabled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditMetadata {
    /// The user, at most 1024 characters.
    #[schemars(length(max = USERNAME_MAX_CHARS))]
    pub username: String,
}

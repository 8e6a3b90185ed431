//! The format `video`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Best video of a supported video URL; the response has a signed URL that expires after one hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Video {}

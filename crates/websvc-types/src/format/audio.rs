//! The format `audio`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// MP3 audio extracted from a supported video URL; the response has a signed URL that expires after one hour.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audio {}

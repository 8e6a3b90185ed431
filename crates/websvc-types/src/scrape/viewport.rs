//! Size of a browser window.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{VIEWPORT_MAX_HEIGHT, VIEWPORT_MAX_WIDTH, VIEWPORT_MIN};

/// Size of a browser window, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct Viewport {
    /// Width in pixels, 1 to 7680.
    #[cfg_attr(feature = "schemars", schemars(range(min = VIEWPORT_MIN, max = VIEWPORT_MAX_WIDTH)))]
    pub width: u32,
    /// Height in pixels, 1 to 4320.
    #[cfg_attr(feature = "schemars", schemars(range(min = VIEWPORT_MIN, max = VIEWPORT_MAX_HEIGHT)))]
    pub height: u32,
}

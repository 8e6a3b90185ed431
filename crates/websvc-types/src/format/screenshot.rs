//! The format `screenshot`, which is also an action.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{QUALITY_MAX, QUALITY_MIN};
use crate::scrape::Viewport;

/// Screenshot of the page; the response has its URL, which expires after 24 hours.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Screenshot {
    /// True captures the whole page, false only the visible window. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub full_page: Option<bool>,
    /// Image quality, 1 to 100, where 100 is the best.
    #[cfg_attr(feature = "schemars", schemars(range(min = QUALITY_MIN, max = QUALITY_MAX)))]
    pub quality: Option<u8>,
    /// Size of the browser window.
    pub viewport: Option<Viewport>,
}

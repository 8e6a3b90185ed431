//! The format `screenshot`, which is also an action.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUALITY_MAX, QUALITY_MIN};
use crate::scrape::Viewport;

/// Screenshot of the page; the response has its URL, which expires after 24 hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Screenshot {
    /// True captures the whole page, false only the visible window. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub full_page: Option<bool>,
    /// Image quality, 1 to 100, where 100 is the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = QUALITY_MIN, max = QUALITY_MAX))]
    pub quality: Option<u8>,
    /// Size of the browser window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
}

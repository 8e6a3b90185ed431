//! The format `screenshot`, and the action of the same name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{QUALITY_MAX, QUALITY_MIN};
use crate::scrape::Viewport;

/// A picture of the page; the answer has its URL, which expires after 24 hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Screenshot {
    /// The whole page, not only what the viewport shows. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub full_page: Option<bool>,
    /// Quality of the picture, 1 to 100, 100 being the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = QUALITY_MIN, max = QUALITY_MAX))]
    pub quality: Option<u8>,
    /// Size of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<Viewport>,
}

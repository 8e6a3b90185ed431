//! Videos that a page contains, for the format `video` (operations.md, section 9).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

/// Video that a page contains or embeds. It is found in the page and not downloaded.
///
/// # Examples
///
/// ```
/// use websvc_types::video::PageVideo;
///
/// let video: PageVideo = serde_json::from_str(r#"{
///     "url": "https://tea.example/brewing.mp4",
///     "sourceURL": "https://tea.example/",
///     "source": "video"
/// }"#)?;
/// assert_eq!(video.source_url, "https://tea.example/");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct PageVideo {
    /// Absolute URL of the file or stream, else of the player.
    pub url: String,
    /// URL of the page that the video was found in.
    #[serde(rename = "sourceURL")]
    pub source_url: String,
    /// Place in the page: `video` for an element, `structured-data` for a VideoObject, `og:video` for a meta tag, `iframe`
    /// for a player.
    pub source: String,
    /// Kind of the URL: `file`, `stream` (HLS or DASH) or `player`. Absent if it is not known.
    pub kind: Option<String>,
    /// Provider of the player, such as `youtube`.
    pub provider: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Absolute URL of an image.
    pub thumbnail: Option<String>,
    /// Description as plain text.
    pub description: Option<String>,
    /// Duration as the page states it, usually ISO 8601, such as `PT1M30S`.
    pub duration: Option<String>,
    /// Media type that the page states.
    pub mime_type: Option<String>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
}

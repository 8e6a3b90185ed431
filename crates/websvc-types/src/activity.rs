//! Recent activity of a team: its requests and jobs of the last 24 hours.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response of `GET /v2/team/activity`: requests and jobs of the team, the newest first.
///
/// # Examples
///
/// ```
/// use websvc_types::activity::TeamActivityResponse;
///
/// let page: TeamActivityResponse = serde_json::from_str(r#"{
///     "success": true,
///     "data": [{
///         "id": "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60",
///         "endpoint": "search",
///         "api_version": "v2",
///         "created_at": "2026-11-21T12:30:00.250Z",
///         "target": "asyncio event loop"
///     }],
///     "cursor": null,
///     "has_more": false
/// }"#)?;
/// assert!(!page.has_more);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct TeamActivityResponse {
    /// Always true.
    pub success: bool,
    /// The requests and jobs.
    pub data: Vec<TeamActivityItem>,
    /// Position after the last item, for the parameter `cursor`; null on the last page.
    pub cursor: Option<String>,
    /// True if there are older items.
    pub has_more: bool,
}

/// Request or job of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct TeamActivityItem {
    /// ID of the request or job.
    pub id: String,
    /// Operation: `search`, `scrape`, `parse`, `map`, `browser`, `crawl` or `batch_scrape`.
    pub endpoint: String,
    /// Version of the API that was called: `v1` or `v2`.
    pub api_version: String,
    /// End of the request, or start of the job, ISO 8601.
    pub created_at: String,
    /// Query, URL, or first URL; null if it may not be stored.
    pub target: Option<String>,
}

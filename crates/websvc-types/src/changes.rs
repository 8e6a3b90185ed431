//! Changes of a page since its last scrape, for the format `changeTracking` (operations.md, section 6).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Changes of a page since the last scrape of the same team, URL and tag.
///
/// # Examples
///
/// ```
/// use websvc_types::changes::{ChangeStatus, PageChanges};
///
/// let changes: PageChanges = serde_json::from_str(r#"{
///     "previousScrapeAt": "2026-11-24T08:00:00.000Z",
///     "changeStatus": "same",
///     "visibility": "visible"
/// }"#)?;
/// assert_eq!(changes.change_status, ChangeStatus::Same);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageChanges {
    /// Time of the scrape that this one is compared with, ISO 8601; null if there is none.
    #[serde(default)]
    pub previous_scrape_at: Option<String>,
    /// Kind of the change.
    pub change_status: ChangeStatus,
    /// Visibility of the page: found by request, link or sitemap, or known from earlier crawls only.
    pub visibility: PageVisibility,
    /// For mode `git-diff`, if the page changed: the changed lines of the markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "PageDiff"))]
    pub diff: Option<PageDiff>,
    /// For mode `json`, if the page changed. With a schema: the fields that differ, each with `previous` and `current`.
    /// Without a schema: a summary of the changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Map<String, Value>"))]
    pub json: Option<Map<String, Value>>,
}

/// Kind of a change of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeStatus {
    /// There is no earlier scrape to compare with.
    New,
    /// The markdown is the same, apart from whitespace.
    Same,
    /// The markdown differs.
    Changed,
    /// The host says that the page does not exist (status 404 or 410).
    Removed,
}

/// Visibility of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PageVisibility {
    /// The page was requested, or found by a link or a sitemap. This version returns no other value.
    Visible,
    /// The page is known from an earlier crawl only.
    Hidden,
}

/// Changed lines of the markdown of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct PageDiff {
    /// Unified diff with three lines of context.
    pub text: String,
    /// The same as a structure.
    pub json: DiffTree,
}

/// Unified diff as a structure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct DiffTree {
    /// The compared files: one.
    pub files: Vec<DiffFile>,
}

/// Differences between two files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct DiffFile {
    /// Name of the previous file: `previous.md`.
    pub from: String,
    /// Name of the current file: `current.md`.
    pub to: String,
    /// Number of added lines. Lines that do not fit into the response count, too.
    #[serde(default)]
    pub additions: u64,
    /// Number of removed lines. Lines that do not fit into the response count, too.
    #[serde(default)]
    pub deletions: u64,
    /// Groups of changed lines, in their order.
    pub chunks: Vec<DiffChunk>,
}

/// Changed lines with their context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiffChunk {
    /// The first line of the chunk in the unified diff, such as `@@ -1,3 +1,4 @@`.
    pub content: String,
    /// The lines of the chunk.
    pub changes: Vec<DiffChange>,
    /// Number of the first line in the previous file, from 1.
    #[serde(default)]
    pub old_start: u64,
    /// Number of lines of the previous file.
    #[serde(default)]
    pub old_lines: u64,
    /// Number of the first line in the current file, from 1.
    #[serde(default)]
    pub new_start: u64,
    /// Number of lines of the current file.
    #[serde(default)]
    pub new_lines: u64,
}

/// Line of a chunk. Its `content` begins with a blank, `+` or `-`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum DiffChange {
    /// Line of both files.
    Normal {
        /// Always true.
        normal: bool,
        /// Number of the line in the previous file, from 1.
        ln1: u64,
        /// Number of the line in the current file, from 1.
        ln2: u64,
        /// The line after a blank.
        content: String,
    },
    /// Line of the current file only.
    Add {
        /// Always true.
        add: bool,
        /// Number of the line in the current file, from 1.
        ln: u64,
        /// The line after `+`.
        content: String,
    },
    /// Line of the previous file only.
    Del {
        /// Always true.
        del: bool,
        /// Number of the line in the previous file, from 1.
        ln: u64,
        /// The line after `-`.
        content: String,
    },
}

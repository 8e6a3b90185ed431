//! The embedded index over HTTP: how pages are added to it, and its figures. Our own, not of the specification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Documents for the index: `POST /v2/index/documents`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexUpload {
    /// The documents; each replaces the older one of its URL.
    pub documents: Vec<IndexDocument>,
}

/// A page as the index takes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexDocument {
    /// The URL under which it is found: absolute, with a host.
    #[schemars(regex(pattern = "^(https?|file)://"))]
    pub url: String,
    /// The title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The texts of the headings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The text.
    #[serde(default)]
    pub body: String,
    /// The page's own description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The language, such as `en`; it is detected when none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// When it was published, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// When it was last changed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

/// The answer to an upload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexReply {
    /// True.
    pub success: bool,
    /// How many documents were taken; they are searchable within 2 seconds.
    pub accepted: usize,
}

/// The figures of the index: `GET /v2/index/stats`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStats {
    /// True.
    pub success: bool,
    /// How many documents can be found.
    pub documents: u64,
    /// What they occupy on disk, in bytes.
    pub bytes: u64,
    /// In how many segments.
    pub segments: u64,
}

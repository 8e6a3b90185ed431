//! The conversion of an uploaded file (clients.md, section 2.12).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScrapeOptions;

/// How an uploaded file is read. Options that only a page of the web has are refused, see `PARSE_UNSUPPORTED_OPTIONS`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ParseOptions {
    /// Keeps nothing of the request; the team must be allowed to. Default: what the team has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_data_retention: Option<bool>,
    /// Options for the content of the file, as for a page.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

/// The kinds of files that can be uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParseFormats {
    /// True.
    pub success: bool,
    /// The kinds.
    pub data: ParseFormatList,
}

/// A list of kinds of files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParseFormatList {
    /// The kinds that are known.
    pub formats: Vec<ParseFormat>,
}

/// A kind of file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseFormat {
    /// Its name, such as `docx`.
    pub format: String,
    /// Kind of the file: `document`, `spreadsheet`, `presentation`, `book`, `page` or `text`.
    pub kind: String,
    /// The endings of such files, without the dot.
    pub extensions: Vec<String>,
    /// The media types that name it.
    pub mime_types: Vec<String>,
    /// True if this installation can read the type.
    pub available: bool,
}

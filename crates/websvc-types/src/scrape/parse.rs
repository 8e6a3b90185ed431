//! Conversion of an uploaded file (clients.md, section 2.12).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScrapeOptions;

/// Options of `POST /v2/parse`, sent with the uploaded file. Options that apply only to web pages are rejected with 400
/// `PARSE_UNSUPPORTED_OPTIONS`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ParseOptions {
    /// True stores nothing of the request; 403 if the team is not permitted to use it. Default: the setting of the
    /// team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_data_retention: Option<bool>,
    /// Options of the content, as for a page.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

/// Response of `GET /v2/parse/formats`: the file types that can be uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParseFormats {
    /// Always true.
    pub success: bool,
    /// File types.
    pub data: ParseFormatList,
}

/// List of file types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParseFormatList {
    /// Known file types, also those that are not available.
    pub formats: Vec<ParseFormat>,
}

/// File type that can be uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParseFormat {
    /// Name of the type, such as `docx`.
    pub format: String,
    /// Kind of the type: `document`, `spreadsheet`, `presentation`, `book`, `page` or `text`.
    pub kind: String,
    /// File name extensions, without the dot.
    pub extensions: Vec<String>,
    /// Media types.
    pub mime_types: Vec<String>,
    /// True if this installation can read files of this type.
    pub available: bool,
}

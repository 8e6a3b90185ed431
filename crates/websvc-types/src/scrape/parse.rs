//! Conversion of an uploaded file (clients.md, section 2.12).

use std::collections::BTreeMap;

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::ScrapeOptions;
use crate::limits::{
    UPLOAD_FILE_NAME_MAX_CHARS, UPLOAD_MAX_BYTES, UPLOAD_MEDIA_TYPE_MAX_CHARS, UPLOAD_REF_MAX_CHARS,
};
use crate::pattern::PRINTABLE_ASCII;

/// Options of `POST /v2/parse`, sent with the uploaded file. Options that apply only to web pages are rejected with 400
/// `PARSE_UNSUPPORTED_OPTIONS`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ParseOptions {
    /// True stores nothing of the request; 403 if the team is not permitted to use it. Default: the setting of the
    /// team.
    pub zero_data_retention: Option<bool>,
    /// Options of the content, as for a page.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

/// Body of `POST /v2/parse` in JSON: converts a file that was sent to an upload URL. The file can be converted once.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ParseUploadRequest {
    /// `uploadRef` of the response of `POST /v2/parse/upload-url`.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = UPLOAD_REF_MAX_CHARS)))]
    pub upload_ref: String,
    /// True stores nothing of the request; 403 if the team is not permitted to use it. Default: the setting of the
    /// team.
    pub zero_data_retention: Option<bool>,
    /// Options of the content, at the top level of the body.
    #[serde(flatten)]
    pub options: ScrapeOptions,
}

/// Request of `POST /v2/parse/upload-url`: asks for a URL to which a file can be sent before it is converted.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UploadUrlRequest {
    /// Name of the file.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = UPLOAD_FILE_NAME_MAX_CHARS)))]
    pub filename: String,
    /// Media type of the file, in printable ASCII characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = 1, max = UPLOAD_MEDIA_TYPE_MAX_CHARS), regex(pattern = PRINTABLE_ASCII)))]
    pub content_type: Option<String>,
    /// Size of the file in bytes, so that a file that is too large is rejected before it is sent.
    #[cfg_attr(feature = "schemars", schemars(range(min = 1, max = UPLOAD_MAX_BYTES)))]
    pub declared_size_bytes: Option<u64>,
}

/// Response of `POST /v2/parse/upload-url`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct UploadUrlResponse {
    /// Always true.
    pub success: bool,
    /// Upload URL.
    pub data: UploadUrl,
}

/// URL to which one file can be sent, without an API key, and the reference with which the file is then converted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UploadUrl {
    /// URL of the request that sends the file. Its body is the file, without a form around it.
    pub upload_url: String,
    /// Value of `uploadRef` in `POST /v2/parse`.
    pub upload_ref: String,
    /// Method of the request that sends the file: `PUT`.
    pub method: String,
    /// Headers of the request that sends the file.
    pub headers: BTreeMap<String, String>,
    /// Time until which the file must be sent and converted, in RFC 3339.
    pub expires_at: String,
    /// Maximum size of the file, in bytes.
    pub max_size_bytes: u64,
}

/// Response of `GET /v2/parse/formats`: the file types that can be uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ParseFormats {
    /// Always true.
    pub success: bool,
    /// File types.
    pub data: ParseFormatList,
}

/// List of file types.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ParseFormatList {
    /// Known file types, also those that are not available.
    pub formats: Vec<ParseFormat>,
}

/// File type that can be uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
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

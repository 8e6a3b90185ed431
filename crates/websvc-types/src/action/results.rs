//! Results of actions (specification, section 2.6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Results of the actions, in the order of the actions; a list is there when such an action ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ActionResults {
    /// URLs of the screenshots; they expire after 24 hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub screenshots: Vec<String>,
    /// The page as it was at each `scrape`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scrapes: Vec<ActionScrape>,
    /// Return values of the scripts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub javascript_returns: Vec<JavascriptReturn>,
    /// URLs of the PDFs; they expire after 24 hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pdfs: Vec<String>,
}

/// The page in the middle of the actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionScrape {
    /// The URL that it had then.
    pub url: String,
    /// Its HTML as it was then.
    pub html: String,
}

/// Return value of a script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JavascriptReturn {
    /// JavaScript type of the value: `string`, `number`, `boolean`, `object`, `undefined`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The value; null where JSON has no such value.
    pub value: Value,
}

//! Results of actions (specification, section 2.6).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Results of the actions, in their order. A list is present if an action of its kind ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ActionResults {
    /// URLs of the screenshots; they expire after 24 hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub screenshots: Vec<String>,
    /// State of the page at each `scrape` action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scrapes: Vec<ActionScrape>,
    /// Return values of the `executeJavascript` actions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub javascript_returns: Vec<JavascriptReturn>,
    /// URLs of the PDFs; they expire after 24 hours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pdfs: Vec<String>,
}

/// State of a page at a `scrape` action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ActionScrape {
    /// URL of the page at that time.
    pub url: String,
    /// HTML of the page at that time.
    pub html: String,
}

/// Return value of a script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct JavascriptReturn {
    /// JavaScript type of the value: `string`, `number`, `boolean`, `object`, `undefined`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Returned value; null if JSON cannot express it.
    pub value: Value,
}

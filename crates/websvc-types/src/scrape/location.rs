//! Where a page is visited from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{COUNTRY_DEFAULT, LANGUAGES_MAX};

/// The place a page is visited from: selects a proxy if there is one, and emulates language and time zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Location {
    /// Country by its ISO 3166-1 alpha-2 code in upper case. Default: US.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[A-Z]{2}$"), extend("default" = COUNTRY_DEFAULT))]
    pub country: Option<String>,
    /// Languages by their locale codes, the preferred first. Default: the language of the country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", length(max = LANGUAGES_MAX))]
    pub languages: Option<Vec<String>>,
}

//! Location that a page is visited from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::country::add_pattern;
use crate::limits::{COUNTRY_DEFAULT, LANGUAGE_MAX_CHARS, LANGUAGES_MAX};
use crate::pattern::LANGUAGE;

/// The place a page is visited from: selects a proxy if there is one, and emulates language and time zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Location {
    /// Country by its ISO 3166-1 alpha-2 code, in any case. Default: US.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = COUNTRY_DEFAULT), transform = add_pattern)]
    pub country: Option<String>,
    /// Languages by their locale codes, the preferred first. Default: the language of the country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = LANGUAGES_MAX), inner(length(max = LANGUAGE_MAX_CHARS), regex(pattern = LANGUAGE)))]
    pub languages: Option<Vec<String>>,
    /// City of the visit. Pages are visited from a country: beside it, the city has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
}

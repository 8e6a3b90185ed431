//! Location that a page is visited from.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::country::add_pattern;
use crate::limits::{COUNTRY_DEFAULT, LANGUAGE_MAX_CHARS, LANGUAGES_MAX};
use crate::pattern::LANGUAGE;

/// Location that a page is visited from: selects a proxy if there is one, and emulates language and time zone.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(default)]
pub struct Location {
    /// Country: an ISO 3166-1 alpha-2 code in any letter case. Default: US.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = COUNTRY_DEFAULT), transform = add_pattern))]
    pub country: Option<String>,
    /// Languages, the preferred one first: at most 20 BCP 47 tags such as `pt-BR`, each at most 35 characters. Default:
    /// the language of the country.
    #[cfg_attr(feature = "schemars", schemars(length(max = LANGUAGES_MAX), inner(length(max = LANGUAGE_MAX_CHARS), regex(pattern = LANGUAGE))))]
    pub languages: Option<Vec<String>>,
    /// City. Accepted for compatibility; only the country has an effect.
    pub city: Option<String>,
}

//! The regions of search engines, which consist of a language and a country.

use websvc_types::country::Country;

/// Returns the region of a country (ISO 3166-1 alpha-2 in upper case), such as `de-AT`.
pub(super) fn region(country: &str) -> Option<String> {
    main_language(country).map(|language| format!("{language}-{country}"))
}

/// Returns the language of most results of a country.
pub(super) fn main_language(country: &str) -> Option<&'static str> {
    Country::from_code(country)?.search_language
}

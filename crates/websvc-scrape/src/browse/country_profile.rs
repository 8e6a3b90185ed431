//! Country profiles: time zone, language and coordinates of a browser in the capital of each country.

use websvc_types::country::{CapitalLocale, Country};

/// The locale of a browser in the capital of a country.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CountryProfile {
    /// The code of the country (ISO 3166-1 alpha-2).
    country: &'static str,
    pub(crate) capital: &'static CapitalLocale,
}

impl CountryProfile {
    /// Returns the profile of a country; `None` for the two uninhabited ones.
    pub(crate) fn from_country(country: &str) -> Option<Self> {
        let country = Country::from_code(country)?;
        Some(Self { country: country.code, capital: country.capital.as_ref()? })
    }

    /// Returns the languages that a browser there requests: its locale and its language. `None` for Antarctica, which
    /// has no language.
    pub(crate) fn languages(self) -> Option<[String; 2]> {
        let language = self.capital.language;
        (language != "und").then(|| [self.locale(), language.to_owned()])
    }

    /// Returns the language and country as one name, such as `de-AT`.
    pub(crate) fn locale(self) -> String {
        format!("{}-{}", self.capital.language, self.country)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_has_coordinates_of_the_capital() {
        let berlin = CountryProfile::from_country("DE").unwrap();
        let CapitalLocale { timezone, latitude, longitude, .. } = berlin.capital;
        assert_eq!((*timezone, berlin.locale().as_str()), ("Europe/Berlin", "de-DE"));
        assert!((latitude - 52.5).abs() < 0.5 && (longitude - 13.4).abs() < 0.5);
        assert_eq!(CountryProfile::from_country("BV"), None);
    }
}

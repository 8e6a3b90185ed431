//! Finds the country of a `location` (specification 2.1: `city,region,country` or a country).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use websvc_types::country::{COUNTRIES, Country};

use super::SourceRequest;

/// Returns the country of the user. The location of a source takes precedence over the country of the request.
pub(super) fn country_meant<'a>(request: &SourceRequest<'a>) -> Option<&'a str> {
    request.location.and_then(country_of).or(request.country)
}

/// Returns a warning if the country of the location is unknown.
pub(super) fn unknown_location_warning(request: &SourceRequest<'_>) -> Option<String> {
    let location = request.location.filter(|location| country_of(location).is_none())?;
    Some(format!("location \"{location}\": it does not end with a known country and was ignored"))
}

/// Returns the country of `location` (ISO 3166-1 alpha-2 in upper case). Its last part is a name in English or a code.
/// `None` if it is neither.
pub(super) fn country_of(location: &str) -> Option<&'static str> {
    let last = location.rsplit(',').next()?;
    let name: String = last.nfd().filter(|&c| !is_combining_mark(c)).flat_map(char::to_lowercase).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ").replace(" & ", " and ");
    let named = COUNTRIES.iter().find(|country| country.names.contains(&name.as_str()));
    named.or_else(|| Country::from_code(&name.to_ascii_uppercase())).map(|country| country.code)
}

#[cfg(test)]
mod tests {
    use super::country_of;

    #[test]
    fn country_is_found_by_the_last_part_of_a_location() {
        for (location, country) in [
            ("Germany", Some("DE")),
            ("San Francisco,California,United States", Some("US")),
            ("London, England, UK", Some("GB")),
            ("  cote  d'ivoire ", Some("CI")),
            ("Abidjan,,Côte d'Ivoire", Some("CI")),
            ("Seoul,South Korea", Some("KR")),
            ("jp", Some("JP")),
            ("Sarajevo,Bosnia & Herzegovina", Some("BA")),
            ("Georgia", Some("GE")),
            ("Berlin", None),
            ("Germany,", None),
            ("", None),
        ] {
            assert_eq!(country_of(location), country, "{location}");
        }
    }
}

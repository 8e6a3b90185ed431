//! Finds the country and the places of a `location` (specification 2.1: `city,region,country` or a country).

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use websvc_index::Place;
use websvc_types::country::{COUNTRIES, Country};

use super::SourceRequest;
use super::city_names::names_of;

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

/// Returns the city and the region of `location`, the nearest first; none if its last part is not a country.
pub(super) fn places_of(location: &str) -> Vec<Place> {
    /// Maximum parts before the country that count.
    const MAX_PLACES: usize = 2;
    /// Maximum bytes of a name; a longer text is not the name of a place.
    const MAX_NAME_BYTES: usize = 100;
    let Some((places, _)) = location.rsplit_once(',').filter(|_| country_of(location).is_some()) else {
        return Vec::new();
    };
    let names = places.split(',').map(str::trim).filter(|name| (1..=MAX_NAME_BYTES).contains(&name.len()));
    let place = |(index, name)| Place { names: names_of(name), is_region: index > 0 };
    names.take(MAX_PLACES).enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::{country_of, places_of};

    #[test]
    fn places_are_the_parts_before_the_country() {
        let check = |location: &str, expected: &[(&str, bool)]| {
            let places = places_of(location);
            let found: Vec<_> =
                places.iter().map(|place| (place.names[0].as_str(), place.is_region)).collect();
            assert_eq!(found, expected, "{location}");
        };
        check("Munich, Bavaria, Germany", &[("Munich", false), ("Bavaria", true)]);
        check("Paris,,FR", &[("Paris", false)]);
        check("Soho,London,England,UK", &[("Soho", false), ("London", true)]);
        check("Germany", &[]);
        check("Munich", &[]);
        assert_eq!(places_of("Köln, Germany")[0].names, ["Köln", "Cologne"]);
    }

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

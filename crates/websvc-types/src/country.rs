//! Countries: their codes (ISO 3166-1 alpha-2), and the data of other crates about them.

use std::sync::LazyLock;

#[cfg(feature = "schemars")]
use schemars::Schema;

/// All assigned codes, in alphabetical order.
pub const CODES: &[&str] = &[
    "AD", "AE", "AF", "AG", "AI", "AL", "AM", "AO", "AQ", "AR", "AS", "AT", "AU", "AW", "AX", "AZ", "BA",
    "BB", "BD", "BE", "BF", "BG", "BH", "BI", "BJ", "BL", "BM", "BN", "BO", "BQ", "BR", "BS", "BT", "BV",
    "BW", "BY", "BZ", "CA", "CC", "CD", "CF", "CG", "CH", "CI", "CK", "CL", "CM", "CN", "CO", "CR", "CU",
    "CV", "CW", "CX", "CY", "CZ", "DE", "DJ", "DK", "DM", "DO", "DZ", "EC", "EE", "EG", "EH", "ER", "ES",
    "ET", "FI", "FJ", "FK", "FM", "FO", "FR", "GA", "GB", "GD", "GE", "GF", "GG", "GH", "GI", "GL", "GM",
    "GN", "GP", "GQ", "GR", "GS", "GT", "GU", "GW", "GY", "HK", "HM", "HN", "HR", "HT", "HU", "ID", "IE",
    "IL", "IM", "IN", "IO", "IQ", "IR", "IS", "IT", "JE", "JM", "JO", "JP", "KE", "KG", "KH", "KI", "KM",
    "KN", "KP", "KR", "KW", "KY", "KZ", "LA", "LB", "LC", "LI", "LK", "LR", "LS", "LT", "LU", "LV", "LY",
    "MA", "MC", "MD", "ME", "MF", "MG", "MH", "MK", "ML", "MM", "MN", "MO", "MP", "MQ", "MR", "MS", "MT",
    "MU", "MV", "MW", "MX", "MY", "MZ", "NA", "NC", "NE", "NF", "NG", "NI", "NL", "NO", "NP", "NR", "NU",
    "NZ", "OM", "PA", "PE", "PF", "PG", "PH", "PK", "PL", "PM", "PN", "PR", "PS", "PT", "PW", "PY", "QA",
    "RE", "RO", "RS", "RU", "RW", "SA", "SB", "SC", "SD", "SE", "SG", "SH", "SI", "SJ", "SK", "SL", "SM",
    "SN", "SO", "SR", "SS", "ST", "SV", "SX", "SY", "SZ", "TC", "TD", "TF", "TG", "TH", "TJ", "TK", "TL",
    "TM", "TN", "TO", "TR", "TT", "TV", "TW", "TZ", "UA", "UG", "UM", "US", "UY", "UZ", "VA", "VC", "VE",
    "VG", "VI", "VN", "VU", "WF", "WS", "YE", "YT", "ZA", "ZM", "ZW",
];

/// Code that examples of the specification use for the United Kingdom; read as `GB`.
pub const UNITED_KINGDOM: &str = "UK";

/// A country.
#[derive(Debug, PartialEq)]
pub struct Country {
    /// The code (ISO 3166-1 alpha-2).
    pub code: &'static str,
    /// The locale in its capital; `None` for the two uninhabited countries.
    pub capital: Option<CapitalLocale>,
    /// The language of most search results, for the countries that the engines of SearXNG share.
    pub search_language: Option<&'static str>,
    /// Its English names in lower case without accents.
    pub names: Vec<&'static str>,
}

/// The locale in the capital of a country.
#[derive(Debug, PartialEq)]
pub struct CapitalLocale {
    /// The time zone (IANA name).
    pub timezone: &'static str,
    /// The official language with the most speakers (CLDR); `und` for Antarctica, which has none.
    pub language: &'static str,
    /// The latitude, in degrees north.
    pub latitude: f32,
    /// The longitude, in degrees east.
    pub longitude: f32,
}

/// All countries, sorted by code.
pub static COUNTRIES: LazyLock<Vec<Country>> = LazyLock::new(|| {
    let rows = include_str!("countries.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| Country::parse(row).unwrap_or_else(|| panic!("countries.tsv: {row}"))).collect()
});

impl Country {
    /// Returns the country with a code in upper case.
    #[must_use]
    pub fn from_code(code: &str) -> Option<&'static Self> {
        let position = COUNTRIES.binary_search_by(|country| country.code.cmp(code));
        position.ok().map(|position| &COUNTRIES[position])
    }

    /// Parses a row of the table. Its columns are named in its first line.
    fn parse(row: &'static str) -> Option<Self> {
        let columns: Vec<&str> = row.split('\t').collect();
        let [code, timezone, language, latitude, longitude, search_language, names] = columns[..] else {
            return None;
        };
        let capital = if timezone.is_empty() {
            None
        } else {
            let (latitude, longitude) = (latitude.parse().ok()?, longitude.parse().ok()?);
            Some(CapitalLocale { timezone, language, latitude, longitude })
        };
        let search_language = Some(search_language).filter(|language| !language.is_empty());
        Some(Self { code, capital, search_language, names: names.split('|').collect() })
    }
}

/// Adds the pattern of a country code in any letter case. The empty string counts as not given.
#[cfg(feature = "schemars")]
pub(crate) fn add_pattern(schema: &mut Schema) {
    schema.insert("pattern".to_owned(), format!("^({})?$", alternatives()).into());
}

/// Returns a pattern with one alternative per first letter, followed by the class of its second letters, in either
/// case.
fn alternatives() -> String {
    let mut codes: Vec<&str> = CODES.iter().copied().chain([UNITED_KINGDOM]).collect();
    codes.sort_unstable();
    let mut pattern = String::new();
    for group in codes.chunk_by(|a, b| a.as_bytes()[0] == b.as_bytes()[0]) {
        if !pattern.is_empty() {
            pattern.push('|');
        }
        let second: String = group.iter().map(|code| &code[1..]).collect();
        let (first, lower) = (&group[0][..1], second.to_ascii_lowercase());
        pattern.push_str(&format!("[{first}{}][{second}{lower}]", first.to_ascii_lowercase()));
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_a_country_with_names_and_every_inhabited_one_has_a_capital() {
        let codes: Vec<&str> = COUNTRIES.iter().map(|country| country.code).collect();
        assert_eq!(codes, CODES);
        assert!(codes.is_sorted() && codes.len() == 249);
        for country in COUNTRIES.iter() {
            let is_inhabited = !["BV", "HM"].contains(&country.code);
            assert_eq!(country.capital.is_some(), is_inhabited, "{country:?}");
            assert!(country.names.iter().all(|name| !name.is_empty()), "{country:?}");
            let coordinates = country.capital.iter().map(|capital| (capital.latitude, capital.longitude));
            for (latitude, longitude) in coordinates {
                assert!(latitude.abs() <= 90.0 && longitude.abs() <= 180.0, "{country:?}");
            }
        }
    }
}

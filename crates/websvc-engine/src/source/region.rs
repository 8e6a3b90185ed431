//! The region of a country as engines name it: language and country.

/// The countries with the language most results there are in, by the regions that SearXNG's engines share.
const LANGUAGES: &[(&str, &str)] = &[
    ("AR", "es"),
    ("AT", "de"),
    ("AU", "en"),
    ("BE", "nl"),
    ("BG", "bg"),
    ("BR", "pt"),
    ("CA", "en"),
    ("CH", "de"),
    ("CL", "es"),
    ("CN", "zh"),
    ("CO", "es"),
    ("CZ", "cs"),
    ("DE", "de"),
    ("DK", "da"),
    ("EE", "et"),
    ("ES", "es"),
    ("FI", "fi"),
    ("FR", "fr"),
    ("GB", "en"),
    ("GR", "el"),
    ("HK", "zh"),
    ("HR", "hr"),
    ("HU", "hu"),
    ("ID", "id"),
    ("IE", "en"),
    ("IL", "he"),
    ("IN", "en"),
    ("IS", "is"),
    ("IT", "it"),
    ("JP", "ja"),
    ("KR", "ko"),
    ("LT", "lt"),
    ("LV", "lv"),
    ("MX", "es"),
    ("MY", "en"),
    ("NL", "nl"),
    ("NO", "nb"),
    ("NZ", "en"),
    ("PE", "es"),
    ("PH", "en"),
    ("PL", "pl"),
    ("PT", "pt"),
    ("RO", "ro"),
    ("RU", "ru"),
    ("SA", "ar"),
    ("SE", "sv"),
    ("SG", "en"),
    ("SI", "sl"),
    ("SK", "sk"),
    ("TH", "th"),
    ("TR", "tr"),
    ("TW", "zh"),
    ("UA", "uk"),
    ("US", "en"),
    ("VE", "es"),
    ("VN", "vi"),
    ("ZA", "en"),
];

/// Returns the region for a country (ISO 3166-1 alpha-2 in upper case), such as `de-AT`.
pub(super) fn language(country: &str) -> Option<String> {
    main_language(country).map(|language| format!("{language}-{country}"))
}

/// Returns the language most results of a country are in.
pub(super) fn main_language(country: &str) -> Option<&'static str> {
    LANGUAGES.iter().find(|(known, _)| *known == country).map(|(_, language)| *language)
}

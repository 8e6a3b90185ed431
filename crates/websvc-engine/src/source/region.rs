//! The regions of search engines, which consist of a language and a country.

/// Countries and their main languages, for the regions that the engines of SearXNG share.
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

/// Returns the region of a country (ISO 3166-1 alpha-2 in upper case), such as `de-AT`.
pub(super) fn region(country: &str) -> Option<String> {
    main_language(country).map(|language| format!("{language}-{country}"))
}

/// Returns the language of most results of a country.
pub(super) fn main_language(country: &str) -> Option<&'static str> {
    LANGUAGES.iter().find(|(code, _)| *code == country).map(|(_, language)| *language)
}

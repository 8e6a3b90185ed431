//! Country codes of ISO 3166-1 alpha-2.

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

/// Adds the pattern of a country code in any letter case. The empty string counts as not given.
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

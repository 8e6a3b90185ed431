//! Countries by their ISO 3166-1 alpha-2 codes.

use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::{Report, quoted};

/// The assigned codes, in order.
const CODES: &[&str] = &[
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

/// Checks the country of a searcher: any case. `UK`, which the specification's examples have, is read as GB.
pub(crate) fn of_searcher(report: &mut Report, path: &Path<'_>, text: &str) -> Option<&'static str> {
    let country =
        if text.is_ascii() && text.len() == 2 { assigned(&text.to_ascii_uppercase()) } else { None };
    if country.is_none() {
        unknown(report, path, text, "an ISO 3166-1 alpha-2 country code such as US or DE");
    }
    country
}

/// Checks the country from which a page is visited: two upper-case letters.
pub(crate) fn of_visit(report: &mut Report, path: &Path<'_>, text: &str) -> Option<&'static str> {
    let country = assigned(text);
    if country.is_none() {
        unknown(report, path, text, "an ISO 3166-1 alpha-2 country code in upper case such as US or DE");
    }
    country
}

fn assigned(code: &str) -> Option<&'static str> {
    let code = if code == "UK" { "GB" } else { code };
    CODES.binary_search(&code).ok().map(|position| CODES[position])
}

fn unknown(report: &mut Report, path: &Path<'_>, text: &str, expected: &str) {
    report.violation(path, ViolationCode::UnknownValue, |name| {
        format!("{name} must be {expected}, not {}", quoted(text))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete_and_sorted() {
        assert_eq!(CODES.len(), 249);
        assert!(CODES.is_sorted_by(|a, b| a < b));
    }
}

//! Country codes of ISO 3166-1 alpha-2.

use websvc_types::ViolationCode;
use websvc_types::country::{CODES, UNITED_KINGDOM};

use crate::path::Path;
use crate::report::{Report, quoted};

/// Checks a country code, in any letter case. `UK` is read as `GB`. An empty text counts as absent.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, text: Option<&str>) -> Option<&'static str> {
    let text = text.filter(|text| !text.is_empty())?;
    let country =
        if text.is_ascii() && text.len() == 2 { assigned(&text.to_ascii_uppercase()) } else { None };
    if country.is_none() {
        report.violation(path, ViolationCode::UnknownValue, |name| {
            let text = quoted(text);
            format!("{name} must be an ISO 3166-1 alpha-2 country code such as US or DE, not {text}")
        });
    }
    country
}

fn assigned(code: &str) -> Option<&'static str> {
    let code = if code == UNITED_KINGDOM { "GB" } else { code };
    CODES.binary_search(&code).ok().map(|position| CODES[position])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn country_codes_are_complete_and_sorted() {
        assert_eq!(CODES.len(), 249);
        assert!(CODES.is_sorted_by(|a, b| a < b));
    }
}

//! Countries by their ISO 3166-1 alpha-2 codes.

use websvc_types::ViolationCode;
use websvc_types::country::{CODES, UNITED_KINGDOM};

use crate::path::Path;
use crate::report::{Report, quoted};

/// Checks the country of a searcher: any case. `UK` is read as GB.
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
    let code = if code == UNITED_KINGDOM { "GB" } else { code };
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

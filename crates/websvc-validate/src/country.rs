//! Countries by their ISO 3166-1 alpha-2 codes.

use websvc_types::ViolationCode;
use websvc_types::country::{CODES, UNITED_KINGDOM};

use crate::path::Path;
use crate::report::{Report, quoted};

/// Checks the country of a searcher or of a visit: any case. `UK` is read as GB, and an empty text is not given.
pub(crate) fn check(report: &mut Report, path: &Path<'_>, text: Option<&str>) -> Option<&'static str> {
    let text = text.filter(|text| !text.is_empty())?;
    let country =
        if text.is_ascii() && text.len() == 2 { assigned(&text.to_ascii_uppercase()) } else { None };
    if country.is_none() {
        report.violation(path, ViolationCode::UnknownValue, |name| {
            let given = quoted(text);
            format!("{name} must be an ISO 3166-1 alpha-2 country code such as US or DE, not {given}")
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
    fn the_table_is_complete_and_sorted() {
        assert_eq!(CODES.len(), 249);
        assert!(CODES.is_sorted_by(|a, b| a < b));
    }
}

//! Parameters of query strings.

use std::num::{IntErrorKind, ParseIntError};

use websvc_types::{Violation, ViolationCode};

use crate::response::ApiError;

/// Returns a parameter of a query string.
pub(super) fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.find_map(|(found, value)| (found == name).then(|| value.into_owned()))
}

/// Parses a whole number of at least `min`. Numbers that are larger than a `u64` count as the largest one: at such a
/// position of a list nothing follows, and no list has so many items.
///
/// # Errors
/// 400 that names the value and the rule.
pub(super) fn whole_number(name: &str, text: &str, min: u64) -> Result<u64, ApiError> {
    number(name, text, min, &format!("a whole number of at least {min}"))
}

/// Parses a number like [`whole_number`], with `rule` in the error, such as `a time in milliseconds`.
///
/// # Errors
/// 400 that names the value and the rule.
pub(super) fn number(name: &str, text: &str, min: u64, rule: &str) -> Result<u64, ApiError> {
    let parsed = text.parse().or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => Ok(u64::MAX),
        _ => Err(error),
    });
    parsed.ok().filter(|number| *number >= min).ok_or_else(|| {
        invalid(name, ViolationCode::InvalidType, format!("{name} must be {rule}, not {text:?}"))
    })
}

/// Returns the error 400 of the parameter `name`.
pub(super) fn invalid(name: &str, code: ViolationCode, message: String) -> ApiError {
    ApiError::invalid_query(vec![Violation { path: format!("/{name}"), code, message }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_is_too_large_is_the_largest_one() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(whole_number("skip", text, 0).ok(), expected, "{text:?}");
        };
        check("0", Some(0));
        check("9223372036854775808", Some(1 << 63));
        check("18446744073709551615", Some(u64::MAX));
        check("18446744073709551616", Some(u64::MAX));
        for wrong in ["", "-1", "1.5", "1e3", "x"] {
            check(wrong, None);
        }
    }

    #[test]
    fn error_names_the_value_and_the_rule() {
        let error = whole_number("limit", "0", 1).expect_err("a number that is too small");
        let text = error.as_text();
        assert!(text.starts_with("Invalid query parameter\n/limit: "), "{text}");
        assert!(text.contains("limit must be a whole number of at least 1, not \"0\""), "{text}");
    }
}

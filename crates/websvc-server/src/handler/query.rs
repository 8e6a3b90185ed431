//! Parameters of query strings.

use std::num::{IntErrorKind, ParseIntError};

use websvc_types::{ErrorCode, Violation, ViolationCode};

use crate::response::ApiError;

/// Parses the position at which a part of a list begins. All numbers that are larger than any position count as the
/// largest one, because nothing follows it.
///
/// # Errors
/// 400 that names the value and the rule, such as `a whole number of at least 0`.
pub(super) fn position(name: &str, text: &str, rule: &str) -> Result<u64, ApiError> {
    text.parse().or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => Ok(u64::MAX),
        _ => {
            let (path, code) = (format!("/{name}"), ViolationCode::InvalidType);
            let message = format!("{name} must be {rule}, not {text:?}");
            Err(ApiError::invalid(ErrorCode::BadRequest, vec![Violation { path, code, message }]))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_above_every_position_is_the_largest_one() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(position("skip", text, "a number").ok(), expected, "{text:?}");
        };
        check("0", Some(0));
        check("9223372036854775808", Some(1 << 63));
        check("18446744073709551615", Some(u64::MAX));
        check("18446744073709551616", Some(u64::MAX));
        for wrong in ["", "-1", "1.5", "1e3", "x"] {
            check(wrong, None);
        }
    }
}

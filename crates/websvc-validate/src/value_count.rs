//! Limit of the number of values in a body, checked before the body is parsed.
//!
//! A short value takes many times as much memory in a tree or in a request as it does in the body: `{"":0}` has six bytes
//! and becomes several hundred. So a body has to be long in order to have many values, and then the memory that it needs is
//! a small multiple of its size. Counting needs no memory, and is many times as fast as parsing.

use websvc_types::limits::{BODY_BYTES_PER_VALUE, BODY_VALUES_MAX};
use websvc_types::{Violation, ViolationCode};

use crate::error::Rejection;

/// Checks that a JSON body has at most 20,000 values and field names, or at least 48 bytes for each of them. Call this
/// before a body is parsed by anything that builds a value for each value in it; the functions of this crate that read
/// bodies do.
///
/// # Errors
/// [`Rejection::Invalid`] with the number of values and the limit. A body that is not JSON has none of its own errors.
pub fn check_values(body: &[u8]) -> Result<(), Rejection> {
    check_value_count(body, BODY_BYTES_PER_VALUE)
}

/// Checks a body like [`check_values`], with another number of bytes for each value.
pub(crate) fn check_value_count(body: &[u8], bytes_per_value: usize) -> Result<(), Rejection> {
    let max = BODY_VALUES_MAX.max(body.len() / bytes_per_value);
    // A value has at least one byte, and a separator after it.
    if body.len() / 2 < max {
        return Ok(());
    }
    let count = count(body);
    if count <= max {
        return Ok(());
    }
    let message = format!(
        "the body has {count} values and field names; a body of {} bytes may have at most {max}, which is \
         {BODY_VALUES_MAX} or one for every {bytes_per_value} bytes",
        body.len()
    );
    Err(Rejection::Invalid(vec![Violation { path: String::new(), code: ViolationCode::TooLong, message }]))
}

/// Returns the number of values and field names in a JSON text; an empty list or object counts as two. In a text that is
/// not JSON, the parser reads at most this many before it fails.
fn count(json: &[u8]) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in json {
        if in_string {
            in_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
        } else {
            in_string = *byte == b'"';
            count += usize::from(matches!(byte, b',' | b':' | b'[' | b'{'));
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_field_names_are_counted_outside_of_strings() {
        for (json, expected) in [
            ("1", 1),
            (r#""a,b:[{""#, 1),
            (r#""a\",b""#, 1),
            (r#"["a\\",1]"#, 3),
            (r#"{"a":1,"b":[2,{"c":null}]}"#, 9),
            ("[]", 2),
        ] {
            assert_eq!(count(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn nesting_is_limited_by_the_parser() {
        let nested =
            |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        assert!(crate::read_object(nested(127).as_bytes()).is_ok());
        let deeper = crate::read_object(nested(128).as_bytes());
        assert!(matches!(deeper, Err(Rejection::Json { .. })), "{deeper:?}");
    }

    #[test]
    fn body_has_to_be_long_to_have_many_values() {
        let list = |items: usize, item: &str| format!("[{}]", vec![item; items].join(","));
        let long = format!("{:1$}", 0, BODY_BYTES_PER_VALUE);
        for (items, item, is_accepted) in [
            (BODY_VALUES_MAX - 1, "0", true),
            (BODY_VALUES_MAX, "0", false),
            (10 * BODY_VALUES_MAX, "0", false),
            (10 * BODY_VALUES_MAX, long.as_str(), true),
        ] {
            let body = list(items, item);
            let outcome = check_values(body.as_bytes());
            assert_eq!(outcome.is_ok(), is_accepted, "{items} items of {} bytes: {outcome:?}", item.len());
        }
        let Err(Rejection::Invalid(violations)) = check_values(list(BODY_VALUES_MAX, "0").as_bytes()) else {
            panic!("it has one value too many")
        };
        assert_eq!(
            violations[0].message,
            "the body has 20001 values and field names; a body of 40001 bytes may have at most 20000, which is 20000 \
             or one for every 48 bytes"
        );
    }
}

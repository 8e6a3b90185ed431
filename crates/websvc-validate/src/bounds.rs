//! Checks of the range of numbers and of the length of texts and lists.

use std::fmt::Display;

use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::Report;

/// Checks that a number is between `min` and `max`, and returns whether it is.
pub(crate) fn number<T: PartialOrd + Display + Copy>(
    report: &mut Report,
    path: &Path<'_>,
    value: T,
    min: T,
    max: T,
) -> bool {
    if value < min {
        outside(report, path, ViolationCode::TooSmall, &min, &max, &value);
    } else if value > max {
        outside(report, path, ViolationCode::TooBig, &min, &max, &value);
    } else {
        return true;
    }
    false
}

/// Reports a number that is not between `min` and `max`.
pub(crate) fn outside(
    report: &mut Report,
    path: &Path<'_>,
    code: ViolationCode,
    min: &dyn Display,
    max: &dyn Display,
    value: &dyn Display,
) {
    report.violation(path, code, |name| format!("{name} must be between {min} and {max}, not {value}"));
}

/// Checks the length of a text in Unicode scalar values, and returns whether it is valid.
pub(crate) fn chars(report: &mut Report, path: &Path<'_>, text: &str, min: u32, max: u32) -> bool {
    // A text with at most `max` bytes has at most `max` characters, so most texts need no count.
    if text.len() > max as usize {
        let length = text.chars().count();
        if length > max as usize {
            report.violation(path, ViolationCode::TooLong, |name| {
                format!("{name} must have at most {max} characters, not {length}")
            });
            return false;
        }
    }
    if text.chars().take(min as usize).count() < min as usize {
        report.violation(path, ViolationCode::TooShort, |name| match min {
            1 => format!("{name} must not be empty"),
            _ => format!("{name} must have at least {min} characters"),
        });
        return false;
    }
    true
}

/// Checks that a text has a character other than white space, and returns whether it has.
pub(crate) fn not_blank(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    let is_blank = text.trim().is_empty();
    if is_blank {
        report.violation(path, ViolationCode::TooShort, |name| format!("{name} must not be empty"));
    }
    !is_blank
}

/// Checks that a list has at most `max` items, and returns whether it has.
pub(crate) fn items(report: &mut Report, path: &Path<'_>, length: usize, max: usize) -> bool {
    let fits = length <= max;
    if !fits {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {max} items, not {length}")
        });
    }
    fits
}

//! Bounds of numbers, texts and lists.

use std::fmt::Display;

use websvc_types::ViolationCode;

use crate::path::Path;
use crate::report::Report;

/// Checks a number; tells whether it is within its bounds.
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

/// Reports a number outside of its bounds.
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

/// Checks the length of a text in Unicode scalar values; tells whether it is within its bounds.
pub(crate) fn chars(report: &mut Report, path: &Path<'_>, text: &str, min: u32, max: u32) -> bool {
    // As many bytes as characters are allowed cannot be too many characters: the usual text is not counted.
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

/// Checks that a text says something.
pub(crate) fn not_blank(report: &mut Report, path: &Path<'_>, text: &str) -> bool {
    let blank = text.trim().is_empty();
    if blank {
        report.violation(path, ViolationCode::TooShort, |name| format!("{name} must not be empty"));
    }
    !blank
}

/// Checks how many items a list has.
pub(crate) fn items(report: &mut Report, path: &Path<'_>, length: usize, max: usize) -> bool {
    let fits = length <= max;
    if !fits {
        report.violation(path, ViolationCode::TooLong, |name| {
            format!("{name} must have at most {max} items, not {length}")
        });
    }
    fits
}

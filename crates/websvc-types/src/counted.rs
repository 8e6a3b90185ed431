//! Numbers with their nouns, for texts such as warnings and errors.

use std::fmt::Display;

/// Returns a number with the words that follow it in the singular or in the plural.
///
/// ```
/// use websvc_types::counted;
///
/// assert_eq!(counted(1_u64, "credit", "credits"), "1 credit");
/// assert_eq!(counted(0_usize, "page was skipped", "pages were skipped"), "0 pages were skipped");
/// ```
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    format!("{count} {}", if count == N::from(1) { one } else { many })
}

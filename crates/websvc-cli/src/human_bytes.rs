//! Sizes for people.

use std::fmt;

/// A number of bytes, written with a unit such as `1.46 KiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HumanBytes(pub(crate) u64);

impl fmt::Display for HumanBytes {
    #[expect(clippy::cast_precision_loss, reason = "two decimal places for a person to read")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIXES: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
        let (mut number, mut prefix) = (self.0 as f64, None);
        for larger in PREFIXES {
            if number < 1024.0 {
                break;
            }
            (number, prefix) = (number / 1024.0, Some(larger));
        }
        match prefix {
            None => write!(f, "{number:.0} B"),
            Some(prefix) => write!(f, "{number:.2} {prefix}B"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_below_them() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.00 KiB"),
            (1_500, "1.46 KiB"),
            (1_500_000, "1.43 MiB"),
            (1_500_000_000, "1.40 GiB"),
            (u64::MAX, "16.00 EiB"),
        ] {
            assert_eq!(HumanBytes(bytes).to_string(), expected);
        }
    }
}

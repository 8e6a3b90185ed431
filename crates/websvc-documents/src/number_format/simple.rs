//! Formats that most cells have, such as `#,##0.00 "kr"`, without the work that others need.

use super::part::Part;

/// The largest number of digits that are formatted here, because a float has about 15.
const MAX_DIGITS: f64 = 1e15;
/// The maximum number of decimals.
const MAX_DECIMALS: usize = 9;

/// A format of digits with text around them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Simple {
    prefix: String,
    suffix: String,
    /// The minimum number of digits before the point, and the number of those after it.
    whole_digits: usize,
    decimals: usize,
    is_grouped: bool,
    factor: f64,
}

impl Simple {
    /// Creates the format of the parts of a section; `None` if it needs more.
    pub(super) fn new(parts: &[Part]) -> Option<Self> {
        let is_number = |part: &Part| matches!(part, Part::Digit(_) | Part::Comma | Part::Point);
        let start = parts.iter().position(is_number)?;
        let end = parts.iter().rposition(is_number)? + 1;
        let digits = &parts[start..end];
        let is_other = |part: &Part| !matches!(part, Part::Literal(_) | Part::Percent);
        if !digits.iter().all(is_number) || parts[..start].iter().chain(&parts[end..]).any(is_other) {
            return None;
        }
        let point = digits.iter().position(|part| *part == Part::Point).unwrap_or(digits.len());
        let (whole, decimals) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
        let is_plain = matches!(whole.last(), Some(Part::Digit(_)))
            && matches!(whole.first(), Some(Part::Digit('0' | '#')))
            && !whole.contains(&Part::Digit('?'))
            && decimals.iter().all(|part| *part == Part::Digit('0'))
            && (point == digits.len() || !decimals.is_empty());
        if !is_plain || decimals.len() > MAX_DECIMALS {
            return None;
        }
        let percents = parts.iter().filter(|part| **part == Part::Percent).count();
        Some(Self {
            prefix: text(&parts[..start]),
            suffix: text(&parts[end..]),
            whole_digits: whole.iter().filter(|part| **part == Part::Digit('0')).count(),
            decimals: decimals.len(),
            is_grouped: whole.contains(&Part::Comma),
            factor: 10_f64.powi(2 * i32::try_from(percents).ok()?),
        })
    }

    /// Formats the absolute value of a number; `None` if it has too many digits.
    pub(super) fn format(&self, number: f64) -> Option<String> {
        let unit = 10_u64.pow(u32::try_from(self.decimals).ok()?);
        let scaled = number.abs() * self.factor * unit as f64;
        if scaled >= MAX_DIGITS {
            return None;
        }
        // Rounds the 15 digits that Excel shows: the binary fraction may be a bit smaller than its decimal one.
        let rounded = (scaled * (1.0 + 2.0 * f64::EPSILON) + 0.5).floor() as u64;
        let (whole, fraction) = (rounded / unit, rounded % unit);
        let mut text = String::with_capacity(self.prefix.len() + self.suffix.len() + 24);
        text.push_str(&self.prefix);
        self.push_whole(whole, &mut text);
        if self.decimals > 0 {
            text.push('.');
            push_digits(fraction, self.decimals, &mut text);
        }
        text.push_str(&self.suffix);
        Some(text)
    }

    fn push_whole(&self, whole: u64, text: &mut String) {
        let count = if whole == 0 { 0 } else { whole.ilog10() as usize + 1 };
        let width = count.max(self.whole_digits);
        let start = text.len();
        push_digits(whole, width, text);
        if self.is_grouped {
            let mut at = text.len();
            while at > start + 3 {
                at -= 3;
                text.insert(at, ',');
            }
        }
    }
}

/// Appends a number with leading zeros.
fn push_digits(number: u64, width: usize, text: &mut String) {
    let mut digits = [b'0'; 32];
    let (mut rest, width) = (number, width.min(digits.len()));
    for digit in digits[..width].iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
    }
    text.extend(digits[..width].iter().map(|digit| char::from(*digit)));
}

/// Returns the text of literals and percent signs.
fn text(parts: &[Part]) -> String {
    let pieces = parts.iter().map(|part| match part {
        Part::Literal(literal) => literal,
        _ => "%",
    });
    pieces.collect()
}

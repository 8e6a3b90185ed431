//! Formats numbers by the digits of a section: grouped, scaled, as percentages, fractions and with exponents.

use super::code::Section;
use super::format_number;
use super::part::Part;

/// The maximum number of decimals and of digits of a denominator.
const MAX_DECIMALS: usize = 30;
const MAX_DENOMINATOR_DIGITS: usize = 4;

/// Formats the absolute value of a number. `value` is the number as it is in the file.
pub(super) fn format(section: &Section, number: f64, value: &str) -> String {
    let number = number.abs();
    let parts = &section.parts;
    if parts.contains(&Part::General) {
        let text = format_number(number, value.trim_start_matches('-'));
        return literals(parts, &text, |part| *part == Part::General);
    }
    if !parts.iter().any(|part| matches!(part, Part::Digit(_))) {
        return literals(parts, "", |_| false);
    }
    if let Some(slash) = fraction_slash(parts) {
        return fraction(parts, slash, number);
    }
    let exponent = parts.iter().position(|part| matches!(part, Part::Exponent(_)));
    match exponent {
        Some(at) => scientific(parts, at, number),
        None => fixed(parts, number),
    }
}

/// Returns the literals of a section, with `text` in place of the first part that is wanted.
fn literals(parts: &[Part], text: &str, is_wanted: impl Fn(&Part) -> bool) -> String {
    let mut written = false;
    let pieces = parts.iter().map(|part| match part {
        part if is_wanted(part) && !written => {
            written = true;
            text
        }
        Part::Literal(literal) => literal,
        Part::Percent => "%",
        Part::Point => ".",
        Part::Slash => "/",
        _ => "",
    });
    pieces.collect()
}

fn is_digit(part: &Part) -> bool {
    matches!(part, Part::Digit(_))
}

/// Formats a number without an exponent.
fn fixed(parts: &[Part], number: f64) -> String {
    let point = parts.iter().position(|part| *part == Part::Point).unwrap_or(parts.len());
    let last_digit = parts[..point].iter().rposition(is_digit);
    let first_digit = parts[..point].iter().position(is_digit);
    let percents = parts.iter().filter(|part| **part == Part::Percent).count();
    // Commas after the last digit before the point divide by a thousand; one between digits groups them.
    let commas_after = |last: usize, end: usize| {
        parts[last + 1..end].iter().take_while(|part| **part == Part::Comma).count()
    };
    let very_last = parts.iter().rposition(is_digit).filter(|last| *last > point);
    let scale = last_digit.map_or(0, |last| commas_after(last, point))
        + very_last.map_or(0, |last| commas_after(last, parts.len()));
    let is_grouped = match (first_digit, last_digit) {
        (Some(first), Some(last)) => parts[first..last].contains(&Part::Comma),
        _ => false,
    };
    let power = i32::try_from(2 * percents).unwrap_or(0) - 3 * i32::try_from(scale).unwrap_or(0);
    let decimals = parts.iter().skip(point).filter(|part| is_digit(part)).count();
    let (whole, fraction) = decimal(number * 10_f64.powi(power), decimals.min(MAX_DECIMALS));
    let mut text = integer(&parts[..point], &whole, is_grouped);
    text.push_str(&decimals_text(&parts[point..], &fraction));
    text
}

/// Returns the digits before and after the point, rounded half away from zero as Excel does: from the 15 significant
/// digits that it shows, not from the binary fraction.
fn decimal(number: f64, decimals: usize) -> (String, String) {
    let text = format!("{number:.14e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    // The number of digits before the point, and of those that are kept.
    let mut before = exponent + 1;
    let kept = before + i64::try_from(decimals).unwrap_or(0);
    if kept < 0 {
        digits.clear();
    } else if let Ok(kept) = usize::try_from(kept)
        && kept < digits.len()
    {
        let rounds_up = digits[kept] >= 5;
        digits.truncate(kept);
        if rounds_up && !increment(&mut digits) {
            digits.insert(0, 1);
            before += 1;
        }
    }
    let digit = |index: i64| {
        usize::try_from(index).ok().and_then(|index| digits.get(index)).map_or('0', |d| char::from(b'0' + d))
    };
    let whole: String = (0..before.max(0)).map(digit).collect();
    let whole = whole.trim_start_matches('0').to_owned();
    let fraction = (before..before + i64::try_from(decimals).unwrap_or(0)).map(digit).collect();
    (whole, fraction)
}

/// Adds one to a number of digits. Returns `false` on overflow.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return true;
        }
        *digit = 0;
    }
    false
}

/// Fills the digits before the point from right to left. The first one takes all remaining digits.
fn integer(parts: &[Part], whole: &str, is_grouped: bool) -> String {
    let mut digits: Vec<char> = whole.chars().collect();
    let first = parts.iter().position(is_digit);
    let mut reversed: Vec<char> = Vec::new();
    let mut count = 0;
    let mut push = |digit: char, reversed: &mut Vec<char>| {
        if is_grouped && count > 0 && count % 3 == 0 && digit.is_ascii_digit() {
            reversed.push(',');
        }
        count += 1;
        reversed.push(digit);
    };
    for (index, part) in parts.iter().enumerate().rev() {
        match part {
            Part::Digit(kind) => {
                match (digits.pop(), kind) {
                    (Some(digit), _) => push(digit, &mut reversed),
                    (None, '0') => push('0', &mut reversed),
                    (None, '?') => push(' ', &mut reversed),
                    (None, _) => {}
                }
                if Some(index) == first {
                    while let Some(digit) = digits.pop() {
                        push(digit, &mut reversed);
                    }
                }
            }
            Part::Literal(literal) => reversed.extend(literal.chars().rev()),
            Part::Percent => reversed.push('%'),
            Part::Slash => reversed.push('/'),
            _ => {}
        }
    }
    // A format such as `.00` has no digit before the point.
    if first.is_none() {
        reversed.splice(0..0, digits.into_iter().rev());
    }
    reversed.into_iter().rev().collect()
}

/// Fills the digits after the point, and returns them with the point and the literals after it.
fn decimals_text(parts: &[Part], fraction: &str) -> String {
    let mut text = String::new();
    let mut digits = fraction.chars();
    let mut rest = fraction.len();
    let significant = fraction.trim_end_matches('0').len();
    for part in parts {
        match part {
            Part::Point => text.push('.'),
            Part::Digit(kind) => {
                let digit = digits.next().unwrap_or('0');
                let index = fraction.len() - rest;
                rest = rest.saturating_sub(1);
                match kind {
                    '0' => text.push(digit),
                    _ if index < significant => text.push(digit),
                    '?' => text.push(' '),
                    _ => {}
                }
            }
            Part::Literal(literal) => text.push_str(literal),
            Part::Percent => text.push('%'),
            Part::Slash => text.push('/'),
            _ => {}
        }
    }
    text
}

/// Formats a number with an exponent, which is a multiple of the number of digits before the point.
fn scientific(parts: &[Part], at: usize, number: f64) -> String {
    let (mantissa, after) = (&parts[..at], &parts[at + 1..]);
    let point = mantissa.iter().position(|part| *part == Part::Point).unwrap_or(mantissa.len());
    let width = i32::try_from(mantissa[..point].iter().filter(|part| is_digit(part)).count())
        .unwrap_or(1)
        .clamp(1, 9);
    let decimals = mantissa[point..].iter().filter(|part| is_digit(part)).count();
    let mut exponent = if number == 0.0 { 0 } else { number.log10().floor() as i32 };
    exponent = exponent.div_euclid(width) * width;
    let scaled = |exponent: i32| {
        if exponent < -300 {
            number * 1e300 / 10_f64.powi(exponent + 300)
        } else {
            number / 10_f64.powi(exponent)
        }
    };
    let (mut whole, mut fraction) = decimal(scaled(exponent), decimals.min(MAX_DECIMALS));
    if i32::try_from(whole.len()).unwrap_or(0) > width {
        exponent += width;
        (whole, fraction) = decimal(scaled(exponent), decimals.min(MAX_DECIMALS));
    }
    let mut text = integer(&mantissa[..point], &whole, false);
    text.push_str(&decimals_text(&mantissa[point..], &fraction));
    let sign = match (exponent < 0, &parts[at]) {
        (true, _) => "-",
        (false, Part::Exponent(true)) => "+",
        (false, _) => "",
    };
    text.push('E');
    text.push_str(sign);
    text.push_str(&integer(after, &exponent.unsigned_abs().to_string(), false));
    text
}

/// Returns the slash of a fraction: one after a digit.
fn fraction_slash(parts: &[Part]) -> Option<usize> {
    (1..parts.len()).find(|index| parts[*index] == Part::Slash && is_digit(&parts[index - 1]))
}

/// Formats a number as a fraction.
fn fraction(parts: &[Part], slash: usize, number: f64) -> String {
    let start = parts[..slash].iter().rposition(|part| !is_digit(part)).map_or(0, |index| index + 1);
    let digits = parts[slash + 1..].iter().take_while(|part| is_digit(part)).count();
    let fixed: String = parts[slash + 1..]
        .iter()
        .map_while(|part| match part {
            Part::Literal(text) if text.len() == 1 && text.as_bytes()[0].is_ascii_digit() => {
                Some(text.as_str())
            }
            Part::Digit('0') => Some("0"),
            _ => None,
        })
        .collect();
    let has_whole = parts[..start].iter().any(is_digit);
    let whole = if has_whole { number.trunc() } else { 0.0 };
    let fixed_denominator = fixed.parse::<u32>().ok().filter(|denominator| (1..10_000).contains(denominator));
    let rest = number - whole;
    let (mut above, below) = match fixed_denominator {
        Some(below) => ((rest * f64::from(below)).round(), below),
        None => {
            nearest(rest, 10_u32.pow(u32::try_from(digits.clamp(1, MAX_DENOMINATOR_DIGITS)).unwrap_or(1)) - 1)
        }
    };
    let mut whole = whole;
    if has_whole && above >= f64::from(below) {
        (whole, above) = (whole + 1.0, 0.0);
    }
    let end = slash + 1 + if fixed_denominator.is_some() { fixed.len() } else { digits };
    let text = |parts: &[Part]| literals(parts, "", |_| false).trim().to_owned();
    let before = text(&parts[..start]);
    let after = literals(&parts[end.min(parts.len())..], "", |_| false);
    let body = match (has_whole, above == 0.0) {
        (true, true) => format!("{whole}"),
        (true, false) if whole == 0.0 => format!("{above}/{below}"),
        (true, false) => format!("{whole} {above}/{below}"),
        (false, _) => format!("{above}/{below}"),
    };
    format!("{before}{body}{after}")
}

/// Returns the fraction next to a number, with a denominator up to `max`: the last convergent of its continued fraction
/// with such a denominator, or the fraction between this and the next one, whichever is nearer.
fn nearest(number: f64, max: u32) -> (f64, u32) {
    let max = f64::from(max.max(1));
    let ((mut above_before, mut below_before), (mut above, mut below)) = ((0.0, 1.0), (1.0, 0.0));
    let mut rest = number;
    loop {
        let whole = rest.floor();
        let next_below = below_before + whole * below;
        if next_below > max {
            break;
        }
        (above_before, above) = (above, above_before + whole * above);
        (below_before, below) = (below, next_below);
        let fraction = rest - whole;
        if fraction < 1e-9 {
            break;
        }
        rest = 1.0 / fraction;
    }
    let steps = ((max - below_before) / below).floor();
    let between = (above_before + steps * above, below_before + steps * below);
    let distance = |(above, below): (f64, f64)| (number - above / below).abs();
    let (above, below) = if between.1 > 0.0 && distance(between) < distance((above, below)) {
        between
    } else {
        (above, below)
    };
    (above, below as u32)
}

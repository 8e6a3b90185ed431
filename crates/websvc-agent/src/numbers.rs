//! The numbers that a text states, in the notations of several languages.

/// The maximum number of digits and separators of a number. Longer ones are names of things.
const MAX_CHARS: usize = 24;

/// Words after a number that multiply it.
const MULTIPLIERS: &[(&str, f64)] = &[
    ("thousand", 1e3),
    ("million", 1e6),
    ("millionen", 1e6),
    ("millions", 1e6),
    ("mio", 1e6),
    ("billion", 1e9),
    ("billions", 1e9),
    ("milliarden", 1e9),
    ("mrd", 1e9),
];

/// Returns the absolute values of the numbers of a text, in every reading: `1.299` is 1299 and 1.299, and 45 % is 45 and
/// 0.45.
pub(crate) fn numbers(text: &str) -> Vec<f64> {
    number_readings(text).into_iter().flatten().collect()
}

/// Returns the readings of each number of a text.
pub(crate) fn number_readings(text: &str) -> Vec<Vec<f64>> {
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let token = &rest[start..start + token_length(&rest[start..])];
        rest = &rest[start + token.len()..];
        if token.len() > MAX_CHARS {
            continue;
        }
        let mut values = readings(token);
        let after = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        let word: String =
            after.chars().take_while(|c| c.is_alphabetic()).take(12).collect::<String>().to_lowercase();
        if let Some((_, factor)) = MULTIPLIERS.iter().find(|(name, _)| *name == word) {
            extend_by(&mut values, *factor);
        } else if after.starts_with('%') {
            extend_by(&mut values, 0.01);
        }
        numbers.push(values);
    }
    numbers
}

fn extend_by(values: &mut Vec<f64>, factor: f64) {
    let multiplied: Vec<f64> = values.iter().map(|value| value * factor).collect();
    values.extend(multiplied);
}

/// Returns whether one of the numbers is a value, apart from its sign and the precision of floating-point numbers.
pub(crate) fn states(numbers: &[f64], value: f64) -> bool {
    let value = value.abs();
    numbers.iter().any(|number| (number - value).abs() <= value * 1e-9)
}

/// Returns the length of a number at the beginning of a text: digits, and single separators between digits.
fn token_length(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        let is_between = matches!(c, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}' | ' ')
            && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit())
            && (!is_blank(c) || is_group(&text[offset + c.len_utf8()..]));
        if !c.is_ascii_digit() && !is_between {
            break;
        }
        end = offset + c.len_utf8();
    }
    end
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}')
}

/// Returns whether a text begins with exactly three digits.
fn is_group(text: &str) -> bool {
    text.chars().take_while(char::is_ascii_digit).take(4).count() == 3
}

/// Returns the values that a number may have.
fn readings(token: &str) -> Vec<f64> {
    let separators: Vec<(usize, char)> = token.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let mut texts: Vec<String> = Vec::new();
    match separators.last() {
        None => texts.push(token.to_owned()),
        Some((last, separator)) => {
            let (whole, fraction) = (&token[..*last], &token[last + separator.len_utf8()..]);
            let is_repeated = separators.iter().filter(|(_, c)| c == separator).count() > 1;
            if !is_repeated && matches!(separator, '.' | ',') {
                texts.push(format!("{}.{}", digits(whole), digits(fraction)));
            }
            if fraction.len() == 3 {
                texts.push(digits(token));
            }
            // A list of numbers, such as `3 500` or `1,2`, also states each of them.
            if *separator != '.' {
                texts.extend(token.split(|c: char| !c.is_ascii_digit()).map(str::to_owned));
            }
        }
    }
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, value: f64, expected: bool) {
        assert_eq!(states(&numbers(text), value), expected, "{value} in {text:?}: {:?}", numbers(text));
    }

    #[test]
    fn notations_of_languages_are_read() {
        check("It costs $1,299.00.", 1299.0, true);
        check("1.299,50 €", 1299.5, true);
        check("CHF 1'299.50", 1299.5, true);
        check("3\u{202f}500 km", 3500.0, true);
        check("3 500 km", 3500.0, true);
        check("1,234,567", 1_234_567.0, true);
        check("12,5 Liter", 12.5, true);
        check("-5 °C", -5.0, true);
        check("in 2026.", 2026.0, true);
        check("1.2 million people", 1_200_000.0, true);
        check("45 %", 0.45, true);
        check("pages 1,2 and 3", 2.0, true);
    }

    #[test]
    fn other_numbers_are_not_stated() {
        check("It costs $1,299.00.", 129.0, false);
        check("It costs $1,299.00.", 0.0, false);
        check("2 14", 214.0, false);
        check("12,5 Liter", 125.0, false);
        check("", 0.0, false);
        check("number 123456789012345678901234567890", 1.0, false);
        check("0 items", 0.0, true);
    }
}

//! Numbers of list items in the formats of office programs: letters, Roman numerals, ordinals.

/// The largest number that is written in Roman numerals.
const MAX_ROMAN: u64 = 3999;
/// The largest number that is written in letters: 20 repetitions of a letter.
const MAX_LETTERS: u64 = 26 * 20;

/// Formats a number in a format of Word (ECMA-376, part 1, section 17.18.59). Unknown formats are decimal.
pub(crate) fn format(number: u64, name: &str) -> String {
    match name {
        "none" => String::new(),
        "lowerLetter" => letters(number),
        "upperLetter" => letters(number).to_uppercase(),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "decimalZero" => format!("{number:02}"),
        "ordinal" => format!("{number}{}", ordinal_suffix(number)),
        "cardinalText" => capitalized(&words(number, &CARDINALS)),
        "ordinalText" => capitalized(&words(number, &ORDINALS)),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => circled(number),
        _ => number.to_string(),
    }
}

/// Returns `a` to `z`, then `aa` to `zz`, as Word and OpenDocument count.
fn letters(number: u64) -> String {
    if number == 0 || number > MAX_LETTERS {
        return number.to_string();
    }
    let index = number - 1;
    let letter = char::from(b'a' + u8::try_from(index % 26).unwrap_or_default());
    (0..=index / 26).map(|_| letter).collect()
}

fn roman(number: u64) -> String {
    const SIGNS: [(u64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if number == 0 || number > MAX_ROMAN {
        return number.to_string();
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    text
}

fn ordinal_suffix(number: u64) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

fn circled(number: u64) -> String {
    let sign = u32::try_from(number).ok().filter(|number| (1..=20).contains(number));
    match sign.and_then(|number| char::from_u32(0x245f + number)) {
        Some(sign) => sign.to_string(),
        None => number.to_string(),
    }
}

const CARDINALS: [&str; 20] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const ORDINALS: [&str; 20] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

fn words(number: u64, names: &[&str; 20]) -> String {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index.and_then(|index| names.get(index)).map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_word() {
        for (number, name, expected) in [
            (1, "lowerLetter", "a"),
            (28, "upperLetter", "BB"),
            (u64::MAX, "lowerLetter", "18446744073709551615"),
            (4, "lowerRoman", "iv"),
            (1994, "upperRoman", "MCMXCIV"),
            (0, "upperRoman", "0"),
            (5, "decimalZero", "05"),
            (12, "ordinal", "12th"),
            (22, "ordinal", "22nd"),
            (3, "cardinalText", "Three"),
            (2, "ordinalText", "Second"),
            (3, "decimalEnclosedCircle", "③"),
            (3, "none", ""),
            (3, "unknown", "3"),
        ] {
            assert_eq!(format(number, name), expected, "{number} {name}");
        }
    }
}

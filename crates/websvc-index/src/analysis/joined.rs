//! Texts that are also written as one word: `U.S.A.` as `USA`, `node.js` as `nodejs`, `e-mail` as `email`, `O'Reilly` as
//! `OReilly`, `5 kg` as `5kg`.
//!
//! The index has the words of such a text one by one, and at the position of the first one the text as one word. So
//! either spelling finds the other.

use std::ops::Range;

/// Maximum bytes of a text as one word. Longer ones are names of files and hosts.
const MAX_BYTES: usize = 24;

/// Maximum bytes of the part after a dot, as in `node.js` and `socket.io`. Longer parts are those of addresses and code.
const MAX_SUFFIX_BYTES: usize = 3;

/// Maximum letters of an abbreviation with dots.
const MAX_LETTERS: usize = 8;

/// Units that are written with and without a space after a number, in lower case.
const UNITS: [&str; 55] = [
    "c", "cl", "cm", "db", "dbm", "dl", "dpi", "ev", "f", "fps", "g", "gb", "ghz", "gib", "h", "hp", "hz",
    "k", "kb", "kbps", "kcal", "kg", "khz", "kj", "km", "kmh", "kpa", "kw", "kwh", "l", "lb", "lbs", "m",
    "ma", "mah", "mb", "mbps", "mg", "mhz", "mib", "min", "ml", "mm", "mp", "mph", "ms", "mw", "nm", "oz",
    "pa", "px", "s", "tb", "v", "w",
];

/// A text as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Joined<'a> {
    /// The word in lower case.
    pub(crate) text: &'a str,
    /// Number of units of the text that it is written for, beginning with the unit that has it.
    pub(crate) units: usize,
    /// True for the letters of an abbreviation (`U.S.A.`), which say nothing one by one.
    pub(crate) is_abbreviation: bool,
}

/// Returns the text that begins with `word` as one word; `None` if it is a word of its own. `lower` is the word in lower
/// case.
pub(super) fn joined<'a>(
    text: &str,
    word: Range<usize>,
    lower: &str,
    buffer: &'a mut String,
) -> Option<Joined<'a>> {
    let rest = &text[word.end..];
    // Most words end at a space or at punctuation after a space, so that nothing else is looked at.
    let joiner = match rest.as_bytes().first()? {
        b'.' | b'-' => 1,
        0xe2 if rest.starts_with(['\u{2010}', '\u{2011}']) => 3,
        _ if lower.starts_with(|c: char| c.is_ascii_digit()) => 0,
        _ => return None,
    };
    if joiner == 0 {
        return with_unit(rest, lower, buffer);
    }
    if text[..word.start].ends_with(continues) {
        return None;
    }
    buffer.clear();
    buffer.push_str(lower);
    let after = &rest[joiner..];
    if rest.starts_with('.') && lower.chars().nth(1).is_none() && lower.starts_with(char::is_alphabetic) {
        return abbreviation(rest, buffer);
    }
    let (second, end) = following_word(after);
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = match joiner {
        1 if rest.starts_with('.') => second.len() <= MAX_SUFFIX_BYTES && !second.contains(char::is_numeric),
        _ => !(is_number(lower) && is_number(second)),
    };
    if second.is_empty() || !fits || lower.len() + second.len() > MAX_BYTES || is_longer(end) {
        return None;
    }
    buffer.extend(second.chars().flat_map(char::to_lowercase));
    Some(Joined { text: buffer, units: 2, is_abbreviation: false })
}

/// Returns a word with an apostrophe as one word, if it is a name: `O'Reilly`, `D'Angelo`. `spelled` is the word as it is
/// written, `lower` the same in lower case without the apostrophe, which was before byte `apostrophe` of it.
pub(super) fn joined_name<'a>(spelled: &str, lower: &'a str, apostrophe: usize) -> Option<Joined<'a>> {
    let (before, after) = lower.split_at(apostrophe);
    let is_capital = |part: Option<&str>| part.is_some_and(|part| part.starts_with(char::is_uppercase));
    let mut parts = spelled.split(['\'', '\u{2019}', '\u{2bc}']);
    let is_name = before == "o" || is_capital(parts.next()) && is_capital(parts.next());
    let is_split = before.chars().nth(2).is_none() && after.chars().nth(2).is_some();
    let fits = is_name && is_split && lower.len() <= MAX_BYTES;
    fits.then_some(Joined { text: lower, units: 1, is_abbreviation: false })
}

/// Returns a number and its unit as one word. `rest` is the text after the number `lower`.
fn with_unit<'a>(rest: &str, lower: &str, buffer: &'a mut String) -> Option<Joined<'a>> {
    let unit = rest.trim_start_matches('\u{b0}');
    let unit = unit.strip_prefix([' ', '\u{a0}', '\u{202f}', '\u{2009}']).unwrap_or(unit);
    let (unit, end) = following_word(unit.trim_start_matches('\u{b0}'));
    let is_number = lower.len() <= MAX_BYTES && lower.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || unit.is_empty() || unit.len() > 4 || is_longer(end) {
        return None;
    }
    buffer.clear();
    buffer.push_str(lower);
    buffer.extend(unit.chars().flat_map(char::to_lowercase));
    is_unit(&buffer[lower.len()..]).then_some(Joined { text: buffer, units: 2, is_abbreviation: false })
}

/// Returns true if `folded` is a unit that is also written directly after a number.
pub(crate) fn is_unit(folded: &str) -> bool {
    UNITS.contains(&folded)
}

/// Returns the letters of an abbreviation as one word. `rest` is the text after the first letter, which is in `buffer`.
fn abbreviation<'a>(rest: &str, buffer: &'a mut String) -> Option<Joined<'a>> {
    let (mut rest, mut units) = (rest, 1);
    while let Some(after) = rest.strip_prefix('.') {
        let (letter, end) = following_word(after);
        let is_letter = letter.chars().nth(1).is_none() && letter.starts_with(char::is_alphabetic);
        if !is_letter || units == MAX_LETTERS {
            break;
        }
        buffer.extend(letter.chars().flat_map(char::to_lowercase));
        (rest, units) = (end, units + 1);
    }
    let fits = units > 1 && !is_longer(rest);
    fits.then_some(Joined { text: buffer, units, is_abbreviation: true })
}

/// Splits a text into the letters and digits at its start, and the rest.
fn following_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() || c >= '\u{e00}').unwrap_or(text.len());
    text.split_at(end)
}

/// Returns true if the text after two words continues them, as in `a.b.c`, `a-b-c` and `a.b/c`.
fn is_longer(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(continues) && chars.next().is_some_and(char::is_alphanumeric)
}

/// Returns true if `c` joins words without spaces.
fn continues(c: char) -> bool {
    matches!(c, '.' | '-' | '\u{2010}' | '\u{2011}' | '/' | '\\' | '_' | '@' | ':' | '\'' | '\u{2019}')
}

#[cfg(test)]
mod tests {
    use crate::analysis::each_word;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize)]) {
        let mut found = Vec::new();
        each_word(text, |word| {
            found.extend(word.joined.map(|joined| (joined.text.to_owned(), joined.units)));
        });
        let expected: Vec<_> = expected.iter().map(|&(text, units)| (text.to_owned(), units)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn abbreviations_are_their_letters() {
        check("the U.S.A. and the U.S. (e.g. here)", &[("usa", 3), ("us", 2), ("eg", 2)]);
        check("С.Ш.А", &[("сша", 3)]);
        check("J. Smith, a.b.example, A. B.", &[]);
    }

    #[test]
    fn two_words_with_a_dot_or_hyphen_are_one_word() {
        check("Node.js and an e-mail\u{2011}", &[("nodejs", 2), ("email", 2)]);
        check(
            "COVID-19, WH-1000XM5, anti\u{2010}inflammatory",
            &[("covid19", 2), ("wh1000xm5", 2), ("antiinflammatory", 2)],
        );
        check("3.11 2024-01 state-of-the-art asyncio.gather a.b.com/x x.js/y", &[]);
    }

    #[test]
    fn names_with_an_apostrophe_are_one_word() {
        check("O'Reilly o\u{2019}neill D'Angelo", &[("oreilly", 1), ("oneill", 1), ("dangelo", 1)]);
        check("l'amour don't Python's rock'n'roll", &[]);
    }

    #[test]
    fn numbers_and_units_are_one_word() {
        check(
            "5 kg, 80 \u{b0}C, 80\u{b0}F 16\u{a0}GB 5 apples 5 km-h 7 m.",
            &[("5kg", 2), ("80c", 2), ("80f", 2), ("16gb", 2), ("kmh", 2), ("7m", 2)],
        );
    }
}

//! Numbers in a prompt, in digits or in words.

use super::token::Token;

/// The numbers that are written as one word.
const WORDS: &[(&str, u64)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("dozen", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

/// The words that multiply the number before them, or are a number themselves.
const MULTIPLIERS: &[(&str, u64)] = &[("hundred", 100), ("thousand", 1_000), ("million", 1_000_000)];

/// A number in a prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    /// The number of its words.
    pub(super) words: usize,
}

impl Number {
    /// Returns the number if it is a whole one.
    pub(super) fn whole(self) -> Option<u64> {
        let is_whole = self.value.fract() == 0.0 && (0.0..9e15).contains(&self.value);
        is_whole.then_some(self.value as u64)
    }
}

/// Returns the number that starts at a word: `1,500`, `2k`, `ten`, `two hundred`.
pub(super) fn number(tokens: &[Token<'_>], index: usize) -> Option<Number> {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.lower.as_str());
    if let Some(value) = find(MULTIPLIERS, word(index)) {
        // The number before it has both words.
        let is_second = index.checked_sub(1).is_some_and(|before| single(word(before)).is_some());
        return (!is_second).then_some(Number { value: value as f64, words: 1 });
    }
    let value = single(word(index))?;
    Some(match find(MULTIPLIERS, word(index + 1)) {
        Some(multiplier) => Number { value: value * multiplier as f64, words: 2 },
        None => Number { value, words: 1 },
    })
}

/// Returns the number that a word is.
fn single(word: &str) -> Option<f64> {
    if let Some(value) = find(WORDS, word) {
        return Some(value as f64);
    }
    let digits = word.replace(',', "");
    let (digits, multiplier) = match digits.strip_suffix('k') {
        Some(digits) => (digits, 1_000.0),
        None => (digits.as_str(), 1.0),
    };
    let starts_with_digit = digits.starts_with(|c: char| c.is_ascii_digit());
    let value = digits.parse::<f64>().ok().filter(|value| starts_with_digit && value.is_finite())?;
    Some(value * multiplier)
}

fn find(list: &[(&str, u64)], word: &str) -> Option<u64> {
    list.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn numbers_are_read_in_digits_and_words() {
        for (text, expected) in [
            ("1,500 pages", Some((1_500.0, 1))),
            ("1.5 seconds", Some((1.5, 1))),
            ("2k pages", Some((2_000.0, 1))),
            ("ten pages", Some((10.0, 1))),
            ("two hundred pages", Some((200.0, 2))),
            ("5 million pages", Some((5_000_000.0, 2))),
            ("hundred pages", Some((100.0, 1))),
            ("pages", None),
            ("inf", None),
            ("k", None),
        ] {
            let found = number(&tokens(text), 0).map(|number| (number.value, number.words));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(number(&tokens("two hundred"), 1), None);
        assert_eq!(number(&tokens("1e300"), 0).and_then(Number::whole), None);
    }
}

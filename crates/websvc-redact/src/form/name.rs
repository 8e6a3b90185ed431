//! The forms of names of people and of places.

use crate::cjk::is_cjk;
use crate::lexicon::{WordSense, senses};

use super::number::is_measure;

/// Maximum number of words of the name of a person.
const MAX_PERSON_WORDS: usize = 5;

/// Maximum length of the name of a person, in characters.
const MAX_PERSON_CHARS: usize = 60;

/// Maximum length of the name of a person without spaces, in characters of Chinese, Japanese and Korean.
const MAX_CJK_CHARS: usize = 20;

/// Maximum length of an address, in characters.
const MAX_LOCATION_CHARS: usize = 140;

/// Maximum number of words of an address.
const MAX_LOCATION_WORDS: usize = 18;

/// Maximum number of words in lower case of an address that are not a part of streets.
const MAX_LOWER_WORDS: usize = 2;

/// Maximum length of a word before a full stop that does not end a sentence: `Prof.`, `Dipl.-Ing.`.
const MAX_ABBREVIATION_CHARS: usize = 4;

/// Maximum length of a word that is a name in some languages, whatever it means in English: `He`, `An`.
const MAX_AMBIGUOUS_CHARS: usize = 2;

/// Marks that no name of a person has.
const NOT_IN_NAMES: &[char] = &[
    '@', '/', '\\', ':', ';', '!', '?', '|', '<', '>', '{', '}', '[', ']', '=', '#', '%', '*', '_', '"', '“',
    '”', '(', ')', '。', '！', '？', '，', '、', '：',
];

/// Marks of the sentence, which models copy with a name.
const TRAILING: &[char] = &[',', ';', ':', '!', '?', '。', '，'];

/// Returns the name of a person: the text, or what is before a comma or a bracket.
pub(super) fn person(text: &str) -> Option<&str> {
    let whole = without_end(text);
    let before = whole.split([',', '(']).next().unwrap_or_default().trim_end();
    [whole, before].into_iter().find(|name| is_person(name))
}

/// Returns an address or a place, without the mark of the sentence.
pub(super) fn location(text: &str) -> Option<&str> {
    let text = without_end(text);
    is_location(text).then_some(text)
}

fn is_person(name: &str) -> bool {
    let chars = name.chars().count();
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_bounded = (2..=MAX_PERSON_CHARS).contains(&chars) && words.len() <= MAX_PERSON_WORDS;
    let is_clause = name.contains(is_cjk) && chars > MAX_CJK_CHARS;
    is_bounded
        && !is_clause
        && !name.contains(NOT_IN_NAMES)
        && !name.contains(|c: char| c.is_numeric() || is_currency(c))
        && !has_sentence_end(name)
        && name.contains(starts_name)
        && words.iter().all(|word| is_name_word(word))
}

/// Returns whether a name may have a word: one with a capital letter, a title or a particle, and no word of sentences.
fn is_name_word(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphabetic());
    let senses = senses(bare);
    let is_small =
        senses.is(WordSense::PARTICLE) || senses.is(WordSense::TITLE) || senses.is(WordSense::WEAK_TITLE);
    let is_name =
        senses.is(WordSense::GIVEN) || senses.is(WordSense::FAMILY) || senses.is(WordSense::GIVEN_DOUBTFUL);
    let is_never = senses.is(WordSense::NEVER) && bare.chars().count() > MAX_AMBIGUOUS_CHARS;
    // `d'Arc`, `al-Farsi`
    let has_capital = bare.split(['\'', '’', '-']).any(|part| part.starts_with(starts_name));
    is_small || (is_name || !is_never) && has_capital
}

fn is_location(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let has_letter = text.contains(char::is_alphabetic);
    let lower = words.iter().filter(|word| is_lower_word(word)).count();
    let is_bounded = text.chars().count() <= MAX_LOCATION_CHARS && words.len() <= MAX_LOCATION_WORDS;
    let has_name = words
        .iter()
        .any(|word| word.trim_start_matches(|c: char| !c.is_alphabetic()).starts_with(starts_name));
    is_bounded
        && lower <= MAX_LOWER_WORDS
        && !is_measure(text)
        && !text.contains(['@', '!', '?', '。', '！', '？', '=', '{', '}'])
        && !has_sentence_end(text)
        // A number alone is a year or a count, unless it is as long as a postal code.
        && if has_letter { has_name } else { digits >= 5 }
}

/// Returns whether a word is in lower case and not a part of streets: `rue`, `of`, `bis`.
fn is_lower_word(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphabetic());
    let parts = [
        WordSense::SMALL,
        WordSense::PARTICLE,
        WordSense::UNIT,
        WordSense::STREET,
        WordSense::WEAK_STREET,
        WordSense::FRENCH_STREET,
        WordSense::STREET_HEAD,
        WordSense::CAPITAL_STREET_HEAD,
        WordSense::STREET_LAST,
    ];
    let senses = senses(bare);
    bare.starts_with(char::is_lowercase) && !parts.into_iter().any(|part| senses.is(part))
}

/// Returns whether a name may start with a character. Scripts without upper case have names, too.
fn starts_name(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase()
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹')
}

/// Returns a text without the marks at its end that belong to the sentence.
fn without_end(text: &str) -> &str {
    let text = text.trim_end_matches(TRAILING).trim_end();
    match text.strip_suffix('.') {
        Some(before) if !is_abbreviation(before) => before,
        Some(_) | None => text,
    }
}

/// Returns whether a text before a full stop ends with an abbreviation, an initial or a title.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '.' || c == '-').next().unwrap_or_default();
    let is_short = word.chars().count() <= MAX_ABBREVIATION_CHARS && !word.is_empty();
    is_short && word.starts_with(char::is_alphabetic) || senses(word).is(WordSense::TITLE)
}

/// Returns whether a sentence ends within a text: a full stop and a space after a word that is not an abbreviation.
fn has_sentence_end(text: &str) -> bool {
    let stops = text.match_indices(". ");
    stops.into_iter().any(|(at, _)| !is_abbreviation(&text[..at]))
}

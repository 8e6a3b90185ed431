//! Places: countries, regions and cities of the gazetteer.

use crate::kind::Kind;
use crate::lexicon::{WordSense, senses};
use crate::scan::{Scan, TextPart};
use crate::word::{self, Separator, Word};

/// Words after a place that make it the name of something else.
const THING_WORDS: &[&str] = &["Hilton", "Agreement", "Sans", "Serif"];

/// The codes of states and provinces after a city.
pub(crate) const STATES: &[&str] = &[
    "AB", "AK", "AL", "AR", "AZ", "BC", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL",
    "IN", "KS", "KY", "LA", "MA", "MB", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NB", "NC", "ND", "NE",
    "NH", "NJ", "NL", "NM", "NS", "NSW", "NT", "NV", "NY", "OH", "OK", "ON", "OR", "PA", "PE", "PR", "QC",
    "QLD", "RI", "SC", "SD", "SK", "TAS", "TN", "TX", "UT", "VA", "VIC", "VT", "WA", "WI", "WV", "WY", "YT",
];

/// The name of a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaceName {
    pub(crate) end: usize,
    /// True if the name has no other meaning.
    is_certain: bool,
}

/// Finds a place that starts with a word.
pub(crate) fn word(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let Some(PlaceName { end, is_certain }) = place_name(scan, part, word) else { return };
    if is_other_name(scan, part, word, end) {
        return;
    }
    let region_end = region_end(scan, part, end);
    let before = word::before(scan, part, word.start);
    let has_word_before = || before.is_some_and(|before| senses(before).is(WordSense::BEFORE_PLACE));
    if is_certain || region_end > end || has_word_before() || scan.is_aggressive() {
        scan.record_whole(Kind::Location, word.start..region_end);
    }
}

/// Returns the longest name of a place that starts with a word.
pub(crate) fn place_name(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> Option<PlaceName> {
    let first = word.senses;
    let certain = |end: usize| PlaceName { end, is_certain: true };
    let mut longest = None;
    if first.is(WordSense::PLACE) || first.is(WordSense::PLACE_DOUBTFUL) {
        longest = Some(PlaceName { end: word.end, is_certain: first.is(WordSense::PLACE) });
    } else if let Some((head, _)) = word.text.split_once(['-', '’', '\'']) {
        // `London-based`, `Berlin's`
        let head_end = word.start + head.len();
        if head.len() > 3 && senses(head).is(WordSense::PLACE) {
            longest = Some(certain(head_end));
        }
    }
    if first.is(WordSense::PLACE_START) {
        let mut end = word.end;
        for _ in 0..4 {
            let Some(next) = word::next(scan, part, end, Separator::Dot) else { break };
            end = next.end;
            let phrase = senses(&scan.text[word.start..end]);
            if phrase.is(WordSense::PLACE) {
                longest = Some(certain(end));
            } else if let Some((head, _)) = next.text.split_once('-')
                && senses(&scan.text[word.start..next.start + head.len()]).is(WordSense::PLACE)
            {
                // `New York-style`
                return Some(certain(next.start + head.len()));
            }
        }
    }
    longest
}

/// Returns whether the place is a part of another name: `Paris Jackson`, `Paris Hilton`.
fn is_other_name(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>, end: usize) -> bool {
    let Some(next) = word::next(scan, part, end, Separator::Space) else { return false };
    if THING_WORDS.contains(&next.text) {
        return true;
    }
    next.is_capitalized
        && word.senses.is(WordSense::GIVEN_DOUBTFUL)
        && next.senses.is(WordSense::FAMILY)
        && !next.senses.is(WordSense::PLACE)
}

/// Returns the end of the states and countries after a place: `, CA 94105`, `, France`.
pub(crate) fn region_end(scan: &mut Scan<'_>, part: TextPart, end: usize) -> usize {
    let mut end = end;
    for _ in 0..3 {
        let Some(next) = word::next(scan, part, end, Separator::Comma) else { break };
        if next.is_uppercase && STATES.contains(&next.text) {
            end = code_after_state(scan, part, next.end).unwrap_or(next.end);
            continue;
        }
        let Some(name) = place_name(scan, part, &next).filter(|_| next.is_capitalized) else { break };
        end = name.end;
    }
    end
}

/// Returns the length of a Canadian code: `K1A 0B1`.
pub(crate) fn canadian(bytes: &[u8]) -> Option<usize> {
    let code = bytes.get(..7)?;
    let is_letter = |b: u8| b.is_ascii_uppercase() && !b"DFIOQU".contains(&b);
    let fits = is_letter(code[0])
        && !matches!(code[0], b'W' | b'Z')
        && code[1].is_ascii_digit()
        && is_letter(code[2])
        && code[3] == b' '
        && code[4].is_ascii_digit()
        && is_letter(code[5])
        && code[6].is_ascii_digit()
        && !bytes.get(7).is_some_and(u8::is_ascii_alphanumeric);
    fits.then_some(7)
}

/// Returns the end of a code after a state: ` 94105`, ` 94105-1234`, ` K1A 0B1`.
pub(crate) fn code_after_state(scan: &mut Scan<'_>, part: TextPart, end: usize) -> Option<usize> {
    let rest = scan.bytes()[end..part.end].strip_prefix(b" ")?;
    scan.work += 10;
    if let Some(length) = canadian(rest) {
        return Some(end + 1 + length);
    }
    let digits = rest.iter().take(6).take_while(|b| b.is_ascii_digit()).count();
    let extra_digits = match rest.get(digits..) {
        Some([b'-', extra @ ..]) => extra.iter().take(5).take_while(|b| b.is_ascii_digit()).count(),
        Some(_) | None => 0,
    };
    let length = if extra_digits == 4 { digits + 5 } else { digits };
    let continues = rest.get(length).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'-');
    (matches!(digits, 4 | 5) && !continues).then_some(end + 1 + length)
}

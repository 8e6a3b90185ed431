//! Countries, regions and cities by the gazetteer.

use crate::kind::Kind;
use crate::lexicon::{WordSense, meaning};
use crate::scan::{Scan, TextPart};
use crate::word::{self, Gap, Word};

/// Words after a place that make it the name of something else.
const AFTER: &[&str] = &["Hilton", "Agreement", "Sans", "Serif"];

/// Codes of states and provinces that are written behind a city.
pub(crate) const STATES: &[&str] = &[
    "AB", "AK", "AL", "AR", "AZ", "BC", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL",
    "IN", "KS", "KY", "LA", "MA", "MB", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NB", "NC", "ND", "NE",
    "NH", "NJ", "NL", "NM", "NS", "NSW", "NT", "NV", "NY", "OH", "OK", "ON", "OR", "PA", "PE", "PR", "QC",
    "QLD", "RI", "SC", "SD", "SK", "TAS", "TN", "TX", "UT", "VA", "VIC", "VT", "WA", "WI", "WV", "WY", "YT",
];

/// Looks for a place that begins with a word.
pub(crate) fn word(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let Some((end, sure)) = phrase(scan, part, word) else { return };
    if is_person(scan, part, word, end) {
        return;
    }
    let tail = tail(scan, part, end);
    let before = word::before(scan, part, word.start);
    let announced = || before.is_some_and(|before| meaning(before).is(WordSense::BEFORE_PLACE));
    if sure || tail > end || announced() || scan.is_aggressive() {
        scan.find(Kind::Location, word.start..tail);
        scan.resume = scan.resume.max(tail);
    }
}

/// Returns the end of the longest name of a place that begins with a word, and whether it is always one.
pub(crate) fn phrase(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> Option<(usize, bool)> {
    let first = word.meaning;
    let mut best = None;
    if first.is(WordSense::PLACE) || first.is(WordSense::PLACE_DOUBTFUL) {
        best = Some((word.end, first.is(WordSense::PLACE)));
    } else if let Some((head, _)) = word.text.split_once(['-', '’', '\'']) {
        // `London-based`, `Berlin's`
        let head_end = word.start + head.len();
        if head.len() > 3 && meaning(head).is(WordSense::PLACE) {
            best = Some((head_end, true));
        }
    }
    if first.is(WordSense::BEGINS_PLACE) {
        let mut end = word.end;
        for _ in 0..4 {
            let Some(next) = word::next(scan, part, end, Gap::Dot) else { break };
            end = next.end;
            let phrase = meaning(&scan.text[word.start..end]);
            if phrase.is(WordSense::PLACE) {
                best = Some((end, true));
            } else if let Some((head, _)) = next.text.split_once('-')
                && meaning(&scan.text[word.start..next.start + head.len()]).is(WordSense::PLACE)
            {
                // `New York-style`
                return Some((next.start + head.len(), true));
            }
        }
    }
    best
}

/// Returns whether the place is a given name: `Paris Jackson`.
fn is_person(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>, end: usize) -> bool {
    let Some(next) = word::next(scan, part, end, Gap::Space) else { return false };
    if AFTER.contains(&next.text) {
        return true;
    }
    let given = word.meaning;
    let family = next.meaning;
    next.capital
        && given.is(WordSense::GIVEN_DOUBTFUL)
        && family.is(WordSense::FAMILY)
        && !family.is(WordSense::PLACE)
}

/// Returns the end of what follows a place and is of it: `, CA 94105`, `, France`.
pub(crate) fn tail(scan: &mut Scan<'_>, part: TextPart, end: usize) -> usize {
    let mut end = end;
    for _ in 0..3 {
        let Some(next) = word::next(scan, part, end, Gap::Comma) else { break };
        if next.upper && STATES.contains(&next.text) {
            end = crate::postcode::behind_state(scan, part, next.end).unwrap_or(next.end);
            continue;
        }
        let Some((phrase, _)) = phrase(scan, part, &next).filter(|_| next.capital) else { break };
        end = phrase;
    }
    end
}

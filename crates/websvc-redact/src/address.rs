//! Addresses of streets: by the words that streets are called with in many languages, and the number of a house.

use crate::kind::Kind;
use crate::lexicon::WordSense;
use crate::place::{self, STATES};
use crate::postcode;
use crate::scan::{Scan, TextPart};
use crate::word::{self, Gap, Word};

/// Endings of the last word of a street whose number follows.
const ENDINGS: &[&str] = &[
    "straße", "strasse", "platz", "weg", "allee", "gasse", "damm", "ufer", "chaussee", "straat", "laan",
    "plein", "gracht", "kade", "dreef", "singel", "gatan", "vägen", "gränd", "torget", "gade", "vej",
    "veien", "vegen", "katu", "kuja", "str",
];
const DIRECTIONS: &[&str] = &["N", "S", "E", "W", "NE", "NW", "SE", "SW"];

/// Looks for an address that begins with the number of a house.
pub(crate) fn number_first(scan: &mut Scan<'_>, part: TextPart, at: usize) {
    if !scan.wants(Kind::Location) {
        return;
    }
    let before = scan.text[part.start..at].chars().next_back();
    if before
        .is_some_and(|c| !(c.is_whitespace() || matches!(c, '(' | '*' | '|' | ':' | ',' | '_' | '"' | '>')))
    {
        return;
    }
    let Some(end) = house(scan, part, at) else { return };
    let comma = word::skip(scan, part, end, Gap::Comma);
    let Some(first) =
        word::next(scan, part, end, Gap::Space).or_else(|| word::next(scan, part, end, Gap::Comma))
    else {
        return;
    };
    let first = if matches!(first.text, "bis" | "ter" | "quater") {
        let Some(next) = word::next(scan, part, first.end, Gap::Space)
            .or_else(|| word::next(scan, part, first.end, Gap::Comma))
        else {
            return;
        };
        next
    } else {
        first
    };
    let end = if first.meaning.is(WordSense::FRENCH_STREET) {
        french(scan, part, &first)
    } else if comma.is_none() {
        english(scan, part, &first)
    } else {
        None
    };
    if let Some(end) = end {
        let end = tail(scan, part, end, 5);
        scan.find(Kind::Location, at..end);
        scan.resume = scan.resume.max(end);
    }
}

/// Returns the end of the number of a house: `12`, `12b`, `12-14`, `12/3`.
fn house(scan: &Scan<'_>, part: TextPart, at: usize) -> Option<usize> {
    let bytes = &scan.bytes()[at..part.end];
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..].iter().take(6).take_while(|b| b.is_ascii_digit()).count()
    };
    let first = digits(0);
    let mut end = first;
    if bytes.get(end).is_some_and(|b| matches!(b, b'-' | b'/')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let letter = bytes.get(end).is_some_and(u8::is_ascii_alphabetic);
    let alone = !bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
    if letter && alone {
        end += 1;
    }
    let goes_on = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
        || bytes.get(end).is_some_and(|b| matches!(b, b'.' | b',')) && digits(end + 1) > 0
        || bytes.get(end) == Some(&b'%');
    ((1..=5).contains(&first) && !goes_on).then_some(at + end)
}

fn french(scan: &mut Scan<'_>, part: TextPart, kind: &Word<'_>) -> Option<usize> {
    let mut end = kind.end;
    let mut named = None;
    for _ in 0..6 {
        let Some(next) = word::next(scan, part, end, Gap::Dot) else { break };
        if next.capital || next.text.contains(['\'', '’']) {
            named = Some(next.end);
        } else if !next.meaning.is(WordSense::SMALL) {
            break;
        }
        end = next.end;
    }
    named
}

fn english(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<usize> {
    let mut word = *first;
    for count in 0..5 {
        let direction = DIRECTIONS.contains(&word.text);
        let named = count > 0;
        if named && word.meaning.is(WordSense::STREET) {
            return Some(direction_behind(scan, part, abbreviated(scan, part, &word)));
        }
        if named && word.meaning.is(WordSense::WEAK_STREET) {
            let end = direction_behind(scan, part, abbreviated(scan, part, &word));
            let rest = &scan.text[end..part.end];
            let stops = rest.is_empty()
                || rest.starts_with([',', '\n', '|', ';', ')', '*', '<'])
                || rest.starts_with(". ")
                || rest.starts_with(" |")
                || word::next(scan, part, end, Gap::Space)
                    .is_some_and(|next| next.meaning.is(WordSense::UNIT));
            return stops.then_some(end);
        }
        if !word.capital && !direction {
            return None;
        }
        word = word::next(scan, part, word.end, Gap::Dot)?;
    }
    None
}

/// Takes the full stop of an abbreviation with it.
fn abbreviated(scan: &Scan<'_>, part: TextPart, word: &Word<'_>) -> usize {
    let dot = word.text.len() <= 4 && scan.bytes()[word.end..part.end].first() == Some(&b'.');
    let ends = scan.bytes()[word.end..part.end].get(1).is_none_or(|b| matches!(b, b'\n'));
    if dot && !ends { word.end + 1 } else { word.end }
}

fn direction_behind(scan: &mut Scan<'_>, part: TextPart, end: usize) -> usize {
    match word::next(scan, part, end, Gap::Space) {
        Some(next) if DIRECTIONS.contains(&next.text) => next.end,
        Some(_) | None => end,
    }
}

/// Looks for an address whose street begins or ends with this word, the number being behind it.
pub(crate) fn word(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    if !scan.wants(Kind::Location) {
        return;
    }
    let found = if word.text.len() == 1 {
        if word.text == "P" { post_box(scan, part, word).map(|end| (word.start, end)) } else { None }
    } else if is_head(word) {
        let sure = word.meaning.is(WordSense::STREET_HEAD);
        let end = headed(scan, part, word).filter(|end| sure || !counts(scan, part, *end));
        end.map(|end| (word.start, end))
    } else if may_be_numbered(scan, part, word) && is_ending(word) {
        numbered(scan, part, word.end).map(|end| (names_before(scan, part, word), end))
    } else if word.capital {
        post_box(scan, part, word).map(|end| (word.start, end))
    } else {
        None
    };
    if let Some((start, end)) = found {
        let end = tail(scan, part, end, 5);
        scan.find(Kind::Location, start..end);
        scan.resume = scan.resume.max(end);
    }
}

/// Returns whether the number is a quantity of what follows it: `Via Slack 20 messages`.
fn counts(scan: &Scan<'_>, part: TextPart, end: usize) -> bool {
    matches!(scan.bytes()[end..part.end], [b' ', b'a'..=b'z', ..])
}

fn is_head(word: &Word<'_>) -> bool {
    word.meaning.is(WordSense::STREET_HEAD)
        || (word.capital && word.meaning.is(WordSense::CAPITAL_STREET_HEAD))
}

/// Returns whether a number may follow: a cheap test before the others.
fn may_be_numbered(scan: &Scan<'_>, part: TextPart, word: &Word<'_>) -> bool {
    match scan.bytes()[word.end..part.end] {
        [b' ', next, ..] | [b',' | b'.', b' ', next, ..] | [b'.', next, ..] => {
            next.is_ascii_digit() || next == b'n'
        }
        _ => false,
    }
}

fn is_ending(word: &Word<'_>) -> bool {
    if !word.capital {
        return matches!(word.text, "utca" | "utja");
    }
    word.meaning.is(WordSense::STREET_LAST)
        || (word.text.len() >= 6
            && ENDINGS.iter().any(|end| word.text.ends_with(end) && word.text.len() >= end.len() + 2))
}

/// Reads the name of a street behind its head, and the number.
fn headed(scan: &mut Scan<'_>, part: TextPart, head: &Word<'_>) -> Option<usize> {
    let mut end = head.end;
    for count in 0..6 {
        if count > 0
            && let Some(end) = numbered(scan, part, end)
        {
            return Some(end);
        }
        let next = word::next(scan, part, end, Gap::Dot)?;
        if !next.capital && !next.meaning.is(WordSense::SMALL) {
            return None;
        }
        end = next.end;
    }
    None
}

/// Returns the end of the number that follows a street: ` 12`, `, 12b`, `, n.º 5`, `, д. 3`.
fn numbered(scan: &mut Scan<'_>, part: TextPart, end: usize) -> Option<usize> {
    const SIGNS: &[&str] = &[
        "n.º ", "nº ", "n° ", "no. ", "No. ", "Nr. ", "nr ", "nr. ", "д. ", "буд. ", "№ ", "№", "n. ", "č. ",
    ];
    let at = word::skip(scan, part, end, Gap::Comma).or_else(|| word::skip(scan, part, end, Gap::Dot))?;
    let rest = &scan.text[at..part.end];
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(0, |sign| sign.len());
    scan.work += 8;
    let number = house(scan, part, at + sign)?;
    let digits = scan.bytes()[at + sign..number].iter().filter(|b| b.is_ascii_digit()).count();
    // Four digits are a year as often as a house.
    (number > at + sign && digits <= 3 || sign > 0).then_some(number)
}

/// Returns the beginning of the words of a name that ends with this one: `Alte Schönhauser Straße`.
fn names_before(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> usize {
    let alone = word.meaning.is(WordSense::STREET_LAST);
    let mut start = word.start;
    for _ in 0..2 {
        let Some(before) = word::before(scan, part, start) else { break };
        let name = before.chars().next().is_some_and(char::is_uppercase) && before.chars().count() > 1;
        let article = ["Die", "Der", "Das", "In", "Am", "Im", "An", "Adresse", "Anschrift"].contains(&before);
        if !alone || !name || article {
            break;
        }
        start -= before.len() + 1;
    }
    scan.work += (word.start - start) as u64;
    start
}

fn post_box(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> Option<usize> {
    const BOXES: &[&str] = &[
        "P.O. Box ",
        "PO Box ",
        "P.O.Box ",
        "P. O. Box ",
        "Postfach ",
        "Apartado ",
        "Casilla ",
        "Postbus ",
        "Case postale ",
        "Post Office Box ",
        "PO BOX ",
    ];
    let rest = &scan.text[word.start..part.end];
    if !rest.starts_with(['P', 'A', 'C']) {
        return None;
    }
    let length = BOXES.iter().find(|name| rest.starts_with(**name))?.len();
    let digits = rest[length..].bytes().take(9).take_while(|b| b.is_ascii_digit() || *b == b' ').count();
    let digits = rest[length..length + digits].trim_end().len();
    (digits > 0).then_some(word.start + length + digits)
}

/// Returns the end of what follows a street and is of the address: a flat, a postal code, a city, a state, a country.
fn tail(scan: &mut Scan<'_>, part: TextPart, end: usize, depth: u8) -> usize {
    if depth == 0 {
        return end;
    }
    let at = word::skip(scan, part, end, Gap::Comma).or_else(|| word::skip(scan, part, end, Gap::Space));
    let Some(at) = at else { return end };
    match item(scan, part, at, depth) {
        Some(next) => tail(scan, part, next, depth - 1),
        None => end,
    }
}

fn item(scan: &mut Scan<'_>, part: TextPart, at: usize, depth: u8) -> Option<usize> {
    let bytes = scan.bytes();
    let first = *bytes[at..part.end].first()?;
    if first == b'#' {
        let digits = bytes[at + 1..part.end].iter().take(6).take_while(|b| b.is_ascii_alphanumeric()).count();
        return (digits > 0).then_some(at + 1 + digits);
    }
    if first.is_ascii_digit() {
        return code_and_city(scan, part, at);
    }
    let c = scan.text[at..part.end].chars().next()?;
    if !c.is_alphabetic() {
        return None;
    }
    let word = word::word(scan, part, at);
    if word.meaning.is(WordSense::UNIT) {
        let unit = word::skip(scan, part, word.end, Gap::Dot)?;
        let length = bytes[unit..part.end]
            .iter()
            .take(8)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'#')
            .count();
        let numbered = bytes[unit..unit + length].iter().any(u8::is_ascii_digit) || length == 1;
        return numbered.then_some(unit + length);
    }
    if word.upper && STATES.contains(&word.text) {
        return Some(postcode::behind_state(scan, part, word.end).unwrap_or(word.end));
    }
    if let Some(end) = postcode::code(scan, part, &word) {
        return Some(end);
    }
    if !word.capital {
        return None;
    }
    if let Some((end, _)) = place::phrase(scan, part, &word) {
        return Some(end);
    }
    city(scan, part, &word, depth)
}

/// A city that is not known counts before what only an address has.
fn city(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>, depth: u8) -> Option<usize> {
    let mut end = word.end;
    for _ in 0..3 {
        let reached = tail(scan, part, end, depth.saturating_sub(2).min(1));
        if reached > end && !scan.text[end..reached].bytes().all(|b| b.is_ascii_alphabetic() || b == b' ') {
            return Some(end);
        }
        let next = word::next(scan, part, end, Gap::Space).filter(|next| next.capital)?;
        end = next.end;
    }
    None
}

/// `10115 Berlin`, `1012 AB Amsterdam`, `00-001 Warszawa`, `114 55 Stockholm`, `94105`
fn code_and_city(scan: &mut Scan<'_>, part: TextPart, at: usize) -> Option<usize> {
    let bytes = &scan.bytes()[at..part.end];
    let mut length = bytes.iter().take(10).take_while(|b| b.is_ascii_digit() || matches!(b, b'-')).count();
    let digits = bytes[..length].iter().filter(|b| b.is_ascii_digit()).count();
    if let (3, Some([b' ', a, b, b' ', ..])) = (digits, bytes.get(length..))
        && a.is_ascii_digit()
        && b.is_ascii_digit()
    {
        length += 3;
    } else if !(4..=8).contains(&digits) {
        return None;
    }
    let mut end = at + length;
    if let Some([b' ', a, b, b' ' | b',', ..]) = bytes.get(length..)
        && a.is_ascii_uppercase()
        && b.is_ascii_uppercase()
    {
        end += 3;
    }
    for _ in 0..3 {
        let Some(next) = word::next(scan, part, end, Gap::Space) else { break };
        let joins = matches!(next.text, "am" | "an" | "de" | "der" | "la" | "le" | "sur" | "im" | "den");
        if !next.capital && !joins {
            break;
        }
        end = next.end;
    }
    Some(end)
}

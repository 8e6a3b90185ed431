//! Street addresses: found by words in the names of streets, in many languages, and by house numbers.

use crate::kind::Kind;
use crate::lexicon::WordSense;
use crate::place::{self, STATES};
use crate::postcode;
use crate::scan::{Scan, TextPart};
use crate::word::{self, Separator, Word};

/// Suffixes of the last word of a street, before its number.
const SUFFIXES: &[&str] = &[
    "straße", "strasse", "platz", "weg", "allee", "gasse", "damm", "ufer", "chaussee", "straat", "laan",
    "plein", "gracht", "kade", "dreef", "singel", "gatan", "vägen", "gränd", "torget", "gade", "vej",
    "veien", "vegen", "katu", "kuja", "str",
];
/// Directions in the names of English streets.
const DIRECTIONS: &[&str] = &["N", "S", "E", "W", "NE", "NW", "SE", "SW"];

/// Finds an address that starts with a house number.
pub(crate) fn number_first<'a>(scan: &mut Scan<'a>, part: TextPart, at: usize) {
    if !scan.wants(Kind::Location) {
        return;
    }
    let preceding = scan.text[part.start..at].chars().next_back();
    if preceding
        .is_some_and(|c| !(c.is_whitespace() || matches!(c, '(' | '*' | '|' | ':' | ',' | '_' | '"' | '>')))
    {
        return;
    }
    let Some(end) = house_number_end(scan, part, at) else { return };
    let comma = word::skip(scan, part, end, Separator::Comma);
    let next_word = |scan: &mut Scan<'a>, end| {
        let next = word::next(scan, part, end, Separator::Space);
        next.or_else(|| word::next(scan, part, end, Separator::Comma))
    };
    let Some(mut first) = next_word(scan, end) else { return };
    if matches!(first.text, "bis" | "ter" | "quater") {
        let Some(next) = next_word(scan, first.end) else { return };
        first = next;
    }
    let end = if first.senses.is(WordSense::FRENCH_STREET) {
        french_street_end(scan, part, &first)
    } else if comma.is_none() {
        english_street_end(scan, part, &first)
    } else {
        None
    };
    if let Some(end) = end {
        let end = address_end(scan, part, end, 5);
        scan.record_whole(Kind::Location, at..end);
    }
}

/// Returns the end of a house number: `12`, `12b`, `12-14`, `12/3`.
fn house_number_end(scan: &Scan<'_>, part: TextPart, at: usize) -> Option<usize> {
    let bytes = &scan.bytes()[at..part.end];
    let digits = |from: usize| {
        bytes[from.min(bytes.len())..].iter().take(6).take_while(|b| b.is_ascii_digit()).count()
    };
    let first = digits(0);
    let mut end = first;
    if bytes.get(end).is_some_and(|b| matches!(b, b'-' | b'/')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let has_letter = bytes.get(end).is_some_and(u8::is_ascii_alphabetic);
    let is_single = !bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
    if has_letter && is_single {
        end += 1;
    }
    let continues = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
        || bytes.get(end).is_some_and(|b| matches!(b, b'.' | b',')) && digits(end + 1) > 0
        || bytes.get(end) == Some(&b'%');
    ((1..=5).contains(&first) && !continues).then_some(at + end)
}

/// Returns the end of a French street that starts with its kind: `rue de la Paix`.
fn french_street_end(scan: &mut Scan<'_>, part: TextPart, kind: &Word<'_>) -> Option<usize> {
    let mut end = kind.end;
    let mut name_end = None;
    for _ in 0..6 {
        let Some(next) = word::next(scan, part, end, Separator::Dot) else { break };
        if next.is_capitalized || next.text.contains(['\'', '’']) {
            name_end = Some(next.end);
        } else if !next.senses.is(WordSense::SMALL) {
            break;
        }
        end = next.end;
    }
    name_end
}

/// Returns the end of an English street that ends with its kind: `Baker Street`.
fn english_street_end(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<usize> {
    let mut word = *first;
    for count in 0..5 {
        let is_direction = DIRECTIONS.contains(&word.text);
        let has_name = count > 0;
        if has_name && word.senses.is(WordSense::STREET) {
            return Some(direction_end(scan, part, abbreviation_end(scan, part, &word)));
        }
        if has_name && word.senses.is(WordSense::WEAK_STREET) {
            let end = direction_end(scan, part, abbreviation_end(scan, part, &word));
            let rest = &scan.text[end..part.end];
            let is_end = rest.is_empty()
                || rest.starts_with([',', '\n', '|', ';', ')', '*', '<'])
                || rest.starts_with(". ")
                || rest.starts_with(" |")
                || word::next(scan, part, end, Separator::Space)
                    .is_some_and(|next| next.senses.is(WordSense::UNIT));
            return is_end.then_some(end);
        }
        if !word.is_capitalized && !is_direction {
            return None;
        }
        word = word::next(scan, part, word.end, Separator::Dot)?;
    }
    None
}

/// Returns the end of a word with the full stop of an abbreviation.
fn abbreviation_end(scan: &Scan<'_>, part: TextPart, word: &Word<'_>) -> usize {
    let has_stop = word.text.len() <= 4 && scan.bytes()[word.end..part.end].first() == Some(&b'.');
    let ends_line = scan.bytes()[word.end..part.end].get(1).is_none_or(|b| matches!(b, b'\n'));
    if has_stop && !ends_line { word.end + 1 } else { word.end }
}

/// Returns the end of a direction after `end`; `end` if there is none.
fn direction_end(scan: &mut Scan<'_>, part: TextPart, end: usize) -> usize {
    match word::next(scan, part, end, Separator::Space) {
        Some(next) if DIRECTIONS.contains(&next.text) => next.end,
        Some(_) | None => end,
    }
}

/// Finds an address whose street starts or ends with this word and is followed by the number.
pub(crate) fn word(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    if !scan.wants(Kind::Location) {
        return;
    }
    let found = if word.text.len() == 1 {
        if word.text == "P" { post_box_end(scan, part, word).map(|end| (word.start, end)) } else { None }
    } else if is_street_head(word) {
        let is_certain = word.senses.is(WordSense::STREET_HEAD);
        let end = headed_street_end(scan, part, word);
        end.filter(|end| is_certain || !is_quantity(scan, part, *end)).map(|end| (word.start, end))
    } else if may_be_numbered(scan, part, word) && ends_street(word) {
        street_number_end(scan, part, word.end).map(|end| (street_name_start(scan, part, word), end))
    } else if word.is_capitalized {
        post_box_end(scan, part, word).map(|end| (word.start, end))
    } else {
        None
    };
    if let Some((start, end)) = found {
        let end = address_end(scan, part, end, 5);
        scan.record_whole(Kind::Location, start..end);
    }
}

/// Returns whether the number is a quantity of the next word: `Via Slack 20 messages`.
fn is_quantity(scan: &Scan<'_>, part: TextPart, end: usize) -> bool {
    matches!(scan.bytes()[end..part.end], [b' ', b'a'..=b'z', ..])
}

/// Returns whether a street may start with this word.
fn is_street_head(word: &Word<'_>) -> bool {
    word.senses.is(WordSense::STREET_HEAD)
        || (word.is_capitalized && word.senses.is(WordSense::CAPITAL_STREET_HEAD))
}

/// Returns whether a number may follow; a cheap check before the others.
fn may_be_numbered(scan: &Scan<'_>, part: TextPart, word: &Word<'_>) -> bool {
    match scan.bytes()[word.end..part.end] {
        [b' ', next, ..] | [b',' | b'.', b' ', next, ..] | [b'.', next, ..] => {
            next.is_ascii_digit() || next == b'n'
        }
        _ => false,
    }
}

/// Returns whether a street may end with this word.
fn ends_street(word: &Word<'_>) -> bool {
    if !word.is_capitalized {
        return matches!(word.text, "utca" | "utja");
    }
    word.senses.is(WordSense::STREET_LAST)
        || (word.text.len() >= 6
            && SUFFIXES.iter().any(|end| word.text.ends_with(end) && word.text.len() >= end.len() + 2))
}

/// Returns the end of a street that starts with `head`: its name and its number.
fn headed_street_end(scan: &mut Scan<'_>, part: TextPart, head: &Word<'_>) -> Option<usize> {
    let mut end = head.end;
    for count in 0..6 {
        if count > 0
            && let Some(end) = street_number_end(scan, part, end)
        {
            return Some(end);
        }
        let next = word::next(scan, part, end, Separator::Dot)?;
        if !next.is_capitalized && !next.senses.is(WordSense::SMALL) {
            return None;
        }
        end = next.end;
    }
    None
}

/// Returns the end of the number after a street: ` 12`, `, 12b`, `, n.º 5`, `, д. 3`.
fn street_number_end(scan: &mut Scan<'_>, part: TextPart, end: usize) -> Option<usize> {
    const SIGNS: &[&str] = &[
        "n.º ", "nº ", "n° ", "no. ", "No. ", "Nr. ", "nr ", "nr. ", "д. ", "буд. ", "№ ", "№", "n. ", "č. ",
    ];
    let at = word::skip(scan, part, end, Separator::Comma)
        .or_else(|| word::skip(scan, part, end, Separator::Dot))?;
    let rest = &scan.text[at..part.end];
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(0, |sign| sign.len());
    scan.work += 8;
    let number = house_number_end(scan, part, at + sign)?;
    let digits = scan.bytes()[at + sign..number].iter().filter(|b| b.is_ascii_digit()).count();
    // A number of four digits is often a year.
    (number > at + sign && digits <= 3 || sign > 0).then_some(number)
}

/// Returns the start of the name of a street that ends with this word: `Alte Schönhauser Straße`.
fn street_name_start(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> usize {
    let is_kind = word.senses.is(WordSense::STREET_LAST);
    let mut start = word.start;
    for _ in 0..2 {
        let Some(before) = word::before(scan, part, start) else { break };
        let is_name = before.chars().next().is_some_and(char::is_uppercase) && before.chars().count() > 1;
        let is_other =
            ["Die", "Der", "Das", "In", "Am", "Im", "An", "Adresse", "Anschrift"].contains(&before);
        if !is_kind || !is_name || is_other {
            break;
        }
        start -= before.len() + 1;
    }
    scan.work += (word.start - start) as u64;
    start
}

/// Returns the end of a post box that starts with this word: `P.O. Box 123`.
fn post_box_end(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> Option<usize> {
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

/// Returns the end of the address whose street ends at `end`: of a unit, postal code, city, state or country.
fn address_end(scan: &mut Scan<'_>, part: TextPart, end: usize, depth: u8) -> usize {
    if depth == 0 {
        return end;
    }
    let at = word::skip(scan, part, end, Separator::Comma)
        .or_else(|| word::skip(scan, part, end, Separator::Space));
    let Some(at) = at else { return end };
    match address_item_end(scan, part, at, depth) {
        Some(next) => address_end(scan, part, next, depth - 1),
        None => end,
    }
}

/// Returns the end of one item of an address, such as the postal code.
fn address_item_end(scan: &mut Scan<'_>, part: TextPart, at: usize, depth: u8) -> Option<usize> {
    let bytes = scan.bytes();
    let first = *bytes[at..part.end].first()?;
    if first == b'#' {
        let digits = bytes[at + 1..part.end].iter().take(6).take_while(|b| b.is_ascii_alphanumeric()).count();
        return (digits > 0).then_some(at + 1 + digits);
    }
    if first.is_ascii_digit() {
        return code_and_city_end(scan, part, at);
    }
    let c = scan.text[at..part.end].chars().next()?;
    if !c.is_alphabetic() {
        return None;
    }
    let word = word::word(scan, part, at);
    if word.senses.is(WordSense::UNIT) {
        let unit = word::skip(scan, part, word.end, Separator::Dot)?;
        let length = bytes[unit..part.end]
            .iter()
            .take(8)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'#')
            .count();
        let has_number = bytes[unit..unit + length].iter().any(u8::is_ascii_digit) || length == 1;
        return has_number.then_some(unit + length);
    }
    if word.is_uppercase && STATES.contains(&word.text) {
        return Some(place::code_after_state(scan, part, word.end).unwrap_or(word.end));
    }
    if let Some(end) = postcode::code(scan, part, &word) {
        return Some(end);
    }
    if !word.is_capitalized {
        return None;
    }
    if let Some(name) = place::place_name(scan, part, &word) {
        return Some(name.end);
    }
    unknown_city_end(scan, part, &word, depth)
}

/// Returns the end of a city that is not in the gazetteer; it counts only before another item of an address.
fn unknown_city_end(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>, depth: u8) -> Option<usize> {
    let mut end = word.end;
    for _ in 0..3 {
        let item_end = address_end(scan, part, end, depth.saturating_sub(2).min(1));
        if item_end > end && !scan.text[end..item_end].bytes().all(|b| b.is_ascii_alphabetic() || b == b' ') {
            return Some(end);
        }
        let next = word::next(scan, part, end, Separator::Space).filter(|next| next.is_capitalized)?;
        end = next.end;
    }
    None
}

/// Returns the end of a postal code, and of the city after it: `10115 Berlin`, `1012 AB Amsterdam`, `00-001 Warszawa`,
/// `114 55 Stockholm`, `94105`.
fn code_and_city_end(scan: &mut Scan<'_>, part: TextPart, at: usize) -> Option<usize> {
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
        let Some(next) = word::next(scan, part, end, Separator::Space) else { break };
        let is_particle =
            matches!(next.text, "am" | "an" | "de" | "der" | "la" | "le" | "sur" | "im" | "den");
        if !next.is_capitalized && !is_particle {
            break;
        }
        end = next.end;
    }
    Some(end)
}

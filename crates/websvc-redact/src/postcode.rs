//! Postal codes, by the formats of their countries, and coordinates.

use crate::kind::Kind;
use crate::place::{self, STATES};
use crate::scan::{Scan, TextPart};
use crate::word::{self, Separator, Word};

/// The areas of British postcodes.
const AREAS: &[&str] = &[
    "AB", "AL", "B", "BA", "BB", "BD", "BH", "BL", "BN", "BR", "BS", "BT", "CA", "CB", "CF", "CH", "CM",
    "CO", "CR", "CT", "CV", "CW", "DA", "DD", "DE", "DG", "DH", "DL", "DN", "DT", "DY", "E", "EC", "EH",
    "EN", "EX", "FK", "FY", "G", "GL", "GU", "HA", "HD", "HG", "HP", "HR", "HS", "HU", "HX", "IG", "IP",
    "IV", "KA", "KT", "KW", "KY", "L", "LA", "LD", "LE", "LL", "LN", "LS", "LU", "M", "ME", "MK", "ML", "N",
    "NE", "NG", "NN", "NP", "NR", "NW", "OL", "OX", "PA", "PE", "PH", "PL", "PO", "PR", "RG", "RH", "RM",
    "S", "SA", "SE", "SG", "SK", "SL", "SM", "SN", "SO", "SP", "SR", "SS", "ST", "SW", "SY", "TA", "TD",
    "TF", "TN", "TQ", "TR", "TS", "TW", "UB", "W", "WA", "WC", "WD", "WF", "WN", "WR", "WS", "WV", "YO",
    "ZE",
];
/// The country codes before a postal code: `D-10115 Berlin`.
const COUNTRY_CODES: &[&str] = &[
    "A", "B", "CH", "CZ", "D", "DK", "E", "F", "FI", "FIN", "I", "L", "LT", "LV", "NL", "PL", "S", "SE",
    "SI", "SK",
];

/// Finds codes that start with letters: British, Canadian, American after a state, and those after a country code.
pub(crate) fn letters(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let next_bytes = scan.bytes()[word.end..part.end].first_chunk::<2>();
    let may_be_code = next_bytes.is_some_and(|next| next.iter().any(u8::is_ascii_digit) || *next == *b" K");
    if word.text.len() > 3
        || !(may_be_code || next_bytes.is_some_and(|next| next[0] == b' '))
        || !scan.wants(Kind::Location)
    {
        return;
    }
    let code = code(scan, part, word).or_else(|| code_after_country(scan, part, word));
    if let Some(end) = code {
        let end = place::region_end(scan, part, end);
        scan.record_whole(Kind::Location, word.start..end);
    } else if word.is_uppercase
        && STATES.contains(&word.text)
        && let Some(end) = place::code_after_state(scan, part, word.end)
    {
        let start = city_start(scan, part, word.start);
        scan.record_whole(Kind::Location, start..end);
    }
}

/// Returns the end of a British or Canadian code that starts with a word.
pub(crate) fn code(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> Option<usize> {
    let bytes = &scan.bytes()[word.start..part.end];
    scan.work += 10;
    let british = AREAS.contains(&word.text).then(|| british(bytes, word.text.len())).flatten();
    Some(word.start + british.or_else(|| place::canadian(bytes))?)
}

/// Returns the length of a British code: area and district, a space, sector and unit: `SW1A 1AA`.
fn british(bytes: &[u8], area: usize) -> Option<usize> {
    let district = bytes[area..].iter().take(3).take_while(|b| b.is_ascii_digit()).count();
    let letter = bytes.get(area + district).is_some_and(u8::is_ascii_uppercase);
    let space = area + district + usize::from(letter);
    let inward = bytes.get(space + 1..space + 4)?;
    let is_unit = |b: u8| b.is_ascii_uppercase() && !b"CIKMOV".contains(&b);
    let fits = (1..=2).contains(&district)
        && bytes[space] == b' '
        && inward[0].is_ascii_digit()
        && is_unit(inward[1])
        && is_unit(inward[2])
        && !bytes.get(space + 4).is_some_and(u8::is_ascii_alphanumeric);
    fits.then_some(space + 4)
}

/// Returns the end of a code after a country code, and of its city: `D-10115 Berlin`.
fn code_after_country(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) -> Option<usize> {
    if !COUNTRY_CODES.contains(&word.text) {
        return None;
    }
    let rest = scan.bytes()[word.end..part.end].strip_prefix(b"-")?;
    let digits = rest.iter().take(6).take_while(|b| b.is_ascii_digit()).count();
    let city = word::next(scan, part, word.end + 1 + digits, Separator::Space)?;
    let fits = (3..=5).contains(&digits) && city.is_capitalized && !city.is_uppercase;
    fits.then_some(city.end)
}

/// Returns the start of a city before a state: `San Jose, `.
fn city_start(scan: &mut Scan<'_>, part: TextPart, start: usize) -> usize {
    let head = &scan.text[part.start..start];
    let Some(city) = head.strip_suffix(", ").or_else(|| head.strip_suffix(' ')) else { return start };
    let mut from = city.len();
    for _ in 0..3 {
        let letters: usize = city[..from]
            .chars()
            .rev()
            .take(24)
            .take_while(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '.'))
            .map(char::len_utf8)
            .sum();
        let is_capitalized = city[from - letters..].chars().next().is_some_and(char::is_uppercase);
        if letters < 2 || !is_capitalized {
            break;
        }
        from -= letters;
        match city[..from].strip_suffix(' ') {
            Some(before) if before.ends_with(char::is_alphabetic) => from = before.len(),
            Some(_) | None => break,
        }
    }
    scan.work += (city.len() - from) as u64;
    let lead = city[from..].len() - city[from..].trim_start().len();
    if from == city.len() { start } else { part.start + from + lead }
}

/// Finds a code of digits before a known city, and coordinates.
pub(crate) fn number(scan: &mut Scan<'_>, part: TextPart, at: usize) {
    if !scan.wants(Kind::Location) || !may_start(scan, part, at) {
        return;
    }
    let bytes = &scan.bytes()[at..part.end];
    let digits = bytes.iter().take(7).take_while(|b| b.is_ascii_digit()).count();
    scan.work += digits as u64;
    if digits <= 3
        && let Some(length) = coordinates(bytes)
    {
        let start = if at > part.start && scan.bytes()[at - 1] == b'-' { at - 1 } else { at };
        scan.record_whole(Kind::Location, start..at + length);
        return;
    }
    let code = match (digits, bytes.get(digits..)) {
        (5, Some([b'-', rest @ ..])) if digit_count(rest) == 3 => 9,
        (2, Some([b'-', rest @ ..])) if digit_count(rest) == 3 => 6,
        (3, Some([b' ', rest @ ..])) if digit_count(rest) == 2 => 6,
        (4, Some([b' ', b'A'..=b'Z', b'A'..=b'Z', b' ', ..])) => 7,
        (4, Some([b'A'..=b'Z', b'A'..=b'Z', b' ', ..])) => 6,
        (4..=6, _) => digits,
        _ => return,
    };
    let is_year = digits == 4 && code == 4 && matches!(&bytes[..2], b"19" | b"20");
    let city = word::next(scan, part, at + code, Separator::Space);
    let Some(city) = city.filter(|city| city.is_capitalized && !is_year) else { return };
    let Some(name) = place::place_name(scan, part, &city) else { return };
    let end = place::region_end(scan, part, name.end);
    scan.record_whole(Kind::Location, at..end);
}

/// Returns whether a code or a number may start at a position, by the character before it.
fn may_start(scan: &Scan<'_>, part: TextPart, at: usize) -> bool {
    let preceding = scan.text[part.start..at].chars().next_back();
    preceding.is_none_or(|c| {
        c.is_whitespace() || matches!(c, '(' | '[' | '*' | '|' | ',' | ':' | '>' | '"' | '-' | '_')
    })
}

fn digit_count(bytes: &[u8]) -> usize {
    bytes.iter().take(8).take_while(|b| b.is_ascii_digit()).count()
}

/// Returns the length of coordinates: `52.5200, 13.4050`, `52°31′12″N 13°24′18″E`.
fn coordinates(bytes: &[u8]) -> Option<usize> {
    if let Some(latitude) = sexagesimal(bytes) {
        let gap = bytes[latitude..].iter().take(2).take_while(|b| matches!(b, b' ' | b',')).count();
        let longitude = sexagesimal(&bytes[latitude + gap..]);
        return Some(longitude.map_or(latitude, |length| latitude + gap + length));
    }
    let latitude = decimal(bytes)?;
    let rest = bytes.get(latitude.length..)?.strip_prefix(b",")?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let longitude = decimal(rest)?;
    let end = bytes.len() - rest.len() + longitude.length;
    let is_valid = latitude.whole <= 90 && longitude.whole <= 180;
    // Two numbers below ten are rarely coordinates.
    (is_valid && latitude.whole_digits + longitude.whole_digits >= 3).then_some(end)
}

/// A decimal number.
struct Decimal {
    /// The part before the decimal point.
    whole: u32,
    /// The number of its digits.
    whole_digits: usize,
    /// The length of the number, in bytes.
    length: usize,
}

/// Reads a number with at least four decimals.
fn decimal(bytes: &[u8]) -> Option<Decimal> {
    let whole_digits = digit_count(bytes);
    let decimals = digit_count(bytes.get(whole_digits..)?.strip_prefix(b".")?);
    let whole = bytes[..whole_digits].iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    let length = whole_digits + 1 + decimals;
    let continues = bytes.get(length).is_some_and(u8::is_ascii_alphanumeric)
        || bytes.get(length) == Some(&b'.') && bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
    let is_coordinate = (1..=3).contains(&whole_digits) && decimals >= 4 && !continues;
    is_coordinate.then_some(Decimal { whole, whole_digits, length })
}

/// Returns the length of a coordinate in degrees, minutes and seconds.
fn sexagesimal(bytes: &[u8]) -> Option<usize> {
    let text = str::from_utf8(&bytes[..bytes.len().min(40)]).unwrap_or_else(|error| {
        str::from_utf8(&bytes[..error.valid_up_to()]).expect("the text is valid up to this position")
    });
    let (mut seen_degrees, mut last) = (false, 0);
    for (at, c) in text.char_indices().take(24) {
        match c {
            '0'..='9' | '.' | ' ' | '\'' | '′' | '’' | '"' | '″' | '”' => {}
            '°' | 'º' if !seen_degrees => seen_degrees = true,
            'N' | 'S' | 'E' | 'W' | 'O' if seen_degrees => {
                last = at + 1;
                break;
            }
            _ => break,
        }
    }
    (last > 0).then_some(last)
}

/// Finds a Japanese code and the address after it: `〒100-0001 東京都千代田区千代田1-1`.
pub(crate) fn japan(scan: &mut Scan<'_>, part: TextPart, at: usize) {
    let rest = &scan.text[at + '〒'.len_utf8()..part.end];
    let space = rest.len() - rest.trim_start_matches([' ', '　']).len();
    let code = rest[space..].bytes().take(8).take_while(|b| b.is_ascii_digit() || *b == b'-').count();
    if !matches!(code, 7 | 8) {
        return;
    }
    let mut end = space + code;
    let address = rest[end..].trim_start_matches([' ', '　']);
    let lead = rest[end..].len() - address.len();
    let is_address_char = |c: &char| {
        crate::cjk::is_cjk(*c) || c.is_ascii_digit() || matches!(c, '-' | '−' | '－' | '０'..='９')
    };
    let length: usize = address.chars().take(64).take_while(is_address_char).map(char::len_utf8).sum();
    if length > 0 {
        end += lead + length;
    }
    scan.work += end as u64;
    let end = at + '〒'.len_utf8() + end;
    scan.record_whole(Kind::Location, at..end);
}

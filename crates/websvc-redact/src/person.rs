//! Names of people: behind titles and labels, and by known given and family names.

use crate::kind::Kind;
use crate::lexicon::{WordSense, meaning};
use crate::name_context::{self, ENOUGH, evidence, is_no_beginning};
use crate::scan::{Scan, TextPart};
use crate::word::{self, Gap, Word};

/// A name that was read: where it ends, and what is known of its parts.
#[derive(Debug, Clone, Copy, Default)]
struct Name {
    start: usize,
    end: usize,
    words: usize,
    known: usize,
    family: bool,
}

/// Kind of the first word of a chain that is not in the lexicon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameStart {
    WithGiven,
    WithFamily,
}

/// Looks for a name that begins with, or is announced by, a word.
pub(crate) fn word(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let found = if word.text.len() <= 3 && word.text.chars().count() == 1 {
        initials(scan, part, word).or_else(|| titled(scan, part, word))
    } else {
        titled(scan, part, word)
            .or_else(|| labelled(scan, part, word))
            .or_else(|| named(scan, part, word))
            .or_else(|| announced(scan, part, word))
    };
    note(scan, found);
}

/// Looks for a name that is announced by a title in small letters.
pub(crate) fn title(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let found = titled(scan, part, word);
    note(scan, found);
}

fn note(scan: &mut Scan<'_>, found: Option<Name>) {
    let Some(name) = found else { return };
    let mut end = name.end;
    for possessive in ["'s", "’s"] {
        if scan.text[name.start..end].ends_with(possessive) {
            end -= possessive.len();
        }
    }
    scan.find(Kind::Person, name.start..end);
}

/// Reads the words of a name behind `end`. Behind the first family name only known ones go on.
fn chain(scan: &mut Scan<'_>, part: TextPart, end: usize, from: NameStart) -> Name {
    const MOST: usize = 4;
    let mut name = Name { start: end, end, ..Name::default() };
    while name.words < MOST {
        let Some(next) = word::next(scan, part, name.end, Gap::Space) else { break };
        if next.capital
            && next.text.chars().count() == 1
            && scan.bytes()[next.end..part.end].first() == Some(&b'.')
        {
            if name.words == 0 {
                name.start = next.start;
            }
            name.end = next.end + 1;
            name.words += 1;
            continue;
        }
        let next = match next.capital {
            true => next,
            false if next.meaning.is(WordSense::PARTICLE) => match particle(scan, part, &next) {
                Some(family) => family,
                None => break,
            },
            false => break,
        };
        let base = next.text.trim_end_matches("'s").trim_end_matches("’s");
        let known = meaning(base);
        let is_known = known.is(WordSense::GIVEN) || known.is(WordSense::FAMILY);
        if known.is(WordSense::NEVER) || (next.upper && base.len() > 3 && !is_known && name.words > 0) {
            break;
        }
        // Behind a family name only what is one, too, goes on: a sentence may have capital words.
        if name.family && !known.is(WordSense::FAMILY) {
            break;
        }
        if name.words == 0 {
            name.start = next.start;
        }
        let may_be_given = from == NameStart::WithGiven && name.words == 0;
        name.family |= known.is(WordSense::FAMILY) || !(known.is(WordSense::GIVEN) || may_be_given);
        name.known += usize::from(is_known || known.is(WordSense::GIVEN_DOUBTFUL));
        name.words += 1;
        name.end = next.end;
    }
    name
}

/// Returns the family name behind a particle, or two.
fn particle<'a>(scan: &mut Scan<'a>, part: TextPart, first: &Word<'a>) -> Option<Word<'a>> {
    let mut end = first.end;
    for _ in 0..2 {
        let next = word::next(scan, part, end, Gap::Space)?;
        if next.capital {
            return Some(next);
        }
        if !next.meaning.is(WordSense::PARTICLE) {
            return None;
        }
        end = next.end;
    }
    None
}

/// `Dr. Jane Doe`: the title stays.
fn titled(scan: &mut Scan<'_>, part: TextPart, title: &Word<'_>) -> Option<Name> {
    if title.text.len() > 16 {
        return None;
    }
    let strong = title.meaning.is(WordSense::TITLE);
    let weak = !strong && title.meaning.is(WordSense::WEAK_TITLE);
    if !strong && !weak {
        return None;
    }
    let dot = usize::from(scan.bytes()[title.end..part.end].first() == Some(&b'.'));
    let name = chain(scan, part, title.end + dot, NameStart::WithGiven);
    let second = dot == 1 || name.words > 0;
    let is_title = name.words > 0 && second && (strong || name.known > 0);
    is_title.then_some(name)
}

/// `Author: Jane Doe`, up to the end of a line or a mark.
fn labelled(scan: &mut Scan<'_>, part: TextPart, label: &Word<'_>) -> Option<Name> {
    let rest = &scan.text[label.end..part.end];
    let colon = rest.bytes().take(4).position(|b| b == b':')?;
    let marks = rest.as_bytes()[..colon].iter().all(|b| matches!(b, b'*' | b' ' | b'_'));
    if !marks || !label.meaning.is(WordSense::LABEL) {
        return None;
    }
    let more = rest[colon + 1..].bytes().take(3).take_while(|b| matches!(b, b'*' | b'_')).count();
    let name = chain(scan, part, label.end + colon + 1 + more, NameStart::WithGiven);
    let rest = &scan.text[name.end..part.end];
    let ends = rest.trim_start_matches(' ').is_empty()
        || rest
            .trim_start_matches([' ', '*', '_', '\\'])
            .starts_with(['\n', ',', ';', '|', '(', '<', '[', '.', '-', '–', '/']);
    let known = name.known > 0 || name_context::is_sure_label(label.text) || scan.is_aggressive();
    (name.words >= 2 && ends && known).then_some(name)
}

/// `J. K. Smith`
fn initials(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<Name> {
    if scan.bytes()[first.end..part.end].first() != Some(&b'.') {
        return None;
    }
    let mut end = first.end + 1;
    for _ in 0..3 {
        let next = word::next(scan, part, end, Gap::Dot).filter(|next| next.capital)?;
        if next.text.chars().count() == 1 {
            end = next.end + 1;
            if end > part.end || scan.bytes()[next.end..part.end].first() != Some(&b'.') {
                return None;
            }
            continue;
        }
        let family = next.meaning;
        let sure = family.is(WordSense::FAMILY)
            && !next.meaning.is(WordSense::COMMON)
            && !next.meaning.is(WordSense::NEVER);
        // Two initials are those of a person, but for some states and unions.
        let two = end > first.end + 1 && !matches!(first.text, "U" | "E") && !next.upper;
        let likely = (two || scan.is_aggressive())
            && !next.meaning.is(WordSense::NEVER)
            && next.text.chars().count() > 2;
        return (sure || likely).then_some(Name { start: first.start, end: next.end, ..Name::default() });
    }
    None
}

/// A known given name with what follows it, or a family name before a given one.
fn named(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<Name> {
    let known = first.meaning;
    let hyphen = first.text.split_once('-').is_some_and(|(given, _)| meaning(given).is(WordSense::GIVEN));
    let sure = known.is(WordSense::GIVEN) || hyphen;
    let doubtful = known.is(WordSense::GIVEN_DOUBTFUL);
    let family = known.is(WordSense::FAMILY);
    let guess = scan.is_aggressive() && !first.meaning.is(WordSense::NEVER) && first.text.chars().count() > 2;
    if !(sure || doubtful || family || guess) {
        return None;
    }
    let rest = chain(scan, part, first.end, NameStart::WithFamily);
    let name = Name { start: first.start, ..rest };
    if rest.words > 0 && belongs_to_more(scan, part, rest.end) {
        return None;
    }
    let last = scan.text[..rest.end].rsplit([' ', '.']).next().unwrap_or_default();
    let ends = meaning(last.trim_end_matches("'s").trim_end_matches("’s"));
    let proven = ends.is(WordSense::FAMILY) && !meaning(last).is(WordSense::COMMON);
    let has_family = rest.words > 0 && !scan.text[..rest.end].ends_with('.');
    // `Zhang Wei`: the family comes first.
    let reversed =
        family && rest.words == 1 && ends.is(WordSense::GIVEN) && !first.meaning.is(WordSense::COMMON);
    let guessed = guess && rest.words == 1 && proven;
    if (sure && has_family) || (doubtful && has_family && proven) || reversed || guessed {
        return Some(name);
    }
    if scan.is_aggressive() {
        // `Doe, Jane`, and a given name by itself.
        let comma = word::next(scan, part, first.end, Gap::Comma).filter(|given| given.capital);
        if let Some(given) = comma.filter(|given| family && given.meaning.is(WordSense::GIVEN)) {
            return Some(Name { start: first.start, end: given.end, ..Name::default() });
        }
        return sure.then_some(Name { start: first.start, end: first.end, ..Name::default() });
    }
    None
}

/// Two capital words of which less is known, where what stands around them says that they are a name.
fn announced(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<Name> {
    let [space, capital] = *scan.bytes()[first.end..part.end].first_chunk::<2>()?;
    // `Senna van Leeuwen`: of what may join names, only these two are read behind an unknown one.
    let behind = scan.text.get(first.end + 1..).unwrap_or_default();
    let joins = behind.starts_with("van ") || behind.starts_with("von ");
    let goes_on = capital.is_ascii_uppercase() || capital >= 0x80 || joins;
    if space != b' ' || !goes_on || first.upper {
        return None;
    }
    let known = first.meaning;
    if known.is(WordSense::NEVER)
        || known.is(WordSense::THING)
        || known.is(WordSense::PLACE)
        || is_title(first)
    {
        return None;
    }
    let rest = chain(scan, part, first.end, NameStart::WithFamily);
    let text = &scan.text[first.start..rest.end];
    // `Ask Jane Doe`: the name begins with the next word.
    let second = text.split(' ').nth(1).unwrap_or_default();
    if rest.words > 1 && !known.is(WordSense::GIVEN_DOUBTFUL) && meaning(second).is(WordSense::GIVEN) {
        return None;
    }
    if rest.words == 0 || text.ends_with('.') || meaning(text).is(WordSense::PLACE) {
        return None;
    }
    let last = text.rsplit(' ').next().unwrap_or_default();
    let last = meaning(last.trim_end_matches("'s").trim_end_matches("’s"));
    if last.is(WordSense::THING) || belongs_to_more(scan, part, rest.end) || is_no_beginning(first.text) {
        return None;
    }
    let begins = u8::from(known.is(WordSense::GIVEN_DOUBTFUL) || known.is(WordSense::FAMILY));
    let ends = match (last.is(WordSense::FAMILY), last.is(WordSense::COMMON)) {
        (true, false) => 2,
        (true, true) => 1,
        (false, _) => u8::from(last.is(WordSense::GIVEN) || last.is(WordSense::GIVEN_DOUBTFUL)),
    };
    let around = evidence(scan, part, first.start, rest.end);
    let enough = around > 0 && begins + ends + u8::from(joins) + around >= ENOUGH;
    enough.then_some(Name { start: first.start, ..rest })
}

fn is_title(word: &Word<'_>) -> bool {
    word.meaning.is(WordSense::TITLE) || word.meaning.is(WordSense::WEAK_TITLE)
}

/// Returns whether the next word turns the name into the name of something else: `Johns Hopkins University`.
fn belongs_to_more(scan: &mut Scan<'_>, part: TextPart, end: usize) -> bool {
    word::next(scan, part, end, Gap::Space)
        .is_some_and(|next| next.capital && next.meaning.is(WordSense::THING))
}

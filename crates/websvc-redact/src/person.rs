//! Names of people: found by titles and labels before them, and by known given and family names.

use crate::kind::Kind;
use crate::lexicon::{WordSense, senses};
use crate::name_context::{self, ENOUGH, cannot_start_name, evidence};
use crate::scan::{Scan, TextPart};
use crate::word::{self, Separator, Word};

/// A name in the text.
#[derive(Debug, Clone, Copy, Default)]
struct Name {
    start: usize,
    end: usize,
    /// The number of words, initials included.
    words: usize,
    /// The number of words that are names in the gazetteer.
    known_words: usize,
    /// True if a word is a family name.
    has_family: bool,
}

/// The role of the first word of a chain that is not in the gazetteer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameStart {
    WithGiven,
    WithFamily,
}

/// Finds a name that starts with a word, or that a word such as a title introduces.
pub(crate) fn word(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let name = if word.text.len() <= 3 && word.text.chars().count() == 1 {
        name_with_initials(scan, part, word).or_else(|| name_after_title(scan, part, word))
    } else {
        name_after_title(scan, part, word)
            .or_else(|| name_after_label(scan, part, word))
            .or_else(|| known_name(scan, part, word))
            .or_else(|| name_by_context(scan, part, word))
    };
    record(scan, name);
}

/// Finds a name after a title in lower case.
pub(crate) fn title(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let name = name_after_title(scan, part, word);
    record(scan, name);
}

/// Records a name without a possessive ending.
fn record(scan: &mut Scan<'_>, name: Option<Name>) {
    let Some(name) = name else { return };
    let mut end = name.end;
    for possessive in ["'s", "’s"] {
        if scan.text[name.start..end].ends_with(possessive) {
            end -= possessive.len();
        }
    }
    scan.record(Kind::Person, name.start..end);
}

/// Reads the words of a name after `end`. After the first family name, only other family names belong to it.
fn chain(scan: &mut Scan<'_>, part: TextPart, end: usize, from: NameStart) -> Name {
    const MAX_WORDS: usize = 4;
    let mut name = Name { start: end, end, ..Name::default() };
    while name.words < MAX_WORDS {
        let Some(next) = word::next(scan, part, name.end, Separator::Space) else { break };
        if next.is_capitalized
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
        let next = match next.is_capitalized {
            true => next,
            false if next.senses.is(WordSense::PARTICLE) => match family_after_particle(scan, part, &next) {
                Some(family) => family,
                None => break,
            },
            false => break,
        };
        let base = next.text.trim_end_matches("'s").trim_end_matches("’s");
        let senses = senses(base);
        let is_known = senses.is(WordSense::GIVEN) || senses.is(WordSense::FAMILY);
        if senses.is(WordSense::NEVER) || (next.is_uppercase && base.len() > 3 && !is_known && name.words > 0)
        {
            break;
        }
        // After a family name, another capitalized word often belongs to the sentence.
        if name.has_family && !senses.is(WordSense::FAMILY) {
            break;
        }
        if name.words == 0 {
            name.start = next.start;
        }
        let may_be_given = from == NameStart::WithGiven && name.words == 0;
        name.has_family |= senses.is(WordSense::FAMILY) || !(senses.is(WordSense::GIVEN) || may_be_given);
        name.known_words += usize::from(is_known || senses.is(WordSense::GIVEN_DOUBTFUL));
        name.words += 1;
        name.end = next.end;
    }
    name
}

/// Returns the family name after one or two particles.
fn family_after_particle<'a>(scan: &mut Scan<'a>, part: TextPart, first: &Word<'a>) -> Option<Word<'a>> {
    let mut end = first.end;
    for _ in 0..2 {
        let next = word::next(scan, part, end, Separator::Space)?;
        if next.is_capitalized {
            return Some(next);
        }
        if !next.senses.is(WordSense::PARTICLE) {
            return None;
        }
        end = next.end;
    }
    None
}

/// Returns the name after a title, which does not belong to it: `Dr. Jane Doe`.
fn name_after_title(scan: &mut Scan<'_>, part: TextPart, title: &Word<'_>) -> Option<Name> {
    if title.text.len() > 16 {
        return None;
    }
    let is_strong = title.senses.is(WordSense::TITLE);
    if !is_strong && !title.senses.is(WordSense::WEAK_TITLE) {
        return None;
    }
    let dot = usize::from(scan.bytes()[title.end..part.end].first() == Some(&b'.'));
    let name = chain(scan, part, title.end + dot, NameStart::WithGiven);
    let is_name = name.words > 0 && (is_strong || name.known_words > 0);
    is_name.then_some(name)
}

/// Returns the name between a label and the end of a line or a mark: `Author: Jane Doe`.
fn name_after_label(scan: &mut Scan<'_>, part: TextPart, label: &Word<'_>) -> Option<Name> {
    let rest = &scan.text[label.end..part.end];
    let colon = rest.bytes().take(4).position(|b| b == b':')?;
    let has_only_marks = rest.as_bytes()[..colon].iter().all(|b| matches!(b, b'*' | b' ' | b'_'));
    if !has_only_marks || !label.senses.is(WordSense::LABEL) {
        return None;
    }
    let marks = rest[colon + 1..].bytes().take(3).take_while(|b| matches!(b, b'*' | b'_')).count();
    let name = chain(scan, part, label.end + colon + 1 + marks, NameStart::WithGiven);
    let rest = &scan.text[name.end..part.end];
    let is_end = rest.trim_start_matches(' ').is_empty()
        || rest
            .trim_start_matches([' ', '*', '_', '\\'])
            .starts_with(['\n', ',', ';', '|', '(', '<', '[', '.', '-', '–', '/']);
    let is_certain =
        name.known_words > 0 || name_context::is_certain_label(label.text) || scan.is_aggressive();
    (name.words >= 2 && is_end && is_certain).then_some(name)
}

/// Returns the name that starts with initials: `J. K. Smith`.
fn name_with_initials(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<Name> {
    if scan.bytes()[first.end..part.end].first() != Some(&b'.') {
        return None;
    }
    let mut end = first.end + 1;
    for _ in 0..3 {
        let next = word::next(scan, part, end, Separator::Dot).filter(|next| next.is_capitalized)?;
        if next.text.chars().count() == 1 {
            end = next.end + 1;
            if end > part.end || scan.bytes()[next.end..part.end].first() != Some(&b'.') {
                return None;
            }
            continue;
        }
        let is_certain = next.senses.is(WordSense::FAMILY)
            && !next.senses.is(WordSense::COMMON)
            && !next.senses.is(WordSense::NEVER);
        // Two initials are those of a person, except for `U. S.` and `E. U.`.
        let has_two_initials = end > first.end + 1 && !matches!(first.text, "U" | "E") && !next.is_uppercase;
        let is_likely = (has_two_initials || scan.is_aggressive())
            && !next.senses.is(WordSense::NEVER)
            && next.text.chars().count() > 2;
        return (is_certain || is_likely).then_some(Name {
            start: first.start,
            end: next.end,
            ..Name::default()
        });
    }
    None
}

/// Returns the name that starts with a known given name, or with a family name before a given one.
fn known_name(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<Name> {
    let is_double = first.text.split_once('-').is_some_and(|(given, _)| senses(given).is(WordSense::GIVEN));
    let is_given = first.senses.is(WordSense::GIVEN) || is_double;
    let is_doubtful = first.senses.is(WordSense::GIVEN_DOUBTFUL);
    let is_family = first.senses.is(WordSense::FAMILY);
    let may_guess =
        scan.is_aggressive() && !first.senses.is(WordSense::NEVER) && first.text.chars().count() > 2;
    if !(is_given || is_doubtful || is_family || may_guess) {
        return None;
    }
    let rest = chain(scan, part, first.end, NameStart::WithFamily);
    let name = Name { start: first.start, ..rest };
    if rest.words > 0 && is_part_of_thing(scan, part, rest.end) {
        return None;
    }
    let last = scan.text[..rest.end].rsplit([' ', '.']).next().unwrap_or_default();
    let last_senses = senses(last.trim_end_matches("'s").trim_end_matches("’s"));
    let is_confirmed = last_senses.is(WordSense::FAMILY) && !senses(last).is(WordSense::COMMON);
    let has_family = rest.words > 0 && !scan.text[..rest.end].ends_with('.');
    // `Zhang Wei`: the family name comes first.
    let is_reversed = is_family
        && rest.words == 1
        && last_senses.is(WordSense::GIVEN)
        && !first.senses.is(WordSense::COMMON);
    let is_guess = may_guess && rest.words == 1 && is_confirmed;
    if has_family && (is_given || (is_doubtful && is_confirmed)) || is_reversed || is_guess {
        return Some(name);
    }
    if scan.is_aggressive() {
        // `Doe, Jane`, and a given name alone.
        let given = word::next(scan, part, first.end, Separator::Comma).filter(|given| given.is_capitalized);
        if let Some(given) = given.filter(|given| is_family && given.senses.is(WordSense::GIVEN)) {
            return Some(Name { start: first.start, end: given.end, ..Name::default() });
        }
        return is_given.then_some(Name { start: first.start, end: first.end, ..Name::default() });
    }
    None
}

/// Returns the name of capitalized words that are less known, if their context shows that they are a name.
fn name_by_context(scan: &mut Scan<'_>, part: TextPart, first: &Word<'_>) -> Option<Name> {
    let [space, capital] = *scan.bytes()[first.end..part.end].first_chunk::<2>()?;
    // `Senna van Leeuwen`: after an unknown given name, only these two particles count.
    let rest = scan.text.get(first.end + 1..).unwrap_or_default();
    let has_particle = rest.starts_with("van ") || rest.starts_with("von ");
    let continues = capital.is_ascii_uppercase() || capital >= 0x80 || has_particle;
    if space != b' ' || !continues || first.is_uppercase {
        return None;
    }
    let first_senses = first.senses;
    if first_senses.is(WordSense::NEVER)
        || first_senses.is(WordSense::THING)
        || first_senses.is(WordSense::PLACE)
        || is_title(first)
    {
        return None;
    }
    let rest = chain(scan, part, first.end, NameStart::WithFamily);
    let text = &scan.text[first.start..rest.end];
    // `Ask Jane Doe`: the name starts with the next word.
    let second = text.split(' ').nth(1).unwrap_or_default();
    if rest.words > 1 && !first_senses.is(WordSense::GIVEN_DOUBTFUL) && senses(second).is(WordSense::GIVEN) {
        return None;
    }
    if rest.words == 0 || text.ends_with('.') || senses(text).is(WordSense::PLACE) {
        return None;
    }
    let last = text.rsplit(' ').next().unwrap_or_default();
    let last_senses = senses(last.trim_end_matches("'s").trim_end_matches("’s"));
    let is_thing = last_senses.is(WordSense::THING) || is_part_of_thing(scan, part, rest.end);
    if is_thing || cannot_start_name(first.text) {
        return None;
    }
    let by_first = u8::from(first_senses.is(WordSense::GIVEN_DOUBTFUL) || first_senses.is(WordSense::FAMILY));
    let by_last = match (last_senses.is(WordSense::FAMILY), last_senses.is(WordSense::COMMON)) {
        (true, false) => 2,
        (true, true) => 1,
        (false, _) => u8::from(last_senses.is(WordSense::GIVEN) || last_senses.is(WordSense::GIVEN_DOUBTFUL)),
    };
    let by_context = evidence(scan, part, first.start, rest.end);
    let is_name = by_context > 0 && by_first + by_last + u8::from(has_particle) + by_context >= ENOUGH;
    is_name.then_some(Name { start: first.start, ..rest })
}

fn is_title(word: &Word<'_>) -> bool {
    word.senses.is(WordSense::TITLE) || word.senses.is(WordSense::WEAK_TITLE)
}

/// Returns whether the next word makes the name that of something else: `Johns Hopkins University`.
fn is_part_of_thing(scan: &mut Scan<'_>, part: TextPart, end: usize) -> bool {
    word::next(scan, part, end, Separator::Space)
        .is_some_and(|next| next.is_capitalized && next.senses.is(WordSense::THING))
}

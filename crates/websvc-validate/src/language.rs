//! Language tags of BCP 47.

use websvc_types::ViolationCode;
use websvc_types::limits::{LANGUAGE_MAX_CHARS, LANGUAGES_MAX};

use crate::bounds;
use crate::domain::deduplicate;
use crate::path::Path;
use crate::report::{Report, quoted};

/// Checks language tags. Underscores count as hyphens (`en_US`).
pub(crate) fn tags(report: &mut Report, path: &Path<'_>, texts: &[String]) -> Vec<String> {
    let mut tags = Vec::new();
    if !bounds::items(report, path, texts.len(), LANGUAGES_MAX) {
        return tags;
    }
    for (index, text) in texts.iter().enumerate() {
        let tag = text.replace('_', "-");
        if is_tag(&tag) {
            tags.push(tag);
        } else {
            report.violation(&path.index(index), ViolationCode::InvalidFormat, |name| {
                format!("{name} must be a language tag such as en or pt-BR, not {}", quoted(text))
            });
        }
    }
    deduplicate(tags)
}

/// Returns whether a text is a tag of the grammar of RFC 5646, section 2.1.
///
/// The registry of subtags is not consulted. Languages have at most three letters, because none with more is
/// registered. Grandfathered tags are not supported.
fn is_tag(tag: &str) -> bool {
    if tag.len() > LANGUAGE_MAX_CHARS as usize {
        return false;
    }
    let parts: Vec<&str> = tag.split('-').collect();
    let is_subtag =
        |part: &&str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    parts.iter().all(is_subtag) && is_ordered(&parts)
}

/// Returns whether the subtags are in the order of the grammar: language, extended languages, script, region, variants,
/// extensions, private use.
fn is_ordered(parts: &[&str]) -> bool {
    let Some((language, mut rest)) = parts.split_first() else { return false };
    if is_private(language) {
        return !rest.is_empty();
    }
    if !is_letters(language, 2..=3) {
        return false;
    }
    take(&mut rest, 3, |part| is_letters(part, 3..=3));
    take(&mut rest, 1, |part| is_letters(part, 4..=4));
    take(&mut rest, 1, |part| is_letters(part, 2..=2) || (part.len() == 3 && is_digits(part)));
    take(&mut rest, usize::MAX, |part| part.len() > 4 || (part.len() == 4 && is_digits(&part[..1])));
    are_extensions(rest)
}

/// Returns whether the subtags are extensions, which begin with a single letter or digit, with optional private use at
/// the end.
fn are_extensions(mut parts: &[&str]) -> bool {
    while let Some((singleton, rest)) = parts.split_first() {
        if is_private(singleton) {
            return !rest.is_empty();
        }
        parts = rest;
        if singleton.len() > 1 || take(&mut parts, usize::MAX, |part| part.len() > 1) == 0 {
            return false;
        }
    }
    true
}

/// Removes the first subtags that match, at most `max`, and returns their number.
fn take(parts: &mut &[&str], max: usize, matches: impl Fn(&str) -> bool) -> usize {
    let count = parts.iter().take(max).take_while(|part| matches(part)).count();
    *parts = &parts[count..];
    count
}

fn is_private(part: &str) -> bool {
    part.eq_ignore_ascii_case("x")
}

fn is_letters(part: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

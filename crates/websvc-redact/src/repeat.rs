//! Repetitions of findings: a name that was found by its title also counts where it occurs without the title.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::finding::{Finding, resolve};
use crate::kind::Kind;
use crate::zone::{Zone, ZoneClass};

/// The maximum number of different texts that are searched for.
const MAX_PATTERNS: usize = 4096;

/// Adds the other occurrences of distinctive findings.
pub(crate) fn find_repetitions(text: &str, zones: &[Zone], findings: Vec<Finding>) -> Vec<Finding> {
    let mut kinds: HashMap<&str, Kind> = HashMap::new();
    for finding in &findings {
        let words = &text[finding.range.clone()];
        if kinds.len() < MAX_PATTERNS && is_distinctive(finding.kind, words) {
            kinds.entry(words).or_insert(finding.kind);
        }
    }
    if kinds.is_empty() {
        return findings;
    }
    let mut patterns: Vec<(&str, Kind)> = kinds.into_iter().collect();
    patterns.sort_unstable();
    let search = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(patterns.iter().map(|(words, _)| words));
    // Building fails only for too many or too long patterns; then repetitions are not added.
    let Ok(search) = search else { return findings };
    let mut all = findings;
    let count_before = all.len();
    for hit in search.find_iter(text) {
        let kind = patterns[hit.pattern().as_usize()].1;
        if is_whole_word(text, hit.start(), hit.end()) && is_allowed(zones, kind, hit.start(), hit.end()) {
            all.push(Finding { kind, range: hit.range() });
        }
    }
    if all.len() == count_before { all } else { resolve(all) }
}

/// Returns whether the text is long enough to have the same senses everywhere.
fn is_distinctive(kind: Kind, words: &str) -> bool {
    match kind {
        Kind::Person => words.contains(' '),
        Kind::Location => words.contains(' ') && words.bytes().any(|b| b.is_ascii_digit()),
        Kind::Secret | Kind::Email | Kind::Financial | Kind::Phone => words.len() >= 7,
    }
}

/// Returns whether a range does not start or end inside a word.
pub(crate) fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !crate::cjk::is_cjk(c));
    let before = text[..start].chars().next_back();
    let first = text[start..].chars().next();
    let last = text[..end].chars().next_back();
    let after = text[end..].chars().next();
    !(is_part(before) && is_part(first) || is_part(last) && is_part(after))
}

/// Returns whether a finding of this kind is allowed in a range: secrets inside any zone, the other kinds in prose.
pub(crate) fn is_allowed(zones: &[Zone], kind: Kind, start: usize, end: usize) -> bool {
    let at = zones.partition_point(|zone| zone.range.end <= start);
    match zones.get(at) {
        Some(zone) if zone.range.start < end => {
            let is_inside = zone.range.start <= start && end <= zone.range.end;
            is_inside && (kind == Kind::Secret || matches!(zone.class, ZoneClass::Mail | ZoneClass::Tel))
        }
        Some(_) | None => true,
    }
}

//! Repeated findings: a name that was recognized by its title also counts elsewhere without it.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::finding::{Finding, resolve};
use crate::kind::Kind;
use crate::zone::{Zone, ZoneClass};

/// How many different texts are looked for.
const MOST: usize = 4096;

/// Adds the places where what was found stands again.
pub(crate) fn repeat(text: &str, zones: &[Zone], found: Vec<Finding>) -> Vec<Finding> {
    let mut kinds: HashMap<&str, Kind> = HashMap::new();
    for finding in &found {
        let words = &text[finding.range.clone()];
        if kinds.len() < MOST && is_distinctive(finding.kind, words) {
            kinds.entry(words).or_insert(finding.kind);
        }
    }
    if kinds.is_empty() {
        return found;
    }
    let mut patterns: Vec<(&str, Kind)> = kinds.into_iter().collect();
    patterns.sort_unstable();
    let search = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(patterns.iter().map(|(words, _)| words));
    // Only too many or too long patterns are refused; what was found stays found.
    let Ok(search) = search else { return found };
    let mut all = found;
    let known = all.len();
    for hit in search.find_iter(text) {
        let kind = patterns[hit.pattern().as_usize()].1;
        if stands_alone(text, hit.start(), hit.end()) && may_be(zones, kind, hit.start(), hit.end()) {
            all.push(Finding { kind, range: hit.range() });
        }
    }
    if all.len() == known { all } else { resolve(all) }
}

/// Returns whether the text is long enough to have the same meaning everywhere.
fn is_distinctive(kind: Kind, words: &str) -> bool {
    match kind {
        Kind::Person => words.contains(' '),
        Kind::Location => words.contains(' ') && words.bytes().any(|b| b.is_ascii_digit()),
        Kind::Secret | Kind::Email | Kind::Financial | Kind::Phone => words.len() >= 7,
    }
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !crate::cjk::is_cjk(c));
    let before = text[..start].chars().next_back();
    let first = text[start..].chars().next();
    let last = text[..end].chars().next_back();
    let after = text[end..].chars().next();
    !(part(before) && part(first) || part(last) && part(after))
}

/// Returns whether a finding of this kind may be here: secrets in any text without spaces, all others in prose.
fn may_be(zones: &[Zone], kind: Kind, start: usize, end: usize) -> bool {
    let at = zones.partition_point(|zone| zone.range.end <= start);
    match zones.get(at) {
        Some(zone) if zone.range.start < end => {
            let within = zone.range.start <= start && end <= zone.range.end;
            within && (kind == Kind::Secret || matches!(zone.class, ZoneClass::Mail | ZoneClass::Tel))
        }
        Some(_) | None => true,
    }
}

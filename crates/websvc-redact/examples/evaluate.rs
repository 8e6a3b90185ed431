//! Tells how much is found, and how much of it is right, on texts of `evaluation/generate.py`:
//! `cargo run --release -p websvc-redact --example evaluate -- FILE [aggressive] [wrong] [by-locale]`.
//!
//! A finding is right when it covers a piece of personal data whole and is of its kind, or lies within one (an address
//! may be found in pieces); it is wrong when it meets none of its kind. With `wrong` each mistake is printed.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Write, stdout};
use std::ops::Range;

use serde::Deserialize;
use websvc_redact::{Finding, Kind, Options, RedactMode, Syntax, redact};

/// A text, and what is in it.
#[derive(Deserialize)]
struct Text {
    locale: String,
    text: String,
    /// Kind, first byte, byte behind the last.
    gold: Vec<(String, usize, usize)>,
}

/// Correct and wrong findings of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    hits: u32,
    misses: u32,
    right: u32,
    wrong: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let file = arguments.first().ok_or("give the file that evaluation/generate.py made")?;
    let mode = if has("aggressive") { RedactMode::Aggressive } else { RedactMode::Fast };
    let options = Options { mode, ..Options::default() };
    let mut scores: BTreeMap<(String, Kind), Score> = BTreeMap::new();
    let mut out = stdout().lock();
    for line in std::fs::read_to_string(file)?.lines() {
        let text: Text = serde_json::from_str(line)?;
        let findings = redact(&text.text, Syntax::Markdown, &options).findings;
        for kind in Kind::ALL {
            let (score, mistakes) = judge(&text, &findings, kind);
            let names = [String::new(), text.locale.clone()];
            for name in names.into_iter().take(if has("by-locale") { 2 } else { 1 }) {
                add(scores.entry((name, kind)).or_default(), score);
            }
            for mistake in mistakes.iter().filter(|_| has("wrong")) {
                writeln!(out, "{} {mistake}", text.locale)?;
            }
        }
    }
    for ((locale, kind), score) in scores {
        let share = |part: u32, rest: u32| f64::from(part) / f64::from((part + rest).max(1));
        let (precision, recall) = (share(score.right, score.wrong), share(score.hits, score.misses));
        let name = kind.name();
        writeln!(out, "{locale:5} {name:9} precision {precision:.3} recall {recall:.3} {score:?}")?;
    }
    Ok(())
}

fn judge(text: &Text, findings: &[Finding], kind: Kind) -> (Score, Vec<String>) {
    let gold: Vec<Range<usize>> = text
        .gold
        .iter()
        .filter(|(name, ..)| name == kind.name())
        .map(|(_, start, end)| *start..*end)
        .collect();
    let found: Vec<Range<usize>> =
        findings.iter().filter(|finding| finding.kind == kind).map(|finding| finding.range.clone()).collect();
    let (mut score, mut mistakes) = (Score::default(), Vec::new());
    for place in &gold {
        if is_covered(&text.text, place, findings) && found.iter().any(|found| meets(found, place)) {
            score.hits += 1;
        } else {
            score.misses += 1;
            mistakes.push(format!(
                "missed {}: {:?} in {:?}",
                kind.name(),
                &text.text[place.clone()],
                text.text
            ));
        }
    }
    for place in found {
        if gold.iter().any(|gold| meets(gold, &place)) {
            score.right += 1;
        } else {
            score.wrong += 1;
            mistakes.push(format!(
                "wrong {}: {:?} in {:?}",
                kind.name(),
                &text.text[place.clone()],
                text.text
            ));
        }
    }
    (score, mistakes)
}

/// Tells whether nothing but marks and space of a piece of personal data is left.
fn is_covered(text: &str, place: &Range<usize>, findings: &[Finding]) -> bool {
    let hidden = |at: usize| findings.iter().any(|finding| finding.range.contains(&at));
    text[place.clone()].char_indices().all(|(at, c)| !c.is_alphanumeric() || hidden(place.start + at))
}

fn meets(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn add(sum: &mut Score, score: Score) {
    let Score { hits, misses, right, wrong } = score;
    sum.hits += hits;
    sum.misses += misses;
    sum.right += right;
    sum.wrong += wrong;
}

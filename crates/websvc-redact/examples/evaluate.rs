//! Measures precision and recall on texts of `evaluation/generate.py`:
//! `cargo run --release -p websvc-redact --example evaluate -- FILE [aggressive] [wrong] [by-locale]`.
//!
//! A piece of personal data is found if findings cover it completely and at least one of them has its kind. A finding
//! is correct if it overlaps a piece of its kind. With `wrong`, each mistake is printed.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Write, stdout};
use std::ops::Range;

use serde::Deserialize;
use websvc_redact::{Finding, Kind, Options, RedactMode, Syntax, redact};

/// A text with its personal data.
#[derive(Deserialize)]
struct Text {
    locale: String,
    text: String,
    /// Kind, first byte, and the byte after the last.
    gold: Vec<(String, usize, usize)>,
}

/// Counts for one kind: pieces that were found or missed, and findings that are correct or wrong.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    hits: u32,
    misses: u32,
    correct: u32,
    wrong: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let file = arguments.first().ok_or("expected the file that evaluation/generate.py wrote")?;
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
        let (precision, recall) = (share(score.correct, score.wrong), share(score.hits, score.misses));
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
    for piece in &gold {
        if is_covered(&text.text, piece, findings) && found.iter().any(|found| overlaps(found, piece)) {
            score.hits += 1;
        } else {
            score.misses += 1;
            mistakes.push(format!(
                "missed {}: {:?} in {:?}",
                kind.name(),
                &text.text[piece.clone()],
                text.text
            ));
        }
    }
    for range in found {
        if gold.iter().any(|gold| overlaps(gold, &range)) {
            score.correct += 1;
        } else {
            score.wrong += 1;
            mistakes.push(format!(
                "wrong {}: {:?} in {:?}",
                kind.name(),
                &text.text[range.clone()],
                text.text
            ));
        }
    }
    (score, mistakes)
}

/// Returns whether findings cover all letters and digits of a piece of personal data.
fn is_covered(text: &str, piece: &Range<usize>, findings: &[Finding]) -> bool {
    let is_redacted = |at: usize| findings.iter().any(|finding| finding.range.contains(&at));
    text[piece.clone()].char_indices().all(|(at, c)| !c.is_alphanumeric() || is_redacted(piece.start + at))
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn add(sum: &mut Score, score: Score) {
    let Score { hits, misses, correct, wrong } = score;
    sum.hits += hits;
    sum.misses += misses;
    sum.correct += correct;
    sum.wrong += wrong;
}

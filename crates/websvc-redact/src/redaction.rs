//! Finding, replacing, and looking again until nothing is left.

use std::borrow::Cow;
use std::ops::Range;

use crate::finding::{Finding, resolve};
use crate::options::{Options, ReplacementStyle, Syntax};
use crate::repeat::repeat;
use crate::scan::Scan;
use crate::zone::zones;

/// How often a text is looked at: what a rule found can hide what another would have.
const MOST_PASSES: usize = 4;

/// A text without personal data, and what was found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction<'t> {
    /// The text that is left. It is the one that was given when nothing was found.
    pub text: Cow<'t, str>,
    /// Findings, sorted, without overlaps.
    pub findings: Vec<Finding>,
    /// How many bytes the rules looked at, beyond reading each once. At most a fixed number per byte of the text.
    pub work: u64,
}

/// Replaces personal data. The work is linear in the text.
pub fn redact<'t>(text: &'t str, syntax: Syntax, options: &Options) -> Redaction<'t> {
    let (mut findings, mut work) = find(text, syntax, options, &[]);
    if findings.is_empty() {
        return Redaction { text: Cow::Borrowed(text), findings, work };
    }
    let mut redacted = replace(text, &findings, options.style);
    for _ in 1..MOST_PASSES {
        // No rule sees further than the second line above its own: the others are as they were.
        let lines = lines_of(text, &redacted, &findings, options.style);
        let (more, looked) = find(&redacted, syntax, options, &lines);
        work += looked;
        if more.is_empty() {
            break;
        }
        findings = merge(findings, &more, options.style, text);
        redacted = replace(text, &findings, options.style);
    }
    Redaction { text: Cow::Owned(redacted), findings, work }
}

/// Finds what is in a text, or in some of its lines when there are some.
fn find(text: &str, syntax: Syntax, options: &Options, lines: &[Range<usize>]) -> (Vec<Finding>, u64) {
    let zones = zones(text, syntax);
    let mut scan = Scan::new(text, options);
    if lines.is_empty() {
        scan.run(&zones, 0..text.len());
    }
    for line in lines {
        let from = zones.partition_point(|zone| zone.range.end <= line.start);
        let to = zones.partition_point(|zone| zone.range.start < line.end);
        scan.run(&zones[from..to], line.clone());
    }
    let Scan { found, work, .. } = scan;
    let found = resolve(found);
    (repeat(text, &zones, found), work)
}

/// Returns the lines of the redacted text in which something was replaced, each with the two behind it.
fn lines_of(text: &str, redacted: &str, findings: &[Finding], style: ReplacementStyle) -> Vec<Range<usize>> {
    let bytes = redacted.as_bytes();
    let line_end = |at: usize| bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |to| at + to);
    let mut lines: Vec<Range<usize>> = Vec::new();
    for (start, end) in places(text, findings, style) {
        match lines.last() {
            Some(line) if end <= line.end => {}
            Some(_) | None => {
                let from = bytes[..start].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
                let mut to = line_end(end);
                // A signature is known by the line above it, with an empty one between.
                for _ in 0..2 {
                    to = line_end((to + 1).min(bytes.len()));
                }
                lines.push(from..to);
            }
        }
    }
    lines
}

/// Returns where each finding begins and ends in the redacted text.
fn places(text: &str, findings: &[Finding], style: ReplacementStyle) -> Vec<(usize, usize)> {
    let (mut from, mut to) = (0, 0);
    let place = |finding: &Finding| {
        let start = to + finding.range.start - from;
        to = start + substitute_length(text, finding, style);
        from = finding.range.end;
        (start, to)
    };
    findings.iter().map(place).collect()
}

fn replace(text: &str, findings: &[Finding], style: ReplacementStyle) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        out.push_str(&text[at..finding.range.start]);
        substitute(&mut out, text, finding, style);
        at = finding.range.end;
    }
    out.push_str(&text[at..]);
    out
}

fn substitute(out: &mut String, text: &str, finding: &Finding, style: ReplacementStyle) {
    match style {
        ReplacementStyle::Tag => out.push_str(finding.kind.tag()),
        ReplacementStyle::Mask => {
            let chars = text[finding.range.clone()].chars();
            out.extend(chars.map(|c| if c == '\n' { '\n' } else { '*' }));
        }
        ReplacementStyle::Remove => {}
    }
}

fn substitute_length(text: &str, finding: &Finding, style: ReplacementStyle) -> usize {
    match style {
        ReplacementStyle::Tag => finding.kind.tag().len(),
        ReplacementStyle::Mask => text[finding.range.clone()].chars().count(),
        ReplacementStyle::Remove => 0,
    }
}

/// Adds what was found in the redacted text to what was found in the text; what meets becomes one.
fn merge(findings: Vec<Finding>, more: &[Finding], style: ReplacementStyle, text: &str) -> Vec<Finding> {
    let places = places(text, &findings, style);
    let origin = |at: usize, is_end: bool| {
        let behind = places.partition_point(|&(start, _)| if is_end { start < at } else { start <= at });
        let Some(last) = behind.checked_sub(1) else { return at };
        let (start, end) = places[last];
        let range = &findings[last].range;
        if at < end || (at == end && !is_end && start != end && at == start) {
            if is_end { range.end } else { range.start }
        } else {
            range.end + at - end
        }
    };
    let mut all: Vec<Finding> = more
        .iter()
        .map(|new| Finding {
            kind: new.kind,
            range: origin(new.range.start, false)..origin(new.range.end, true),
        })
        .collect();
    all.extend(findings);
    all.sort_by_key(|finding| (finding.range.start, std::cmp::Reverse(finding.range.end)));
    let mut merged: Vec<Finding> = Vec::with_capacity(all.len());
    for finding in all {
        match merged.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.kind = last.kind.min(finding.kind);
                last.range.end = last.range.end.max(finding.range.end);
            }
            Some(_) | None => merged.push(finding),
        }
    }
    merged
}

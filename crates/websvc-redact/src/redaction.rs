//! Redaction of a text: finds and replaces personal data, repeatedly, until nothing more is found.

use std::borrow::Cow;
use std::ops::Range;

use crate::finding::{Finding, resolve};
use crate::options::{Options, ReplacementStyle, Syntax};
use crate::repeat::find_repetitions;
use crate::scan::Scan;
use crate::zone::zones;

/// The maximum number of passes over a text: a finding of one rule may hide that of another.
const MAX_PASSES: usize = 4;

/// A text without personal data, and the findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction<'t> {
    /// The redacted text; the given text if nothing was found.
    pub text: Cow<'t, str>,
    /// The findings, sorted, without overlaps.
    pub findings: Vec<Finding>,
    /// The number of bytes that the rules examined, in addition to reading each byte once. It is at most a constant
    /// times the length of the text.
    pub work: u64,
}

/// Replaces personal data. The work is linear in the text.
pub fn redact<'t>(text: &'t str, syntax: Syntax, options: &Options) -> Redaction<'t> {
    let Pass { mut findings, mut work } = find(text, syntax, options, &[]);
    if findings.is_empty() {
        return Redaction { text: Cow::Borrowed(text), findings, work };
    }
    let mut redacted = replace(text, &findings, options.style);
    for _ in 1..MAX_PASSES {
        // No rule examines text above the second line before its own, so other lines have the same findings.
        let lines = changed_lines(text, &redacted, &findings, options.style);
        let pass = find(&redacted, syntax, options, &lines);
        work += pass.work;
        if pass.findings.is_empty() {
            break;
        }
        findings = merge(findings, &pass.findings, options.style, text);
        redacted = replace(text, &findings, options.style);
    }
    Redaction { text: Cow::Owned(redacted), findings, work }
}

/// The result of one pass over a text.
struct Pass {
    findings: Vec<Finding>,
    work: u64,
}

/// Finds personal data in these lines of a text; without lines, in the whole text.
fn find(text: &str, syntax: Syntax, options: &Options, lines: &[Range<usize>]) -> Pass {
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
    let Scan { findings, work, .. } = scan;
    Pass { findings: find_repetitions(text, &zones, resolve(findings)), work }
}

/// Returns the lines of the redacted text that have replacements, each with the next two lines.
fn changed_lines(
    text: &str,
    redacted: &str,
    findings: &[Finding],
    style: ReplacementStyle,
) -> Vec<Range<usize>> {
    let bytes = redacted.as_bytes();
    let line_end = |at: usize| bytes[at..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |to| at + to);
    let mut lines: Vec<Range<usize>> = Vec::new();
    for Range { start, end } in replaced_ranges(text, findings, style) {
        match lines.last() {
            Some(line) if end <= line.end => {}
            Some(_) | None => {
                let from = bytes[..start].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
                let mut to = line_end(end);
                // A signature depends on the line above it, with an empty line between.
                for _ in 0..2 {
                    to = line_end((to + 1).min(bytes.len()));
                }
                lines.push(from..to);
            }
        }
    }
    lines
}

/// Returns the range of the replacement of each finding in the redacted text.
fn replaced_ranges(text: &str, findings: &[Finding], style: ReplacementStyle) -> Vec<Range<usize>> {
    let (mut text_end, mut redacted_end) = (0, 0);
    let replaced_range = |finding: &Finding| {
        let start = redacted_end + finding.range.start - text_end;
        redacted_end = start + replacement_length(text, finding, style);
        text_end = finding.range.end;
        start..redacted_end
    };
    findings.iter().map(replaced_range).collect()
}

pub(crate) fn replace(text: &str, findings: &[Finding], style: ReplacementStyle) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        out.push_str(&text[at..finding.range.start]);
        push_replacement(&mut out, text, finding, style);
        at = finding.range.end;
    }
    out.push_str(&text[at..]);
    out
}

fn push_replacement(out: &mut String, text: &str, finding: &Finding, style: ReplacementStyle) {
    match style {
        ReplacementStyle::Tag => out.push_str(finding.kind.tag()),
        ReplacementStyle::Mask => {
            let chars = text[finding.range.clone()].chars();
            out.extend(chars.map(|c| if c == '\n' { '\n' } else { '*' }));
        }
        ReplacementStyle::Remove => {}
    }
}

fn replacement_length(text: &str, finding: &Finding, style: ReplacementStyle) -> usize {
    match style {
        ReplacementStyle::Tag => finding.kind.tag().len(),
        ReplacementStyle::Mask => text[finding.range.clone()].chars().count(),
        ReplacementStyle::Remove => 0,
    }
}

/// Adds findings in the redacted text (`more`) to the findings in the text. Findings that overlap become one.
fn merge(findings: Vec<Finding>, more: &[Finding], style: ReplacementStyle, text: &str) -> Vec<Finding> {
    let replaced = replaced_ranges(text, &findings, style);
    // Maps a position in the redacted text to the text.
    let origin = |at: usize, is_end: bool| {
        let next =
            replaced.partition_point(|range| if is_end { range.start < at } else { range.start <= at });
        let Some(last) = next.checked_sub(1) else { return at };
        let Range { start, end } = replaced[last];
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

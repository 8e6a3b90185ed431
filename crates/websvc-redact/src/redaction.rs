//! Finding, replacing, and looking again until nothing is left.

use std::borrow::Cow;

use crate::finding::{Finding, resolve};
use crate::options::{Options, Style, Syntax};
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
    /// What was found, sorted, without overlaps.
    pub findings: Vec<Finding>,
    /// How many bytes the rules looked at, beyond reading each once. At most a fixed number per byte of the text.
    pub work: u64,
}

/// Replaces personal data. The work is linear in the text.
pub fn redact<'t>(text: &'t str, syntax: Syntax, options: &Options) -> Redaction<'t> {
    let (mut findings, mut work) = find(text, syntax, options);
    if findings.is_empty() {
        return Redaction { text: Cow::Borrowed(text), findings, work };
    }
    let mut redacted = replace(text, &findings, options.style);
    for _ in 1..MOST_PASSES {
        let (more, looked) = find(&redacted, syntax, options);
        work += looked;
        if more.is_empty() {
            break;
        }
        findings = merge(findings, &more, options.style, text);
        redacted = replace(text, &findings, options.style);
    }
    Redaction { text: Cow::Owned(redacted), findings, work }
}

fn find(text: &str, syntax: Syntax, options: &Options) -> (Vec<Finding>, u64) {
    let zones = zones(text, syntax);
    let mut scan = Scan::new(text, options);
    scan.run(&zones);
    let Scan { found, work, .. } = scan;
    let found = resolve(found);
    (repeat(text, &zones, found), work)
}

fn replace(text: &str, findings: &[Finding], style: Style) -> String {
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

fn substitute(out: &mut String, text: &str, finding: &Finding, style: Style) {
    match style {
        Style::Tag => out.push_str(finding.kind.tag()),
        Style::Mask => {
            let chars = text[finding.range.clone()].chars();
            out.extend(chars.map(|c| if c == '\n' { '\n' } else { '*' }));
        }
        Style::Remove => {}
    }
}

fn substitute_length(text: &str, finding: &Finding, style: Style) -> usize {
    match style {
        Style::Tag => finding.kind.tag().len(),
        Style::Mask => text[finding.range.clone()].chars().count(),
        Style::Remove => 0,
    }
}

/// Adds what was found in the redacted text to what was found in the text; what meets becomes one.
fn merge(findings: Vec<Finding>, more: &[Finding], style: Style, text: &str) -> Vec<Finding> {
    // Where each finding begins and ends in the redacted text.
    let mut places = Vec::with_capacity(findings.len());
    let (mut from, mut to) = (0, 0);
    for finding in &findings {
        let start = to + finding.range.start - from;
        to = start + substitute_length(text, finding, style);
        from = finding.range.end;
        places.push((start, to));
    }
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

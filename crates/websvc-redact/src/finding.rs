//! Findings, and the choice between two that overlap.

use std::ops::Range;

use crate::kind::Kind;

/// A piece of personal data in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of personal data.
    pub kind: Kind,
    /// The range in bytes of the given text, on character boundaries.
    pub range: Range<usize>,
}

/// Sorts findings by position and removes overlaps: the kind with the more certain rules wins, then the longer finding,
/// then the first one.
pub(crate) fn resolve(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| {
        let Range { start, end } = finding.range;
        (start, std::cmp::Reverse(end), finding.kind)
    });
    let mut resolved: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        // The resolved findings do not overlap, so only the last ones can reach into this one.
        let mut wins = true;
        while let Some(last) = resolved.last().filter(|last| last.range.end > finding.range.start) {
            if rank(last) <= rank(&finding) {
                wins = false;
                break;
            }
            resolved.pop();
        }
        if wins {
            resolved.push(finding);
        }
    }
    resolved
}

/// Returns the rank of a finding among those that overlap; the lowest wins.
fn rank(finding: &Finding) -> (Kind, std::cmp::Reverse<usize>, Kind) {
    // Names and places are equally certain: `Jack London`, `12 Abraham Lincoln Street`.
    let certainty = finding.kind.min(Kind::Location);
    (certainty, std::cmp::Reverse(finding.range.len()), finding.kind)
}

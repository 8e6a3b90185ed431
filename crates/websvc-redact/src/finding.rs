//! Findings, and the choice between two that overlap.

use std::ops::Range;

use crate::kind::Kind;

/// A piece of personal data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: Kind,
    /// Range in bytes of the given text; on character boundaries.
    pub range: Range<usize>,
}

/// Sorts findings by place and keeps one of those that overlap: the kind with the most certain rules, then the longer,
/// then the first.
pub(crate) fn resolve(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| {
        let Range { start, end } = finding.range;
        (start, std::cmp::Reverse(end), finding.kind)
    });
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        // What is kept does not overlap itself, so that only its end can reach into the new one.
        let mut wins = true;
        while let Some(last) = kept.last().filter(|last| last.range.end > finding.range.start) {
            if rank(last) <= rank(&finding) {
                wins = false;
                break;
            }
            kept.pop();
        }
        if wins {
            kept.push(finding);
        }
    }
    kept
}

fn rank(finding: &Finding) -> (Kind, std::cmp::Reverse<usize>, Kind) {
    // Neither of names and places is the more certain: `Jack London`, `12 Abraham Lincoln Street`.
    let certainty = finding.kind.min(Kind::Location);
    (certainty, std::cmp::Reverse(finding.range.len()), finding.kind)
}

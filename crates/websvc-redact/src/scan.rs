//! The state of a scan of a text for personal data, which the rules share.

use std::ops::Range;

use crate::finding::Finding;
use crate::kind::Kind;
use crate::options::{Options, RedactMode};
use crate::zone::ZoneClass;

/// The state of a scan.
pub(crate) struct Scan<'a> {
    pub(crate) text: &'a str,
    pub(crate) options: &'a Options,
    pub(crate) findings: Vec<Finding>,
    /// The number of bytes that the rules examined, so that tests can check that it is linear.
    pub(crate) work: u64,
    /// The end of the last token that was examined for secrets.
    pub(crate) token_end: usize,
    /// The end of the last finding that other rules must not examine, where the scan resumes.
    pub(crate) resume: usize,
}

/// A part of a text of one class, which contains findings completely.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPart {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) class: ZoneClass,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(text: &'a str, options: &'a Options) -> Self {
        Self { text, options, findings: Vec::new(), work: 0, token_end: 0, resume: 0 }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    pub(crate) fn is_aggressive(&self) -> bool {
        self.options.mode == RedactMode::Aggressive
    }

    pub(crate) fn wants(&self, kind: Kind) -> bool {
        self.options.kinds.has(kind)
    }

    /// Records a finding if its kind is requested.
    pub(crate) fn record(&mut self, kind: Kind, range: Range<usize>) {
        debug_assert!(self.text.is_char_boundary(range.start) && self.text.is_char_boundary(range.end));
        if self.wants(kind) && !range.is_empty() {
            self.findings.push(Finding { kind, range });
        }
    }

    /// Records a finding, which other rules must not examine.
    pub(crate) fn record_whole(&mut self, kind: Kind, range: Range<usize>) {
        self.resume = self.resume.max(range.end);
        self.record(kind, range);
    }
}

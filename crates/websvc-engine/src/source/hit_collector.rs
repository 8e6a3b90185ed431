//! What the pages of a source brought so far, filtered and each result once.

use std::collections::HashSet;

use websvc_validate::SourceKind;

use super::{Hit, SourceRequest, SourceResponse, query_text};
use crate::search::{canonical, matches};

/// What becomes of hits without a date when there is a time filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UndatedPolicy {
    /// The source has applied the filter.
    Kept,
    /// Nobody can tell whether they pass.
    LeftOut,
}

/// The hits that pass the filters, and what there is to say about them.
#[derive(Debug, Default)]
pub(super) struct HitCollector {
    hits: Vec<Hit>,
    seen: HashSet<String>,
    undated: usize,
    warnings: Vec<String>,
}

impl HitCollector {
    /// Takes the results that are new and pass the filters, and returns how many are new.
    pub(super) fn take(
        &mut self,
        ask: &SourceRequest<'_>,
        hits: impl Iterator<Item = Hit>,
        undated: UndatedPolicy,
    ) -> usize {
        let must_be_dated =
            ask.tbs.is_some_and(|tbs| tbs.range.is_some()) && undated == UndatedPolicy::LeftOut;
        let mut fresh = 0;
        for hit in hits {
            let picture = hit.image.as_ref().filter(|_| ask.kind == SourceKind::Images);
            if !self.seen.insert(canonical(picture.map_or(&hit.url, |image| &image.url))) {
                continue;
            }
            fresh += 1;
            if must_be_dated && hit.date.is_none() {
                self.undated += 1;
            } else if matches(ask, &hit) {
                self.hits.push(hit);
            }
        }
        fresh
    }

    /// Takes the results that are new, of a source that has applied the filters itself, and returns how many.
    pub(super) fn take_filtered(&mut self, kind: SourceKind, hits: impl Iterator<Item = Hit>) -> usize {
        let before = self.hits.len();
        for hit in hits {
            let picture = hit.image.as_ref().filter(|_| kind == SourceKind::Images);
            if self.seen.insert(canonical(picture.map_or(&hit.url, |image| &image.url))) {
                self.hits.push(hit);
            }
        }
        self.hits.len() - before
    }

    /// Returns the hits and warnings, at most as many hits as were asked for, without a word on filters.
    pub(super) fn into_parts(mut self, ask: &SourceRequest<'_>) -> (Vec<Hit>, Vec<String>) {
        self.hits.truncate(ask.limit);
        (self.hits, self.warnings)
    }

    /// Tells whether there are as many hits as were asked for.
    pub(super) fn is_enough(&self, ask: &SourceRequest<'_>) -> bool {
        self.hits.len() >= ask.limit
    }

    /// Tells whether the source had nothing at all.
    pub(super) fn saw_nothing(&self) -> bool {
        self.seen.is_empty()
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Makes the answer, with a word on the filters that no such source applies.
    pub(super) fn finish(mut self, ask: &SourceRequest<'_>) -> SourceResponse {
        if self.undated > 0 {
            let text =
                "results without a date were left out, because it cannot apply this time filter itself";
            self.warn(format!("{} {text}", self.undated));
        }
        if query_text::has_related(ask.query) {
            self.warn("it cannot apply related:, which was left out");
        }
        if ask.location.is_some() {
            self.warn("it cannot apply location");
        }
        self.hits.truncate(ask.limit);
        SourceResponse::Results { hits: self.hits, warnings: self.warnings }
    }
}

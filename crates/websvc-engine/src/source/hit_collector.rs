//! Collects the hits of several pages of a source: filtered, and each result once.

use std::collections::HashSet;

use websvc_types::counted;
use websvc_validate::SourceKind;

use super::{Hit, SourceRequest, SourceResponse, query_text};
use crate::search::{canonical, matches};

/// The handling of hits without a date if there is a time filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UndatedPolicy {
    /// Such hits stay, because the source has applied the filter.
    Keep,
    /// Such hits are removed, because it is unknown whether they match.
    Remove,
}

/// The hits that match the filters, and the warnings.
#[derive(Debug, Default)]
pub(super) struct HitCollector {
    hits: Vec<Hit>,
    seen: HashSet<String>,
    undated: usize,
    warnings: Vec<String>,
}

impl HitCollector {
    /// Adds the hits that are new and match the filters. Returns the number of new hits.
    pub(super) fn add(
        &mut self,
        request: &SourceRequest<'_>,
        hits: impl Iterator<Item = Hit>,
        undated: UndatedPolicy,
    ) -> usize {
        let must_be_dated =
            request.tbs.is_some_and(|tbs| tbs.range.is_some()) && undated == UndatedPolicy::Remove;
        let mut new_count = 0;
        for hit in hits {
            let image = hit.image.as_ref().filter(|_| request.kind == SourceKind::Images);
            if !self.seen.insert(canonical(image.map_or(&hit.url, |image| &image.url))) {
                continue;
            }
            new_count += 1;
            if must_be_dated && hit.date.is_none() {
                self.undated += 1;
            } else if matches(request, &hit) {
                self.hits.push(hit);
            }
        }
        new_count
    }

    /// Returns whether the limit is reached.
    pub(super) fn is_enough(&self, request: &SourceRequest<'_>) -> bool {
        self.hits.len() >= request.limit
    }

    /// Returns whether the source has returned nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Creates the response, with warnings about filters that the source does not support.
    pub(super) fn finish(mut self, request: &SourceRequest<'_>) -> SourceResponse {
        if self.undated > 0 {
            let undated = counted(
                self.undated,
                "result without a date was removed",
                "results without a date were removed",
            );
            self.warn(format!("{undated}, because the source does not support this time filter"));
        }
        if query_text::has_related(request.query) {
            self.warn("related: is not supported and was ignored");
        }
        if request.location.is_some() {
            self.warn("location is not supported and was ignored");
        }
        self.hits.truncate(request.limit);
        SourceResponse::Results { hits: self.hits, warnings: self.warnings }
    }
}

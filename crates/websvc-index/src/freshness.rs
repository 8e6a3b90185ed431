//! Freshness as a mild prior: of two pages that answer equally well the newer one comes first.
//!
//! A dated page gains at most [`SHARE`] of the greatest BM25 score of the query, and half of that when it is a year
//! old: `SHARE * maximum / (1 + age / 1 year)`. Pages without a date of their own, and dates in the future, gain
//! nothing.

use jiff::Timestamp;
use tantivy::columnar::Column;
use tantivy::{DocAddress, DocId, SegmentReader};

use crate::rank::Candidate;

/// The share of the greatest possible score that a page of this minute gains.
pub(crate) const SHARE: f32 = 0.05;

/// The age at which half of it is left, in seconds.
const HALF_AGE: f32 = 365.25 * 86_400.0;

/// Dates may be ahead by this much, in seconds: zones are often missing or wrong.
const AHEAD: i64 = 86_400;

/// Adds to the scores what the dates of the documents are worth; `maximum` is the greatest BM25 score of the query.
/// There are `dates` for each segment.
pub(crate) fn boost_fresh(
    dates: &[SegmentDates],
    now: Timestamp,
    maximum: f32,
    candidates: &mut [Candidate],
) {
    for candidate in candidates {
        let DocAddress { segment_ord, doc_id } = candidate.address;
        if let Some(date) = dates[segment_ord as usize].own(doc_id) {
            candidate.score += SHARE * maximum * freshness(now.as_second() - date);
        }
    }
}

/// The dates of the documents of a segment, in Unix seconds. A column takes as long to open as many values take to read.
pub(crate) struct SegmentDates {
    date: Column<i64>,
    first_seen: Column<i64>,
}

impl SegmentDates {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        Ok(Self { date: columns.i64("date")?, first_seen: columns.i64("first_seen")? })
    }

    /// Returns when a document was published, else modified, else first seen.
    pub(crate) fn date(&self, document: DocId) -> Option<i64> {
        self.date.first(document)
    }

    /// Returns when a document was first seen.
    pub(crate) fn first_seen(&self, document: DocId) -> Option<i64> {
        self.first_seen.first(document)
    }

    /// Returns the date that a document says of itself. The moment it was first seen stands in where there is none, but
    /// says nothing about the document.
    fn own(&self, document: DocId) -> Option<i64> {
        let date = self.date(document)?;
        (self.first_seen(document) != Some(date)).then_some(date)
    }
}

/// Returns 1 for now, 0.5 for a year ago, and so on towards 0.
fn freshness(age_seconds: i64) -> f32 {
    if age_seconds < -AHEAD {
        return 0.0;
    }
    1.0 / (1.0 + age_seconds.max(0) as f32 / HALF_AGE)
}

#[cfg(test)]
mod tests {
    use super::freshness;

    #[test]
    fn a_year_halves_freshness_and_the_future_has_none() {
        assert!((freshness(0) - 1.0).abs() < 1e-6);
        assert!((freshness(31_557_600) - 0.5).abs() < 1e-6);
        assert!(freshness(10 * 31_557_600) < 0.1);
        assert!((freshness(-3_600) - 1.0).abs() < 1e-6);
        assert!(freshness(-1_000_000).abs() < 1e-6);
    }
}

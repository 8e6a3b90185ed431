//! A small ranking bonus for fresh pages: of two equally relevant pages, the newer one comes first.
//!
//! The bonus of a page with a date is at most [`SHARE`] of the maximum BM25 score of the query, and half of that at an
//! age of one year: `SHARE * maximum / (1 + age / 1 year)`. Pages without a date, and pages with a date in the future,
//! get no bonus.

use jiff::Timestamp;
use tantivy::DocAddress;

use crate::candidate::Candidate;
use crate::segment_dates::SegmentDates;

/// Bonus of a page of age zero, as a share of the maximum BM25 score.
pub(crate) const SHARE: f32 = 0.05;

/// Age at which the bonus is half of its maximum, in seconds.
const HALF_AGE: f32 = 365.25 * 86_400.0;

/// Maximum seconds by which a date may be in the future, since time zones are often missing or wrong.
const MAX_AHEAD: i64 = 86_400;

/// Adds the freshness bonus to the scores of candidates. `dates` are the dates of each segment; `max_score` is the
/// maximum BM25 score of the query.
pub(crate) fn boost_fresh(
    dates: &[SegmentDates],
    now: Timestamp,
    max_score: f32,
    candidates: &mut [Candidate],
) {
    for candidate in candidates {
        let DocAddress { segment_ord, doc_id } = candidate.address;
        if let Some(date) = dates[segment_ord as usize].declared_date(doc_id) {
            candidate.score += SHARE * max_score * freshness(now.as_second() - date);
        }
    }
}

/// Returns 1 for an age of zero, 0.5 for a year, and values towards 0 for greater ages.
fn freshness(age_seconds: i64) -> f32 {
    if age_seconds < -MAX_AHEAD {
        return 0.0;
    }
    1.0 / (1.0 + age_seconds.max(0) as f32 / HALF_AGE)
}

#[cfg(test)]
mod tests {
    use super::freshness;

    #[test]
    fn freshness_is_half_after_a_year_and_zero_in_the_future() {
        assert!((freshness(0) - 1.0).abs() < 1e-6);
        assert!((freshness(31_557_600) - 0.5).abs() < 1e-6);
        assert!(freshness(10 * 31_557_600) < 0.1);
        assert!((freshness(-3_600) - 1.0).abs() < 1e-6);
        assert!(freshness(-1_000_000).abs() < 1e-6);
    }
}

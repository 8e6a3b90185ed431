//! The dates of the documents of a segment.

use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader};

/// The dates of the documents of a segment, in Unix seconds. The columns are kept open, since opening one takes as long
/// as reading many values.
pub(crate) struct SegmentDates {
    date: Column<i64>,
    first_seen: Column<i64>,
}

impl SegmentDates {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        Ok(Self { date: columns.i64("date")?, first_seen: columns.i64("first_seen")? })
    }

    /// Returns the first known of: time of publication, of modification, first seen.
    pub(crate) fn date(&self, document: DocId) -> Option<i64> {
        self.date.first(document)
    }

    /// Returns the time at which a document was first seen.
    pub(crate) fn first_seen(&self, document: DocId) -> Option<i64> {
        self.first_seen.first(document)
    }

    /// Returns the date that a document declares. [`SegmentDates::date`] falls back to the time at which it was first
    /// seen, which says little about its age.
    pub(crate) fn declared_date(&self, document: DocId) -> Option<i64> {
        let date = self.date(document)?;
        (self.first_seen(document) != Some(date)).then_some(date)
    }
}

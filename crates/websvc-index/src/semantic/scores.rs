//! The similarity of pages to a query: the best cosine of their passages, as a standard score.
//!
//! Encoders differ in the range of their cosines, so a cosine counts by its distance from the mean of all vectors of the
//! index, in standard deviations. In an index with more vectors than a search is compared with, a sample stands for all.

use std::io;
use std::ops::RangeInclusive;

use super::quantized::QueryVector;
use super::store::{Rows, Span};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 256 * 1024;

/// Vectors of the sample in a large index.
const SAMPLE: u32 = 1_024;

/// Range of the standard deviation. That of an index with few pages may be far from what is typical of encoders.
const DEVIATIONS: RangeInclusive<f32> = 0.03..=0.12;

/// The similarities of the pages of an index to one query.
pub(super) struct Similarities<'a> {
    rows: &'a Rows,
    query: &'a QueryVector,
    /// The cosine of each row, unless there are too many.
    cosines: Option<Vec<f32>>,
    mean: f32,
    deviation: f32,
}

impl<'a> Similarities<'a> {
    /// Compares the query with all vectors if there are at most `max_compared`. Returns `None` if the vectors are of another
    /// length.
    pub(super) fn new(
        rows: &'a Rows,
        query: &'a QueryVector,
        max_compared: usize,
    ) -> io::Result<Option<Self>> {
        if query.dimensions() != rows.files.header.dimensions || rows.vectors() == 0 {
            return Ok(None);
        }
        let mut similarities = Self { rows, query, cosines: None, mean: 0.0, deviation: *DEVIATIONS.end() };
        let is_small = rows.rows as usize <= max_compared;
        let cosines = if is_small { similarities.all()? } else { similarities.sample()? };
        // An empty row has a scale of zero, and so a cosine of exactly zero.
        let used = || cosines.iter().filter(|cosine| **cosine != 0.0);
        let count = used().count().max(1) as f32;
        similarities.mean = used().sum::<f32>() / count;
        let variance = used().map(|cosine| (cosine - similarities.mean).powi(2)).sum::<f32>() / count;
        similarities.deviation = variance.sqrt().clamp(*DEVIATIONS.start(), *DEVIATIONS.end());
        similarities.cosines = is_small.then_some(cosines);
        Ok(Some(similarities))
    }

    /// Returns true if the query was compared with all vectors, so that the nearest pages are known.
    pub(super) fn is_complete(&self) -> bool {
        self.cosines.is_some()
    }

    /// Returns the best cosine of a page, given by its content hash, if it has vectors and all were compared.
    pub(super) fn compared(&self, key: u64) -> Option<f32> {
        let cosines = self.cosines.as_ref()?;
        let Span { first, count } = *self.rows.spans.get(&key)?;
        let cosines = cosines.get(first as usize..(first + count) as usize)?;
        cosines.iter().copied().reduce(f32::max)
    }

    /// Returns the best cosine of a page, given by its content hash, if it has vectors.
    pub(super) fn cosine(&self, key: u64) -> io::Result<Option<f32>> {
        if self.is_complete() {
            return Ok(self.compared(key));
        }
        let Some(Span { first, count }) = self.rows.spans.get(&key).copied() else { return Ok(None) };
        Ok(self.read(first, count)?.into_iter().reduce(f32::max))
    }

    /// Returns the distance of a cosine from the mean, in standard deviations.
    pub(super) fn standard_score(&self, cosine: f32) -> f32 {
        (cosine - self.mean) / self.deviation
    }

    fn all(&self) -> io::Result<Vec<f32>> {
        self.read(0, self.rows.rows)
    }

    fn sample(&self) -> io::Result<Vec<f32>> {
        let step = (self.rows.rows / SAMPLE).max(1);
        let mut cosines = Vec::new();
        for first in (0..self.rows.rows).step_by(step as usize) {
            cosines.extend(self.read(first, 1)?);
        }
        Ok(cosines)
    }

    /// Returns the cosines of consecutive rows.
    fn read(&self, first: u32, count: u32) -> io::Result<Vec<f32>> {
        let row_bytes = self.rows.files.row_bytes();
        let per_chunk = (CHUNK_BYTES / row_bytes).max(1) as u32;
        let mut buffer = vec![0; per_chunk.min(count) as usize * row_bytes];
        let mut cosines = Vec::with_capacity(count as usize);
        for start in (first..first + count).step_by(per_chunk as usize) {
            let rows = per_chunk.min(first + count - start) as usize;
            let buffer = &mut buffer[..rows * row_bytes];
            self.rows.files.read_rows(start, buffer)?;
            cosines.extend(buffer.chunks_exact(row_bytes).map(|row| self.query.cosine(row)));
        }
        Ok(cosines)
    }
}

//! Tests of the comparison of texts.

mod line_diff;
mod patch;
mod properties;

//! Tests of the content of documents, by format.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test, too")]

mod office;
mod old_office;
mod package_writer;
mod pdf;
mod pdf_hostile;
mod pdf_writer;
mod text;

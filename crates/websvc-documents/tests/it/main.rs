//! Tests of reading documents, by format.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod office;
mod old_office;
mod package_writer;
mod pdf;
mod pdf_hostile;
mod pdf_layout;
mod pdf_pages;
mod pdf_structure;
mod pdf_writer;
mod text;

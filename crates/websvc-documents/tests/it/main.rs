//! Tests of reading documents, by format.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod articles;
mod books;
mod compound_writer;
mod corpus;
mod mail;
mod notebook;
mod office;
mod old_office;
mod open_document;
mod package_writer;
mod pdf;
mod pdf_hostile;
mod pdf_layout;
mod pdf_pages;
mod pdf_structure;
mod pdf_writer;
mod sheets;
mod slides;
mod text;
mod word;

//! PDF, office files, books and tables in, HTML out: the text of files that are no web pages.
//!
//! The crate is pure: no IO, no async, no clock. [`DocumentKind::of`] tells what the bytes are, and [`parse`] reads
//! them within the caller's [`Limits`] into one shape, [`ParsedDocument`]: plain semantic HTML (headings, paragraphs, lists,
//! tables, links, code) and what the file says about itself. HTML, because the page engine writes markdown, links
//! and the text of the index from it: there is one writer of markdown, and a document is a page like any other.
//!
//! Files are hostile. Work and output are bounded here, but memory and time of third-party decoders are not: a
//! service calls this in a process of its own with hard limits.

mod csv;
mod docx;
mod epub;
mod error;
mod flow;
mod html;
mod kind;
mod limits;
mod number_format;
mod odf;
mod office;
mod ole;
mod parsed_document;
mod pdf;
mod pptx;
mod reader;
mod rtf;
mod text_encoding;
mod workbook;
mod xlsx;
mod xml;
mod zip_package;

pub use error::DocumentError;
pub use kind::DocumentKind;
pub use limits::{Limits, NEVER_STOP};
pub use parsed_document::{DocumentMetadata, PageCounts, ParsedDocument, page_mark};
pub use reader::parse;

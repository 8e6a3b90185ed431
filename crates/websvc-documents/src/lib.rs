//! Converts documents that are not web pages (PDF, office files, e-books, tables, mail, notebooks, articles in XML) to
//! HTML.
//!
//! The crate is pure: no IO, no async, no clock. [`DocumentKind::detect`] detects the kind of a file, and [`parse`]
//! reads it within the caller's [`Limits`]. The result is a [`ParsedDocument`]: plain semantic HTML (headings,
//! paragraphs, lists, tables, links, code) and the metadata of the file. The output is HTML because the page engine
//! writes markdown, links and the text of the index from HTML. So there is one markdown writer, and a document is
//! handled like any other page.
//!
//! Files are hostile. This crate limits its own work and output, but not the memory and time of third-party decoders.
//! A service should therefore call it in a separate process with hard limits.

mod biff;
mod chart;
mod compound_file;
mod csv;
mod detection;
mod docx;
mod epub;
mod error;
mod flow;
mod grid;
mod html;
mod inline;
mod kind;
mod limits;
mod mail;
mod markup;
mod mathml;
mod notebook;
mod number_format;
mod number_words;
mod odf;
mod office;
mod ole;
mod omml;
mod page_output;
mod parsed_document;
mod pdf;
mod pptx;
mod reader;
mod reading_order;
mod rtf;
mod table;
mod text_encoding;
mod workbook;
mod xlsx;
mod xml;
mod zip_package;

pub use error::DocumentError;
pub use kind::DocumentKind;
pub use limits::{Limits, NEVER_STOP};
pub use page_output::{
    BlockKind, LayoutBlock, PageLayout, PageOutput, page_start, split_layout, split_pages,
};
pub use parsed_document::{DocumentMetadata, PageCounts, ParsedDocument, page_mark};
pub use pdf::recognized_html;
pub use reader::{parse, parse_pages};

//! Files by which sites list their pages: sitemaps and sitemap indexes (sitemaps.org) with the extensions for images,
//! news and videos, feeds (RSS 0.9 to 2.0, RFC 4287 Atom), and texts of one URL a line; each plain or gzip.
//!
//! [`read`] goes through a file once and hands over what it lists as it comes, so that a file of any size costs no more
//! memory than one of its entries. Nothing is expanded but the entities of XML itself, and nothing else is loaded. What is
//! broken is read as far as it goes. Pure: no IO, no async, no clock.
//!
//! ```
//! use std::ops::ControlFlow;
//! use websvc_sitemap::{Item, read};
//!
//! let file = b"<urlset><url><loc>/green</loc></url><url><loc>https://tea.test/oolong</loc></url></urlset>";
//! let mut pages = Vec::new();
//! let reading = read(file, &"https://tea.test/sitemap.xml".parse()?, &mut |item| {
//!     if let Item::Page(page) = item {
//!         pages.push(page.url.to_string());
//!     }
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(pages, ["https://tea.test/green", "https://tea.test/oolong"]);
//! assert_eq!(reading.fault, None);
//! # Ok::<(), url::ParseError>(())
//! ```
#![deny(missing_docs)]

mod entry;
mod lines;
mod parser;
mod reading;
mod text;
mod xml;

pub use entry::{Entry, Image};
pub use reading::{IncompleteReason, Item, MAX_BYTES, MAX_ENTRIES, ReadSummary, Visitor, read};

//! Reader of files that list the pages of a site, plain or compressed with gzip:
//!
//! - sitemaps and sitemap indexes (sitemaps.org) with the extensions for images, news and videos;
//! - feeds: RSS 0.9 to 2.0 and Atom (RFC 4287);
//! - text files with one URL per line.
//!
//! [`read`] reads a file once and passes each entry to a visitor, so that memory is bounded by the size of one entry.
//! Only the predefined entities of XML are expanded, and no external resource is loaded. A damaged file is read up to
//! the damage.
//!
//! ```
//! use std::ops::ControlFlow;
//! use websvc_site::sitemap::{Item, read};
//!
//! let file = b"<urlset><url><loc>/green</loc></url><url><loc>https://tea.test/oolong</loc></url></urlset>";
//! let mut pages = Vec::new();
//! let summary = read(file, &"https://tea.test/sitemap.xml".parse()?, &mut |item| {
//!     if let Item::Page(page) = item {
//!         pages.push(page.url.to_string());
//!     }
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(pages, ["https://tea.test/green", "https://tea.test/oolong"]);
//! assert_eq!(summary.incomplete, None);
//! # Ok::<(), url::ParseError>(())
//! ```

mod entry;
mod lines;
mod output;
mod parser;
mod read;
mod utf8_reader;
mod xml;

pub use entry::{Entry, Image};
pub use output::{IncompleteReason, Item, MAX_BYTES, MAX_ENTRIES, ReadSummary, Visitor};
pub use read::read;

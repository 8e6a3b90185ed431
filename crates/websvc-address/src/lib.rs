//! Rules for when two addresses are the same page.
//!
//! - [`strip_tracking_params`] removes session IDs and campaign parameters from a URL that will be fetched. It changes
//!   nothing else, because the host must understand the URL.
//! - [`PageIdentity`] is a key to compare addresses by. It ignores more differences, because it is never fetched.
//!
//! The crate does no IO.
//!
//! ```
//! use websvc_address::PageIdentity;
//!
//! let page = PageIdentity::of("http://www.example.org/docs/index.html?utm_source=mail#top");
//! assert_eq!(page, PageIdentity::of("https://example.org/docs/"));
//! assert_eq!((page.host(), page.as_str()), ("example.org", "example.org/docs"));
//! ```
#![deny(missing_docs)]

mod identity;
mod percent_encoding;
mod tracking_params;

pub use identity::PageIdentity;
pub use tracking_params::strip_tracking_params;

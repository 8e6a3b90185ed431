//! Rules for when two addresses are the same page.
//!
//! - [`strip_tracking_params`] removes session IDs and campaign parameters from a URL that will be fetched. It changes
//!   nothing else, because the host must understand the URL.
//! - [`PageIdentity`] is a key to compare addresses by. It ignores more differences, because it is never fetched.
//! - [`registrable_domain`] and [`is_public_suffix`] read the public suffix list.
//!
//! The crate does no IO.
//!
//! ```
//! use websvc_address::PageIdentity;
//!
//! let page = PageIdentity::from_address("http://www.example.org/docs/index.html?utm_source=mail#top");
//! assert_eq!(page, PageIdentity::from_address("https://example.org/docs/"));
//! assert_eq!((page.host(), page.as_str()), ("example.org", "example.org/docs"));
//! ```
#![deny(missing_docs)]

mod identity;
mod percent_encoding;
mod public_suffix;
mod tracking_params;

pub use identity::PageIdentity;
pub use public_suffix::{is_public_suffix, registrable_domain};
pub use tracking_params::strip_tracking_params;

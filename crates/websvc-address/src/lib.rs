//! Which addresses mean the same page.
//!
//! Two questions, one list of what names a visit rather than a page (session ids, campaign parameters):
//! [`strip_tracking_params`] returns the URL to fetch, which its host must understand; [`PageIdentity`] is a key to compare by, and
//! forgets more, because nothing is ever fetched by it. Pure: no IO, no async, no clock.
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

//! Matching of advertising requests and cookie banners.
//!
//! A [`Blocklist`] has the locations of lists. [`Blocklist::load`] compiles them, which takes 200 ms and some ten megabytes
//! for the large public ones. All callers share the resulting [`Blocker`]; its memory is freed with the last reference.
//!
//! ```
//! use websvc_blocklist::{Blocklist, ResourceKind};
//!
//! let blocker = Blocklist::bundled().load()?;
//! let page = "https://news.example.com/";
//! assert!(blocker.blocks("https://securepubads.g.doubleclick.net/tag/js/gpt.js", page, ResourceKind::Script));
//! assert!(!blocker.blocks("https://news.example.com/app.js", page, ResourceKind::Script));
//! assert!(blocker.hide_css(page).contains("#onetrust-banner-sdk"));
//! # Ok::<(), websvc_blocklist::BlocklistError>(())
//! ```

#![deny(missing_docs)]

mod blocker;
mod blocklist;
mod cookie_banners;
mod css;
mod domain_resolver;
mod error;
mod file;

pub use blocker::{Blocker, ResourceKind};
pub use blocklist::Blocklist;
pub use cookie_banners::banner_selectors;
pub use error::BlocklistError;
pub use file::{LIST_MAX_BYTES, ListFile, WriteOutcome};

//! Which requests of a page are advertising, and which of its elements ask about cookies.
//!
//! A [`Blocklist`] knows where lists are and holds nothing. [`Blocklist::load`] reads them, which takes a fifth of a
//! second and some ten megabytes for the large public ones; those who hold the [`Blocker`] share it, and its memory goes when
//! the last of them lets go of it.
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
mod error;
mod file;

pub use blocker::{Blocker, ResourceKind};
pub use blocklist::Blocklist;
pub use cookie_banners::banner_selectors;
pub use error::BlocklistError;
pub use file::{LIST_MAX_BYTES, ListFile, WriteOutcome};
